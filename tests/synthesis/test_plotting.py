"""Pictures of a release for a notebook: the shares of its rows, with the error bars of its own noisy counts."""

from __future__ import annotations

import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest

import counterfoil as cf
from counterfoil.receipt.answers import read_answers
from counterfoil.schema.categorical import Categorical
from counterfoil.schema.real import Real
from counterfoil.synthesis.plotting import MOST_COLUMNS, CountedShares, counted_shares
from report_pages import HOSTILE, hostile, people, release


@pytest.fixture(scope="module")
def made() -> cf.Synthesis:
    return release(*people())


def test_every_column_is_drawn_with_its_shares(made: cf.Synthesis, tmp_path: Path) -> None:
    picture = made.plot()
    assert [title for title, _, _ in picture.drawings] == list(made.schema.domain.attributes)
    shown = picture._repr_html_()
    assert shown.count("<svg") == 4
    assert picture._repr_svg_() is None
    assert repr(picture) == "Picture of sex, age, income, height in meters"
    share = made.marginal("sex").shares[0]
    assert f"{share:.1%}" in picture.drawings[0][1]
    picture.save(tmp_path / "all.html")
    assert (tmp_path / "all.html").read_text().count("<svg") == 4


def test_one_column_is_an_svg(made: cf.Synthesis, tmp_path: Path) -> None:
    picture = made.plot("income")
    assert picture._repr_svg_() == picture.drawings[0][1]
    picture.save(tmp_path / "income.svg")
    root = ElementTree.parse(tmp_path / "income.svg").getroot()
    assert root.tag.endswith("svg")
    assert "".join(root[0].itertext()) == "Shares of income"
    assert made.plot(["income", "sex"]).drawings[0][0] == "income", "in the order in which they were asked for"


@pytest.mark.parametrize(
    ("columns", "name"), [(None, "all.svg"), ("income", "income.png"), (["sex", "income"], "both.svg")]
)
def test_where_pictures_can_go(made: cf.Synthesis, tmp_path: Path, columns, name: str) -> None:
    with pytest.raises(ValueError, match=r"saved to a \.svg or \.html file, several to a \.html file\. Found"):
        made.plot(columns).save(tmp_path / name)
    assert not [*tmp_path.iterdir()]


def test_an_unknown_column_is_refused(made: cf.Synthesis) -> None:
    with pytest.raises(ValueError, match="Did you mean 'income'"):
        made.plot("incme")


def test_error_bars_are_two_standard_errors_of_the_noise(made: cf.Synthesis) -> None:
    answers = read_answers(made.receipt.document)
    known = counted_shares(answers, "sex")
    assert known is not None
    low, high = known.intervals([np.array([0]), np.array([1]), np.array([0, 1])])
    shares = known.counts / known.counts.sum()
    assert (low[:2] + high[:2]) / 2 == pytest.approx(shares)
    assert low[2] == pytest.approx(1.0)
    assert high[2] == pytest.approx(1.0), "all of them are all of them"
    assert counted_shares(answers, "age") is not None


def test_error_bars_cover_what_they_say() -> None:
    """Of 20,000 draws 95.4% lie within two standard errors of a normal; fewer than 94% or more than 97% of them do
    with probability below 1e-12, and the linearized quotient moves it by less than half of a percent here.
    """
    rng = np.random.default_rng(8)
    counts = np.array([5000.0, 3000.0, 1500.0, 500.0])
    sets = [np.array([1]), np.array([2, 3])]
    true = np.array([counts[codes].sum() for codes in sets]) / counts.sum()
    inside = np.zeros(2)
    for noise in rng.normal(0, 80, (20_000, 4)):
        low, high = CountedShares(counts + noise, 80.0**2).intervals(sets)
        inside += (low <= true) & (true <= high)
    assert (inside / 20_000 > 0.94).all()
    assert (inside / 20_000 < 0.97).all()


def test_points_are_drawn_by_their_weights() -> None:
    rng = np.random.default_rng(0)
    schema = cf.Schema((Real("x", 0.0, 1.0, bins=4), Real("y", 0.0, 1.0, bins=4)))
    table = pa.table({"x": rng.random(500) ** 2, "y": rng.random(500)})
    points = cf.synthesize(table, schema, epsilon=1.0, delta=1e-6, method="measure-tree")
    picture = points.plot()
    assert [title for title, _, _ in picture.drawings] == ["x", "y"]
    assert math.isclose(points.marginal("x").total, points.rows)


def test_many_columns_and_hostile_ones() -> None:
    wide = cf.Schema(tuple(Categorical(f"c{place}", ("a", "b")) for place in range(MOST_COLUMNS + 5)))
    table = pa.table({column.name: ["a", "b"] * 20 for column in wide.synthesized})
    assert len(release(table, wide).plot().drawings) == MOST_COLUMNS
    picture = release(*hostile()).plot()
    shown = picture._repr_html_()
    assert "<script" not in shown
    assert "<img" not in shown
    assert not set("\x1b\u202e") & set(shown + repr(picture))
    assert len(HOSTILE) > 5


def test_without_the_extra_one_sentence(made: cf.Synthesis, monkeypatch) -> None:
    import counterfoil.pictures.svg as svg

    monkeypatch.setattr(svg, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'counterfoil\[report\]'"):
        made.plot()
