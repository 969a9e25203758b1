"""What is told about models by their losses, against the risks and the best models of the real records."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import binom

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.curator.queries.function_averages import FunctionAverages
from counterfoil.features.convex_loss import ConvexLoss
from counterfoil.features.feature_map import UNIT as FEATURE_UNIT
from counterfoil.features.losses import LossNet
from counterfoil.inference.bought_losses import BoughtLosses
from counterfoil.inference.finding import Unanswerable
from counterfoil.inference.local_risks import LocalRisks
from counterfoil.inference.loss_polynomials import PolynomialFit, left_out
from counterfoil.inference.m_estimation import m_estimate
from counterfoil.inference.risk_fit import RiskFit
from counterfoil.inference.risk_sampling import RiskSampling
from counterfoil.receipt.answers import RecordedAverages, read_answers
from counterfoil.schema import Boolean, Categorical, Real, Schema
from counterfoil.synthesis.table import encode
from noisy_moments import bought_moments, evidence_of

SCHEMA = Schema(
    (
        Real("x", -1.0, 1.0, bins=4),
        Categorical("kind", ("p", "q")),
        Boolean("good"),
        Real("pay", 0.0, 10.0, bins=4),
        Real("z", -1.0, 1.0, bins=4, missing=True),
    )
)
LOSSES = [ConvexLoss("logistic"), ConvexLoss("squared"), ConvexLoss("huber", 1.0), ConvexLoss("absolute")]
NAMES = [loss.kind for loss in LOSSES]
SURE = 1 - 1e-9
"""A level at which no interval may fail in a test: of all 200 releases one does with probability below 1e-6."""


def table_of(rows, rng):
    x, kind = rng.uniform(-1, 1, rows), rng.integers(0, 2, rows)
    good = rng.random(rows) < 1 / (1 + np.exp(-2 * x - kind))
    pay = np.clip(5 + 2 * x - kind + rng.laplace(0, 1, rows), 0, 10)
    z = np.where(rng.random(rows) < 0.2, np.nan, rng.uniform(-1, 1, rows))
    return pa.table({"x": x, "kind": np.array(["p", "q"])[kind], "good": good, "pay": pay, "z": z})


def net_of(loss, columns=("x", "kind"), *, radius=1.0, points=150, counted=False):
    target = "good" if loss.of_labels else "pay"
    return LossNet.of(SCHEMA, loss, target, columns, radius=radius, points=points, counted=counted)


def columns_of(net, table):
    codes = encode(SCHEMA, table)
    return codes, {name: SCHEMA[name].numbers(table.column(name)) for name in net.numbers}


class Records:
    """The records as models see them: their risks, and the best model, which another solver finds."""

    def __init__(self, net, table):
        given = columns_of(net, table)
        self.net, self.table, self.n = net, table, table.num_rows
        self.x = (net.points(*given, self.n) / FEATURE_UNIT).T
        self.y = net.targets(*given)
        self.sums = net.sums(self.n, *given)

    def risk(self, theta, penalty=0.0):
        t = self.x @ theta
        mean = self.net.loss(self.y * t if self.net.loss.of_labels else self.y - t).mean()
        return float(mean) + penalty * float(np.abs(theta).sum())

    def best(self, penalty=0.0):
        """theta and its risk, by sequential quadratic programs from several starts, in the split variables of the l1
        ball."""
        d = self.net.dimensions
        ball = {"type": "ineq", "fun": lambda split: self.net.radius - split.sum()}
        found = [
            minimize(
                lambda split: self.risk(split[:d] - split[d:], penalty),
                np.concatenate([np.maximum(start, 0), np.maximum(-start, 0)]),
                bounds=[(0, None)] * 2 * d,
                constraints=ball,
                options={"maxiter": 300, "ftol": 1e-12},
            )
            for start in (np.zeros(d), np.full(d, 0.2), np.linspace(0.4, -0.3, d))
        ]
        best = min(found, key=lambda one: one.fun)
        return best.x[:d] - best.x[d:], best.fun

    def bought(self, deviation, rng, noise="discrete_gaussian"):
        """The noisy sums; `deviation` is that of the noise in an average of losses."""
        scale = max(deviation * self.n / self.net.slopes[-1], 1e-9)
        scale /= math.sqrt(2) if noise == "discrete_laplace" else 1
        draw = rng.laplace if noise == "discrete_laplace" else rng.normal
        sums = self.sums + np.rint(draw(0, scale, len(self.sums))).astype(np.int64)
        net = self.net
        return RecordedAverages(net, net.names, net.counted, sums, net.offsets, net.slopes, noise, scale, 1)

    def evidence(self, deviation, rng, noise="discrete_gaussian"):
        bought = self.bought(deviation, rng, noise)
        return evidence_of(SCHEMA, [bought], records=None if self.net.counted else self.n)


def parts(found):
    """The findings about the population, and those about the records: risk, excess, and the weights."""
    assert all(one.about.endswith(", of the records") for one in found[1::2])
    return found[::2], found[1::2]


def assert_holds(found, risk, theta, excess, tolerance=1e-3):
    """The best model and its risk are in the intervals; solvers find weights up to `tolerance`."""
    assert found[0].lower <= risk <= found[0].upper + 1e-9
    assert excess <= found[1].upper + 1e-9
    for one, weight in zip(found[2:], theta, strict=True):
        assert one.lower - tolerance <= weight <= one.upper + tolerance


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from([*LOSSES, ConvexLoss("huber", 0.2)]), st.floats(0.2, 5), st.integers(1, 10), st.integers(0, 2**32)
)
def test_polynomials_leave_out_no_more_than_is_said(loss, radius, degree, seed):
    """At points between those of the grid; and what is said is not far from the largest found, where it is not tiny."""
    said, reach = left_out(loss, radius, degree), loss.reach(radius)
    s = np.random.default_rng(seed).uniform(-reach, reach, 4000)
    s = np.concatenate([s, [-reach, reach, 0.0, 1e-9, -1e-9]])
    nodes = np.polynomial.chebyshev.chebpts1(degree + 1)
    series = np.polynomial.chebyshev.chebfit(nodes, loss(reach * nodes), degree)
    rest = loss(s) - np.polynomial.chebyshev.chebval(s / reach, series)
    assert np.ptp(rest) <= said.spread + 1e-9
    gaps = np.abs(np.diff(np.sort(s)))
    order = np.argsort(s)
    assert np.all(np.abs(np.diff(rest[order])) <= said.slope * gaps + 1e-9)
    assert said.spread <= 1.1 * np.ptp(rest) + 1e-3 * reach or loss.kind == "squared"


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_polynomials_are_fitted_exactly(loss):
    net, rng = net_of(loss), np.random.default_rng(0)
    for degree in PolynomialFit.degrees(net):
        fit = PolynomialFit(net, degree)
        x = rng.uniform(-1, 1, net.dimensions)
        theta = rng.dirichlet(np.ones(net.dimensions + 1), 20)[:, :-1] * rng.choice([-1, 1], (20, net.dimensions))
        power = rng.integers(1, degree + 1)
        values = ((net.lattice * net.step) @ x) ** power
        fitted = fit.at(theta * net.radius) @ (fit.values.T @ values)
        assert fitted == pytest.approx((theta * net.radius @ x) ** power, abs=1e-9)
        assert np.abs(fit.values.T @ fit.values - np.eye(fit.values.shape[1])).max() < 1e-9
        assert np.abs(fit.at(net.lattice * net.step) - fit.values).max() < 1e-9


@pytest.mark.parametrize("noise", ["discrete_gaussian", "discrete_laplace"])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_noise_stays_within_its_bounds(loss, counted, noise):
    """Bounds that fail with probability 1/5 hold in most of 60 releases; more failures have probability 1e-8."""
    rng = np.random.default_rng(1)
    records = Records(net_of(loss, counted=counted), table_of(400, rng))
    net, failures = records.net, np.zeros(2)
    exact = np.array([records.risk(k * net.step) for k in net.lattice]) - records.risk(np.zeros(net.dimensions))
    base, largest = records.risk(np.zeros(net.dimensions)), 0.0
    for _ in range(60):
        losses = BoughtLosses.of(records.evidence(0.05, rng, noise).answers, None)
        fit = RiskFit(losses, PolynomialFit(net, 2), 0.2)
        off = np.linalg.norm(fit.coordinates - fit.polynomials.values.T @ exact)
        # Rounding and what polynomials leave out are a part of the bound, and no noise.
        alone = fit.error - RiskFit(losses, PolynomialFit(net, 2), None).error
        off_base = abs(losses.base - base) > losses.base_error(0.2)
        failures[0] += off > alone or off_base
        local = LocalRisks(losses, 0.2, 1)
        known = LocalRisks(BoughtLosses.of(records.evidence(0.0, rng).answers, None), None, 1)
        failures[1] += bool(np.any(np.abs(local.averages - known.averages) > local.noises)) or off_base
        largest = max(largest, off / alone)
    assert failures.max() <= binom.isf(1e-8, 60, 0.2)
    assert largest > (0.2 if counted else 0.5)  # a noisy count moves all averages, which is bounded crudely


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_averages_around_a_model_are_above_its_risk_by_no_more_than_is_said(loss):
    rng = np.random.default_rng(2)
    records = Records(net_of(loss, ("x",), points=500), table_of(300, rng))
    net = records.net
    losses = BoughtLosses.of(records.evidence(0.0, rng).answers, None)
    zero = records.risk(np.zeros(net.dimensions))
    for reach in (0, 1, 3):
        local = LocalRisks(losses, None, reach)
        exact = np.array([records.risk(k * net.step) - zero for k in local.models])
        assert np.all(local.averages >= exact - 2e-6)
        assert np.all(local.averages <= exact + local.surplus + 2e-6)
        assert reach == 0 or np.any(local.averages - exact > 0.02 * local.surplus.max())


@pytest.mark.parametrize("deviation", [0.0, 0.003, 0.03])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_best_model_of_the_records_is_in_the_set(loss, counted, deviation):
    """In each of 4 releases, at a level at which none of them may fail."""
    rng = np.random.default_rng(3)
    records = Records(net_of(loss, counted=counted), table_of(3000, rng))
    theta, risk = records.best()
    for _ in range(4):
        found = parts(m_estimate(records.evidence(deviation, rng), level=SURE))[1]
        estimated = np.array([one.estimate for one in found[2:]])
        assert np.abs(estimated).sum() <= records.net.radius * (1 + 1e-9)
        assert_holds(found, risk, theta, records.risk(estimated) - risk)


@pytest.mark.parametrize("penalty", [0.0, 1e9])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_noise_that_leads_to_one_corner_of_the_ball_is_answered(loss, penalty):
    """Where noise is left out, as for what sampling alone does, such a corner was ruled out by rounding."""
    rng = np.random.default_rng(5)
    records = Records(net_of(loss, ("x",)), table_of(20_000, rng))
    for _ in range(10):
        found = parts(m_estimate(records.evidence(0.2, rng), penalty=penalty))[1]
        assert all(one.lower <= one.estimate <= one.upper for one in found)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_the_best_model_of_the_population_is_in_the_set(loss):
    """The population is 100,000 rows, from which 5 samples are drawn with replacement."""
    rng = np.random.default_rng(4)
    people = table_of(100_000, rng)
    population = Records(net_of(loss), people)
    theta, risk = population.best()
    for _ in range(5):
        drawn = Records(population.net, people.take(rng.integers(0, people.num_rows, 4000)))
        found = parts(m_estimate(drawn.evidence(0.003, rng), level=SURE))[0]
        estimated = np.array([one.estimate for one in found[2:]])
        assert_holds(found, risk, theta, population.risk(estimated) - risk)


@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_risks_of_samples_stay_near_those_of_the_population(loss):
    """All models of a lattice and all pairs of them, in 50 samples, at a failure probability of 1e-8 each."""
    rng = np.random.default_rng(5)
    population = Records(net_of(loss), table_of(20_000, rng))
    net, n = population.net, 500
    models = np.concatenate([net.lattice * net.step, np.zeros((1, net.dimensions))])
    scores = population.x @ models.T
    losses = net.loss(population.y[:, None] * scores if net.loss.of_labels else population.y[:, None] - scores)
    bound = RiskSampling(net, n, 1e-8)
    away = np.abs(models[:, None] - models[None]).sum(axis=2)
    largest = 0.0
    for _ in range(50):
        off = losses[rng.integers(0, len(losses), n)].mean(axis=0) - losses.mean(axis=0)
        assert abs(off[-1]) <= bound.base + 1e-12
        apart = np.abs(off[:, None] - off[None])
        assert np.all(apart <= bound.between(away) + 1e-12)
        largest = max(largest, (apart / np.maximum(bound.between(away), 1e-12)).max())
    assert largest > 0.02  # bounds without assumptions are far from tight, but no more than that
    assert np.all(RiskSampling(net, n, None).between(away) == 0)


def test_squared_losses_are_told_sharply():
    """Polynomials of degree 2 are all there is to them: little noise leaves little open."""
    rng = np.random.default_rng(6)
    records = Records(net_of(ConvexLoss("squared"), points=300), table_of(5000, rng))
    theta, risk = records.best()
    found = parts(m_estimate(records.evidence(1e-4, rng)))[1]
    assert [one.estimate for one in found[2:]] == pytest.approx(theta, abs=3e-3)
    assert max(one.upper - one.lower for one in found[2:]) < 0.05
    assert found[0].upper - found[0].lower < 2e-3
    assert found[0].estimate == pytest.approx(risk, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES[:2], ids=NAMES[:2])
def test_the_set_grows_with_the_noise_until_it_says_nothing(loss):
    rng = np.random.default_rng(7)
    records = Records(net_of(loss), table_of(5000, rng))
    widths = []
    for deviation in (1e-5, 1e-3, 1e-2, 1e3):
        found = m_estimate(records.evidence(deviation, rng))
        widths.append(sum(one.upper - one.lower for one in parts(found)[1][2:]))
    assert widths == sorted(widths)
    assert widths[0] < widths[-1] / 2
    assert widths[-1] == pytest.approx(2 * records.net.radius * records.net.dimensions)
    assert any("best for the population nothing is said" in sentence for sentence in found[0].basis)
    assert all(one.lower <= one.estimate <= one.upper for one in found)


@pytest.mark.parametrize("penalty", [0.02, 0.5])
@pytest.mark.parametrize("loss", LOSSES, ids=NAMES)
def test_a_penalty_is_added_after_the_release(loss, penalty):
    rng = np.random.default_rng(8)
    records = Records(net_of(loss), table_of(3000, rng))
    theta, risk = records.best(penalty)
    for _ in range(3):
        found = parts(m_estimate(records.evidence(0.001, rng), penalty=penalty, level=SURE))[1]
        estimated = np.array([one.estimate for one in found[2:]])
        assert_holds(found, risk, theta, records.risk(estimated, penalty) - risk)
    assert found[0].about.startswith(f"smallest {loss.kind} loss and penalty")
    if penalty == 0.5 and not loss.of_labels:
        assert np.abs(estimated).sum() < 0.2


def test_missing_numbers_and_several_nets():
    rng = np.random.default_rng(9)
    table = table_of(2000, rng)
    records = Records(net_of(ConvexLoss("logistic"), ("x", "z")), table)
    assert records.net.features == ("1", "x", "z", "z is missing")
    theta, risk = records.best()
    assert_holds(parts(m_estimate(records.evidence(1e-3, rng), level=SURE))[1], risk, theta, 0.0)
    other = Records(net_of(ConvexLoss("squared")), table)
    evidence = evidence_of(SCHEMA, [records.bought(1e-3, rng), other.bought(1e-3, rng)], records=2000)
    with pytest.raises(Unanswerable, match="Losses of models for good, pay were bought: name one of them"):
        m_estimate(evidence)
    assert m_estimate(evidence, "pay")[0].about == "smallest squared loss"
    coarse = Records(net_of(ConvexLoss("logistic")), table)
    both = evidence_of(SCHEMA, [records.bought(0.1, rng), coarse.bought(1e-3, rng)], records=2000)
    assert len(m_estimate(both)) == len(m_estimate(coarse.evidence(1e-3, rng)))


def test_noise_as_it_is_drawn_is_that_of_the_sensitivity():
    """The scale that a charge records is a multiple of the joint sensitivity, in the units of the sums."""
    net = net_of(ConvexLoss("squared"))
    query = FunctionAverages(net)
    assert query.l2_sensitivity(NeighboringRelation.REPLACE_ONE) == net.l2_sensitivity(NeighboringRelation.REPLACE_ONE)
    assert net.slopes[0] == net.slopes[1] / net.base_weight
    assert net.base_weight > 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, None),
        ({"features": 4}, "not those that charge 1 bought"),
        ({"functions": 7}, "not those that charge 1 bought"),
        ({"counted": True}, "not those that charge 1 bought"),
        ({"radius": 0.0}, "`radius` must be a number"),
        ({"steps": 3}, "129 sums are recorded for 63 functions"),
        ({"columns": ["x", "pay"]}, "not the target"),
        ({"loss": "hinge"}, "`loss` must be"),
    ],
)
def test_losses_on_a_receipt_are_read_as_they_were_bought(change, sentence):
    net = net_of(ConvexLoss("squared"))
    values = np.arange(len(net.names))
    charge = {
        "query": FunctionAverages.name,
        "parameters": {**net.describe(), **change},
        "noise": {"kind": "discrete_gaussian", "scale": 3.0},
    }
    averages = {"charge": 1, "family": "losses", "counted": False, "values": " ".join(map(str, values))}
    document = {
        "neighboring_relation": "replace_one",
        "privacy_unit": None,
        "charges": [charge],
        "answers": {"schema": SCHEMA.to_toml(), "records": 10, "marginals": [], "averages": [averages]},
    }
    if sentence is None:
        (read,) = read_answers(document).averages
        assert read.family == net
        assert np.array_equal(read.sums, values)
        assert np.array_equal(read.slopes, net.slopes)
        return
    with pytest.raises(ValueError, match=sentence):
        read_answers(document)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"level": 95}, "`level` must be a probability"),
        ({"penalty": -1.0}, r"`penalty` must be a number of at least 0\. Found -1\.0"),
        ({"penalty": math.inf}, "Found inf"),
        ({"target": "pay"}, r"losses of models for pay were never measured\. Those of good were"),
    ],
)
def test_what_is_asked_wrongly_is_told(arguments, sentence):
    rng = np.random.default_rng(0)
    evidence = Records(net_of(ConvexLoss("logistic")), table_of(50, rng)).evidence(0.01, rng)
    with pytest.raises(ValueError, match=sentence):
        m_estimate(evidence, **arguments)


def test_what_was_never_measured_is_refused():
    rng = np.random.default_rng(0)
    table = table_of(50, rng)
    moments = evidence_of(SCHEMA, [bought_moments(SCHEMA, table, 1.0, rng)], records=50)
    with pytest.raises(Unanswerable, match=r"were never measured\. Buy them .*--queries losses:logistic.* ask `risk`"):
        m_estimate(moments)
    records = Records(net_of(ConvexLoss("logistic"), counted=True), table)
    with pytest.raises(Unanswerable, match="known too badly"):
        m_estimate(records.evidence(30.0, np.random.default_rng(3)), level=SURE)
    empty = evidence_of(SCHEMA, [records.bought(0.0, rng)], records=0)
    with pytest.raises(Unanswerable, match="of no records"):
        m_estimate(empty)
