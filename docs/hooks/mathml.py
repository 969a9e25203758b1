"""Formulas as MathML, which browsers draw by themselves: the site needs no script, no font and no network."""

import html
import re

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor

# What `pymdownx.arithmatex` leaves for a renderer to find.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)

# The converter sizes brackets only: a bar or a brace after \bigl and the like keeps its usual size.
SIZED_COMMAND = re.compile(r"\\[bB]igg?[lrm]?\s*(?=\\)")

# Two corrections of what the converter writes. A bar that is not said to stretch must not, nor stand apart from what
# it encloses; a function's name must stand apart from its argument.
BAR = re.compile('<mo(?: fence="false")?(?: stretchy="false")?>(&#x0007C;|&#x02016;)</mo>')
FUNCTION = re.compile(r"<mi>(exp|ln|log)</mi>(?!<mo[^>]*>&#x00028;)")


class MathML(Extension):
    """A Markdown extension, which every builder of Python-Markdown reads; a hook only MkDocs would run."""

    def extendMarkdown(self, md: Markdown) -> None:
        md.postprocessors.register(Formulas(md), "mathml", -100)


class Formulas(Postprocessor):
    """Replaces each formula in a rendered page."""

    def run(self, text: str) -> str:
        return FORMULA.sub(_as_mathml, text)


def makeExtension(**settings: object) -> MathML:
    """What Python-Markdown calls."""
    return MathML(**settings)


def _as_mathml(match: re.Match) -> str:
    tag, bracket, formula = match.groups()
    formula = SIZED_COMMAND.sub("", html.unescape(formula))
    mathml = convert(formula, display="block" if bracket == "[" else "inline")
    if "\\" in html.unescape(mathml):
        raise ValueError(f"The formula {formula!r} has a command that MathML conversion does not know.")
    mathml = BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', mathml)
    mathml = FUNCTION.sub(r'<mrow><mi>\1</mi><mspace width="0.167em" /></mrow>', mathml)
    return f'<{tag} class="formula">{mathml}</{tag}>'
