"""The text of a file in its encoding: as letters, as UTF-8, and where DuckDB, which reads no other, can read it.

Nothing is written to a disk: a thread hands the text over through a pipe.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import IO, TextIO

from counterfoil.curator.errors import SourceError
from counterfoil.schema.encoding import UTF_8, codec_of

UTF_16 = "utf-16"
BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)
_BLOCK = 2**18
_PIPES = Path("/dev/fd")


def encoding_of(path: Path, stated: str) -> str:
    """What the first bytes say: UTF-16, or UTF-8 with a mark; where they say nothing, what is stated."""
    with open_bytes(path) as stream:
        try:
            head = stream.read(3)
        except BROKEN_GZIP:  # whoever reads further says so
            return stated
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return UTF_16
    return UTF_8 if head == codecs.BOM_UTF8 else stated


def open_bytes(path: Path) -> IO[bytes]:
    """The bytes of the text, compressed or not."""
    # A GzipFile does not derive from IO, and has all of it that is used here.
    return gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb")  # type: ignore[return-value]


def open_text(path: Path, encoding: str, *, strict: bool = True) -> TextIO:
    """The letters, line ends as they are.

    Args:
        path: of the file.
        encoding: as `encoding_of` has it.
        strict: whether bytes that are no text raise UnicodeDecodeError; else they stand as surrogates, which are in no
            text: U+FFFD may be.
    """
    errors = "strict" if strict else "surrogateescape" if encoding == UTF_8 else _MARKED
    return io.TextIOWrapper(open_bytes(path), encoding=_codec(encoding), errors=errors, newline="")


_MARKED = "counterfoil.marked"
codecs.register_error(_MARKED, lambda error: ("\udcff", error.end))  # type: ignore[attr-defined]


def _codec(encoding: str) -> str:
    return {UTF_8: "utf-8-sig", UTF_16: "utf-16"}.get(encoding) or codec_of(encoding)


def utf_8_blocks(path: Path, encoding: str) -> Iterator[bytes]:
    """The text as UTF-8, some at a time, without a mark; of a file in UTF-8 the bytes as they are, text or not.

    Raises:
        SourceError: with the line, for bytes that are no text of the encoding.
    """
    with open_bytes(path) as stream:
        if encoding == UTF_8:
            yield stream.read(_BLOCK).removeprefix(codecs.BOM_UTF8)
            while block := stream.read(_BLOCK):
                yield block
            return
        decoder, lines = codecs.getincrementaldecoder(_codec(encoding))(), _Lines()
        while True:
            block, before = stream.read(_BLOCK), decoder.getstate()
            try:
                text = decoder.decode(block, final=not block)
                yield text.encode()
            except UnicodeDecodeError as error:
                # The bytes that the block before ended with come first in what was decoded.
                sound = error.object[len(before[0]) : error.start]
                decoder.setstate(before)
                lines.see(decoder.decode(sound), last=True)
                raise no_text(f"{path.name}, line {lines.ended + 1}", encoding) from None
            lines.see(text)
            if not block:
                return


class _Lines:
    """How many lines of a text ended that is seen in parts."""

    def __init__(self) -> None:
        self.ended = 0
        self._ends = io.IncrementalNewlineDecoder(None, translate=True)

    def see(self, text: str, *, last: bool = False) -> None:
        self.ended += self._ends.decode(text, final=last).count("\n")


def no_text(where: str, encoding: str) -> SourceError:
    """What to say of bytes that are no text of the encoding.

    Args:
        where: the file, and the line where it is known.
        encoding: that it should have.
    """
    if encoding == UTF_16:
        return SourceError(f"{where}: the text is not UTF-16, as its first bytes say. Save it again, as UTF-8.")
    if encoding == UTF_8:
        return SourceError(f"{where}: {NO_UTF_8}.")
    return SourceError(
        f"{where}: the text is not {encoding}. State the encoding that the file has, or save it as UTF-8."
    )


NO_UTF_8 = (
    "the text is not UTF-8; state its encoding, for a new schema as in --encoding windows-1252 (windows-1250 where it "
    'is Polish or Czech), in one that there is as in `encoding = "windows-1252"` above its tables'
)


_fed: set[int] = set()
"""The ends of pipes that are written to."""


def _leave_to_parent() -> None:
    """Closes them in a process that was forked meanwhile, before whose end no reader would see the end of the text."""
    while _fed:
        with suppress(OSError):
            os.close(_fed.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


@contextmanager
def readable(path: Path, encoding: str) -> Iterator[Path]:
    """Where the text can be read as UTF-8: the file itself, or a pipe, which is read once and in order.

    Raises:
        SourceError: on a system without such pipes, and at the end where a text came to no end: of what was cut off
            within the last record, the number of records does not tell.
    """
    if encoding == UTF_8:
        yield path
        return
    if not _PIPES.is_dir():
        raise SourceError(f"{path.name}: this system reads UTF-8 alone, and the text is {encoding}. Save it as UTF-8.")
    end, start = os.pipe()
    left, failed = Event(), Event()
    feeder = Thread(
        target=_feed, args=(path, encoding, start, left, failed), name=f"counterfoil reads {path.name}", daemon=True
    )
    _fed.add(start)
    feeder.start()
    try:
        yield _PIPES / str(end)
    finally:
        # A reader that left early may hold its end open, and a full pipe would hold the feeder.
        left.set()
        try:
            while os.read(end, _BLOCK):
                pass
        finally:
            os.close(end)
        feeder.join()
    if failed.is_set():
        raise SourceError(
            f"{path.name} was read to its end before, and can't be now: it has changed, or its disk fails."
        )


def _feed(path: Path, encoding: str, start: int, left: Event, failed: Event) -> None:
    """Writes the text into a pipe until it ends, or nobody reads it."""
    with os.fdopen(start, "wb", buffering=0) as pipe:
        try:
            for block in utf_8_blocks(path, encoding):
                rest = memoryview(block)
                while rest and not left.is_set():
                    rest = rest[pipe.write(rest) :]
                if left.is_set():
                    return
        except Exception:  # it may quote the text, and the reader has a sentence of its own
            failed.set()
        finally:
            _fed.discard(start)
