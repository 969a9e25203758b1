"""Pictures for a notebook, which can also be saved."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from pathlib import Path

from counterfoil.files import write_text
from counterfoil.inert import inert


@dataclass(frozen=True)
class Picture:
    """One or more drawings with their titles. A notebook shows it; `save` writes it.

    Args:
        drawings: a title, an SVG as `svg.render` makes it, and a caption, for each.
    """

    drawings: tuple[tuple[str, str, str], ...]

    def __repr__(self) -> str:
        return f"Picture of {', '.join(inert(title) for title, _, _ in self.drawings[:6])}"

    def _repr_html_(self) -> str:
        """A card on a light ground for each drawing: the colors of a notebook are not known."""
        return f'<div style="display:flex;flex-wrap:wrap;gap:12px">{"".join(map(_card, self.drawings))}</div>'

    def _repr_svg_(self) -> str | None:
        """The drawing itself, where there is one alone."""
        return self.drawings[0][1] if len(self.drawings) == 1 else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes one drawing to a .svg file, or any number of them to a .html page; whole or not at all.

        Args:
            path: of the file; what is there is replaced.

        Raises:
            ValueError: for another suffix, or a .svg file for several drawings.
            OSError: when it can't be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".svg" and len(self.drawings) == 1:
            write_text(path, f"{self.drawings[0][1]}\n")
        elif suffix == ".html":
            head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Pictures</title><body>'
            write_text(path, f"{head}{self._repr_html_()}</body></html>\n")
        else:
            raise ValueError(
                f"One picture is saved to a .svg or .html file, several to a .html file. Found {Path(path).name!r} for "
                f"{len(self.drawings)}: choose another name, or plot one column."
            )


def _card(drawing: tuple[str, str, str]) -> str:
    title, svg, caption = drawing
    style = "background:#fefefe;color:#1d232a;padding:10px;border-radius:6px;max-width:100%"
    words = f'<div style="font-size:12px;max-width:330px">{html.escape(inert(caption))}</div>' if caption else ""
    heading = f'<figcaption style="font-weight:bold">{html.escape(inert(title))}</figcaption>'
    return f'<figure style="{style};margin:0">{heading}{svg}{words}</figure>'
