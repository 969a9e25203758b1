"""The losses of linear models at a net of parameters, as a family of bounded functions of a record."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from counterfoil.accounting.neighbors import NeighboringRelation
from counterfoil.features.convex_loss import ConvexLoss
from counterfoil.features.feature_map import UNIT as FEATURE_UNIT
from counterfoil.features.feature_map import scaled_to_unit
from counterfoil.features.function_family import FunctionFamily
from counterfoil.features.l1_lattice import lattice, lattice_size, lattice_sums, most_steps
from counterfoil.schema import Schema
from counterfoil.schema.column import Column
from counterfoil.schema.errors import did_you_mean
from counterfoil.threads import on_one_thread

if TYPE_CHECKING:
    from scipy import sparse

UNIT = 2**20
"""The whole number that stands for a loss of 1."""

POINTS = 300
"""Of a net where nothing else is said: more make a fit of weights slow, and tell hardly more."""

MOST_POINTS = 20_000
LEAST_STEPS = 2
"""From the center of the ball to its corners: with fewer a net can't tell a parabola from a line."""

LARGEST_RADIUS = 100.0
_LEAST_RADIUS = 1e-3

_ROUNDED = 1 + 2.0**-10
"""Of the difference of two rounded losses beyond that of the losses; the excess is for the arithmetic before it."""

_NUMBERS_AT_ONCE = 1 << 22

_SPELLED = re.compile(
    r"losses:(?P<loss>[a-z]+)(=(?P<delta>[^:]*))?:(?P<target>[^:~]+)~(?P<columns>[^:~]+)"
    r"(:(?P<radius>[^:]*)(:(?P<points>[^:]*))?)?"
)

SPELLING = "losses:LOSS:TARGET~COLUMN,COLUMN[:RADIUS[:POINTS]]"


@dataclass(frozen=True)
class LossNet(FunctionFamily):
    """The loss of the linear model theta minus that of the model 0, for all theta of a lattice within an l1 ball.

    The score of a record is <theta, x> with norm1(theta) <= r and abs(x_i) <= 1: x holds a constant, each ordered
    column scaled to [-1, 1] by its declared bounds and rounded to multiples of 1 / 4096, 0 where it is missing, an
    indicator "is missing" where it may be, and an indicator for each code but the first of any other column. The net
    consists of theta = (r / steps) k for all k in Z^d with norm1(k) <= steps, but 0. For losses of residuals, the loss
    of the model 0 itself is one more function, in finer units. Whole numbers are losses in units of 1 / UNIT, rounded.
    With `counted`, the first function is the constant 1.

    Formal guarantee: let g_theta(z) be the loss of theta minus that of 0 on the record z, t = <theta, x>, C the sum of
    theta_1^2 over the net and A = 1 + the number of columns. As of each column at most one feature is not 0, norm(x)^2
    <= A, and the sum over the net of t^2 is C norm(x)^2 <= C A (`lattice_sums`). By `ConvexLoss`, g = o + e with odd
    and even parts in theta, abs(o) <= a abs(t) and 0 <= e <= b abs(t); also abs(g) <= L abs(t), L being the steepest
    slope.

    *l2, replacing z by z'.* The net is symmetric, so that products of an odd and an even function sum to 0: the sum of
    (g - g')^2 is that of (o - o')^2, at most 2 a^2 (t^2 + t'^2), plus that of (e - e')^2 <= max(e, e')^2 <= b^2 (t^2 +
    t'^2). In all at most (4 a^2 + 2 b^2) C A. It is also at most the sum of L^2 (abs(t) + abs(t'))^2, 4 L^2 C A.
    *Adding.* The sum of g^2 is at most (a^2 + b^2) C A, and at most L^2 C A.

    *l1.* The sum of abs(g) is at most min(a + b, L) T, T being the largest sum of abs(t): at most the sum of abs(<k,
    (1, ..., 1)>) (r / steps), and at most sqrt(P C A) for P points. Replacing moves by twice as much.

    The loss of the model 0 lies in [0, B] and moves by at most B either way. It is multiplied by w, the largest power
    of two for which w B is at most 1 / sqrt(3) of the l2 bound for replacing: the noise in the other losses is at most
    1.16 times as large for it, and the risk of the model 0, that can't be had from those, is told w times as sharply.
    The count moves by 1 when adding.
    *Rounding*: two rounded numbers differ by at most 1 more than the numbers, a rounded number from 0 by at most 1/2
    more: sqrt(F) or sqrt(F) / 2 in l2 and F or F / 2 in l1 for F functions. The sums are those of `net_sensitivity`.
    Scores are whole numbers of 4096ths of a step, exactly; logistic losses are looked up by them, and others take sums
    and products of single numbers alone, so that what a record adds does not depend on its place.

    For the logistic loss and numbers alone, two opposite corners of the cube attain sqrt(C A), 1 of sqrt(1 + 2 b^2).

    Args:
        schema: the public facts.
        loss: the loss.
        target: the column to predict: of two values, never missing, for `logistic`; else of numbers, never missing,
            and scaled to [-1, 1] by its declared bounds.
        columns: the columns to predict from, distinct.
        radius: r.
        steps: from the center of the ball to a corner.
        counted: whether the number of records is asked for too, as it must be where it is not public.

    Raises:
        ValueError: for columns or a target of another kind, a radius outside [0.001, 100], or a net of too many points.
    """

    kind: ClassVar[str] = "losses"

    schema: Schema
    loss: ConvexLoss
    target: str
    columns: tuple[str, ...]
    radius: float
    steps: int
    counted: bool

    def __post_init__(self) -> None:
        self.check()

    @classmethod
    def of(
        cls,
        schema: Schema,
        loss: ConvexLoss | str,
        target: str,
        columns: Sequence[str],
        *,
        radius: float = 1.0,
        points: int = POINTS,
        counted: bool,
    ) -> LossNet:
        """The finest net of at most `points` points.

        Raises:
            ValueError: where such a net has fewer than two steps, with the arithmetic and the way by moments.
        """
        if isinstance(points, bool) or not isinstance(points, int) or not 1 <= points <= MOST_POINTS:
            raise ValueError(f"`points` must be a whole number from 1 to {MOST_POINTS:,}. Found {points!r}.")
        asked = ConvexLoss(loss) if isinstance(loss, str) else loss
        named = (columns,) if isinstance(columns, str) else tuple(columns)
        coarsest = cls(schema, asked, target, named, radius, LEAST_STEPS, counted)
        steps = most_steps(coarsest.dimensions, points)
        if steps < LEAST_STEPS:
            raise ValueError(
                f"The model has {coarsest.dimensions} weights, so that a net of {LEAST_STEPS} steps from 0 to the "
                f"radius has {lattice_size(coarsest.dimensions, LEAST_STEPS):,} points. Found `points` {points:,}: "
                f"raise it, to at most {MOST_POINTS:,}, name fewer columns, or buy moments by `--queries moments:2` "
                "and ask `infer risk`."
            )
        return cls(schema, asked, target, named, radius, steps, counted)

    @classmethod
    def spelled(cls, text: str, schema: Schema, *, counted: bool) -> LossNet:
        """The net that `losses:LOSS:TARGET~COLUMN,COLUMN[:RADIUS[:POINTS]]` names; `huber=DELTA` has its delta.

        Raises:
            ValueError: for another text, or what `of` refuses.
        """
        found = _SPELLED.fullmatch(text)
        if found is None:
            raise ValueError(f"Losses are asked for by {SPELLING}. Found {text!r}.")
        delta, radius, points = (
            None if found[name] is None else _number(name, found[name]) for name in ("delta", "radius", "points")
        )
        given: dict[str, Any] = {} if radius is None else {"radius": radius}
        if points is not None:
            given["points"] = int(points) if points.is_integer() else points
        columns = [name.strip() for name in found["columns"].split(",")]
        return cls.of(
            schema, ConvexLoss(found["loss"], delta), found["target"].strip(), columns, **given, counted=counted
        )

    def check(self) -> None:
        super().check()
        if not isinstance(self.loss, ConvexLoss):
            raise ValueError(f"`loss` must be a ConvexLoss. Found {type(self.loss).__name__}.")
        known = [column.name for column in self.schema.synthesized]
        for name in (self.target, *self.columns):
            if name not in known:
                raise ValueError(f"Losses are of synthesized columns. Found {name!r}.{did_you_mean(str(name), known)}")
        if not self.columns or len({self.target, *self.columns}) <= len(self.columns):
            raise ValueError(
                "`columns` must be distinct, at least one, and not the target. Found "
                f"{', '.join(self.columns) or 'none'} to predict {self.target} from."
            )
        _require_target(self.schema[self.target], self.loss)
        number = isinstance(self.radius, (int, float)) and not isinstance(self.radius, bool)
        if not number or not _LEAST_RADIUS <= self.radius <= LARGEST_RADIUS:
            raise ValueError(
                f"`radius` must be a number from {_LEAST_RADIUS:g} to {LARGEST_RADIUS:g}: the largest l1 norm of the "
                f"weights. Found {self.radius!r}."
            )
        object.__setattr__(self, "radius", float(self.radius))
        if isinstance(self.steps, bool) or not isinstance(self.steps, int) or self.steps < LEAST_STEPS:
            raise ValueError(f"`steps` must be a whole number of at least {LEAST_STEPS}. Found {self.steps!r}.")
        if self.dimensions < 2:
            raise ValueError(f"There is nothing to predict from: {', '.join(self.columns)} always has the same value.")
        _require_size(self.dimensions, self.steps)

    @cached_property
    def features(self) -> tuple[str, ...]:
        """The names of the features x, the constant first."""
        names = ["1"]
        for column in self._predictors:
            if column.is_ordered:
                names += [column.name, *([f"{column.name} is missing"] if column.missing else [])]
            else:
                names += [f"{column.name} = {label}" for label in column.labels[1:]]
        return tuple(names)

    @property
    def dimensions(self) -> int:
        """d, the number of features and of weights."""
        return len(self.features)

    @property
    def step(self) -> float:
        """How far neighbors of the net are apart."""
        return self.radius / self.steps

    @cached_property
    def lattice(self) -> np.ndarray:
        """int64 [points, d]: the net in steps, without 0."""
        points = lattice(self.dimensions, self.steps)
        return points[points.any(axis=1)]

    @property
    def first(self) -> int:
        """The index of the first function that belongs to a point of the net."""
        return int(self.counted) + (not self.loss.of_labels)

    @cached_property
    def names(self) -> tuple[str, ...]:
        word = f"{self.loss.kind} loss of {self.target}"
        names = [*(["1"] if self.counted else []), *([] if self.loss.of_labels else [f"{word} at 0"])]
        for point in self.lattice.tolist():
            weights = (f"{self.step * k:.6g} {name}" for k, name in zip(point, self.features, strict=True) if k)
            names.append(f"{word} at {' + '.join(weights)}")
        return tuple(names)

    @property
    def codes(self) -> tuple[str, ...]:
        target = (self.target,) if self.loss.of_labels else ()
        return (*target, *(column.name for column in self._predictors if not column.is_ordered))

    @property
    def numbers(self) -> tuple[str, ...]:
        target = () if self.loss.of_labels else (self.target,)
        return (*target, *(column.name for column in self._predictors if column.is_ordered))

    @property
    def offsets(self) -> np.ndarray:
        return np.zeros(self.first + len(self.lattice))

    @property
    def slopes(self) -> np.ndarray:
        slopes = np.full(self.first + len(self.lattice), 1 / UNIT)
        if not self.loss.of_labels:
            slopes[self.first - 1] /= self.base_weight
        return slopes

    @cached_property
    def base_weight(self) -> int:
        """w, by which the loss of the model 0 is multiplied."""
        return base_weight(self.loss, self.dimensions, len(self.columns), self.radius, self.steps)

    def matrix(self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> sparse.csr_array:
        from scipy import sparse

        parts = [sparse.csr_array(part) for part in self._parts(rows, codes, numbers)]
        return sparse.hstack(parts, format="csr")

    def sums(self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """Exact: a loss is below 2**34 whole numbers, that of the model 0 below 2**40 and never negative, and at most
        2**13 rows are added at once. Sums over many blocks are bounded where they are added (`engine.added`)."""
        total = np.zeros(self.first + len(self.lattice), dtype=np.int64)
        for part in self._parts(rows, codes, numbers):
            total += part.sum(axis=1).astype(np.int64)
        return total

    def l1_sensitivity(self, relation: NeighboringRelation) -> float:
        return net_sensitivity(self.describe(), _moved(relation), euclidean=False)

    def l2_sensitivity(self, relation: NeighboringRelation) -> float:
        return net_sensitivity(self.describe(), _moved(relation), euclidean=True)

    def describe(self) -> dict[str, Any]:
        return {
            "family": self.kind,
            "counted": self.counted,
            "functions": self.first - self.counted + lattice_size(self.dimensions, self.steps) - 1,
            "loss": self.loss.kind,
            **({} if self.loss.delta is None else {"delta": self.loss.delta}),
            "target": self.target,
            "columns": list(self.columns),
            "features": self.dimensions,
            "radius": self.radius,
            "steps": self.steps,
            "unit": UNIT,
        }

    @classmethod
    def described(cls, parameters: Mapping[str, Any], schema: Schema) -> LossNet:
        """The net that `describe` gave these parameters for."""
        loss = ConvexLoss(parameters["loss"], parameters.get("delta"))
        columns = tuple(parameters["columns"])
        radius, steps, counted = (parameters[name] for name in ("radius", "steps", "counted"))
        return cls(schema, loss, parameters["target"], columns, radius, steps, counted)

    def points(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray], rows: int) -> np.ndarray:
        """float64 [d, rows]: the features, whole numbers from -FEATURE_UNIT to FEATURE_UNIT; each row by itself."""
        features = [np.full(rows, float(FEATURE_UNIT))]
        for column in self._predictors:
            if not column.is_ordered:
                which = codes[column.name]
                features += [np.where(which == code, float(FEATURE_UNIT), 0.0) for code in range(1, column.size)]
                continue
            scaled = scaled_to_unit(column, numbers[column.name])
            absent = np.isnan(scaled)
            features.append(np.where(absent, 0.0, scaled))
            if column.missing:
                features.append(np.where(absent, float(FEATURE_UNIT), 0.0))
        return np.stack(features)

    def targets(self, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [rows]: the label -1 or 1, or the target scaled to [-1, 1]."""
        if self.loss.of_labels:
            return np.where(codes[self.target] == 1, 1.0, -1.0)
        return np.asarray(scaled_to_unit(self.schema[self.target], numbers[self.target])) / FEATURE_UNIT

    @cached_property
    def _predictors(self) -> tuple[Column, ...]:
        return tuple(self.schema[name] for name in self.columns)

    @cached_property
    def _table(self) -> np.ndarray:
        """float64: the logistic loss minus ln 2, in whole numbers, at each margin from -radius in 4096ths of a step."""
        margins = np.arange(-FEATURE_UNIT * self.steps, FEATURE_UNIT * self.steps + 1) * (self.step / FEATURE_UNIT)
        return np.rint((self.loss(margins) - math.log(2)) * UNIT)

    def _parts(
        self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]
    ) -> Iterator[np.ndarray]:
        """The whole numbers [K, some rows] of a few rows at a time; at least once, for no rows too."""
        step = max(min(1 << 13, _NUMBERS_AT_ONCE // (1 + len(self.lattice))), 1)
        for start in range(0, max(rows, 1), step):
            part = slice(start, min(start + step, rows))
            given = [
                {name: of[name][part] for name in wanted}
                for of, wanted in ((codes, self.codes), (numbers, self.numbers))
            ]
            yield self._whole(part.stop - part.start, *given)

    @on_one_thread
    def _whole(self, rows: int, codes: Mapping[str, np.ndarray], numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """float64 [K, rows]. Products of whole numbers of sum at most 4096 times the steps are exact in any order."""
        targets = self.targets(codes, numbers)
        scores = self.lattice.astype(np.float64) @ self.points(codes, numbers, rows)
        whole = np.full((self.first + len(self.lattice), rows), float(UNIT))
        if self.loss.of_labels:
            places = (scores * targets + FEATURE_UNIT * self.steps).astype(np.int64)
            whole[self.first :] = self._table[places]
            return whole
        base = self.loss(targets)
        whole[self.first - 1] = np.rint(base * (UNIT * self.base_weight))
        whole[self.first :] = np.rint((self.loss(targets - scores * (self.step / FEATURE_UNIT)) - base) * UNIT)
        return whole


def net_bound(loss: ConvexLoss, dimensions: int, columns: int, radius: float, steps: int, moved: float) -> float:
    """The most that a record moves the losses of the net less that of the model 0, in l2 norm, unrounded.

    Args:
        loss, radius, steps: of the net.
        dimensions: the number of weights.
        columns: how many columns they belong to, without the constant.
        moved: 1 where the record is added, 2 where it is replaced.
    """
    squares = lattice_sums(dimensions, steps)[0] * (radius / steps) ** 2 * (1 + columns)
    odd, even, slope = loss.odd, loss.even(radius), loss.steepest(radius)
    parts = odd**2 + even**2 if moved == 1 else 4 * odd**2 + 2 * even**2
    return math.sqrt(min(parts, moved**2 * slope**2) * squares)


def base_weight(loss: ConvexLoss, dimensions: int, columns: int, radius: float, steps: int) -> int:
    """The power of two by which the loss of the model 0 is multiplied, at least 1; arguments as of `net_bound`."""
    if loss.of_labels:
        return 1
    largest = net_bound(loss, dimensions, columns, radius, steps, 2) / (math.sqrt(3) * loss.base)
    return int(2 ** max(math.floor(math.log2(largest)), 0))


def net_sensitivity(described: Mapping[str, Any], moved: float, *, euclidean: bool) -> float:
    """The sensitivity of a net of losses, from what `LossNet.describe` gave.

    Args:
        described: the public parameters.
        moved: 1 for adding a record and 2 for replacing one.
        euclidean: whether in l2 norm; else in l1 norm.

    Raises:
        ValueError: for parameters that are not those of a net of losses.
    """
    loss = ConvexLoss(described["loss"], described.get("delta"))
    dimensions, steps, functions = (int(described[name]) for name in ("features", "steps", "functions"))
    radius, columns = float(described["radius"]), len(described["columns"])
    _require_size(dimensions, steps)
    fitting = functions == lattice_size(dimensions, steps) - loss.of_labels
    if described["unit"] != UNIT or not fitting or not columns or moved not in (1, 2):
        raise ValueError("the parameters are not those of a net of losses.")
    if not _LEAST_RADIUS <= radius <= LARGEST_RADIUS:
        raise ValueError("the radius of a net of losses is out of bounds.")
    counted = bool(described["counted"]) and moved == 1
    base = loss.base * base_weight(loss, dimensions, columns, radius, steps)
    if euclidean:
        bound = math.hypot(net_bound(loss, dimensions, columns, radius, steps, moved), base) * UNIT
        return math.hypot(bound + math.sqrt(functions) * _ROUNDED * moved / 2, UNIT * counted)
    squares, sums = lattice_sums(dimensions, steps)
    largest = min(float(sums), math.sqrt(lattice_size(dimensions, steps) * squares * (1 + columns)))
    slope = min(loss.odd + loss.even(radius), loss.steepest(radius))
    bound = moved * slope * largest * (radius / steps) + base
    return bound * UNIT + functions * _ROUNDED * moved / 2 + UNIT * counted


def _moved(relation: NeighboringRelation) -> int:
    return 1 if relation is NeighboringRelation.ADD_OR_REMOVE_ONE else 2


def _require_size(dimensions: int, steps: int) -> None:
    if not (dimensions >= 2 and steps >= LEAST_STEPS) or lattice_size(dimensions, steps) > MOST_POINTS:
        raise ValueError(
            f"A net of losses has at most {MOST_POINTS:,} points: {dimensions} weights and {steps:,} steps from 0 to "
            "the radius are more. Name fewer columns or steps, or buy moments by `--queries moments:2` and ask `infer "
            "risk`."
        )


def _require_target(column: Column, loss: ConvexLoss) -> None:
    if loss.of_labels:
        between = column.is_ordered and not np.array_equal(*column.ranges)
        if column.size != 2 or column.missing or between:
            raise ValueError(
                "The logistic loss needs a target of two values, never missing. "
                f"Found {column.name!r}, a {column.kind} column of {column.size} codes."
            )
        return
    lows, highs = column.ranges
    if not column.is_ordered or column.missing or not np.nanmin(lows) < np.nanmax(highs):
        raise ValueError(
            f"The {loss.kind} loss needs a target of numbers between two bounds, never missing. Found "
            f"{column.name!r}, a {column.kind} column{' that may be missing' if column.missing else ''}."
        )


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"The `{name}` of {SPELLING} must be a number. Found {text!r}.") from None
