"""Covering demands from supplies where mass may also be created and removed at a price: one network flow.

Supplies a_i, demands b_j, a cost c_ij for moving a unit, a price D for creating or removing one, and `free`
units of supply that may stay where they are at no cost. As a balanced transport:

    rows       every supply i, and a bank
    columns    every demand j, what stays (demand `free`), and the bank
    costs      c_ij; supply to stay 0; supply to bank D; bank to demand or to stay D; bank to bank 0

Its dual is   maximize  sum a_i u_i + sum b_j v_j + free t   over   u_i + v_j <= c_ij,  u_i <= D,  v_j <= D,
u_i + t <= 0,  t <= D. For *any* t and v_j in range the best u follow in one pass over the costs (and the best v
from any u), so any prices give a proven lower bound, and the network simplex only has to suggest good ones. That
makes it safe to solve on a sparse graph first, then to price all other moves, and to add those that would help,
until the two bounds meet: column generation, as in Gottschlich and Schuhmacher 2014 ("The shortlist method").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from counterfoil.transport.metric import Array, FiniteSpace, Indices

ALL_MOVES = 1_000_000
"""Up to this many costs, all moves go to the simplex at once: there screening is no faster."""
COARSE_POINTS = 800
MOVES_ADDED = 8
CELL_MOVES = 16
ROUNDS = 60
TOLERANCE = 1e-10


@dataclass(frozen=True)
class Cover:
    """A transport and its proof: `used` [n_supplies] is what each supply gave to demands, `cost` what it
    cost with creation and removal, and `bound` what no transport can go below."""

    used: Array
    cost: float
    bound: float


@dataclass(frozen=True)
class CoverProblem:
    """Demands [n_demands] at the points `columns` of `space`, to be covered from supplies [n_supplies] at `rows`.

    All amounts and `price`, the cost of creating or removing a unit, are positive; `free` is not negative.
    """

    space: FiniteSpace
    rows: Indices
    columns: Indices
    supplies: Array
    demands: Array
    free: float
    price: float

    def solve(self) -> Cover:
        """The cheapest cover. Its bound meets its cost up to rounding, unless the rounds run out first."""
        moves = None if len(self.rows) * len(self.columns) <= ALL_MOVES else _promising_moves(self)
        bound = -np.inf
        for _ in range(ROUNDS):
            optimum = _simplex(self, moves)
            proven, helpful = _price_all(self, optimum)
            bound = max(bound, proven)
            if moves is None or optimum.cost - bound <= TOLERANCE * optimum.cost:
                break
            n_before = len(moves.keys)
            moves = _merge(moves, helpful)
            if len(moves.keys) == n_before:
                break
        sources = optimum.flow.keys // len(self.columns)
        used = np.bincount(sources, weights=optimum.flow.amounts, minlength=len(self.rows))
        return Cover(np.minimum(used, self.supplies), optimum.cost, bound)

    def exact_cost(self) -> float:
        """The cost of the cheapest cover; ArithmeticError unless its bounds agree to within a millionth."""
        cover = self.solve()
        if cover.cost - cover.bound > 1e-6 * cover.cost:
            raise ArithmeticError(
                f"The transport between {len(self.rows)} and {len(self.columns)} points was only found to lie between "
                f"{cover.bound:.6g} and {cover.cost:.6g}. Compare fewer points, or use the sliced distance."
            )
        return cover.cost


@dataclass(frozen=True)
class _Moves:
    """Moves from supplies to demands, keys = supply * n_demands + demand, with their costs or flows."""

    keys: Indices
    amounts: Array


@dataclass(frozen=True)
class _Optimum:
    """Flows, their cost, and the prices of supplies [n], demands [m] and staying; the bank's are zero."""

    flow: _Moves
    cost: float
    row_prices: Array
    column_prices: Array
    stay_price: float


def exact_transport() -> Any:
    """POT's module `ot`, or a ModuleNotFoundError that says how to get it."""
    try:
        import ot
    except ImportError as error:
        raise ModuleNotFoundError(
            "Exact optimal transport needs the package POT, which is not installed. "
            'Run: pip install "counterfoil[transport]"'
        ) from error
    return ot


def simplex(amounts_out: Array, amounts_in: Array, costs: Any) -> tuple[sparse.coo_matrix, dict[str, Any]]:
    """POT's network simplex on a dense or sparse cost matrix: the plan, and a record with `cost`, `u`, `v`."""
    total = amounts_out.sum()
    plan, record = exact_transport().emd(
        amounts_out / total, amounts_in / amounts_in.sum(), costs, numItermax=10**9, log=True, center_dual=False
    )
    if record["warning"] is not None:
        raise ArithmeticError(f"The network simplex did not finish: {record['warning']}")
    return sparse.coo_matrix(plan) * total, record | {"cost": float(record["cost"]) * total}


def _simplex(problem: CoverProblem, moves: _Moves | None) -> _Optimum:
    """The optimum over `moves`, or over all moves where they are None."""
    n, m = len(problem.rows), len(problem.columns)
    supply, demand, free = problem.supplies.sum(), problem.demands.sum(), problem.free
    # The bank also sends itself this much, which ties its two prices together: both can then be put at zero.
    idle = supply + demand + free
    amounts_out = np.concatenate([problem.supplies, [demand + free + idle]])
    stays = [free] if free > 0 else []
    amounts_in = np.concatenate([problem.demands, stays, [supply + idle]])
    bank = len(amounts_in) - 1
    costs = _all_costs(problem, bank) if moves is None else _some_costs(problem, bank, moves)
    plan, record = simplex(amounts_out, amounts_in, costs)
    moved = (plan.row < n) & (plan.col < m)
    flow = _Moves(plan.row[moved].astype(np.intp) * m + plan.col[moved], plan.data[moved])
    shift = record["u"][n]
    prices = record["v"] + shift
    stay = min(float(prices[m]), problem.price) if stays else -problem.price
    return _Optimum(flow, record["cost"], record["u"][:n] - shift, prices[:m], stay)


def _all_costs(problem: CoverProblem, bank: int) -> Array:
    n, m = len(problem.rows), len(problem.columns)
    costs = np.full((n + 1, bank + 1), problem.price)
    costs[:n, :m] = problem.space.between(problem.rows, problem.columns)
    costs[:n, m:bank] = 0.0
    costs[n, bank] = 0.0
    return costs


def _some_costs(problem: CoverProblem, bank: int, moves: _Moves) -> sparse.coo_matrix:
    n, m = len(problem.rows), len(problem.columns)
    everyone, n_stay = np.arange(n), bank - m
    rows = [moves.keys // m, np.tile(everyone, n_stay), everyone, np.full(bank + 1, n)]
    columns = [moves.keys % m, np.full(n * n_stay, m), np.full(n, bank), np.arange(bank + 1)]
    costs = [moves.amounts, np.zeros(n * n_stay), np.full(n + bank, problem.price), np.zeros(1)]
    places = (np.concatenate(rows), np.concatenate(columns))
    return sparse.coo_matrix((np.concatenate(costs), places), shape=(n + 1, bank + 1))


def _price_all(problem: CoverProblem, optimum: _Optimum) -> tuple[float, _Moves]:
    """The best lower bound that the prices prove, and the moves that would improve on them the most."""
    space, rows, columns, price = problem.space, problem.rows, problem.columns, problem.price
    slack, highest = TOLERANCE * price, min(price, -optimum.stay_price)
    u, v = np.minimum(optimum.row_prices, highest), np.minimum(optimum.column_prices, price)
    best_u, forth = _scan(space, rows, columns, prices=v, offers=optimum.row_prices - slack)
    best_v, back = _scan(space, columns, rows, prices=u, offers=optimum.column_prices - slack)
    kept = problem.free * optimum.stay_price
    from_v = problem.supplies @ np.minimum(best_u, highest) + problem.demands @ v
    from_u = problem.supplies @ u + problem.demands @ np.minimum(best_v, price)
    return float(max(from_v, from_u) + kept), _merge(forth, _turned(back, len(rows), len(columns)))


def _scan(space: FiniteSpace, rows: Indices, columns: Indices, *, prices: Array, offers: Array) -> tuple[Array, _Moves]:
    """Price every move: each row's least reduced cost, and the few moves a row that are below its offer."""
    values = np.empty(len(rows))
    keys: list[Indices] = [np.empty(0, np.intp)]
    moved: list[Array] = [np.empty(0)]
    for part, costs in space.blocks(rows, columns):
        reduced = costs - prices
        values[part] = reduced.min(axis=1)
        chosen = np.flatnonzero(values[part] < offers[part])
        if len(chosen) == 0:
            continue
        count = min(MOVES_ADDED, len(columns))
        column = np.argpartition(reduced[chosen], count - 1, axis=1)[:, :count]
        row = np.broadcast_to(chosen[:, None], column.shape)
        below = reduced[row, column] < offers[part][row]
        row, column = row[below], column[below]
        keys.append((row + part.start) * len(columns) + column)
        moved.append(costs[row, column])
    return values, _Moves(np.concatenate(keys), np.concatenate(moved))


def _merge(first: _Moves, second: _Moves) -> _Moves:
    keys, places = np.unique(np.concatenate([first.keys, second.keys]), return_index=True)
    return _Moves(keys, np.concatenate([first.amounts, second.amounts])[places])


def _turned(moves: _Moves, n: int, m: int) -> _Moves:
    """Moves from demands [m] to supplies [n] as moves from supplies to demands."""
    return _Moves(moves.keys % n * m + moves.keys // n, moves.amounts)


def _promising_moves(problem: CoverProblem) -> _Moves:
    """Moves to start from, read off a coarse version of the problem. Only speed depends on them.

    Every amount is carried to the nearest of a few of the points and the small problem is solved in full. Its
    flows say between which cells mass must travel, which near neighbors alone would take many rounds to find;
    its prices say which moves look best from each point, which finds near neighbors where mass stays near.
    """
    space, rows, columns, price = problem.space, problem.rows, problem.columns, problem.price
    n, m = len(rows), len(columns)
    few_rows, few_columns = _spread(rows), _spread(columns)
    row_homes, column_homes = _nearest(space, rows, few_rows), _nearest(space, columns, few_columns)
    coarse = CoverProblem(
        space,
        few_rows,
        few_columns,
        supplies=_gather(problem.supplies, row_homes, len(few_rows)),
        demands=_gather(problem.demands, column_homes, len(few_columns)),
        free=problem.free,
        price=price,
    )
    optimum = _simplex(coarse, None)
    v, _ = _scan(space, columns, few_rows, prices=optimum.row_prices, offers=np.full(m, -np.inf))
    u, forth = _scan(space, rows, columns, prices=np.minimum(v, price), offers=np.full(n, np.inf))
    _, back = _scan(space, columns, rows, prices=np.minimum(u, price), offers=np.full(m, np.inf))
    near = _merge(forth, _turned(back, n, m))
    row_cells, column_cells = _members(row_homes, len(few_rows)), _members(column_homes, len(few_columns))
    across = [_Moves(np.empty(0, np.intp), np.empty(0))]
    for flow in optimum.flow.keys:
        i, j = row_cells[flow // len(few_columns)], column_cells[flow % len(few_columns)]
        if len(i) >= len(j) > 0:
            across.append(_between_cells(problem, i, j))
        elif len(j) > len(i) > 0:
            turned = replace(problem, rows=columns, columns=rows)
            across.append(_turned(_between_cells(turned, j, i), n, m))
    keys, costs = zip(*((moves.keys, moves.amounts) for moves in across), strict=True)
    return _merge(near, _Moves(np.concatenate(keys), np.concatenate(costs)))


def _between_cells(problem: CoverProblem, many: Indices, few: Indices) -> _Moves:
    """Moves from each of `many` supplies to a few of the `few` demands, evenly: all of them, unless the cells
    are large, as where many points lie at one place."""
    starts = np.arange(len(many)) * len(few) // len(many)
    partners = (starts[:, None] + np.arange(min(CELL_MOVES, len(few)))) % len(few)
    blocks = problem.space.blocks(problem.rows[many], problem.columns[few])
    costs = [np.take_along_axis(block, partners[part], axis=1) for part, block in blocks]
    keys = many[:, None] * len(problem.columns) + few[partners]
    return _Moves(keys.ravel(), np.concatenate(costs).ravel())


def _members(homes: Indices, n_homes: int) -> list[Indices]:
    order = np.argsort(homes, kind="stable")
    return np.split(order, np.searchsorted(homes[order], np.arange(1, n_homes)))


def _gather(amounts: Array, homes: Indices, n_homes: int) -> Array:
    """What each home receives; a trace where nobody lives, since every amount must be positive."""
    return np.maximum(np.bincount(homes, weights=amounts, minlength=n_homes), amounts.min())


def _spread(ids: Indices) -> Indices:
    return ids[np.linspace(0, len(ids) - 1, min(COARSE_POINTS, len(ids))).astype(np.intp)]


def _nearest(space: FiniteSpace, sources: Indices, targets: Indices) -> Indices:
    return np.concatenate([block.argmin(axis=1) for _, block in space.blocks(sources, targets)])
