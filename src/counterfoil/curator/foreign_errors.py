"""Errors of code that a user brought: it was handed records, and may say in its error what they hold."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from counterfoil.brought import BroughtFailed, is_ours

_PACKAGE = Path(sys.modules["counterfoil"].__file__ or "").parent
_STANDARD = Path(sysconfig.get_paths()["stdlib"])


@contextmanager
def without_foreign_words(query: str, vouched_for: Sequence[str]) -> Iterator[None]:
    """Replaces an error by its type and a sentence, where a query holds parts that its user vouches for.

    An error of this package's own, such as that of a cell without a place, stays as it is, unless another's code was at
    work when it was raised. An exit is an error here, so that it is noted as one; an interrupt stays one.

    Args:
        query: its name.
        vouched_for: the parts, as receipts name them; where there is none, nothing is replaced.

    Raises:
        BroughtFailed: in place of the error.
    """
    if not vouched_for:
        yield
        return
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt from None  # what it may say is left out
    except BaseException as error:
        if is_ours(type(error)) and not _passed_foreign_code(error):
            raise
        raise BroughtFailed(
            f"The query {query} failed on the records, with what its user vouches for ({', '.join(vouched_for)}): "
            f"{type(error).__name__}. What the error says may quote a record, and is left out: try it on made-up rows."
        ) from None


def _passed_foreign_code(error: BaseException) -> bool:
    """Whether code was at work that is neither this package's nor Python's own."""
    places = [Path(frame.f_code.co_filename) for frame, _ in traceback.walk_tb(error.__traceback__)]
    return not all(place.is_relative_to(_PACKAGE) or _is_standard(place) for place in places)


def _is_standard(place: Path) -> bool:
    return place.is_relative_to(_STANDARD) and not {"site-packages", "dist-packages"} & set(place.parts)
