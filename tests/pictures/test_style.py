"""Colors keep their contrast on both grounds, and differ for those who see fewer of them."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from counterfoil.pictures.style import COLORS, CONFIG, style_sheet

GROUNDS = ("light", "dark")

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
PROTAN = np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]])
DEUTAN = np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]])


def linear(color: str) -> np.ndarray:
    parts = np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def luminance(color: str) -> float:
    return float(linear(color) @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize(("name", "least"), [("ink", 7.0), ("soft", 4.5), ("blue", 4.5), ("orange", 4.5), ("red", 4.5)])
def test_texts_can_be_read(name, least, ground):
    assert contrast(getattr(COLORS[name], ground), getattr(COLORS["ground"], ground)) >= least


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", ["ink", "soft"])
def test_lists_of_facts_and_alarms_can_be_read_on_the_lightest_step(name, ground):
    assert contrast(getattr(COLORS[name], ground), getattr(COLORS["step0"], ground)) >= 4.5


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("name", ["blue", "orange", "green", "purple", "red", "gray"])
def test_marks_can_be_seen(name, ground):
    assert contrast(getattr(COLORS[name], ground), getattr(COLORS["ground"], ground)) >= 3


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("seen", [np.eye(3), PROTAN, DEUTAN])
def test_blue_and_orange_differ_for_everyone(seen, ground):
    blue, orange = (seen @ linear(getattr(COLORS[name], ground)) for name in ("blue", "orange"))
    assert np.abs(blue - orange).max() > 0.2


@pytest.mark.parametrize("ground", GROUNDS)
def test_steps_go_one_way(ground):
    steps = [luminance(getattr(COLORS[f"step{step}"], ground)) for step in range(6)]
    rises = [later > earlier for earlier, later in itertools.pairwise(steps)]
    assert all(rises) if ground == "dark" else not any(rises)


def test_each_color_is_itself():
    lights = [color.light for color in COLORS.values()]
    assert len(set(lights)) == len(lights), "a mark's color says its name"
    assert all(re.fullmatch("#[0-9a-f]{6}", part) for color in COLORS.values() for part in (color.light, color.dark))


def test_the_style_sheet_paints_every_color_on_every_ground():
    sheet = style_sheet()
    for name, color in COLORS.items():
        assert f".f-{name}{{fill:var(--{name})}}" in sheet
        assert f".s-{name}{{stroke:var(--{name})}}" in sheet
        assert sheet.count(f"--{name}:{color.light};") == 2, "on the screen, and on paper"
        assert sheet.count(f"--{name}:{color.dark};") == 1


def test_settings_use_no_color_without_a_name():
    used = set(re.findall("#[0-9a-f]{6}", str(CONFIG)))
    assert used <= {color.light for color in COLORS.values()}
