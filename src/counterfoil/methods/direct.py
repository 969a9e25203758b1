"""Named marginals, all measured once: for users who know which ones must be kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from counterfoil.accounting.filter import GaussianFilter, PureFilter
from counterfoil.accounting.replacement import ANY_QUESTION, COUNTS_WITH_GAUSSIAN_NOISE
from counterfoil.curator.curator import Curator
from counterfoil.domain.domain import Clique, Domain
from counterfoil.domain.workload import Workload, require_workload
from counterfoil.graphical_model import junction_tree
from counterfoil.graphical_model.error_bars import ErrorBars, measured_bounds
from counterfoil.graphical_model.graphical_model import GraphicalModel
from counterfoil.graphical_model.junction_tree import BYTES_PER_CELL
from counterfoil.graphical_model.minimax import closest_table, closest_weights, require_enumerable, require_few_tables
from counterfoil.graphical_model.noisy_marginal import NoisyMarginal
from counterfoil.graphical_model.warm_estimator import WarmEstimator
from counterfoil.listing import first_few
from counterfoil.marginals.foreseen_total import require_total
from counterfoil.marginals.measure import measure
from counterfoil.marginals.one_way import one_way_warnings, smooth_columns
from counterfoil.marginals.weak_relations import blurred_counts, groups_of_model, unrelated, weak_relations
from counterfoil.methods.method import Method, time_limit_for
from counterfoil.noise.gaussian import GaussianNoise
from counterfoil.noise.noise import CountNoise
from counterfoil.synthesis.pace import Pace
from counterfoil.synthesis.progress import Progress, quiet
from counterfoil.synthesis.release import Fitted, check_rows, release
from counterfoil.synthesis.synthesis import Synthesis
from counterfoil.synthesis.time_limit import TimeLimit

_LAST_GAP = 2e-3
_FAILURE = 0.05
_MOST_NAMED = 8
_LONG = 10**12
_MEASURED = 0.1
"""The share of the work that is done before the fit: for the progress alone."""


class Estimator(StrEnum):
    """How a table is made from noisy marginals.

    `PRIVATE_PGM`: the graphical model of largest entropy that fits them; for domains of any size.
    `MINIMAX`: the weights on the domain whose largest L1 distance to them is smallest; for up to 10,000 cells.
    `BRUTE_FORCE`: the table of n rows with that property, by trying each; for tiny domains, where n is public.
    """

    PRIVATE_PGM = "private_pgm"
    MINIMAX = "minimax"
    BRUTE_FORCE = "brute_force"


@dataclass(frozen=True)
class Direct(Method):
    """Measures the marginals of a workload, all at once and with the same noise, and makes a table of them.

    Every column that no clique names is measured on its own as well, so that the model knows it. What Zhou et al.
    2024 call Gen_{d, sigma} is `Direct(Workload.up_to_order(domain, d), estimator="brute_force")` under replace_one,
    with the noise calibrated exactly. Where the table is the closest of all tables of n rows, how far it can be from
    the real one is known before anything is asked (their Lemma 3.4), and stands on the receipt as `gap`.

    Args:
        workload: the cliques, or 1, 2 or 3 for all marginals of that order. Weights are not used.
        max_model_size: the most megabytes that the model may take.
        estimator: how a table is made from what was measured.
    """

    workload: Workload | int = 2
    max_model_size: float = 80.0
    estimator: Estimator = Estimator.PRIVATE_PGM

    def __post_init__(self) -> None:
        object.__setattr__(self, "estimator", Estimator(self.estimator))
        require_workload(self.workload)

    @property
    def takes_time_limit(self) -> bool:
        """The fit of a graphical model ends when a limit is reached; the other estimators solve their problems."""
        return self.estimator is Estimator.PRIVATE_PGM

    def synthesize(
        self,
        curator: Curator,
        *,
        rows: int | None = None,
        progress: Progress = quiet,
        time_limit: TimeLimit | float | None = None,
    ) -> Synthesis:
        """A synthesis within `curator.budget`; pure privacy where its delta is 0.

        Args:
            curator: the table, its budget and its neighbors.
            rows: how many rows to draw; about as many as the table has where None.
            progress: called with what is being done and the share of the work that is done.
            time_limit: seconds of processor time for the fit; None for as long as it takes.

        Raises:
            ValueError: before anything is charged, when the model would be larger than `max_model_size`, or the domain
                too large for the estimator.
        """
        domain = curator.domain
        if isinstance(self.workload, int) and self.workload > 1 and self.estimator is Estimator.PRIVATE_PGM:
            # All of these are related with each other, so that the model joins them: known without a list of pairs.
            joined = Workload.surely_within(domain, self.workload)
            require_model_size(domain, (joined,) if joined else (), self.max_model_size)
        workload = Workload.of_order(domain, self.workload) if isinstance(self.workload, int) else self.workload
        cliques = dict.fromkeys(map(domain.canonical, workload.weights))
        named = {name for clique in cliques for name in clique}
        alone = [(name,) for name in domain.attributes if name not in named]
        return synthesize_cliques(
            curator,
            (*cliques, *alone),
            method="direct",
            parameters={
                "cliques": [list(clique) for clique in cliques],
                "max_model_size": self.max_model_size,
                "estimator": self.estimator.value,
            },
            max_model_size=self.max_model_size,
            estimator=self.estimator,
            rows=rows,
            pace=Pace(curator, progress, time_limit_for(time_limit, self)),
        )


def synthesize_cliques(
    curator: Curator,
    cliques: tuple[Clique, ...],
    *,
    method: str,
    parameters: Mapping[str, Any],
    max_model_size: float,
    estimator: Estimator = Estimator.PRIVATE_PGM,
    rows: int | None,
    pace: Pace,
) -> Synthesis:
    """Measures `cliques` in one query with the whole budget, fits a model, and draws rows."""
    check_rows(rows)
    _require_possible(curator, cliques, max_model_size, estimator)
    pure = curator.budget.delta == 0
    account = curator.filter(
        PureFilter() if pure else GaussianFilter(),
        replacement_factor=ANY_QUESTION if pure else COUNTS_WITH_GAUSSIAN_NOISE,
    )
    noise = account.noise(account.capacity)
    public_total = float(curator.public_row_count()) if curator.row_count_is_public else None
    require_total(curator, account, [(cliques, noise)], rows)
    warm_estimator = WarmEstimator(
        curator.domain, curator.schema.structural_zeros, public_total, wanted=rows, watch=pace
    )
    pace.step("measuring", 0.0)
    measurements = measure(account, curator.domain, cliques, noise)
    pace.step("fitting", _MEASURED, 1.0)
    pace.last_fit()
    model = _fitted(warm_estimator, measurements, estimator)
    warnings: tuple[str, ...] = ()
    by_themselves: Mapping[str, np.ndarray] = {}
    if estimator is Estimator.PRIVATE_PGM and all(len(clique) == 1 for clique in cliques):
        model, by_themselves = smooth_columns(curator.schema, warm_estimator, model)
    if estimator is Estimator.PRIVATE_PGM:
        warnings = one_way_warnings(curator.schema, warm_estimator)
    if len(curator.domain.attributes) > 1:
        alone = all(len(clique) == 1 for clique in cliques)
        if alone:
            warnings = (*warnings, unrelated(curator.schema))
        else:
            groups = groups_of_model(curator.schema, model)
            warnings = (
                *warnings,
                *weak_relations(
                    blurred_counts(measurements, model.total, groups), columns=len(curator.schema.synthesized)
                ),
            )
    bounds = measured_bounds([measurements], model, laplace=pure)
    counted, total_error = warm_estimator.counted, warm_estimator.total_error
    error_bars = ErrorBars(curator.domain, bounds, model.total, counted, total_error, laplace=pure)
    return release(
        curator,
        Fitted(model, error_bars, warm_estimator.outcomes, warnings, by_themselves),
        method=method,
        parameters={**parameters, **pace.facts(), **_known_beforehand(curator, measurements, noise, estimator)},
        rows=rows,
    )


def _require_possible(
    curator: Curator, cliques: tuple[Clique, ...], max_model_size: float, estimator: Estimator
) -> None:
    if estimator is Estimator.PRIVATE_PGM:
        require_model_size(curator.domain, cliques, max_model_size)
    elif estimator is Estimator.MINIMAX:
        require_enumerable(curator.domain)
    else:
        if not curator.row_count_is_public:
            raise ValueError(
                "Brute force tries all tables of n rows, so that n must be public: use `replace_one`, or the estimator "
                "minimax."
            )
        require_few_tables(curator.domain, max(curator.public_row_count(), 1), curator.schema.structural_zeros)


def _known_beforehand(
    curator: Curator,
    measurements: list[NoisyMarginal],
    noise: CountNoise,
    estimator: Estimator,
) -> dict[str, Any]:
    """Lemma 3.4 in records, where it holds: the real table must be among those over which the closest one is taken."""
    closest = estimator is not Estimator.PRIVATE_PGM and curator.row_count_is_public
    if not (closest and isinstance(noise, GaussianNoise)):
        return {}
    from counterfoil.theory.direct import measured_gap  # takes a while, and is seldom needed

    gap = measured_gap(
        [measured.counts.size for measured in measurements],
        noise=measurements[0].scale,
        failure_probability=_FAILURE,
        rows=curator.public_row_count(),
    )
    return {"gap": {"records": gap.value, "confidence": 1 - _FAILURE, "vacuous": gap.vacuous}}


def _fitted(warm_estimator: WarmEstimator, measurements: list[NoisyMarginal], estimator: Estimator) -> GraphicalModel:
    """The model; `warm_estimator` also estimates the number of records."""
    if estimator is Estimator.PRIVATE_PGM:
        return warm_estimator.fit(measurements, relative_gap=_LAST_GAP)
    total, zeros = warm_estimator.count(measurements), warm_estimator.structural_zeros
    if estimator is Estimator.MINIMAX:
        return closest_weights(warm_estimator.domain, measurements, total=total, zeros=zeros)
    return closest_table(warm_estimator.domain, measurements, rows=round(total), zeros=zeros)


def require_model_size(domain: Domain, cliques: tuple[Clique, ...], max_model_size: float) -> None:
    """Refuses a model that would not fit, before anything is allocated or charged.

    Raises:
        ValueError: naming the largest clique of the junction tree and what to change.
    """
    largest = max(cliques, key=domain.size, default=())
    cells = domain.size(largest)  # of the model there are at least as many, and of a wide table more than a float holds
    if cells * BYTES_PER_CELL <= max_model_size * 1_000_000:
        tree = junction_tree.build(domain, cliques)
        if tree.megabytes <= max_model_size:
            return
        largest, cells = max(tree.cliques, key=domain.size), tree.cells
    raise ValueError(
        f"The model needs {_amount(cells * BYTES_PER_CELL // 1_000_000)} MB, more than `max_model_size` = "
        f"{max_model_size:g}. Its largest part joins {first_few(largest, _MOST_NAMED)} in "
        f"{_amount(domain.size(largest))} cells. Ask for fewer marginals that share columns, give these columns fewer "
        "bins in the schema, or raise `max_model_size`."
    )


def _amount(number: int) -> str:
    """In digits, and where they are many by the power of ten."""
    return f"{number:,}" if number < _LONG else f"10^{math.log10(number):.0f}"
