"""Columns of real numbers, cut into bins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from counterfoil.domain.log_linear import positions
from counterfoil.schema.column import MAX_SIZE
from counterfoil.schema.decimal_grid import DecimalGrid
from counterfoil.schema.errors import SchemaError
from counterfoil.schema.limit_edges import divided_at_limits
from counterfoil.schema.number import NumberColumn
from counterfoil.schema.number_words import NumberWords, with_numbers
from counterfoil.schema.plain_arrays import array_of, numpy_of
from counterfoil.schema.real_grid import ROUNDING, RealGrid, grid_of, labels_between
from counterfoil.schema.real_points import beside_bounds, with_words
from counterfoil.schema.scale import CELLS, LINEAR, LOG, Scale, real_edges, scale_of

_MOST_DECIMALS = 12
_EXACT = 2**53


@dataclass(frozen=True)
class Real(NumberColumn):
    """Real numbers from `lower` to `upper`.

    At most one of `bins` (equal widths), `resolution` (that width, from `lower` up; the last bin may be narrower) or
    `edges` (from `lower` to `upper`) says where the bins are; `scale = "log"` with `bins` makes them grow with the
    distance from 0. Without any there are some hundred cells, equally wide on `scale`: "linear", or "log"; by default
    log where the bounds are at least 1,000 apart. A bin holds its left edge and not its right one; the last holds
    both.

    `points` are numbers with a code of their own, such as a 0 that many records hold exactly; codes follow the number
    line, a point before the bin that begins with it. Without bins the bounds, where clamped values lie, and 0 are
    points too.

    With `decimals` values have so many digits after the point, and a number of more digits counts as the nearest one of
    so many (half-way: the upper). Without it drawn values have as many as tell a hundredth of their bin.

    With `step` the values are `lower`, `lower + step` and so on to `upper`, and cells are those of whole numbers: up to
    1,000 values have one code each, more are cut into some hundred cells, and `bins` has nearly as many values in each
    bin. `resolution` and `edges` say where bins begin, the last of which ends with `upper`; `points` divide the bin
    that they lie in. A number between two values counts as the nearer one (half-way: the upper). `decimals`, no fewer
    than these values have, says with how many digits they are written.

    `decimal_char` is the decimal sign of texts, "," or ".", and lets separators of thousands be read (`decimal_char`);
    without it texts are digits with an optional point. `unit`, such as "%" or "€", may stand beside the number. Values
    are written with the decimal sign, and without separators and units.

    `words` are texts that stand for a number, ("<0.5", 0.2) for one: see `schema.number_words`. `between` names two
    columns of numbers, the lesser one first, of which values are the difference (`schema.between`).
    """

    kind: ClassVar[str] = "real"

    lower: float
    upper: float
    bins: int = 0
    resolution: float = 0.0
    edges: tuple[float, ...] = ()
    points: tuple[float, ...] = ()
    scale: str = ""
    decimals: int | None = None
    step: float = 0.0
    decimal_char: str = ""
    unit: str = ""
    between: tuple[str, ...] = ()
    words: NumberWords = ()

    def _check(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper):
            raise self.mistake(f"`lower` must be below `upper`, both finite; found {self.lower} and {self.upper}")
        if not math.isfinite(self.upper - self.lower):
            raise self.mistake("`upper - lower` must be a finite number")
        if sum(map(bool, (self.bins, self.resolution, self.edges))) > 1:
            raise self.mistake("give at most one of `bins`, `resolution` or `edges`")
        if self.bins < 0 or not 0 <= self.resolution < math.inf:
            raise self.mistake("`bins` and `resolution` must be positive")
        self._check_scale()
        self._check_texts_of_numbers()
        self._check_between()
        if self.decimals is not None and not 0 <= self.decimals <= _MOST_DECIMALS:
            raise self.mistake(f"`decimals` must be from 0 to {_MOST_DECIMALS}; found {self.decimals}")
        if self.decimals and max(abs(self.lower), abs(self.upper)) * 10.0**self.decimals > _EXACT:
            raise self.mistake(f"numbers near the bounds have no {self.decimals} digits after the point; give fewer")
        if self.edges and (len(self.edges) < 2 or (self.edges[0], self.edges[-1]) != (self.lower, self.upper)):
            raise self.mistake("the first of `edges` must be `lower` and the last one `upper`")
        if beyond := [point for point in self.points if not self.lower <= point <= self.upper]:
            raise self.mistake(
                f"`points` must lie between `lower` and `upper`; found {beyond[0]:g}. Widen them, or, where it stands "
                "for no number, list it in `missing_values`"
            )
        if len({*self.points}) != len(self.points):
            raise self.mistake("`points` must differ from each other")
        self._check_words()
        if off := [word for word, number in self.words if not self._is_value(number)]:
            raise self.mistake(f"`words` must stand for numbers of `step` or `decimals`; {off[0]!r} does not")
        if self.step:
            self._check_step()
        elif self.n_bins <= MAX_SIZE and not (np.diff(self._edges) > 0).all():
            raise self.mistake("`edges` must increase, and bins must be wide enough for floating point")
        if self._decimal_grid is not None and self.n_bins <= MAX_SIZE:
            self._check_decimals()
        self._check_missing_values()

    def _check_step(self) -> None:
        if not 0 < self.step < math.inf:
            raise self.mistake(f"`step` must be positive and finite; found {self.step:g}")
        if not (np.diff(self.edges) > 0).all():
            raise self.mistake("`edges` must increase")
        if self.decimals is not None and self.decimals < (digits := digits_of(self.lower, self.step)):
            have = f"which have {digits} digit{'s' if digits > 1 else ''} after the point"
            raise self.mistake(
                f"`decimals` must hold the numbers of `step`, {have}; found {self.decimals}. Give `decimals = "
                f"{digits}` or more, or leave it out"
            )
        if 0 < self.resolution < self.step:
            raise self.mistake(f"`resolution` must be at least `step`; found {self.resolution:g} and {self.step:g}")
        if self.bins > MAX_SIZE or (self.resolution and (self.upper - self.lower) / self.resolution > MAX_SIZE):
            raise self.mistake(f"a column must have at most {MAX_SIZE:,} codes. Give wider bins")
        try:
            _ = self.grid
        except SchemaError as error:
            raise self.mistake(str(error)) from None

    @cached_property
    def grid(self) -> RealGrid | None:
        """The grid of `step`; None without one."""
        if not self.step:
            return None
        starts = [_exact(edge) for edge in self.edges[:-1]]
        if self.resolution:
            low, width = _exact(self.lower), _exact(self.resolution)
            starts = [low + width * i for i in range(int((_exact(self.upper) - low) / width) + 1)]
        return grid_of(
            self.name,
            self.lower,
            self.upper,
            self.step,
            bins=self.bins,
            starts=starts,
            points=with_numbers(self.points, self.words),
            scale=self.scale,
        )

    def _check_decimals(self) -> None:
        """A value that is drawn must lie in its bin once it is rounded."""
        least, greatest = self._places
        without = np.flatnonzero(least > greatest)
        if len(without):
            label = self._interval_labels()[int(without[0])]
            raise self.mistake(
                f"every bin must hold a number of `decimals` = {self.decimals} digits after the point; {label} holds"
                " none. Give wider bins, or more decimals"
            )

    @property
    def _is_fine(self) -> bool:
        """Whether no key says where bins are."""
        return not (self.bins or self.resolution or self.edges)

    @property
    def is_undivided(self) -> bool:
        """Whether numbers share codes, and no key says where bins are."""
        return self._is_fine

    def in_full(self, numbers: Iterable[float] = ()) -> Real:
        """The same column, in which `numbers` are points too, where no key says where bins are.

        Args:
            numbers: those that are to have a code of their own. Between two of a `step` the lower one has it, so that
                cells are divided there; what has more digits than `decimals` is no value, and has none.
        """
        if not self._is_fine:
            return self
        tried = np.unique([self._on_grid(number) for number in numbers if self.lower <= number <= self.upper])
        tried = tried[self.rounded(tried) == tried]
        lows, highs = (ends[self._bin(tried)] for ends in self._ranges()) if len(tried) else (tried, tried)
        own = tried[lows < highs].tolist()
        if not own:
            return self
        return replace(self, points=(*self.points, *own)).without_idle_points()

    def without_idle_points(self) -> Real:
        """The same column, in which each bin holds a number that is no point.

        Of a bin whose numbers are all points no number is ever counted, and what noise puts there is read back as the
        point: one of them stays without a code beside it.
        """
        made = self
        while idle := made._idle_points():
            made = replace(made, points=tuple(point for point in made.points if point not in idle))
        return made

    def _idle_points(self) -> set[float]:
        """One of the declared points in each bin that holds no other number.

        Where a bin has none of them, it holds the lower bound or 0, which are points beside a declared upper bound:
        then it is that one.
        """
        if self._decimal_grid is None or not self.points:
            return set()
        firsts = self._decimal_grid.number(self._places[0])
        idle = (self._bin(firsts) != np.arange(self.n_bins))[self._order[: self._n_intervals]]
        places = np.searchsorted(self._edges, self.points, side="right") - 1
        held = dict(zip(np.minimum(places, self._n_intervals - 1).tolist(), self.points, strict=True))
        found = {held.get(place, float(self.upper)) for place in np.flatnonzero(idle).tolist()}
        return found & set(self.points)

    def _is_value(self, number: float) -> bool:
        """Whether a number within the bounds is one of `step`, or has no more digits than `decimals`."""
        if 0 < self.step < math.inf:
            return (_exact(number) - _exact(self.lower)) % _exact(self.step) == 0
        return self.decimals is None or round(number, self.decimals) == number

    def _on_grid(self, number: float) -> float:
        if not self.step:
            return number
        first, width = _exact(self.lower), _exact(self.step)
        return float(first + width * ((_exact(number) - first) // width))

    @property
    def _n_intervals(self) -> int:
        if self.edges:
            return len(self.edges) - 1
        if self._is_fine or (self.scale == LOG and self.bins <= MAX_SIZE):
            return len(self._edges) - 1
        return self.bins or math.ceil((_exact(self.upper) - _exact(self.lower)) / _exact(self.resolution))

    @property
    def n_bins(self) -> int:
        if self.grid is not None:
            return self.grid.whole.n_bins
        return self._n_intervals + len(self._points)

    @cached_property
    def _axis(self) -> Scale:
        if self.edges or self.resolution or (self.bins and not self.scale):
            return Scale(LINEAR)
        return scale_of(self.scale, self.lower, self.upper)

    @cached_property
    def _edges(self) -> np.ndarray:
        """float64 [intervals + 1]: computed in decimals, so that 0.3 is an edge of a resolution of 0.1."""
        if self.edges:
            return np.array(self.edges, dtype=float)
        if self._is_fine or self.scale == LOG:
            return np.array(self._cell_edges(), dtype=float)
        low, high = _exact(self.lower), _exact(self.upper)
        width = (high - low) / self.bins if self.bins else _exact(self.resolution)
        return np.array([*(float(low + i * width) for i in range(self._n_intervals)), self.upper], dtype=float)

    def _cell_edges(self) -> list[float]:
        edges = real_edges(self.lower, self.upper, self.bins or CELLS, self._axis)
        if self.bins:
            return edges
        grid, said = self._decimal_grid, {"decimal_char": self.decimal_char, "unit": self.unit}
        return divided_at_limits(self._with_decimals(edges), self.points, self.words, grid, **said)

    def _with_decimals(self, edges: list[float]) -> list[float]:
        if self.decimals is None:
            return edges
        assert self._decimal_grid is not None
        first, last = self._decimal_grid.ends
        inner = (round(edge, self.decimals) + 0.0 for edge in edges[1:-1])
        # The first and the last cell hold a number of so many decimals too where a bound is none.
        return sorted({edges[0], edges[-1], *(edge for edge in inner if first < edge <= last)})

    @cached_property
    def _points(self) -> tuple[float, ...]:
        """The numbers with a code of their own: points, and those of words that share their bin with others."""
        points = self.points
        if self._is_fine:
            points = beside_bounds(points, self.bounds, self._edges, self._decimal_grid)
        if not self.words or self._n_intervals > MAX_SIZE:  # too many are refused, and would take long to list
            return with_numbers(points, self.words)
        return with_words(points, self.words, self._edges, self._decimal_grid)

    @cached_property
    def _order(self) -> np.ndarray:
        """int64 [n_bins]: the code of each interval, then of each point."""
        intervals = [(low, 1) for low in self._edges[:-1].tolist()]
        along_the_line = sorted(
            range(self.n_bins), key=[*intervals, *((point, 0) for point in self._points)].__getitem__
        )
        return np.argsort(along_the_line)

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.lower), float(self.upper)

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.float64()

    def _bin(self, numbers: np.ndarray) -> np.ndarray:
        if self.grid is not None:
            return self.grid.codes(numbers)
        numbers = self.rounded(numbers)
        intervals = np.searchsorted(self._edges, numbers, side="right") - 1
        codes = self._order[np.minimum(intervals, self._n_intervals - 1)]
        for code, point in zip(self._order[self._n_intervals :], self._points, strict=True):
            codes[numbers == point] = code
        return codes

    def _draw(self, codes: np.ndarray, rng: np.random.Generator) -> pa.Array:
        if self.grid is not None:
            return array_of(self.grid.number(numpy_of(self.grid.whole._draw(codes, rng))), pa.float64())
        return self._placed(codes, rng.random(len(codes)))

    def _draw_tilted(self, codes: np.ndarray, rng: np.random.Generator, tilt: np.ndarray) -> pa.Array:
        if self.grid is not None:
            return array_of(self.grid.number(numpy_of(self.grid.whole._draw_tilted(codes, rng, tilt))), pa.float64())
        return self._placed(codes, positions(tilt[codes], rng.random(len(codes))))

    def _placed(self, codes: np.ndarray, shares: np.ndarray) -> pa.Array:
        """The numbers at `shares` of the width of their bins, from 0 to 1, as short decimals."""
        points = np.array(self._points, dtype=float)
        if self._decimal_grid is not None:
            least, greatest = (ends[codes] for ends in self._places)
            return array_of(self._decimal_grid.drawn(least, greatest, points, shares), pa.float64())
        lows, highs = (ends[codes] for ends in self._ranges())
        drawn = np.clip(lows + shares * (highs - lows), lows, highs)
        stray = np.isin(drawn, points) & (lows < highs)
        drawn = np.where(stray, np.nextafter(drawn, highs), drawn)
        return array_of(self._shortened(drawn, codes, digits_for(highs - lows)), pa.float64())

    @property
    def is_on_a_grid(self) -> bool:
        """Whether a number between two values counts as the nearer one: with `step` or `decimals`."""
        return self.grid is not None or self._decimal_grid is not None

    def rounded(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers within the bounds on their grid, or with as many decimals as are declared; else as they are."""
        if self.grid is not None:
            return self.grid.nearest(numbers)
        return numbers if self._decimal_grid is None else self._decimal_grid.nearest(numbers)

    def strays(self, numbers: np.ndarray, rounding: float = ROUNDING) -> np.ndarray:
        """bool [n]: which numbers within the bounds count as another one, beside which they lie.

        Args:
            numbers: float64 [n].
            rounding: the part of a number, or of the step, that is a rounding on its way.
        """
        if not self._step:
            return np.zeros(len(numbers), dtype=bool)
        tolerance = rounding * np.maximum(np.abs(numbers), self._step)
        return np.asarray(np.abs(numbers - self.rounded(numbers)) > np.minimum(tolerance, self._step / 4))

    @cached_property
    def _decimal_grid(self) -> DecimalGrid | None:
        """The numbers of so many `decimals`; None without them."""
        return None if self.decimals is None or self.step else DecimalGrid(self.decimals, *self.bounds)

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """float64 [n_bins] twice: the first and the last number of each bin, in units of the last decimal."""
        assert self._decimal_grid is not None
        return self._decimal_grid.places(*self._intervals(), np.array(self._points, dtype=float))

    def _shortened(self, drawn: np.ndarray, codes: np.ndarray, digits: np.ndarray) -> np.ndarray:
        """Each number to so many digits; to the next such number where the nearest lies in another bin."""
        result = drawn
        for steps in (1, -1, 0):
            rounded = np.clip(_rounded(drawn, digits, steps), *self.bounds)
            result = np.where(self._bin(rounded) == codes, rounded, result)
        return result

    @cached_property
    def _widths(self) -> np.ndarray:
        if self.grid is not None:
            return self.grid.whole._widths
        lows, highs = self._intervals()
        if self._decimal_grid is None:
            return np.asarray(highs - lows)
        counts = self._decimal_grid.counts(*self._places, np.array(self._points, dtype=float))
        return np.where(lows < highs, counts * self._decimal_grid.step, 0.0)

    @property
    def _single(self) -> float:
        if self.grid is not None:
            return self.grid.whole._single
        return self._step

    @property
    def _step(self) -> float:
        grid = self.grid or self._decimal_grid
        return 0.0 if grid is None else grid.step

    @cached_property
    def spans(self) -> np.ndarray:
        if self.grid is not None:
            return self.grid.spans
        lows, highs = np.empty(self.n_bins), np.empty(self.n_bins)
        lows[self._order] = np.append(self._edges[:-1], self._points)
        highs[self._order] = np.append(self._edges[1:], self._points)
        return self._axis.spans(lows, highs, highs - lows)

    def _ranges(self) -> tuple[np.ndarray, np.ndarray]:
        if self.grid is not None:
            return self.grid.ranges
        if self._decimal_grid is None:
            return self._intervals()
        lows, highs = (self._decimal_grid.number(places) for places in self._places)
        # Bounds beside the grid are values too, of cells that stand as they are.
        lows[lows.argmin()], highs[highs.argmax()] = self.bounds
        return lows, highs

    def _intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """The least and the greatest float of each bin, between its edges or at its point."""
        lows, highs = np.empty(self.n_bins), np.empty(self.n_bins)
        starts, ends = self._edges[:-1].copy(), np.nextafter(self._edges[1:], -np.inf)
        ends[-1] = self._edges[-1]
        # A point has a code of its own, so that the intervals which it ends do not hold it.
        starts = np.where(np.isin(starts, self._points) & (starts < ends), np.nextafter(starts, np.inf), starts)
        ends = np.where(np.isin(ends, self._points) & (starts < ends), np.nextafter(ends, -np.inf), ends)
        lows[self._order] = np.append(starts, self._points)
        highs[self._order] = np.append(ends, self._points)
        return lows, highs

    def _labels(self) -> list[str]:
        return self._labelled_as_words(self._number_labels())

    def _number_labels(self) -> list[str]:
        if self.grid is not None:
            return self.grid.labels
        if self._decimal_grid is None:
            return self._interval_labels()
        return labels_between(*(self._decimal_grid.number(places) for places in self._places))

    @property
    def former_labels(self) -> tuple[str, ...]:
        if self._decimal_grid is None:
            return self.labels
        return (*self._interval_labels(), *self.labels[self.n_bins :])

    def _interval_labels(self) -> list[str]:
        """A text for each bin with its edges."""
        ends = [f"{edge:.6g}" for edge in self._edges]
        closing = [")"] * (self._n_intervals - 1) + ["]"]
        texts = [f"[{low}, {high}{end}" for low, high, end in zip(ends, ends[1:], closing, strict=False)]
        texts += [f"{point:.6g}" for point in self._points]
        return [texts[i] for i in np.argsort(self._order)]

    def _spelled(self, values: pa.Array) -> pa.Array:
        """With all of `decimals`, as prices are written: 649.90. Numbers that have more keep them."""
        texts = self._pointed(values)
        return self._spelled_as_words(
            values, pc.replace_substring(texts, ".", ",") if self.decimal_char == "," else texts
        )

    def _pointed(self, values: pa.Array) -> pa.Array:
        texts = super()._spelled(values)
        if not self.decimals:
            return texts
        distinct = values.cast(pa.float64()).dictionary_encode()
        numbers = distinct.dictionary.to_pylist()
        padded = [f"{number:.{self.decimals}f}" for number in numbers]
        exact = array_of(
            [text if float(text) == number else None for text, number in zip(padded, numbers, strict=True)]
        )
        return pc.coalesce(exact.cast(pa.string()).take(distinct.indices), texts)

    def facts(self) -> dict[str, Any]:
        extras = {"bins": self.bins, "resolution": self.resolution, "edges": self.edges, "points": self.points}
        said = {key: fact for key, fact in (extras | {"scale": self.scale, "step": self.step}).items() if fact}
        decimals = {} if self.decimals is None else {"decimals": self.decimals}
        texts: dict[str, Any] = {"decimal_char": self.decimal_char, "unit": self.unit, "between": self.between}
        texts["words"] = dict(self.words)
        signs = {key: fact for key, fact in texts.items() if fact}
        return {"lower": self.lower, "upper": self.upper} | said | decimals | signs


def _exact(number: float) -> Fraction:
    """The number as it was written, in decimals."""
    return Fraction(str(number))


def digits_of(*numbers: float) -> int:
    """The most digits after the point that any of the numbers has, as it is written in decimals."""
    exponents = (Decimal(str(number)).normalize().as_tuple().exponent for number in numbers)
    return max(0, *(-int(exponent) for exponent in exponents))


def digits_for(widths: np.ndarray) -> np.ndarray:
    """int64 [n]: the decimals that tell a hundredth of a width; 0 for wide bins and for single points."""
    with np.errstate(divide="ignore"):
        digits = np.ceil(2 - np.log10(widths))
    return np.where(np.isfinite(digits), np.maximum(digits, 0), 0).astype(np.int64)


def _rounded(numbers: np.ndarray, digits: np.ndarray, further: int) -> np.ndarray:
    """The numbers with so many digits after the point, a few of the last digit further on.

    They stay as they are where that is more than a float tells.
    """
    steps = 10.0 ** np.minimum(digits, 22)
    scaled = numbers * steps
    return np.where((digits <= 22) & (np.abs(scaled) < 2**52), (np.rint(scaled) + further) / steps, numbers)
