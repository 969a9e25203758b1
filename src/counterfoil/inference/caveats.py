"""What no interval counts: the command says it, and Python warns of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

from counterfoil.callers import outside_the_package
from counterfoil.inference.evidence import Evidence
from counterfoil.receipt.schema_check import warnings_by_column

Asked = TypeVar("Asked", bound=Callable[..., Any])


class InferenceWarning(UserWarning):
    """A conclusion is about other records than it seems, or about values that the schema changed."""


def caveats(evidence: Evidence, asked: Sequence[str], *, of_all: bool = False) -> list[str]:
    """The sentences on a question.

    Args:
        evidence: of the release.
        asked: columns, or conditions that name them.
        of_all: whether it is about all columns, as models for a target are.
    """
    names = [*(evidence.schema.domain.attributes if of_all else ()), *asked]
    return [*_drawn_under(evidence), *_changed(evidence.receipt.document, names)]


def with_caveats(*, of_all: bool = False) -> Callable[[Asked], Asked]:
    """For a function of a release and a question: it warns of them, but where it is given an `Evidence`."""

    def decorated(function: Asked) -> Asked:
        @wraps(function)
        def found(release: Any, *arguments: Any, **options: Any) -> Any:
            if isinstance(release, Evidence):
                return function(release, *arguments, **options)
            evidence = Evidence.of(release)
            answer = function(evidence, *arguments, **options)
            for sentence in caveats(evidence, [*_texts([*arguments, *options.values()])], of_all=of_all):
                warnings.warn(sentence, InferenceWarning, stacklevel=outside_the_package())
            return answer

        return cast(Asked, found)

    return decorated


def _texts(arguments: Iterable[Any]) -> Iterable[str]:
    for one in arguments:
        if isinstance(one, str):
            yield one
        elif isinstance(one, Sequence):
            yield from _texts(one)


def _drawn_under(evidence: Evidence) -> list[str]:
    """That answers are about the whole table, where the rows are only those that meet a condition."""
    if evidence.conditional is None:
        return []
    return [
        f"These rows were drawn where {evidence.conditional}. What is found is about all records of the table that was "
        "copied, not about those that meet the condition."
    ]


def _changed(document: Mapping[str, Any], asked: Sequence[str]) -> list[str]:
    """What the schema did to the cells of the columns that are asked about, which no interval counts."""
    warned = warnings_by_column(document)
    named = [name for name in warned if any(name in words for words in asked)]
    return [f"No interval counts what the schema changed. {sentence}" for name in named for sentence in warned[name]]
