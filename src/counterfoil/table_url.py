"""The address of a table in PostgreSQL, `postgresql://HOST:PORT/DATABASE::SCHEMA.TABLE`; nothing is opened here.

An address is one table or view by its name, never a query. It holds no password: what stands in a command is read by
everybody who may list processes, and kept by shells. The driver finds passwords by itself, in PGPASSWORD, in the file
that PGPASSFILE names (or ~/.pgpass), and in the service that PGSERVICE names.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path, PurePosixPath

from counterfoil.kept_files import on_a_server

_SHAPE = "postgresql://HOST/DATABASE::SCHEMA.TABLE"
_PART = r'"(?:[^"]|"")+"|[^".]+'
_NAME = re.compile(rf"(?:({_PART})\.)?({_PART})")
# What stands between a password and its neighbors; in a name it is written in quotes, or as %3D and the like.
_SIGNS = "?&=@/:"
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_PLAIN = re.compile(rf'[^".\s{_SIGNS}]+')
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DEFAULT_SCHEMA, _DEFAULT_PORT = "public", "5432"
_LAST_PORT = 65535
# `user:secret@` after the scheme of an address, where digits before a slash are a port.
_LOGIN_WITH_SECRET = re.compile(r"://[^/:@]*:(?!//)(?!\d*(?:/|$))[^@]*@", re.DOTALL)
_SECRETS = ("password", "sslpassword", "oauth_client_secret")
# How to connect, and nothing that changes what a table holds or where it is.
_OPTIONS = (
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "sslcrl",
    "channel_binding",
    "require_auth",
    "gssencmode",
    "krbsrvname",
    "connect_timeout",
    "passfile",
)


@dataclass(frozen=True)
class TableURL:
    """One table or view of one database.

    Args:
        host: in small letters, or the folder of a socket.
        port: digits.
        database, schema, table: as they are called, without quotes.
        user: whom to log in as; the driver's default where empty. No part of what the table is.
        options: how to connect, by name.
    """

    host: str
    port: str
    database: str
    schema: str
    table: str
    user: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, text: str) -> TableURL:
        """The table that an address names; PGHOST and PGPORT stand in for a host and a port that it leaves out.

        Names are taken letter by letter, with no folding of capitals; the schema is "public" where none is named. A
        name with a dot or a quote in it is put into double quotes, in which a quote is written twice.

        Raises:
            ValueError: for a password, and for what is no such address. No part of the text is repeated, for any part
                of it may be a password in the wrong place.
        """
        if re.match(r"postgres(ql)?://", text, re.IGNORECASE) is None:
            raise ValueError(
                f"A table in PostgreSQL is named by a text like {_SHAPE}. Found another scheme, or a path, which folds "
                "the slashes: name it like this."
            )
        authority, _, rest = text.partition("://")[2].partition("/")
        before, separator, name = rest.partition("::")
        database, _, query = before.partition("?")
        login, at, place = authority.rpartition("@")
        if (
            ":" in login
            or "@" in before
            or any(sign in authority for sign in "?&=")
            or any(s in database for s in "&=:")
        ):
            raise _holds_a_password()
        options = _options(query)
        if not separator or not database or not name:
            raise ValueError(
                f"A table in PostgreSQL is named like {_SHAPE}. Found no database, or no table after `::`: name both."
            )
        if at and not login:
            raise ValueError(f"A user stands before the @, as in postgresql://USER@HOST. Found none: {_SHAPE}.")
        host, port = _place(place)
        schema, table = _table(name)
        return cls(host, port, _decoded(database), schema, table, _decoded(login), options)

    @property
    def relation(self) -> str:
        """`schema.table`, each in quotes where it needs them."""
        return f"{_plainly(self.schema)}.{_plainly(self.table)}"

    @property
    def name(self) -> str:
        """What receipts call it: without where the database is."""
        return f"{self.database}::{self.relation}"

    @property
    def server(self) -> str:
        """Host and port."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def location(self) -> str:
        """What the table is, for a ledger: the same text for all spellings of an address, and no user in it."""
        host = f"[{self.host}]" if ":" in self.host else _encoded(self.host.removesuffix("."))
        return f"postgresql://{host}:{self.port}/{_encoded(self.database)}::{self.relation}"

    @property
    def for_driver(self) -> str:
        """The address of the database as libpq reads it.

        Texts come in UTF-8, whatever PGCLIENTENCODING says; and the server is the one that the host names, whatever
        address PGHOSTADDR or a service gives for it.
        """
        host = f"[{self.host}]" if ":" in self.host else _encoded(self.host)
        user = f"{_encoded(self.user)}@" if self.user else ""
        options = (*self.options, ("client_encoding", "UTF8"), ("application_name", "counterfoil"), ("hostaddr", ""))
        query = "&".join(f"{key}={_encoded(value)}" for key, value in options)
        return f"postgresql://{user}{host}:{self.port}/{_encoded(self.database)}?{query}"


def require_no_secret(address: str) -> None:
    """Refuses `user:secret@` in the address of any file system or server, such as `s3a://KEY:SECRET@bucket/people`.

    Raises:
        ValueError: without any part of the address.
    """
    if _LOGIN_WITH_SECRET.search(address) is not None:
        raise ValueError(
            "An address must not hold a password or a secret key, which ledgers, lists of processes and shells would "
            "show. Found one: leave it out, and put it into the settings of what reads the address, such as "
            "spark-defaults.conf."
        )


def stem_of(source: str) -> str:
    """What files are called that are made of a table: "people" for people.csv.gz, people.db::people, or an address.

    Of a table of a database it is its own name, without what no file name may hold; in a file also that of its schema.
    """
    if on_a_server(source):
        table = TableURL.of(source).table
    else:
        _, separator, table = source.rpartition("::")
        if not separator:
            return Path(source).name.split(".")[0]
    return re.sub(r"[^\w-]+", "_", table).strip("_") or "table"


def _holds_a_password() -> ValueError:
    return ValueError(
        "An address must not hold a password, which lists of processes and shells would show. Found one: leave it out, "
        "and put it into PGPASSWORD, into ~/.pgpass, or into the service that PGSERVICE names."
    )


def _options(query: str) -> tuple[tuple[str, str], ...]:
    pairs = [part.partition("=") for part in query.split("&") if part]
    if any(key.strip().lower() in _SECRETS for key, _, _ in pairs):
        raise _holds_a_password()
    if any(key not in _OPTIONS for key, _, _ in pairs):
        raise ValueError(
            f"The options of an address say how to connect: {', '.join(_OPTIONS)}. Found another one: leave it out."
        )
    return tuple((key, _decoded(value)) for key, _, value in pairs)


def _place(text: str) -> tuple[str, str]:
    """Host and port, from the environment where the address leaves them out."""
    if os.environ.get("PGHOSTADDR"):
        raise ValueError(
            "A ledger knows a server by the name of its host. Found PGHOSTADDR set, with which every name leads to one "
            "server: unset it, and name that address as the host."
        )
    found = re.fullmatch(r"(?:\[([0-9a-fA-F:.%]+)\]|([^:\[\]]*))(?::([^:\[\]]*))?", text)
    if found is None:
        raise ValueError(f"A host is a name or a number, with a port behind it: {_SHAPE}. Found neither: correct it.")
    host = found[1] or _decoded(found[2] or "") or os.environ.get("PGHOST", "")
    port = found[3] or os.environ.get("PGPORT", "") or _DEFAULT_PORT
    if not host:
        raise ValueError(
            f"An address names its host: {_SHAPE}. Found none: name it, or set PGHOST, to the folder of its socket "
            "for a server without a network."
        )
    if "," in host or "," in port:
        raise ValueError("A ledger is kept for one table on one host and port. Found several: name one.")
    return _spelled(host), _port(port, where="after the host" if found[3] else "in PGPORT")


def _port(text: str, *, where: str) -> str:
    """A port without zeros before it; what is none may be a password, and is not repeated."""
    if re.fullmatch(r"0*[1-9][0-9]{0,4}", text) is None or int(text) > _LAST_PORT:
        raise ValueError(
            f"A port is a whole number from 1 to {_LAST_PORT}. Found something else {where}: correct it, or leave it "
            f"out for {_DEFAULT_PORT}, and put a password into PGPASSWORD or ~/.pgpass."
        )
    return str(int(text))


def _spelled(host: str) -> str:
    """One spelling of a folder, of a number of a host, or of a name."""
    if host.startswith("/"):  # `..` stays: what is above a link is not what stands before it
        return f"/{PurePosixPath(host.lstrip('/'))}" if host.strip("/") else "/"
    try:
        return str(ip_address(host))
    except ValueError:
        return host.lower()


def _table(text: str) -> tuple[str, str]:
    if any(sign in _QUOTED.sub("", text) for sign in _SIGNS):
        raise ValueError(
            "Behind the `::` stands the name of a table, and neither a password nor an option. Found one of "
            f"{' '.join(_SIGNS)} outside of quotes: put a password into PGPASSWORD or ~/.pgpass, and a name that has "
            "such a sign into double quotes."
        )
    found = _NAME.fullmatch(text)
    if found is None or "\0" in text:
        raise ValueError(
            "A table is named as TABLE or SCHEMA.TABLE. Found more dots or quotes: put a name that has some into "
            'double quotes, and write each quote in it twice, as in public."my.table".'
        )
    schema, table = (_unquoted(part) for part in (found[1] or _DEFAULT_SCHEMA, found[2]))
    return schema, table


def _unquoted(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def _plainly(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    return '"' + name.replace('"', '""') + '"'


def _decoded(text: str) -> str:
    """The text with %20 and the like replaced, as UTF-8."""
    parts = re.split(r"%([0-9a-fA-F]{2})", text)
    raw = b"".join(bytes.fromhex(part) if i % 2 else part.encode("utf-8") for i, part in enumerate(parts))
    try:
        decoded = raw.decode("utf-8")
    except UnicodeDecodeError:
        decoded = "\0"
    if "\0" in decoded:
        raise ValueError("An address is text in UTF-8, with %20 for a space. Found other bytes: correct it.")
    return decoded


def _encoded(text: str) -> str:
    return "".join(chr(byte) if byte in _UNRESERVED else f"%{byte:02X}" for byte in text.encode("utf-8"))
