"""A chart as the specification that Vega-Lite reads, for pictures of which a page has many.

Altair checks and copies each part of a chart many times, which takes longer than drawing it.
"""

from __future__ import annotations

from collections.abc import Mapping
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
