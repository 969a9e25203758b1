"""CSV files in other encodings than UTF-8: what is read is what Python's own codecs and its csv module read."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterfoil.curator.errors import SourceError
from counterfoil.curator.sources import text_encoding
from counterfoil.curator.sources.file_source import FileSource, open_csv
from counterfoil.curator.sources.text_encoding import encoding_of, readable
from counterfoil.schema.encoding import _CODECS, UTF_8, codec_of

OTHERS = [name for name in _CODECS if name != UTF_8]


@cache
def letters(encoding: str) -> str:
    """All that its bytes from 128 on mean, alone or followed by another one, and some of ASCII."""
    codec = codec_of(encoding)
    pairs = [bytes([one, other]) for one in range(128, 256) for other in range(64, 256)]
    alone = [bytes([one]) for one in range(128, 256)]
    found = "".join(text.decode(codec, "ignore") for text in (*alone, *pairs))
    return "".join(dict.fromkeys(found)) + "ab ,;'\t|"


def rows_of(path: Path, encoding: str = UTF_8, *, batch_rows: int = 7) -> list[list[str | None]]:
    source = open_csv(path, None, encoding)
    found = []
    for batch in source.batches(source.column_names, batch_rows):
        found += [list(row.values()) for row in batch.rows.to_pylist()]
    return found


def text_of(rows: list[list[str]], end: str = "\r\n") -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=";", lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()


def written(path: Path, data: bytes) -> Path:
    with gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb") as stream:
        stream.write(data)
    return path


@pytest.mark.parametrize("encoding", OTHERS)
def test_what_an_encoding_reads_it_can_write(encoding: str) -> None:
    """So that a schema that was bought of a file can always be written in the file's encoding."""
    text = letters(encoding)
    assert text.encode(codec_of(encoding)).decode(codec_of(encoding)) == text
    assert len(text) > 60


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize("encoding", OTHERS)
def test_cells_are_those_that_python_reads(encoding: str, suffix: str, tmp_path: Path) -> None:
    known = letters(encoding)

    @settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(st.lists(st.text(st.sampled_from(known + '"\n'), max_size=6), min_size=2, max_size=2), max_size=20))
    def check(rows: list[list[str]]) -> None:
        path = written(tmp_path / f"t{suffix}", text_of([["first", "second"], *rows], "\n").encode(codec_of(encoding)))
        expected = [[cell or None for cell in row] for row in rows]
        found = [[cell or None for cell in row] for row in rows_of(path, encoding)]
        assert found == expected

    check()


@pytest.mark.parametrize("stated", [UTF_8, "windows-1252"])
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
@pytest.mark.parametrize(
    ("mark", "codec"),
    [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF8, "utf-8")],
)
def test_the_first_bytes_say_more_than_what_is_stated(
    mark: bytes, codec: str, suffix: str, stated: str, tmp_path: Path
) -> None:
    rows = [["Köln", "€ 5"], ["𝄞", "two\r\nlines"], ["", "x"]]
    path = written(tmp_path / f"t{suffix}", mark + text_of([["Straße", "Wert"], *rows]).encode(codec))
    assert open_csv(path, (), stated).column_names == ("Straße", "Wert")
    assert [[cell or "" for cell in row] for row in rows_of(path, stated)] == rows


def test_names_are_read_in_the_encoding_and_places_are_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'Größe;b\nü;1\n"zwei\nZeilen";2\nä;3\n'.encode("cp1252"))
    source = open_csv(path, (), "windows-1252")
    assert source.column_names == ("Größe", "b")
    assert source.place(2) == "line 5 of t.csv"
    last = next(source.batches(["Größe"], 1, skip_rows=2))
    assert last.rows.to_pylist() == [{"Größe": "ä"}]


@pytest.mark.parametrize("header", ["ポスト番号,サンポ\r\n", '"ポ",ポ,ポ\n', "ソ\n"])
def test_bytes_of_letters_that_look_like_separators_need_no_encoding_where_no_name_is_shown(
    header: str, tmp_path: Path
) -> None:
    """ポ is the bytes 0x83 and 0x7C, a bar."""
    path = written(tmp_path / "t.csv", header.encode("cp932"))
    assert open_csv(path, None).column_names == ()


def test_a_name_that_another_program_could_not_read_is_a_name(tmp_path: Path) -> None:
    """Such programs write U+FFFD for what they do not know."""
    path = written(tmp_path / "t.csv", "Stra\ufffde;b\nü;1\n".encode("utf-16"))
    assert open_csv(path).column_names == ("Stra\ufffde", "b")
    for data, encoding in (
        (b"\xff\xfea\x00\x00\xd8;\x00", UTF_8),
        (b"a;\x81\n1;2\n", "windows-1252"),
        (b"a;\xb0\n", "euc-kr"),
    ):
        with pytest.raises(SourceError, match="the text is not"):
            open_csv(written(tmp_path / "t.csv", data), (), encoding)


def test_whoever_shows_no_name_needs_no_encoding(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", "Größe;Größe €\nü;1\n".encode("cp1252"))
    assert open_csv(path, None).name == "t.csv"
    with pytest.raises(SourceError, match="not UTF-8; state its encoding"):
        open_csv(path)


@pytest.mark.parametrize("block", [1, 5, 2**18])
@pytest.mark.parametrize(
    ("encoding", "data", "message"),
    [
        ("windows-1252", b"a;b\nzebra;1\n\x81;2\n", "t.csv, line 3: the text is not windows-1252. State the encoding"),
        ("shift_jis", b"a;b\r\nzebra;1\r\nz\x81 ;2\r\n", "t.csv, line 3: the text is not shift_jis"),
        ("euc-kr", b"a;b\nzebra;\xb0", "t.csv, line 2: the text is not euc-kr"),
        (UTF_8, b"\xff\xfea\x00;\x00b\x00\n\x00z\x00;\x00\n\x00z\x00;", "t.csv, line 3: the text is not UTF-16"),
        (UTF_8, b"\xff\xfea\x00;\x00b\x00\n\x00z\x00\x00\xd8z\x00", "t.csv, line 2: the text is not UTF-16"),
        ("gb18030", b"a;b\nzebra;\x81\x30\x81\x30\nz\x81\x30z\x30;1\n", "t.csv, line 3: the text is not gb18030"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_their_line_and_not_shown(
    encoding: str, data: bytes, message: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_encoding, "_BLOCK", block)
    path = written(tmp_path / "t.csv", data)
    with pytest.raises(SourceError) as caught:
        rows_of(path, encoding)
    assert message in str(caught.value)
    assert "z" not in str(caught.value).partition(":")[2]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("block", [16, 50, 2**18])
@pytest.mark.parametrize(("mark", "codec"), [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")])
def test_lines_are_counted_in_either_order_of_bytes(
    mark: bytes, codec: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_encoding, "_BLOCK", block)
    path = written(tmp_path / "t.csv", mark + ("a\n" + "1\n" * 40).encode(codec) + b"\xd8" * 4)
    with pytest.raises(SourceError, match="line 42: the text is not UTF-16"):
        rows_of(path, UTF_8)


def test_what_is_no_csv_is_explained_as_ever(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", 'ä;b\n1;2\n"ü"x;3\n'.encode("cp1252"))
    with pytest.raises(SourceError, match=r"t\.csv, line 3: a quoted value is not closed, or is followed by text"):
        rows_of(path, "windows-1252")


def feeders() -> int:
    return sum(thread.name.startswith("counterfoil reads") for thread in threading.enumerate())


def open_files() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.mark.parametrize("failure", [None, KeyboardInterrupt])
def test_a_reader_who_leaves_early_leaves_nothing_behind(failure: type[BaseException] | None, tmp_path: Path) -> None:
    """A pipe holds 64 KB or so: when nobody reads on, its writer waits, and must not wait forever."""
    path = written(tmp_path / "t.csv", b"a;b\n" + b"\xfc;zebra\n" * 400_000)
    before = open_files()
    with suppress(KeyboardInterrupt), readable(path, "windows-1252") as place:
        reader = place.open("rb", buffering=0)
        assert reader.read(7) == "a;b\nü;".encode()
        assert feeders() == 1
        if failure is not None:
            raise failure
    assert feeders() == 0
    reader.close()
    assert open_files() == before


def test_a_second_interrupt_while_the_first_is_followed_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: int) -> bytes:
        raise KeyboardInterrupt

    path, before = written(tmp_path / "t.csv", b"a;b\n" + b"\xfc;zebra\n" * 400_000), open_files()
    monkeypatch.setattr(os, "read", interrupted)
    with pytest.raises(KeyboardInterrupt), readable(path, "windows-1252"):
        raise KeyboardInterrupt
    for _ in range(100):
        if not feeders():
            break
        time.sleep(0.05)
    assert feeders() == 0
    assert open_files() == before


def test_a_source_that_is_read_twice_and_left_once_leaves_nothing_behind(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", b"a;b\n" + b"\xfc;zebra\n" * 400_000)
    before, source = open_files(), open_csv(path, (), "windows-1252")
    assert sum(batch.rows.num_rows for batch in source.batches(["a"])) == 400_000
    batches = source.batches(["a"], 10)
    assert next(batches).rows.to_pylist() == [{"a": "ü"}] * 10
    batches.close()
    assert feeders() == 0
    assert open_files() == before


@pytest.fixture
def slow_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileSource:
    """A table of 2,000 records whose text comes so slowly that whoever reads it waits."""
    source = open_csv(written(tmp_path / "t.csv", b"a;b\n" + b"\xfc;zebra\n" * 2000), (), "windows-1252")
    assert sum(batch.rows.num_rows for batch in source.batches(["a"])) == 2000
    blocks = text_encoding.utf_8_blocks

    def slowly(path: Path, encoding: str) -> Iterator[bytes]:
        for block in blocks(path, encoding):
            time.sleep(0.03)
            yield block

    monkeypatch.setattr(text_encoding, "_BLOCK", 2**10)
    monkeypatch.setattr(text_encoding, "utf_8_blocks", slowly)
    return source


@contextmanager
def sent(number: int, *, times: int) -> Iterator[None]:
    def send() -> None:
        for _ in range(times):
            time.sleep(0.05)
            os.kill(os.getpid(), number)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        with suppress(KeyboardInterrupt):
            sender.join()


def test_signals_that_a_program_handles_do_not_break_the_reading(slow_text: FileSource) -> None:
    """A read from a pipe ends with an error where a signal comes meanwhile, and DuckDB does not try again."""
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: seen.append(number))
    try:
        with sent(signal.SIGUSR1, times=8):
            assert sum(batch.rows.num_rows for batch in slow_text.batches(["a"])) == 2000
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert seen


def test_an_interrupt_ends_the_reading_as_what_it_is(slow_text: FileSource) -> None:
    def interrupted() -> bool:
        try:
            with sent(signal.SIGINT, times=1):
                list(slow_text.batches(["a"]))
        except KeyboardInterrupt:
            return True
        finally:
            assert feeders() == 0
        return False

    # Where tests run in the background of a shell, interrupts are ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert sum(interrupted() for _ in range(4)) >= 2  # a busy machine may send one too late
    finally:
        signal.signal(signal.SIGINT, before)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("failure", [OSError(5, "zebra"), MemoryError("zebra"), ValueError("zebra")])
def test_a_text_that_ends_within_its_last_record_is_refused(
    failure: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """There are as many records as before."""
    source = open_csv(written(tmp_path / "t.csv", b"a;b\n\xfc;1\n\xe4;12345\n"), (), "windows-1252")
    assert sum(batch.rows.num_rows for batch in source.batches(["a"])) == 2

    def cut_off(path: Path, encoding: str) -> Iterator[bytes]:
        yield "a;b\nü;1\nä;123".encode()
        raise failure

    monkeypatch.setattr(text_encoding, "utf_8_blocks", cut_off)
    with pytest.raises(SourceError, match="can't be now: it has changed, or its disk fails") as caught:
        list(source.batches(["a", "b"]))
    assert "zebra" not in f"{caught.value}{capfd.readouterr()}"
    assert feeders() == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_that_is_forked_meanwhile_does_not_hold_the_text(slow_text: FileSource) -> None:
    with readable(slow_text.path, "windows-1252") as place, place.open("rb") as reader:
        child = os.fork()
        if child == 0:
            time.sleep(30)
            os._exit(0)
        try:
            began = time.monotonic()
            assert len(reader.read().splitlines()) == 2001
            assert time.monotonic() - began < 20
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_without_such_pipes_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_encoding, "_PIPES", tmp_path / "none")
    path = written(tmp_path / "t.csv", "a;b\nü;1\n".encode("cp1252"))
    with pytest.raises(SourceError, match="this system reads UTF-8 alone, and the text is windows-1252"):
        rows_of(path, "windows-1252")


def test_a_text_in_utf_8_is_read_from_its_own_place(tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", b"a;b\n")
    assert encoding_of(path, UTF_8) == UTF_8
    with readable(path, UTF_8) as place:
        assert place == path
