"""A chart as the specification that Vega-Lite reads.

Altair, which writes such specifications too, takes longer to load than most pictures take to be drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"


@dataclass(frozen=True)
class Drawing:
    """A chart that `svg.render` takes as it takes one of Altair.

    Args:
        specification: of Vega-Lite, with its data as records.
    """

    specification: Mapping[str, Any]

    def to_dict(self, *, validate: bool = True) -> dict[str, Any]:
        """The specification; it is as it was written, whether `validate` is asked for or not."""
        return {"$schema": _SCHEMA, **self.specification}


def layer(mark: Mapping[str, Any], records: Sequence[Mapping[str, Any]], encoding: Mapping[str, Any]) -> dict[str, Any]:
    """A part of a drawing that has data of its own."""
    return {"data": {"values": records}, "mark": mark, "encoding": encoding}
