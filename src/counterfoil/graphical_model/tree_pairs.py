"""All pairs of a model whose cliques are large, along its junction tree, with no table larger than these.

A pair inside a clique is a sum over the clique's table. Two attributes that share no clique are joined by a path of the
tree: from P(x, S) for a separator S follows P(x, S') for the next one, and P(x, y) for each attribute y of the clique
between them, as the sum over that clique of P(x, S) P(clique) / P(S), because S separates x from what follows (Koller
and Friedman, section 10.3.3). Each step takes one pass over the clique for each value of x, in which nothing is copied:
the values of several x lie side by side in the rows of one table, with a row for each cell of the separator.

`pairwise` does the same for many attributes and small separators, as products of matrices of all pairs of separators.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from counterfoil.compiled import compiled
from counterfoil.domain.domain import Clique
from counterfoil.graphical_model.junction_tree import JunctionTree

_MOST_CELLS = 1 << 23
"""Of one table of values and separators, where a separator has fewer: 64 MB."""


def pair_probabilities(
    tree: JunctionTree, tables: Mapping[Clique, np.ndarray], pairs: Sequence[Clique]
) -> dict[Clique, np.ndarray]:
    """The distribution of each of `pairs`, with the axes in the pair's own order.

    Args:
        tree: the junction tree of the model.
        tables: the distribution of each clique of the tree.
        pairs: of two different attributes.
    """
    walks = _Walks(tree, tables)
    found: dict[frozenset[str], tuple[Clique, np.ndarray]] = {}
    for clique, inside in walks.inside(pairs).items():
        for names, table in _pairs_inside(clique, tables[clique], inside):
            found[frozenset(names)] = names, table
    for names, table in walks.across([pair for pair in pairs if frozenset(pair) not in found]):
        found[frozenset(names)] = names, table
    out = {}
    for pair in pairs:
        names, table = found[frozenset(pair)]
        out[pair] = table if names == pair else table.T
    return out


def _pairs_inside(
    names: Clique, table: np.ndarray, pairs: Sequence[frozenset[str]]
) -> Iterator[tuple[Clique, np.ndarray]]:
    """The distributions of pairs of the axes of one table.

    Each two of three parts of the axes hold every pair: three passes over the table leave far smaller ones.
    """
    if len(names) == 2:
        yield names, table
        return
    wanted = {name for pair in pairs for name in pair}
    parts = [frozenset(part) for part in np.array_split(np.array(names, dtype=object), 3)]
    for left_out in parts[::-1]:
        kept = tuple(name for name in names if name in wanted and name not in left_out)
        inside = [pair for pair in pairs if pair <= frozenset(kept)]
        pairs = [pair for pair in pairs if not pair <= frozenset(kept)]
        if inside:
            gone = tuple(i for i, name in enumerate(names) if name not in kept)
            yield from _pairs_inside(kept, np.asarray(table.sum(axis=gone)), inside)


@dataclass(frozen=True)
class _Codes:
    """Some codes of an attribute: as many columns of a table."""

    name: str
    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class _Arrival:
    """Where a walk is, and what it knows there.

    Args:
        clique: where.
        before: the clique that it comes from, negative at its start.
        codes: of attributes that it left behind.
        given: float64 [cells of the separator, columns], P(codes | separator).
    """

    clique: int
    before: int
    codes: tuple[_Codes, ...]
    given: np.ndarray

    def given_of(self, codes: Sequence[_Codes]) -> np.ndarray:
        """The columns of some of the codes, in their order."""
        if len(codes) == len(self.codes):
            return self.given
        return np.concatenate([self.given[:, columns] for columns in _columns(self.codes, codes)], axis=1)


class _Walks:
    """A junction tree whose edges can be walked in both directions."""

    def __init__(self, tree: JunctionTree, tables: Mapping[Clique, np.ndarray]) -> None:
        self._tree = tree
        self._tables = [np.ascontiguousarray(tables[clique]) for clique in tree.cliques]
        self._members = [frozenset(clique) for clique in tree.cliques]
        self._around: list[list[int]] = [[] for _ in tree.cliques]
        self._home: dict[str, int] = {}
        for i in reversed(range(len(tree.cliques))):
            for name in tree.cliques[i]:
                self._home.setdefault(name, i)
            if tree.separators[i]:
                self._around[i].append(tree.parents[i])
                self._around[tree.parents[i]].append(i)
        self._beyond: dict[tuple[int, int], frozenset[str]] = {}
        self._margins: dict[Clique, np.ndarray] = {}
        self._inverses: dict[Clique, np.ndarray] = {}

    def inside(self, pairs: Iterable[Clique]) -> dict[Clique, list[frozenset[str]]]:
        """Those of `pairs` that lie in a clique, by the smallest that holds them."""
        holding: dict[str, list[int]] = {}
        for i in sorted(range(len(self._tables)), key=lambda i: self._tables[i].size):
            for name in self._tree.cliques[i]:
                holding.setdefault(name, []).append(i)
        found: dict[Clique, list[frozenset[str]]] = {}
        for one, other in pairs:
            first = next((i for i in holding[one] if other in self._members[i]), None)
            if first is not None:
                found.setdefault(self._tree.cliques[first], []).append(frozenset((one, other)))
        return found

    def across(self, pairs: Sequence[Clique]) -> Iterator[tuple[Clique, np.ndarray]]:
        """The distributions of pairs that lie in no clique: from the attribute whose clique is nearer to the root."""
        targets: dict[str, set[str]] = {}
        for pair in {frozenset(pair) for pair in pairs}:
            one, other = sorted(pair, key=lambda name: (-self._home[name], name))
            targets.setdefault(one, set()).add(other)
        tables: dict[Clique, np.ndarray] = {}
        for group, home in self._groups(targets):
            for codes, other, table in self._walk(home, group, targets):
                shape = self._tree.domain.shape((codes.name, other))
                whole = tables.setdefault((codes.name, other), np.empty(shape))
                whole[codes.start : codes.stop] = table
        for one, others in targets.items():
            for other in others:
                if (one, other) not in tables:  # in parts of the tree that nothing joins
                    tables[one, other] = np.multiply.outer(self._margin((one,)), self._margin((other,)))
        yield from tables.items()

    def _groups(self, targets: Mapping[str, set[str]]) -> Iterator[tuple[list[_Codes], int]]:
        """Codes that are walked with together, so that no table is larger than it must be, and where they start."""
        rows = max((self._tree.domain.size(names) for names in self._tree.separators), default=1)
        most = max(_MOST_CELLS // rows, 1)
        for home in range(len(self._tables)):
            group, room = list[_Codes](), most
            for name in sorted(name for name in targets if self._home[name] == home):
                start, size = 0, self._tree.domain[name]
                while start < size:
                    stop = min(size, start + room)
                    group.append(_Codes(name, start, stop))
                    start, room = stop, room - (stop - start)
                    if room == 0:
                        yield group, home
                        group, room = [], most
            if group:
                yield group, home

    def _walk(
        self, home: int, group: Sequence[_Codes], targets: Mapping[str, set[str]]
    ) -> Iterator[tuple[_Codes, str, np.ndarray]]:
        """P(codes, y) for the codes of a group and each of their targets y that a path leads to."""
        waiting = [_Arrival(home, -1, (), np.empty((1, 0)))]
        while waiting:
            now, done = waiting.pop(), set[tuple[_Codes, str]]()
            for there in self._around[now.clique]:
                ahead = self._ahead(now.clique, there)
                wanted = [codes for codes in group if there != now.before and targets[codes.name] & ahead]
                if not wanted:
                    continue
                on, joint = self._across_edge(now, there, wanted)
                for codes, name, table in self._from_separator(joint, on, self._separator(now.clique, there), targets):
                    if (codes, name) not in done and codes in now.codes:
                        done.add((codes, name))
                        yield codes, name, table
                joint *= self._inverse(self._separator(now.clique, there))[:, None]
                waiting.append(_Arrival(there, now.clique, on, joint))
            yield from self._from_clique(now, targets, done)

    def _across_edge(
        self, now: _Arrival, there: int, wanted: Sequence[_Codes]
    ) -> tuple[tuple[_Codes, ...], np.ndarray]:
        """Those of `wanted` that a separator leaves behind, and P(separator, these) [cells, columns]."""
        here, separator = now.clique, self._separator(now.clique, there)
        starting = [c for c in wanted if c.name in self._members[here] and c.name not in separator]
        carried = [c for c in now.codes if c in wanted]
        known = (
            [self._carry(here, self._separator(now.before, here), separator, now.given_of(carried))] if carried else []
        )
        if known and not starting:  # nothing is copied: these tables are large
            return tuple(carried), known[0]
        begun = np.zeros((self._tree.domain.size(separator), sum(map(len, starting))))
        column = 0
        for codes in starting:
            self._begin(here, separator, codes, begun, column)
            column += len(codes)
        return (*starting, *carried), np.concatenate([begun, *known], axis=1) if known else begun

    def _from_separator(
        self, joint: np.ndarray, on: Sequence[_Codes], separator: Clique, targets: Mapping[str, set[str]]
    ) -> Iterator[tuple[_Codes, str, np.ndarray]]:
        """P(codes, y) for the attributes y of a separator, from P(separator, codes) [cells, columns]."""
        sizes = self._tree.domain.shape(separator)
        for axis, name in enumerate(separator):
            wanted = [codes for codes in on if name in targets[codes.name]]
            if wanted:
                kept = np.zeros((sizes[axis], joint.shape[1]))
                _add_rows(joint.reshape(math.prod(sizes[:axis]), sizes[axis], -1, joint.shape[1]), kept)
                yield from _split(kept, on, wanted, name)

    def _from_clique(
        self, now: _Arrival, targets: Mapping[str, set[str]], done: set[tuple[_Codes, str]]
    ) -> Iterator[tuple[_Codes, str, np.ndarray]]:
        """P(codes, y) for those attributes y of a clique that no separator gave."""
        names = self._tree.cliques[now.clique]
        for name in names if now.codes else ():
            missing = [c for c in now.codes if name in targets[c.name] and (c, name) not in done]
            separator = self._separator(now.before, now.clique)
            if missing and name not in separator:
                joint = self._carry(now.clique, separator, (name,), now.given_of(missing))
                yield from _split(joint, missing, missing, name)

    def _begin(self, here: int, separator: Clique, codes: _Codes, out: np.ndarray, column: int) -> None:
        """Writes P(separator, codes) of a clique into columns of `out`."""
        axis = self._tree.cliques[here].index(codes.name)
        table = self._tables[here]
        if len(codes) < table.shape[axis]:
            table = table[(slice(None),) * axis + (slice(codes.start, codes.stop),)]
        strides = out.shape[1] * self._strides(here, separator)
        strides[axis] = 1
        _add_up(np.ascontiguousarray(table).ravel(), np.array(table.shape), strides, out.reshape(-1)[column:])

    def _carry(self, here: int, source: Clique, target: Clique, given: np.ndarray) -> np.ndarray:
        """The sum over a clique's other attributes of `given` [cells of source, columns] times its table.

        Returns:
            float64 [cells of target, columns].
        """
        names = self._tree.cliques[here]
        shared = [name for name in target if name in source]
        new = [name for name in target if name not in source]
        left = [name for name in source if name not in target]
        table = np.einsum(self._tables[here], _numbers(names, names), _numbers(names, [*shared, *new, *left]))
        out = np.empty((self._tree.domain.size(target), given.shape[1]))
        _multiply(
            np.ascontiguousarray(table).ravel(),
            (self._places(source, shared), self._places(source, left)),
            (self._places(target, shared), self._places(target, new)),
            given,
            out,
        )
        return out

    def _places(self, names: Clique, chosen: Sequence[str]) -> np.ndarray:
        """int64: where the cells of `chosen` attributes of a flat table of `names` are, the others being 0."""
        sizes, places = self._tree.domain.shape(names), np.zeros(1, dtype=np.int64)
        for name in chosen:
            axis = names.index(name)
            places = np.add.outer(places, np.arange(sizes[axis]) * math.prod(sizes[axis + 1 :])).ravel()
        return places

    def _strides(self, here: int, names: Clique) -> np.ndarray:
        """int64 [axes of the clique]: by how much the cell of `names` moves with each; 0 for others."""
        strides, cells = np.zeros(len(self._tree.cliques[here]), dtype=np.int64), 1
        for name in reversed(names):
            strides[self._tree.cliques[here].index(name)] = cells
            cells *= self._tree.domain[name]
        return strides

    def _separator(self, here: int, there: int) -> Clique:
        return self._tree.separators[min(here, there)]

    def _margin(self, names: Clique) -> np.ndarray:
        """The distribution of an attribute or a separator, flat."""
        if names not in self._margins:
            holding = [i for i in range(len(self._tables)) if self._members[i].issuperset(names)]
            here = min(holding, key=lambda i: self._tables[i].size)
            table, out = self._tables[here], np.zeros(self._tree.domain.size(names))
            _add_up(table.ravel(), np.array(table.shape), self._strides(here, names), out)
            self._margins[names] = out
        return self._margins[names]

    def _inverse(self, separator: Clique) -> np.ndarray:
        """One by the distribution of a separator, flat; 0 where that is 0."""
        if separator not in self._inverses:
            mass = self._margin(separator)
            self._inverses[separator] = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
        return self._inverses[separator]

    def _ahead(self, here: int, there: int) -> frozenset[str]:
        """The attributes that are first met past the edge from `here` to `there`."""
        if (here, there) not in self._beyond:
            names = set[str]()
            waiting = [(here, there)]
            while waiting:
                before, now = waiting.pop()
                names |= self._members[now]
                waiting += [(now, after) for after in self._around[now] if after != before]
            self._beyond[here, there] = frozenset(names - self._members[here])
        return self._beyond[here, there]


def _split(
    joint: np.ndarray, codes: Sequence[_Codes], chosen: Sequence[_Codes], name: str
) -> Iterator[tuple[_Codes, str, np.ndarray]]:
    """The tables of those that are chosen, from one with columns of all `codes`."""
    for one, columns in zip(chosen, _columns(codes, chosen), strict=True):
        yield one, name, joint[:, columns].T


def _columns(codes: Sequence[_Codes], chosen: Sequence[_Codes]) -> list[slice]:
    """Where the columns of those that are chosen lie among those of all `codes`."""
    stops = np.cumsum([len(one) for one in codes]).tolist()
    places = {one: slice(stop - len(one), stop) for one, stop in zip(codes, stops, strict=True)}
    return [places[one] for one in chosen]


def _numbers(names: Clique, chosen: Sequence[str]) -> list[int]:
    """The axes of `chosen` attributes in a table of `names`."""
    return [names.index(name) for name in chosen]


@compiled
def _add_up(table, shape, strides, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """Adds each cell of a flat table to `out` at the sum of its codes times `strides`."""
    digits = np.zeros(len(shape), dtype=np.int64)
    last = len(shape) - 1
    place = 0
    for begin in range(0, len(table), shape[last]):
        for k in range(shape[last]):
            out[place + k * strides[last]] += table[begin + k]
        axis = last - 1
        while axis >= 0:
            digits[axis] += 1
            place += strides[axis]
            if digits[axis] < shape[axis]:
                break
            place -= strides[axis] * shape[axis]
            digits[axis] = 0
            axis -= 1


@compiled
def _add_rows(joint, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """out[i, c] += joint[a, i, b, c] for all a and b."""
    first, size, last, columns = joint.shape
    for a in range(first):
        for i in range(size):
            for b in range(last):
                for column in range(columns):
                    out[i, column] += joint[a, i, b, column]


@compiled
def _multiply(table, rows, into, given, out):  # type: ignore[no-untyped-def]  # pragma: no cover - compiled
    """For each block of a flat table of blocks [new, left], its product with rows of `given`, into rows of `out`.

    Args:
        table: float64 [blocks * new * left].
        rows: of the row of `given` for a cell, the part that its block says, and the part that `left` says.
        into: of the row of `out` for a cell, the part that its block says, and the part that `new` says.
        given: float64 [rows, columns].
        out: float64 [blocks * new, columns], all of which is written.
    """
    columns, count, cell = given.shape[1], len(rows[1]), 0
    added = np.empty(columns)
    for block in range(len(into[0])):
        for new in range(len(into[1])):
            added[:] = 0.0
            # Four rows at a time, because what is added up is then read and written once for the four.
            for left in range(0, count - 3, 4):
                w0, w1, w2, w3 = table[cell], table[cell + 1], table[cell + 2], table[cell + 3]
                r0, r1 = given[rows[0][block] + rows[1][left]], given[rows[0][block] + rows[1][left + 1]]
                r2, r3 = given[rows[0][block] + rows[1][left + 2]], given[rows[0][block] + rows[1][left + 3]]
                cell += 4
                for column in range(columns):
                    added[column] += (w0 * r0[column] + w1 * r1[column]) + (w2 * r2[column] + w3 * r3[column])
            for left in range(count - count % 4, count):
                weight, row = table[cell], given[rows[0][block] + rows[1][left]]
                cell += 1
                for column in range(columns):
                    added[column] += weight * row[column]
            place = into[0][block] + into[1][new]
            for column in range(columns):
                out[place, column] = added[column]
