"""What the pictures show is what was measured."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from counterfoil.evaluation.fairness import group_fairness
from counterfoil.evaluation.fairness_pictures import (
    BINS,
    FOUR_FIFTHS,
    ModelPoint,
    accuracy_against_impact,
    save_png,
    score_histograms,
)


def rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    groups, truth = rng.integers(0, 2, (2, 400))
    return np.clip(0.3 * groups + 0.3 * truth + 0.4 * rng.random(400), 0, 1), truth, groups


def test_histograms_have_area_1_and_show_each_group_in_each_panel():
    scores, truth, groups = rows()
    figure = score_histograms({"one": scores, "two": scores / 2}, groups, ["F", "M"], truth=truth, title="All")
    panels = np.array(figure.axes).reshape(3, 2)
    for stratum, line in zip((truth >= 0, truth == 0, truth == 1), panels, strict=True):
        for axes, shown in zip(line, (scores, scores / 2), strict=True):
            assert [patch.get_label() for patch in axes.patches] == ["F", "M"]
            for code, patch in enumerate(axes.patches):
                density, edges, _ = patch.get_data()
                assert np.sum(density * np.diff(edges)) == pytest.approx(1)
                counts, _ = np.histogram(shown[stratum & (groups == code)], np.linspace(0, 1, BINS + 1))
                assert np.allclose(density, counts / counts.sum() * BINS)
    assert len({axes.get_xlim() for axes in figure.axes}) == 1
    assert panels[0, 0].get_ylim() == panels[0, 1].get_ylim()
    found = group_fairness(scores, truth, groups)
    assert f"DI {found.disparate_impact:.2f}" in panels[0, 0].get_title()
    assert panels[0, 0].get_title().startswith("one\n")
    assert f"{found.false_positive_ratio:.2f}" in panels[1, 0].get_title()
    assert f"{found.true_positive_ratio:.2f}" in panels[2, 0].get_title()
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"F", "M", "threshold"}


def test_an_empty_group_has_an_empty_histogram():
    figure = score_histograms({"one": np.full(10, 0.2)}, np.zeros(10, dtype=int), ["F", "M"])
    density, _, _ = figure.axes[0].patches[1].get_data()
    assert not density.any()


def test_the_overview_has_a_point_for_each_model_that_is_known(tmp_path):
    points = [
        ModelPoint("plain", 0.9, 0.4, "alpha 0"),
        ModelPoint("plain", 0.8, 0.7, "alpha 0.5", 0.05),
        ModelPoint("private", 0.7, math.nan),
        ModelPoint("private", 0.75, 0.6),
    ]
    figure = accuracy_against_impact(points, title="Overview")
    (axes,) = figure.axes
    lines = {container.get_label(): container[0].get_xydata().tolist() for container in axes.containers}
    assert lines == {"plain": [[0.4, 0.9], [0.7, 0.8]], "private": [[0.6, 0.75]]}
    assert {text.get_text() for text in axes.texts} >= {"alpha 0", "alpha 0.5"}
    (band,) = axes.patches
    assert band.get_x() == FOUR_FIFTHS
    save_png(figure, tmp_path / "overview.png")
    assert (tmp_path / "overview.png").read_bytes().startswith(b"\x89PNG")


def test_pictures_of_nothing_are_refused():
    with pytest.raises(ValueError, match="must hold a model whose disparate impact is known"):
        accuracy_against_impact([ModelPoint("one", 0.5, math.nan)])
    with pytest.raises(ValueError, match="must hold the scores of a model"):
        score_histograms({}, np.zeros(3, dtype=int), ["F"])
