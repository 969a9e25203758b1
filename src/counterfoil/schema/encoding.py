"""The encoding of a table's text files, under the names of the Encoding Standard (W3C, https://encoding.spec.whatwg.org).

Two of the names stand for supersets, as there: iso-8859-1 for windows-1252, and iso-8859-9 for windows-1254. UTF-16 is
recognized by the first bytes of a file, so that nobody states it.
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping

from counterfoil.schema.errors import SchemaError, did_you_mean

UTF_8 = "utf-8"

_CODECS: Mapping[str, str] = {
    UTF_8: "utf-8",
    **{f"windows-{page}": f"cp{page}" for page in (1250, 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258, 874)},
    **{f"iso-8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "macintosh": "mac-roman",
    "koi8-r": "koi8-r",
    "koi8-u": "koi8-u",
    **{f"ibm{page}": f"cp{page}" for page in (437, 850, 852, 866)},
    "shift_jis": "cp932",
    "euc-jp": "euc_jp",
    "gbk": "gbk",
    "gb18030": "gb18030",
    "big5": "cp950",
    "euc-kr": "cp949",
}
"""The codecs of Python that read them."""

_READ_BY: Mapping[str, str] = {
    "ascii": UTF_8,
    "iso8859-1": "windows-1252",
    "iso8859-9": "windows-1254",
    "shift_jis": "shift_jis",
    "gb2312": "gbk",
    "big5": "big5",
    "euc_kr": "euc-kr",
}
"""By other codecs of Python, whose texts the named encoding reads alike."""


def encoding_named(name: str) -> str:
    """The encoding under its one name, of any that is common for it, such as latin1 or cp1252.

    Raises:
        SchemaError: for no such encoding.
    """
    plain = name.strip().lower()
    if plain in _CODECS:
        return plain
    try:
        codec = codecs.lookup(plain).name
    except (LookupError, ValueError):
        codec = ""
    if codec.startswith("utf-16"):
        raise SchemaError("UTF-16 is recognized by the first bytes of a file. Leave `encoding` out.")
    by_codec = {codecs.lookup(codec).name: known for known, codec in _CODECS.items()} | dict(_READ_BY)
    if codec not in by_codec:
        hint = did_you_mean(plain, _CODECS)
        raise SchemaError(f'`encoding` must be the name of one, such as "windows-1252"; found {name!r}.{hint}')
    return by_codec[codec]


def codec_of(encoding: str) -> str:
    """Python's codec for a name that `encoding_named` returned."""
    return _CODECS[encoding]


def require_letters(text: str, encoding: str) -> None:
    """Refuses a text with a letter that the encoding lacks.

    Raises:
        SchemaError: which names the letter and the line.
    """
    try:
        text.encode(codec_of(encoding))
    except UnicodeEncodeError as error:
        line = text[: error.start].rpartition("\n")[2] + text[error.start :].partition("\n")[0]
        raise SchemaError(
            f"`encoding = {encoding!r}`: the encoding has no {text[error.start]!r}. Found it in `{line[:80]}`: correct "
            "the encoding or the text."
        ) from None
