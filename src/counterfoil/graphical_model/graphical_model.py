"""A distribution over a finite domain as a product of factors, whose marginals are computed exactly."""

import json
import math
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil.domain.domain import Clique, Domain
from counterfoil.files import replacing, sha256_of_values
from counterfoil.graphical_model import junction_tree, pairwise, tree_pairs
from counterfoil.graphical_model.elimination import Program, compile_program
from counterfoil.graphical_model.junction_tree import JunctionTree
from counterfoil.graphical_model.lumping import Lumping
from counterfoil.graphical_model.propagation import (
    Calibration,
    Propagation,
    Underflow,
    evaluate,
    evaluate_logarithms,
)
from counterfoil.graphical_model.query_program import query_program
from counterfoil.graphical_model.relevance import Relevance, mask_of
from counterfoil.graphical_model.sampling import Codes, draw_rows
from counterfoil.graphical_model.shared_orders import MOST_AXES
from counterfoil.graphical_model.shared_products import Scaled, SharedProducts
from counterfoil.graphical_model.swapping import MOST_ROWS, Swapping
from counterfoil.graphical_model.tensor_product import Axes
from counterfoil.json_text import parsed_json
from counterfoil.threads import on_one_thread

Table = NDArray[np.float64]
Where = Mapping[str, int | Iterable[int]]
PairProbabilities = Callable[[JunctionTree, Mapping[Clique, Table], Sequence[Clique]], dict[Clique, Table]]

_FORMAT = 1
# How far from 1 the sum of a marginal's probabilities may be before it is computed again in logarithms.
_MASS_TOLERANCE = 1e-7
MANY_PAIRS = 500
"""So many pairs are computed together; their last digits then differ from those of one pair alone."""
# So many marginals of a model of so many cells share their products, which changes last digits too.
_MANY, _LARGE = 24, 10_000
# Many pairs follow from the tables of the tree's cliques where these have so few cells, so many, or more columns than
# share products: a pass over them costs less than a plan.
_FEW_CELLS, _VERY_LARGE = 100_000, 2_000_000
# Where they have few cells, and all attributes and separators together so few codes, pairs are computed as one matrix:
# 171 pairs of 19 columns in 5 ms, and in 80 ms one after another.
_FEW_COLUMNS = 1_000
# Pairs that took a walk along the tree are kept up to so many cells: 32 MB.
_KEPT_CELLS = 1 << 22
# Products that wait for others to need them have at most so many cells together: 16 MB.
_WAITING_CELLS = 1 << 21


class GraphicalModel:
    """p(x) proportional to the product of exp(potential), scaled to `total` records.

    `potentials` maps cliques to tables of log potentials with one axis for each attribute of the clique, in
    its order; entries may be -inf (a structural zero), not nan or +inf. Attributes in no clique are uniform
    and independent. Nothing about the model changes after it is made; what is derived from it is computed
    when first asked for and kept.

    Raises ValueError for unknown attributes, wrong shapes, wrong entries, or a total that is not a positive
    finite number.
    """

    def __init__(self, domain: Domain, potentials: Mapping[Clique, Table], total: float) -> None:
        if not (np.isfinite(total) and total > 0):
            raise ValueError(f"`total` must be a positive finite number of records. Found {total}.")
        self.domain = domain
        self.total = float(total)
        self.potentials: dict[Clique, Table] = {}
        for clique, table in potentials.items():
            table = np.asarray(table, dtype=np.float64)
            if table.shape != domain.shape(clique) or len(set(clique)) != len(clique):
                raise ValueError(
                    f"The potential of {clique} must have shape {domain.shape(clique)}. Found {table.shape}."
                )
            if np.isnan(table).any() or np.isposinf(table).any():
                raise ValueError(f"Log potentials must be finite or -inf. Found others for {clique}.")
            names = domain.canonical(clique)
            table = table.transpose([clique.index(name) for name in names])
            self.potentials[names] = self.potentials[names] + table if names in self.potentials else table

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree that inference and sampling follow."""
        return junction_tree.build(self.domain, self.potentials)

    @property
    def log_partition(self) -> float:
        """Log of the sum over the whole domain of the product of factors."""
        return self._calibrated[1].log_partition

    def marginal(self, clique: Iterable[str]) -> Table:
        """Expected counts on `clique`, one axis for each attribute in the given order; any clique, exactly."""
        names = tuple(clique)
        return self.marginals([names])[names]

    @on_one_thread
    def marginals(self, cliques: Iterable[Iterable[str]]) -> dict[Clique, Table]:
        """Expected counts on each of `cliques` (any, inside the junction tree's or not), exactly.

        Both sweeps over the junction tree are made once and shared by all of them. Memory is that of the
        largest intermediate table: for a clique far outside the tree this can be large.
        """
        wanted = list(dict.fromkeys(map(tuple, cliques)))
        if self._smaller is None:
            return self._of_all_codes(wanted)
        lumping, model = self._smaller
        for names in wanted:
            self._axes(names)
        return {names: lumping.expanded(names, table) for names, table in model.marginals(wanted).items()}

    @cached_property
    def _smaller(self) -> "tuple[Lumping, GraphicalModel] | None":
        """The model in which codes that no interaction tells apart are one; None where there are none."""
        lumping = Lumping.of(self.domain, self.potentials)
        if lumping is None:
            return None
        return lumping, GraphicalModel(lumping.domain, lumping.potentials, self.total)

    def _of_all_codes(self, wanted: Sequence[Clique]) -> dict[Clique, Table]:
        pairs = [names for names in wanted if len(names) == 2 and names[0] != names[1]]
        known = self._pairs(pairs)
        known |= self._sharing([names for names in wanted if names not in known])
        program, calibration = self._calibrated
        return {names: known[names] if names in known else self._query(program, calibration, names) for names in wanted}

    def _pairs(self, pairs: Sequence[Clique]) -> dict[Clique, Table]:
        """Expected counts on pairs, all at once, where they are many and one way or another suits the tree."""
        many = len(pairs) >= _MANY
        if (many and self.has_a_small_matrix) or (
            len(pairs) >= MANY_PAIRS and pairwise.fits(self.tree, pairwise.MOST_COLUMNS)
        ):
            return self._joint(pairs, pairwise.pair_probabilities)
        if many and (not _FEW_CELLS <= self.tree.cells < _VERY_LARGE or len(self.domain.sizes) > MOST_AXES):
            missing = [pair for pair in pairs if pair not in self._walked]
            found = self._joint(missing, tree_pairs.pair_probabilities) if missing else {}
            if sum(table.size for table in (*self._walked.values(), *found.values())) <= _KEPT_CELLS:
                self._walked.update(found)
            return {pair: (found[pair] if pair in found else self._walked[pair]).copy() for pair in pairs}
        return {}

    @cached_property
    def has_a_small_matrix(self) -> bool:
        """Whether any number of pairs is computed in milliseconds, with no compiled code."""
        return self.tree.cells < _FEW_CELLS and pairwise.fits(self.tree, _FEW_COLUMNS)

    @cached_property
    def _walked(self) -> dict[Clique, Table]:
        """Pairs that were asked for together before, which rows and error bars ask for again."""
        return {}

    def _joint(self, pairs: Sequence[Clique], probabilities: PairProbabilities) -> dict[Clique, Table]:
        program, calibration = self._calibrated
        own = {clique: self._query(program, calibration, clique) / self.total for clique in self.tree.cliques}
        joint = probabilities(self.tree, own, pairs)
        return {pair: np.ascontiguousarray(table * (self.total / table.sum())) for pair, table in joint.items()}

    def _sharing(self, cliques: Sequence[Clique]) -> dict[Clique, Table]:
        """Expected counts on those of many cliques whose products stay in the range of floats, products made once."""
        if len(cliques) < _MANY or self.tree.cells < _LARGE or len(self.domain.sizes) > MOST_AXES:
            return {}
        program, calibration = self._calibrated
        if calibration.logarithmic:
            return {}
        products = SharedProducts(program.sizes, _WAITING_CELLS)
        planned = []
        for names in cliques:
            wanted = self._axes(names)
            slots, opened, top = self._relevance.of(wanted)
            tensors = {2 * slot: Scaled(calibration.tables[slot], program.axes[slot]) for slot in slots}
            tensors[2 * top + 1] = Scaled(calibration.derivatives[top], program.axes[top])
            scale = sum(calibration.log_factors[slot] for slot in opened)
            planned.append((names, products.plan(tensors, mask_of(wanted)), scale))
        found = {}
        for names, node, scale in planned:
            try:
                product = products.compute(node)
            except Underflow:
                continue
            if _is_whole(product.table, product.log_scale + scale):
                found[names] = self._counts(product.table, product.axes, names)
        return found

    @cached_property
    def _swapping(self) -> Swapping | None:
        return Swapping.of(self.domain, self.potentials, self.marginals)

    @cached_property
    def _relevance(self) -> Relevance:
        return Relevance(self._calibrated[0])

    @on_one_thread
    def sample(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        where: Where | None = None,
        independent: bool = False,
    ) -> Codes:
        """Draw `n` rows [n, attributes] of codes (int32), columns in domain order, rows in random order.

        Rows are rounded so that marginals hold as closely as integers can (see `sampling`), and up to
        `swapping.MOST_ROWS` of them, without `where`, change and exchange values until their columns and pairs of
        columns are near the model's too (see `swapping`); or with `independent` they are independent draws. `where`
        maps attributes to the code, or codes, that every row must have there: the rows follow the model's exact
        conditional distribution, without rejection.

        Raises ValueError for codes outside the domain and for a condition of probability zero.
        """
        if n < 0:
            raise ValueError(f"`n` must not be negative. Found {n}.")
        return self.sampler(where=where, independent=independent)(n, rng)

    @on_one_thread
    def sampler(
        self, *, where: Where | None = None, independent: bool = False
    ) -> Callable[[int, np.random.Generator], Codes]:
        """What draws rows as `sample` does, any number of times and on any thread: what they share is computed once.

        Raises ValueError as `sample` does.
        """
        potentials = dict(self.potentials)
        for attribute, codes in (where or {}).items():
            evidence = _evidence(self.domain, attribute, codes)
            potentials[attribute,] = potentials.get((attribute,), 0.0) + evidence
        axes, tables = _inputs(self.domain, potentials)
        order = self.domain.axes(self.tree.elimination_order)
        program = compile_program(self.domain.sizes, axes, order, jointly=False)
        try:
            calibration = Propagation(program).calibrate(tables)
        except ValueError as error:
            if where is None:
                raise
            raise ValueError(
                "The condition in `where` must have a positive probability in the model. Found zero: impossible "
                "cells, such as those by the rules of a schema, exclude all such rows."
            ) from error

        def draw(n: int, rng: np.random.Generator) -> Codes:
            rows = draw_rows(self.domain, program, calibration, n=n, rng=rng, independent=independent)
            if independent or where or n > MOST_ROWS or self._swapping is None:
                return rows
            return self._swapping.swapped(rows, rng)

        return draw

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one .npz file (no pickle inside); an existing file is replaced at once."""
        facts, arrays = self._content()
        header = np.array(json.dumps({"format": "counterfoil graphical model", "version": _FORMAT, **facts}))
        with replacing(path) as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays, header=header)

    @property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, of all that it says; a model that was saved and loaded has the same."""
        return sha256_of_values(*self._content())

    def _content(self) -> tuple[dict[str, Any], dict[str, NDArray]]:
        facts = {
            "attributes": self.domain.attributes,
            "sizes": self.domain.sizes,
            "cliques": list(self.potentials),
            "total": self.total,
        }
        return facts, {f"potential_{i}": table for i, table in enumerate(self.potentials.values())}

    @cached_property
    def _calibrated(self) -> tuple[Program, Calibration]:
        axes, tables = _inputs(self.domain, self.potentials)
        order = self.domain.axes(self.tree.elimination_order)
        program = compile_program(self.domain.sizes, axes, order)
        return program, Propagation(program).calibrate(tables)

    def _query(self, program: Program, calibration: Calibration, names: Clique) -> Table:
        wanted = self._axes(names)
        slots, opened, top = self._relevance.of(wanted)
        inputs = [calibration.tables[slot] for slot in slots] + [calibration.derivatives[top]]
        axes = [program.axes[slot] for slot in slots] + [program.axes[top]]
        query = query_program(program.sizes, axes, wanted)
        if calibration.logarithmic:
            table = np.exp(evaluate_logarithms(query, inputs))
        else:
            table, log_scale = evaluate(query, inputs)
            if not _is_whole(table, log_scale + sum(calibration.log_factors[s] for s in opened)):
                with np.errstate(divide="ignore"):
                    table = np.exp(_peak_at_zero(evaluate_logarithms(query, [np.log(t) for t in inputs])))
        return self._counts(table, query.axes[query.output], names)

    def _axes(self, names: Clique) -> frozenset[int]:
        axes = frozenset(self.domain.axes(names))
        if len(axes) != len(names):
            raise ValueError(f"A clique names each attribute once. Found {names}.")
        return axes

    def _counts(self, table: Table, axes: Axes, names: Clique) -> Table:
        """Expected counts, in the order of `names`, from a table over `axes` that is proportional to them."""
        table = table * (self.total / table.sum())
        return np.ascontiguousarray(table.transpose([axes.index(axis) for axis in self.domain.axes(names)]))


def load(path: str | os.PathLike[str]) -> GraphicalModel:
    """Read a model that `GraphicalModel.save` wrote.

    Raises ValueError for a file that is damaged, holds pickled objects, or has another format or version.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            header = parsed_json(str(archive["header"]))
            tables = [archive[f"potential_{i}"] for i in range(len(header["cliques"]))]
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"A saved graphical model must be an archive of plain arrays. {os.fspath(path)!r} is not one: it was "
            "cut short, edited, or made by something else."
        ) from error
    if header.get("version") != _FORMAT:
        raise ValueError(
            f"The model's format must be version {_FORMAT}. Found {header.get('version')}; use the release that "
            "wrote it."
        )
    domain = Domain(tuple(header["attributes"]), tuple(header["sizes"]))
    cliques = [tuple(clique) for clique in header["cliques"]]
    return GraphicalModel(domain, dict(zip(cliques, tables, strict=True)), header["total"])


def _inputs(domain: Domain, potentials: Mapping[Clique, Table]) -> tuple[list[tuple[int, ...]], list[Table]]:
    """Axes and tables of the factors, with a uniform one for each attribute that has none."""
    covered = {name for clique in potentials for name in clique}
    missing = [name for name in domain.attributes if name not in covered]
    axes = [domain.axes(clique) for clique in potentials] + [domain.axes((name,)) for name in missing]
    return axes, [*potentials.values(), *(np.zeros(domain[name]) for name in missing)]


def _evidence(domain: Domain, attribute: str, codes: int | Iterable[int]) -> Table:
    allowed = {int(codes)} if isinstance(codes, (int, np.integer)) else {int(code) for code in codes}
    size = domain[attribute]
    if not allowed or min(allowed) < 0 or max(allowed) >= size:
        raise ValueError(f"`where` needs codes between 0 and {size - 1} for {attribute!r}. Found {sorted(allowed)}.")
    evidence = np.full(size, -np.inf)
    evidence[sorted(allowed)] = 0.0
    return evidence


def _is_whole(table: Table, log_scale: float) -> bool:
    """Whether table * exp(log_scale) are probabilities: their sum is 1, and a missing part fell below any float."""
    return abs(float(table.sum()) * math.exp(log_scale) - 1.0) < _MASS_TOLERANCE


def _peak_at_zero(log_table: Table) -> Table:
    return log_table - log_table.max()
