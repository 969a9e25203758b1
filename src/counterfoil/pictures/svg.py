"""A chart as static SVG: text as text, a title and a description, no script, nothing from elsewhere."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from counterfoil.inert import inert, inert_document
from counterfoil.pictures.drawing import Drawing
from counterfoil.pictures.style import COLORS, CONFIG, FONTS

if TYPE_CHECKING:
    import altair

NEEDED = {"vl_convert": "vl-convert-python", "jinja2": "jinja2"}
"""The modules that pictures and reports need, with the packages that hold them."""

_NAMES = {color.light: name for name, color in COLORS.items()}
_NUMBER = re.compile(r"-?(?:\d*\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+)")
_MEASURED = ("d", "transform", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "width", "height", "viewBox")
_DROPPED = ("role", "aria-hidden", "aria-label", "aria-roledescription", "pointer-events", "font-family", "class")
_DEFAULTS = {"opacity": "1", "stroke-width": "1", "fill-opacity": "1", "stroke-opacity": "1", "font-weight": "normal"}
_INHERITED = ("fill", "stroke", "font-size", "font-weight", "text-anchor", "stroke-width")


def require_report() -> None:
    """Call it before drawing or writing a page.

    Raises:
        ModuleNotFoundError: where a package of the extra `report` is missing.
    """
    missing = [module for module in NEEDED if find_spec(module) is None]
    if missing:
        raise ModuleNotFoundError(
            f"Reports and pictures need the packages {', '.join(NEEDED.values())}. Found no "
            f"{' and no '.join(NEEDED[module] for module in missing)}: pip install 'counterfoil[report]'.",
            name=missing[0],
        )


def render(chart: altair.TopLevelMixin | Drawing, *, title: str, description: str) -> str:
    """`chart` as an <svg> element to stand in a page, or as a file of its own.

    Each mark in a color of `style.COLORS` has a class by its name, `f-blue` where it is filled and `s-blue` where it is
    drawn, which `style.style_sheet` paints; without a style sheet the colors are those for a light ground. Numbers are
    rounded to tenths of a pixel.

    Args:
        chart: of Altair, or a `Drawing`, with its data in it as records. Texts in it are shown inert, and shortened by
            whoever made it.
        title: what the picture shows, for screen readers and as its tooltip.
        description: what is seen in it, in a sentence or two.

    Raises:
        ModuleNotFoundError: without the extra `report`.
        ValueError: for a chart that refers to anything outside it.
    """
    require_report()
    import vl_convert

    document: Any = inert_document(chart.to_dict(validate=False))
    text = vl_convert.vegalite_to_svg(document, config=dict(CONFIG), allowed_base_urls=[])
    root = ElementTree.fromstring(text)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        if element.tag in ("image", "a", "use", "script", "foreignObject", "style"):
            raise ValueError(f"A picture must hold all that it shows. Found <{element.tag}> in it: leave it out.")
    for element in root.iter():
        _simplify(element)
    _prune(root)
    _hoist(root)
    return _labeled(root, inert(title), inert(description))


def _simplify(element: ElementTree.Element) -> None:
    """Keeps what is seen: attributes that say nothing are dropped, colors get their names, numbers are rounded."""
    for name in [*element.attrib]:
        value = element.attrib[name]
        if name in _DROPPED or name == "id" or name.startswith("{") or _DEFAULTS.get(name) == value:
            del element.attrib[name]
        elif name in _MEASURED:
            element.attrib[name] = _NUMBER.sub(_rounded, value)
    classes = [
        f"{name[0]}-{_NAMES[value]}" for name in ("fill", "stroke") if (value := element.get(name, "")) in _NAMES
    ]
    if classes:
        element.set("class", " ".join(classes))
    if element.get("transform") in ("translate(0,0)", ""):
        del element.attrib["transform"]


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.1f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _prune(element: ElementTree.Element) -> None:
    """Takes out what nobody sees, and groups that say nothing about the one thing in them."""
    for child in [*element]:
        _prune(child)
        if _is_unseen(child):
            element.remove(child)
        elif child.tag == "g" and not child.attrib:
            place = [*element].index(child)
            element.remove(child)
            for offset, inner in enumerate([*child]):
                element.insert(place + offset, inner)


def _is_unseen(element: ElementTree.Element) -> bool:
    if element.tag in ("g", "defs"):
        return len(element) == 0
    if element.get("display") == "none" or element.get("opacity") == "0":
        return True
    if element.tag == "text":
        return not "".join(element.itertext()).strip()
    painted = element.get("fill", "none") not in ("none", "transparent") or "stroke" in element.attrib
    return element.tag in ("path", "rect", "line") and (element.get("d") in ("", "M0,0h0v0h0Z") or not painted)


def _hoist(element: ElementTree.Element) -> None:
    """Says once, on a group, what all of its members say: with it, their class."""
    for child in element:
        _hoist(child)
    members = [*element]
    if element.tag != "g" or len(members) < 2 or "class" in element.attrib:
        return
    painted = {(one.get("class"), one.get("fill"), one.get("stroke")) for one in members}
    names = _INHERITED if len(painted) == 1 else _INHERITED[2:]
    for name in (*names, *(["class"] if len(painted) == 1 else [])):
        values = {one.get(name) for one in members}
        if len(values) == 1 and None not in values and name not in element.attrib:
            element.set(name, members[0].attrib[name])
            for one in members:
                del one.attrib[name]


def _labeled(root: ElementTree.Element, title: str, description: str) -> str:
    size = {name: root.attrib[name] for name in ("width", "height", "viewBox")}
    body = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    whole = ElementTree.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "class": "picture", **size})
    whole.attrib |= {"role": "img", "aria-label": title, "font-family": FONTS, "fill": "none"}
    ElementTree.SubElement(whole, "title").text = title
    ElementTree.SubElement(whole, "desc").text = description
    opened, closed, _ = ElementTree.tostring(whole, encoding="unicode").rpartition("</svg>")
    return f"{opened}{body}{closed}"
