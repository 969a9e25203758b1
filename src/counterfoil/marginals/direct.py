"""Named marginals, measured once: for who knows what must be kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.curator.account import FilterAccount
from counterfoil.curator.accounting import GaussianFilter, PureFilter
from counterfoil.curator.curator import Curator
from counterfoil.curator.noise import GaussianNoise, LaplaceNoise
from counterfoil.marginals import junction_tree
from counterfoil.marginals.domain import Clique, Domain
from counterfoil.marginals.error_bars import Bound, ErrorBars, measured_bounds
from counterfoil.marginals.fitting import Fitter
from counterfoil.marginals.measure import gaussian_noise, measure
from counterfoil.marginals.release import Progress, check_rows, quiet, release
from counterfoil.marginals.workload import Workload
from counterfoil.synthesis import Synthesis

_LAST_GAP = 2e-3


@dataclass(frozen=True)
class Direct:
    """Measures the marginals of a workload, all at once and with the same noise, and fits Private-PGM.

    Every column that no clique names is measured on its own as well, so that the model knows it.

    Args:
        workload: the cliques, or 1, 2 or 3 for all marginals of that order. Weights are not used.
        max_model_size: the most megabytes that the model may take.
    """

    workload: Workload | int = 2
    max_model_size: float = 80.0

    def synthesize(self, curator: Curator, *, rows: int | None = None, progress: Progress = quiet) -> Synthesis:
        """A synthesis within `curator.budget`; pure privacy where its delta is 0.

        Raises:
            ValueError: before anything is charged, when the model would be larger than `max_model_size`.
        """
        domain = curator.domain
        workload = Workload.of_order(domain, self.workload) if isinstance(self.workload, int) else self.workload
        cliques = dict.fromkeys(map(domain.canonical, workload.weights))
        named = {name for clique in cliques for name in clique}
        alone = [(name,) for name in domain.attributes if name not in named]
        return synthesize_cliques(
            curator,
            (*cliques, *alone),
            method="direct",
            parameters={"cliques": [list(clique) for clique in cliques], "max_model_size": self.max_model_size},
            max_model_size=self.max_model_size,
            rows=rows,
            progress=progress,
        )


def synthesize_cliques(
    curator: Curator,
    cliques: tuple[Clique, ...],
    *,
    method: str,
    parameters: Mapping[str, Any],
    max_model_size: float,
    rows: int | None,
    progress: Progress,
) -> Synthesis:
    """Measures `cliques` in one question that takes the whole budget, fits, draws."""
    check_rows(rows)
    require_model_size(curator.domain, cliques, max_model_size)
    account = curator.filter(PureFilter() if curator.budget.delta == 0 else GaussianFilter())
    noise = _whole_noise(account)
    public_total = float(curator.public_row_count()) if curator.row_count_is_public else None
    fitter = Fitter(curator.domain, curator.schema.structural_zeros, public_total)
    progress("measuring", 0.0)
    measurements = measure(account, curator.domain, cliques, noise)
    progress("fitting", 1.0)
    model = fitter.fit(measurements, relative_gap=_LAST_GAP)
    bounds: dict[Clique, tuple[Bound, ...]] = {}
    if isinstance(noise, GaussianNoise):  # the concentration of `MeasuredBound` is the Gaussian's
        bounds = measured_bounds([measurements], model)
    return release(
        curator,
        model,
        method=method,
        parameters=parameters,
        error_bars=ErrorBars(curator.domain, bounds, model.total, fitter.counted, fitter.total_error),
        rows=rows,
    )


def require_model_size(domain: Domain, cliques: tuple[Clique, ...], max_model_size: float) -> None:
    """Refuses a model that would not fit, before anything is allocated or charged.

    Raises:
        ValueError: naming the largest clique of the junction tree and what to change.
    """
    tree = junction_tree.build(domain, cliques)
    if tree.megabytes <= max_model_size:
        return
    largest = max(tree.cliques, key=domain.size)
    raise ValueError(
        f"The model needs {tree.megabytes:,.0f} MB, more than `max_model_size` = {max_model_size:g}. Its largest part "
        f"joins {', '.join(largest)} in {domain.size(largest):,} cells. Ask for fewer marginals that share columns, "
        "give these columns fewer bins in the schema, or raise `max_model_size`."
    )


def _whole_noise(account: FilterAccount) -> GaussianNoise | LaplaceNoise:
    if account.rule.name == PureFilter.name:
        return LaplaceNoise(account.capacity)
    return gaussian_noise(account.capacity)
