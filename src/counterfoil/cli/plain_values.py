"""Options that are written in the plainest way are read here; all others as typer reads them.

Typer reads every option by pydantic, which takes .15 seconds to import. What is read here becomes what typer makes of
it, and whatever is not so plain that this is certain is left to typer, as is every complaint.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WHOLE = re.compile(r"-?[0-9]{1,15}", re.ASCII)
_NUMBER = re.compile(r"-?([0-9]+(\.[0-9]+)?|\.[0-9]+)(e-?[0-9]{1,2})?", re.ASCII)
_UNREAD = object()
"""That a value is left to typer."""


def read_plainly(command: Any) -> None:
    """Makes a command read what is plain without typer, where this typer is one that is known."""
    as_typer_does = command.get_params

    def get_params(context: Any) -> list[Any]:
        parameters = as_typer_does(context)  # with --help, which has no other place
        for parameter in parameters:
            if hasattr(parameter, "type_descriptor") and "process_value" not in vars(parameter):
                parameter.process_value = _reader(parameter)
        return parameters

    command.get_params = get_params


def _reader(parameter: Any) -> Callable[[Any, Any], Any]:
    described, as_typer_does = parameter.type_descriptor, parameter.process_value
    several = parameter.multiple or parameter.nargs != 1

    def process_value(context: Any, value: Any) -> Any:
        read: Any
        if value is None and not parameter.required:
            read = () if parameter.multiple or parameter.nargs == -1 else None
        else:
            read = (_all_read if several else _read)(described.annotation, described.parameter_info, value)
        if read is _UNREAD:
            return as_typer_does(context, value)
        return read if parameter.callback is None else parameter.callback(context, parameter, read)

    return process_value


def _all_read(kind: Any, about: Any, values: Any) -> Any:
    plain = kind == list[str] and about.parser is None and values and all(type(value) is str for value in values)
    return list(values) if plain else _UNREAD


def _read(kind: Any, about: Any, value: Any) -> Any:
    if value is None:
        return _UNREAD
    if about.parser is not None:
        return _parsed(about.parser, value)
    if about.min is not None or about.max is not None or about.clamp:
        return _UNREAD
    if kind is Path:
        return _path(about, value)
    if kind in (str, int, float) and type(value) is kind:
        return value
    if kind is int and type(value) is str and _WHOLE.fullmatch(value):
        return int(value)
    if kind is float and type(value) is str and _NUMBER.fullmatch(value):
        return float(value)
    return _UNREAD


def _parsed(parser: Callable[[Any], Any], value: Any) -> Any:
    try:
        return parser(value)
    except Exception:  # typer says what is wrong
        return _UNREAD


def _path(about: Any, value: Any) -> Any:
    """The path, where there is no file or one that may be read; which of both is to be, and more, typer looks at."""
    asked = about.writable or about.resolve_path or about.allow_dash or about.path_type is not None
    if asked or not (about.file_okay and about.dir_okay) or type(value) is not str:
        return _UNREAD
    path = Path(value)
    try:
        path.stat()
    except OSError:
        return _UNREAD if about.exists else path
    return path if os.access(path, os.R_OK) else _UNREAD
