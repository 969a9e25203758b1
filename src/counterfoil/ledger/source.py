"""Which records a ledger is for: a name and a place, and when two of them are the same."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from counterfoil.kept_files import SPARK, on_a_server
from counterfoil.table_url import TableURL, require_no_secret


@dataclass(frozen=True)
class SourceIdentity:
    """The records that a ledger is for, identified by name and location alone.

    A fingerprint of the records would let anyone who guesses the table confirm the guess. The price is that
    the ledger can't notice when other records are put in the same place.

    Args:
        name: what people call it, such as "adult".
        location: where it is, such as an absolute path, "memory", or the host, port, database, schema and name of a
            table in PostgreSQL. One server under two names of its host counts as two. For Spark a path and the same
            path after `file://` count as one.
    """

    name: str
    location: str

    def __str__(self) -> str:
        return f"{self.name!r} at {self.location!r}"

    @classmethod
    def of(cls, source: SourceIdentity | str | os.PathLike[str]) -> SourceIdentity:
        """The identity of the table at a path, of `file.db::table`, or of one in PostgreSQL; nothing is opened.

        Raises:
            ValueError: for an address that holds a password, or is none (`TableURL.of`).
            TypeError: for anything else, a table in memory among it.
        """
        if isinstance(source, SourceIdentity):
            return source
        if not isinstance(source, (str, os.PathLike)):
            raise TypeError(
                "`source` must be the path of the sensitive table, or `counterfoil.SourceIdentity('memory', 'memory')` "
                f"for a table in memory. Found {type(source).__name__}: give one of these."
            )
        place = os.fspath(source)
        if on_a_server(place):
            url = TableURL.of(place)
            return cls(url.name, url.location)
        if place.startswith(SPARK):
            require_no_secret(place)
            location = _spark_location(place)
            return cls(location.rpartition("/")[2], location)
        file, separator, table = place.rpartition("::")
        path = Path(file if separator else place).expanduser().absolute()
        return (
            cls(f"{path.name}{separator}{table}", f"{path}{separator}{table}")
            if separator
            else cls(path.name, str(path))
        )

    def require_there(self) -> None:
        """Refuses a place where there is no file, so that no ledger is kept for a slip of the pen.

        Whether a table of a server is there takes a connection: that is left to whoever reads it.

        Raises:
            ValueError: which names the file.
        """
        if self._has_file and not os.path.isfile(file := self._place[0]):
            raise ValueError(f"A ledger is kept for a table that is there. Found no file {file}: correct the path.")

    def is_the_same_as(self, other: SourceIdentity) -> bool:
        """Whether both are the same file now, by whatever links and names; or, without a file, are called the same.

        A link is followed when this is asked: one that was made to lead elsewhere leads to another table.
        """
        if self == other:
            return True
        if not (self._has_file and other._has_file):
            spelled = self._one_spelling()
            return bool(spelled) and spelled == other._one_spelling()
        (file, table), (other_file, other_table) = self._place, other._place
        return table == other_table and _are_one_file(file, other_file)

    def _one_spelling(self) -> str:
        """The address as `of` spells it, for one that was written down otherwise; empty for what is no address."""
        if self.location.startswith(SPARK):
            return _spark_location(self.location)
        if not on_a_server(self.location):
            return ""
        try:
            return TableURL.of(self.location).location
        except ValueError:  # of another version, or made by hand
            return self.location

    @property
    def _has_file(self) -> bool:
        return self.location != "memory" and not (on_a_server(self.location) or self.location.startswith(SPARK))

    @property
    def _place(self) -> tuple[str, str]:
        file, separator, table = self.location.rpartition("::")
        return os.path.realpath(file if separator else self.location), table if separator else ""


def why_wrong(ledger: str, served: SourceIdentity, found: SourceIdentity) -> str:
    """The sentence for a ledger that is asked to serve other records than its own.

    Args:
        ledger: its file, as it stands in a command.
        served: the records that it is for.
        found: those that it was given.
    """
    if found.location == "memory":
        remedy = "A table in memory can't be compared with it: give the path of that file instead"
    elif served.location == "memory":
        remedy = (
            "Give the table in memory that it was created for; if that is now a file, write it down with `Ledger.move`"
        )
    else:
        remedy = (
            "If that table was moved or renamed, write it into the ledger: counterfoil ledger move "
            f"{shlex.quote(ledger)} --source {shlex.quote(found.location)}"
        )
    return f"A ledger serves the source that it was created for. {ledger} is for {served}; found {found}. {remedy}."


def _spark_location(address: str) -> str:
    """One spelling of a path for Spark, whose file systems resolve `.` and `..` in the text of a path.

    A path without a scheme is one of the cluster's default file system, which on one machine is that of `file://`.
    """
    path = re.sub(r"^file:(//(localhost)?)?(?=/)", "", address.removeprefix(SPARK), flags=re.IGNORECASE)
    scheme, separator, rest = path.partition("://")
    if not path.startswith("/") and separator:
        authority, slash, below = rest.partition("/")
        start, path = f"{scheme.lower()}://{authority}", f"{slash}{below}"
    else:
        start = ""
    return f"{SPARK}{start}{_normal(path) if path.startswith('/') else path}"


def _normal(path: str) -> str:
    normal = posixpath.normpath("/" + path.lstrip("/"))
    return "" if normal == "/" else normal


def _are_one_file(one: str, other: str) -> bool:
    try:
        return one == other or os.path.samefile(one, other)
    except OSError:  # one of them is no file, or not here
        return False
