"""The report of a release as one page that needs nothing else: no script, no request, every text escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from counterfoil.inert import inert
from counterfoil.pictures.style import style_sheet
from counterfoil.pictures.svg import require_report
from counterfoil.report.certificates import certificates
from counterfoil.report.columns import columns
from counterfoil.report.cost import cost
from counterfoil.report.head import Head, head
from counterfoil.report.pairs import pairs
from counterfoil.report.points import points
from counterfoil.report.release import ReleaseFacts
from counterfoil.report.section import Section
from counterfoil.report.words import limits, uses

if TYPE_CHECKING:
    import jinja2

SectionOf = Callable[[ReleaseFacts], Section | None]

SECTIONS: tuple[SectionOf, ...] = (columns, pairs, points, uses, limits, cost, certificates)
"""What a report to share is made of, in the order in which it is read."""

LONGEST = 1200
"""Characters of a text from a schema or a release; longer ones end with an ellipsis."""

_BESIDE = 59
"""Pixels of a screen that the edges of the page and of a figure take, rounded down."""

_OPTION = re.compile(r"`(--[a-z-]+(?: (?:--[a-z-]+|[A-Z]+|[0-9.]+))*)`")
_TEMPLATES = Path(__file__).parent / "templates"


def page_of(facts: ReleaseFacts, sections: Sequence[SectionOf] = SECTIONS) -> str:
    """The report of a release as HTML.

    Args:
        facts: what the release is.
        sections: what to show of it; what gives None is left out.

    Raises:
        ModuleNotFoundError: without the extra `report`.
        ValueError: for a receipt whose answers do not fit it.
    """
    require_report()
    made = [section for of in sections if (section := of(facts)) is not None]
    return page(head(facts), made)


def page(top: Head, sections: Sequence[Section], *, private_view: bool = False) -> str:
    """A page from its parts.

    Args:
        top: its head.
        sections: below it, each with an anchor of its own.
        private_view: whether the page shows real records' facts: its banner then stays on every screen and is on every
            printed page.
    """
    css = f"{style_sheet()}{_styles()}{_hints(sections)}"
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    template = _environment().get_template("page.html")
    return template.render(head=top, sections=sections, css=css, digest=digest, private_view=private_view)


def _hints(sections: Sequence[Section]) -> str:
    """Shows below a picture that it scrolls, on screens on which it does: those that are narrower than it is.

    A page can't ask whether a box scrolls without a script, but its widths are known when it is written.
    """
    widths = {figure.width for section in sections for figure in section.figures if figure.wide}
    return "".join(
        f"@media screen and (max-width:{width + _BESIDE}px){{.hint.to-{width}{{display:block}}}}"
        for width in sorted(widths)
    )


@cache
def _styles() -> str:
    """The style sheet of pages, without indentation."""
    lines = (_TEMPLATES / "page.css").read_text(encoding="utf-8").splitlines()
    return "".join(line.strip() for line in lines)


@cache
def _environment() -> jinja2.Environment:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["shown"] = shown
    made.filters["by_options"] = by_options
    return made


def by_options(text: str) -> list[str]:
    """A text as the page has it, in parts: every second one is an option such as `--workload 3`, without the quotes."""
    return _OPTION.split(shown(text))


def shown(text: str) -> str:
    """A text as the page has it: inert, and no longer than `LONGEST` characters. Escaping is the template's."""
    seen = inert(text)
    return seen if len(seen) <= LONGEST else f"{seen[: LONGEST - 1]}…"
