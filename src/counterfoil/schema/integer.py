"""Columns of whole numbers on a grid."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.domain.log_linear import positions
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.number_words import NumberWords, with_numbers
from counterfoil.schema.plain_arrays import array_of
from counterfoil.schema.scale import CELLS, LINEAR, LOG, MANY_NUMBERS, Scale, integer_starts, scale_of

EXACT = 2**53
AS_CODES = 'declare them as kind = "categorical" with their `values`, or, where each row has its own, "identifier"'
MOST_DIGITS = 18
"""That a number may be written with, zeros included."""


@dataclass(frozen=True)
class Integer(NumberColumn):
    """Whole numbers from `lower` to `upper`, both included, every `step`.

    Up to 1,000 numbers have one code each. More are cut into some hundred cells, the bounds and 0 in cells of
    their own, equally wide on `scale`: "linear", or "log", where they grow with the distance from 0; by default
    log. `bins` gives that many groups instead, of equal width or with `scale = "log"` growing ones, and `edges`
    the first number of each bin; the last bin ends with `upper`. `points` are numbers with a code of their own wherever
    bins are. A number between two points of the grid goes to the nearer one (half-way: the upper). Decoding draws on
    the grid points of the bin.

    With `digits` CSV files hold numbers with leading zeros, of at least so many digits: 00123. Other storages hold
    numbers, which have none. `decimal_char` and `unit` are as for reals: with "," 1.234 is read as 1234, and
    written as 1234. `words` are texts that stand for a number, ("90+", 90) for one (`schema.number_words`). `between`
    names two dates, datetimes or whole numbers, the lesser one first: the numbers are the days, the seconds or what
    else lies between them, and the table need not have them (`schema.between`).
    """

    kind: ClassVar[str] = "integer"

    lower: int
    upper: int
    step: int = 1
    bins: int = 0
    edges: tuple[int, ...] = ()
    scale: str = ""
    digits: int = 0
    points: tuple[int, ...] = ()
    decimal_char: str = ""
    unit: str = ""
    between: tuple[str, ...] = ()
    words: NumberWords = ()

    def _check(self) -> None:
        if self.lower > self.upper:
            raise self.mistake(f"`lower` must be at most `upper`; found {self.lower} and {self.upper}")
        if not -EXACT <= self.lower <= self.upper <= EXACT:
            raise self.mistake(
                f"`lower` and `upper` must lie within 2^53 of zero, as numbers beyond are not exact; found "
                f"{self.lower} and {self.upper}. Whole numbers that long are mostly codes: {AS_CODES}"
            )
        if self.step < 1 or (self.upper - self.lower) % self.step:
            raise self.mistake(self._off_the_grid())
        if self.bins and self.edges:
            raise self.mistake("give `bins` or `edges`, not both")
        if not 0 <= self.bins <= self._n_points:
            raise self.mistake(f"`bins` must be between 1 and the {self._n_points} values; found {self.bins}")
        self._check_scale()
        self._check_texts_of_numbers()
        if not 0 <= self.digits <= MOST_DIGITS:
            raise self.mistake(f"`digits` must be from 1 to {MOST_DIGITS}; found {self.digits}")
        if self.digits and self.lower < 0:
            raise self.mistake(f"`digits` goes with numbers from 0 on; found {self.lower} as `lower`")
        if self.edges:
            self._check_edges()
        if self.points:
            self._check_points()
        self._check_words()
        if off := [word for word, number in self.words if (number - self.lower) % self.step]:
            raise self.mistake(f"`words` must stand for whole numbers on the grid of `step`; {off[0]!r} does not")
        self._check_missing_values()
        self._check_between()

    def _check_edges(self) -> None:
        if self.edges[0] != self.lower or self.edges[-1] > self.upper:
            raise self.mistake("the first of `edges` must be `lower`, and none may lie above `upper`")
        if (np.diff(self._declared_starts()) <= 0).any():
            raise self.mistake("`edges` must increase, with at least one value in each bin")

    def _off_the_grid(self) -> str:
        """What is wrong with a `step` that does not lead from one bound to the other."""
        if self.step < 1:
            return f"`step` must be positive; found {self.step}"
        last = self.upper - (self.upper - self.lower) % self.step
        return (
            f"`step` must lead from `lower` to `upper`; found {self.step}, which leads from {self.lower} to {last} and "
            f"then beyond {self.upper}. Give {last} or {last + self.step} as `upper`"
        )

    def _check_points(self) -> None:
        if beyond := [point for point in self.points if not self.lower <= point <= self.upper]:
            raise self.mistake(
                f"`points` must lie between `lower` and `upper`; found {beyond[0]}. Widen them, or, where it stands "
                "for no number, list it in `missing_values`; a few codes are an ordered category as well "
                '(`kind = "categorical"`, `ordered = true`)'
            )
        if len({*self.points}) != len(self.points):
            raise self.mistake("`points` must differ from each other")
        if off := [point for point in self.points if (point - self.lower) % self.step]:
            raise self.mistake(f"`points` must be on the grid of `step`; found {off[0]}")

    @property
    def is_undivided(self) -> bool:
        """Whether it has more numbers than have a code each, and no key says where bins are."""
        return self._grows and not self.bins

    def in_full(self, numbers: Iterable[float] = ()) -> Integer:
        """The same column, in which cells are divided at `numbers`, where no key says where bins are.

        Args:
            numbers: those that are to have a code of their own; between two of the grid the lower one has it.
        """
        if not self.is_undivided:
            return self
        whole = [math.floor(number) for number in numbers if self.lower <= number <= self.upper]
        places = sorted({(number - self.lower) // self.step for number in whole})
        shared = self._widths[np.searchsorted(self._starts, places, side="right") - 1] > 1
        own = [self.lower + self.step * place for place, apart in zip(places, shared, strict=True) if apart]
        return replace(self, points=(*self.points, *own)) if own else self

    @property
    def _n_points(self) -> int:
        return (self.upper - self.lower) // self.step + 1

    @cached_property
    def _starts(self) -> np.ndarray:
        """int64 [n_bins]: the index on the grid of the first point of each bin."""
        starts = self._declared_starts()
        places = [int(point - self.lower) // self.step for point in with_numbers(self.points, self.words)]
        cuts = {place + after for place in places for after in (0, 1)} - {self._n_points}
        return np.union1d(starts, sorted(cuts)).astype(np.int64) if cuts else starts

    def _declared_starts(self) -> np.ndarray:
        if self.edges:
            return np.array([-((self.lower - edge) // self.step) for edge in self.edges])
        if self._grows or not self.bins:
            return np.array(self._cell_starts)
        return np.array([(i * self._n_points) // self.bins for i in range(self.bins)])

    @property
    def _grows(self) -> bool:
        """Whether cells are cut on a scale, and neither one for each number nor of equal width."""
        if self.edges or self.bins:
            return bool(self.bins) and self.scale == LOG
        return self._n_points > (CELLS if self.scale == LOG else MANY_NUMBERS)

    @cached_property
    def _axis(self) -> Scale:
        if self.edges or (self.bins and not self.scale):
            return Scale(LINEAR)
        return scale_of(self.scale, self.lower, self.upper, self.step)

    @cached_property
    def _cell_starts(self) -> list[int]:
        if not self._grows:
            return list(range(self._n_points))
        cells = self.bins or CELLS
        return integer_starts(self.lower, self.upper, self.step, cells, self._axis, ends_apart=not self.bins)

    @cached_property
    def _stops(self) -> np.ndarray:
        return np.append(self._starts[1:], self._n_points)

    @property
    def n_bins(self) -> int:
        if self.points or self.words:
            return len(self._starts)
        return len(self.edges) or self.bins or (len(self._cell_starts) if self._grows else self._n_points)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.int64()

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        points = self._points(numbers)
        if self.n_bins == self._n_points:
            return points
        return np.searchsorted(self._starts, points, side="right") - 1

    def _points(self, numbers: np.ndarray) -> np.ndarray:
        """int64 [n]: the index of the nearest point of the grid; counted in whole numbers, for floats have no halves
        beyond 2^52."""
        whole = np.floor(numbers)
        points, rest = np.divmod(whole.astype(np.int64) - self.lower, self.step)
        return np.asarray(points + (2 * rest + (numbers - whole >= 0.5) >= self.step))

    @property
    def is_spelled_plainly(self) -> bool:
        return not (self.digits or self.words)

    def _spelled(self, values: pa.Array) -> pa.Array:
        texts = super()._spelled(values)
        return self._spelled_as_words(values, pc.utf8_lpad(texts, self.digits, "0") if self.digits else texts)

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        points = rng.integers(self._starts[codes], self._stops[codes])
        return array_of(self.lower + self.step * points, pa.int64())

    def _draw_tilted(self, codes: np.ndarray, rng: np.random.Generator, tilt: np.ndarray) -> pa.Array:
        starts, stops = self._starts[codes], self._stops[codes]
        within = np.floor(positions(tilt[codes], rng.random(len(codes))) * (stops - starts)).astype(np.int64)
        return array_of(self.lower + self.step * np.minimum(starts + within, stops - 1), pa.int64())

    @cached_property
    def _widths(self) -> np.ndarray:
        return (self._stops - self._starts).astype(float)

    @property
    def _single(self) -> float:
        return 1.0

    @property
    def _step(self) -> float:
        return float(self.step)

    @cached_property
    def spans(self) -> np.ndarray:
        lows, highs = (self.lower + self.step * (points - 0.5) for points in (self._starts, self._stops))
        return self._axis.spans(lows, highs, self.step * self._widths)

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        lows, highs = (self.lower + self.step * points for points in (self._starts, self._stops - 1))
        return lows.astype(float), highs.astype(float)

    def _labels(self) -> list[str]:
        return self._labelled_as_words(
            [
                f"{low:.0f}" if low == high else f"{low:.0f}..{high:.0f}"
                for low, high in zip(*self._ranges(), strict=True)
            ]
        )

    @property
    def remedy(self) -> str:
        codes = "" if self.between else ' (or kind = "categorical" where it holds codes such as 2A)'
        return f"{super().remedy}{codes}"

    def facts(self) -> dict[str, Any]:
        extras = {"step": self.step if self.step != 1 else 0, "bins": self.bins, "edges": self.edges}
        extras |= {"scale": self.scale, "digits": self.digits, "points": self.points}
        extras |= {"decimal_char": self.decimal_char, "unit": self.unit, "between": self.between}
        extras |= {"words": dict(self.words)}
        return {"lower": self.lower, "upper": self.upper} | {key: fact for key, fact in extras.items() if fact}
