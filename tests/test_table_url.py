"""Addresses of tables in PostgreSQL: one reading, one spelling for ledgers, and no password."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counterfoil.curator.sources.opening import open_source
from counterfoil.kept_files import kept_source, on_a_server
from counterfoil.ledger.ledger import SourceIdentity
from counterfoil.table_url import TableURL, require_no_secret, stem_of

SECRET = "hunter2"
NAMES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def nothing_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGHOST", raising=False)
    monkeypatch.delenv("PGPORT", raising=False)
    monkeypatch.delenv("PGHOSTADDR", raising=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://h/d::t", ("h", "5432", "d", "public", "t")),
        ("postgres://H.Example:6543/D::s.t", ("h.example", "6543", "D", "s", "t")),
        ("POSTGRESQL://h:05432/d::T", ("h", "5432", "d", "public", "T")),
        ("postgresql://[::1]:6/d::s.t", ("::1", "6", "d", "s", "t")),
        ("postgresql://%2Frun%2FPG/d::s.t", ("/run/PG", "5432", "d", "s", "t")),
        ("postgresql://h/my%20db::my table", ("h", "5432", "my db", "public", "my table")),
        ('postgresql://h/d::"a.b"."c""d"', ("h", "5432", "d", "a.b", 'c"d')),
        ('postgresql://h/d::"a::b"', ("h", "5432", "d", "public", "a::b")),
        ("postgresql://h/d::drop table x; --", ("h", "5432", "d", "public", "drop table x; --")),
    ],
)
def test_an_address_is_read(text: str, expected: tuple[str, ...]) -> None:
    url = TableURL.of(text)
    assert (url.host, url.port, url.database, url.schema, url.table) == expected
    assert on_a_server(text)
    assert dataclasses.replace(TableURL.of(url.location), user=url.user) == url


@given(database=NAMES, schema=NAMES, table=NAMES, user=NAMES)
def test_every_name_can_be_written(database: str, schema: str, table: str, user: str) -> None:
    """The spelling for ledgers reads back as the same table, whatever letters its names have."""
    url = TableURL("h", "1", database, schema, table, user)
    assert dataclasses.replace(TableURL.of(url.location), user=user) == url
    assert url.for_driver.isascii()


def test_host_and_port_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="names its host"):
        TableURL.of("postgresql:///d::t")
    monkeypatch.setenv("PGHOST", "/var/run/postgresql")
    monkeypatch.setenv("PGPORT", "6000")
    assert TableURL.of("postgresql:///d::t").server == "/var/run/postgresql:6000"
    assert TableURL.of("postgresql://h:7/d::t").server == "h:7"


@pytest.mark.parametrize(
    "text",
    [
        f"postgresql://me:{SECRET}@h/d::t",
        f"postgresql://me:@h/{SECRET}::t",
        f"postgresql://:{SECRET}@h/d::t",
        f"postgresql://me:x/{SECRET}@h/d::t",
        f"postgresql://me:x::{SECRET}@h/d::t",
        f"postgresql://h/d?password={SECRET}::t",
        f"postgresql://h/d?sslmode=require&PassWord={SECRET}::t",
        f"postgresql://h/d?sslpassword={SECRET}::t",
        f"postgresql://h/d::t?password={SECRET}",
        f"postgresql://h/d::t;password={SECRET}",
        f"postgresql://u:123/w::{SECRET}@h/d::t",
        f"postgresql://h?password={SECRET}/d::t",
        f"postgresql://h/d&password={SECRET}::t",
    ],
)
def test_a_password_is_refused_and_not_repeated(text: str) -> None:
    for read in (TableURL.of, SourceIdentity.of, open_source):
        with pytest.raises(ValueError, match=r"password.*PGPASSWORD.*pgpass") as refused:
            read(text)
        assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"postgresql+psycopg://me:{SECRET}@h/d::t", "another scheme"),
        (str(Path(f"postgresql://me:{SECRET}@h/d::t")), "another scheme"),
        (f"postgresql://h/{SECRET}", "no database, or no table"),
        (f"postgresql://h::{SECRET}", "no database, or no table"),
        (f"postgresql://h/::{SECRET}", "no database, or no table"),
        (f"postgresql://h/d::a.b.{SECRET}", "double quotes"),
        (f'postgresql://h/d::"a{SECRET}', "double quotes"),
        (f"postgresql://h/d::.{SECRET}", "double quotes"),
        (f"postgresql://h/d?options={SECRET}::t", "say how to connect"),
        (f"postgresql://h/d?host={SECRET}::t", "say how to connect"),
        (f"postgresql://h,{SECRET}/d::t", "one host"),
        (
            f"postgresql://h:{SECRET}/d::t",
            r"port is a whole number from 1 to 65535\. Found something else after the host",
        ),
        (f"postgresql://[h{SECRET}/d::t", "neither"),
        (f"postgresql://@{SECRET}/d::t", "USER@HOST"),
        (f"postgresql://h/{SECRET}%00::t", "UTF-8"),
        (f"postgresql://h/{SECRET}%FF::t", "UTF-8"),
    ],
)
def test_what_is_no_address_is_refused_and_not_repeated(text: str, says: str) -> None:
    for read in (TableURL.of, SourceIdentity.of, open_source):
        with pytest.raises(ValueError, match=says) as refused:
            read(text)
        assert SECRET not in str(refused.value)


@pytest.mark.parametrize("port", ["0", "00", "65536", "99999", "123456789", "-1", "5432x", "٥٤٣٢", "5432 "])
@pytest.mark.parametrize("named", [True, False])
def test_a_port_that_is_none_is_refused_with_what_to_do_and_not_repeated(
    monkeypatch: pytest.MonkeyPatch, port: str, named: bool
) -> None:
    """Digits behind a name may be a password whose `@` was forgotten."""
    if not named:
        monkeypatch.setenv("PGPORT", port)
    for read in (TableURL.of, SourceIdentity.of, open_source):
        with pytest.raises(ValueError, match=r"from 1 to 65535\. .*: correct it, or leave it out for 5432") as refused:
            read(f"postgresql://h:{port}/d::t" if named else "postgresql://h/d::t")
        assert ("in PGPORT" in str(refused.value)) == (not named)
        assert len(port) < 3 or port not in str(refused.value)


@given(st.integers(1, 65535), st.integers(0, 3))
def test_every_port_is_read(port: int, zeros: int) -> None:
    assert TableURL.of(f"postgresql://h:{'0' * zeros}{port}/d::t").port == str(port)


def test_a_ledger_knows_a_table_by_its_place_and_not_by_its_reader() -> None:
    one = SourceIdentity.of("postgresql://alice@DB:5432/shop::people")
    other = SourceIdentity.of('postgres://bob@db/shop?sslmode=require::"public"."people"')
    assert one == other == SourceIdentity("shop::public.people", "postgresql://db:5432/shop::public.people")
    assert one.is_the_same_as(other)
    one.require_there()  # a connection would tell
    for text in ("postgresql://db:1/shop::people", "postgresql://db/shop::People", "postgresql://db/s.people::people"):
        assert not one.is_the_same_as(SourceIdentity.of(text))
    assert not one.is_the_same_as(SourceIdentity.of("shop::people"))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("postgresql://%2Frun%2Fpg/d::t", "postgresql://%2F%2Frun%2F.%2Fpg%2F/d::t"),
        ("postgresql://[::1]/d::t", "postgresql://[0:0:0:0:0:0:0:1]/d::t"),
        ("postgresql://h.example/d::t", "postgresql://H.example./d::t"),
        ("spark+parquet:///data/people", "spark+parquet:///data/./people/"),
        ("spark+parquet:///data/people", "spark+parquet://file:///data//people"),
        ("spark+parquet://hdfs://h/people", "spark+parquet://HDFS://h/x/../people/"),
    ],
)
def test_one_table_has_one_identity(one: str, other: str) -> None:
    assert SourceIdentity.of(one) == SourceIdentity.of(other)
    assert SourceIdentity.of(one).is_the_same_as(SourceIdentity("as it was written", other))
    assert not SourceIdentity.of(one).is_the_same_as(SourceIdentity.of(f"{other}2"))
    assert not SourceIdentity.of(one).is_the_same_as(SourceIdentity("memory", "memory"))


@pytest.mark.parametrize("place", [f"s3a://KEY:{SECRET}@bucket/people", f"ftp://ann:x/{SECRET}@h/people"])
def test_a_key_in_an_address_of_spark_is_refused(place: str) -> None:
    with pytest.raises(ValueError, match="secret key") as refused:
        SourceIdentity.of(f"spark+parquet://{place}")
    assert SECRET not in str(refused.value)


def test_what_looks_like_a_login_is_none() -> None:
    for place in ("hdfs://h:8020/a@b", "abfss://box@account.net/people", "/data/a:b@c", "hdfs://h/a@b:c@d"):
        require_no_secret(f"spark+parquet://{place}")


def test_no_other_server_stands_behind_a_host(monkeypatch: pytest.MonkeyPatch) -> None:
    assert TableURL.of("postgresql://h/d::t").for_driver.endswith("&hostaddr=")
    monkeypatch.setenv("PGHOSTADDR", "127.0.0.1")
    with pytest.raises(ValueError, match="PGHOSTADDR"):
        TableURL.of("postgresql://h/d::t")


def test_no_file_is_kept_for_a_server() -> None:
    assert kept_source("postgresql://h/d::t") == ()
    assert kept_source("people.csv") != ()


@pytest.mark.parametrize(
    ("source", "stem"),
    [
        ("postgresql://h/d::people", "people"),
        ("postgresql://h/d::sales.orders", "orders"),
        ('postgresql://h/d::"../../etc/x y.z"', "etc_x_y_z"),
        ('postgresql://h/d::"..."', "table"),
        ("folder/people.csv.gz", "people"),
        ("folder/shop.db::people", "people"),
        ("folder/shop.db::sales.orders", "sales_orders"),
        ('folder/shop.db::"../my.table"', "my_table"),
    ],
)
def test_files_are_called_after_the_table(source: str, stem: str) -> None:
    assert stem_of(source) == stem == Path(stem).name
