"""Records with weights, as a distribution over the domain: what reweighting gives."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from counterfoil.domain.domain import Clique, Domain
from counterfoil.files import replacing, sha256_of_values
from counterfoil.json_text import parsed_json
from counterfoil.synthesis.resampling import independent, systematic

FORMAT = "counterfoil weighted records"
_VERSION = 1
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class WeightedRecords:
    """m records with probabilities, scaled to `total` records.

    Args:
        domain: the attributes, and how many codes each has.
        codes: int32 [m, attributes], in the domain's order.
        weights: float64 [m], not negative, with a positive sum; kept as probabilities.
        total: the number of records that they stand for.
        independent: whether rows are independent draws; else each record is drawn as often as its weight says, up to
            one, which is closer to the weights.

    Raises:
        ValueError: for codes outside the domain, weights of another length, or a total that is not positive.
    """

    domain: Domain
    codes: np.ndarray
    weights: np.ndarray
    total: float
    independent: bool = False

    def __post_init__(self) -> None:
        codes, weights = np.asarray(self.codes, dtype=np.int32), np.asarray(self.weights, dtype=np.float64)
        if codes.shape != (len(weights), len(self.domain.attributes)) or len(weights) == 0:
            raise ValueError(f"`codes` must be [records, attributes]. Found {codes.shape} for {len(weights)} weights.")
        if codes.min() < 0 or (codes >= np.array(self.domain.sizes)).any():
            raise ValueError("`codes` must be those of the domain. Found others.")
        mass = float(weights.sum())
        if not (np.isfinite(weights).all() and (weights >= 0).all() and mass > 0 and 0 < self.total < np.inf):
            raise ValueError("`weights` and `total` must be finite, not negative, and not all zero. Found others.")
        object.__setattr__(self, "codes", codes)
        # Dividing by a sum that is 1 but for rounding would change digits each time that the records are loaded.
        object.__setattr__(self, "weights", weights if abs(mass - 1) <= _ROUNDING else weights / mass)

    def marginal(self, clique: Iterable[str]) -> np.ndarray:
        """Expected counts on `clique`, one axis for each attribute in the given order."""
        names = tuple(clique)
        axes, shape = self.domain.axes(names), self.domain.shape(names)
        if len(set(axes)) != len(axes):
            raise ValueError(f"A clique names each attribute once. Found {names}.")
        cells = np.zeros(len(self.weights), dtype=np.int64)
        for axis, size in zip(axes, shape, strict=True):
            cells = cells * size + self.codes[:, axis]
        size = self.domain.size(names)
        return (np.bincount(cells, weights=self.weights, minlength=size) * self.total).reshape(shape)

    def marginals(self, cliques: Iterable[Iterable[str]]) -> dict[Clique, np.ndarray]:
        """Expected counts on each of `cliques`."""
        return {names: self.marginal(names) for names in map(tuple, cliques)}

    def sample(
        self, n: int, rng: np.random.Generator, *, where: Mapping[str, int | Iterable[int]] | None = None
    ) -> np.ndarray:
        """int32 [n, attributes]: rows of codes, in random order.

        Raises:
            ValueError: for codes outside the domain, and where no record with a weight meets `where`.
        """
        if n < 0:
            raise ValueError(f"`n` must not be negative. Found {n}.")
        weights = self.weights * self._meets(where or {})
        if not weights.sum() > 0:
            raise ValueError("The condition in `where` must have a positive probability in the model. Found zero.")
        if self.independent:
            return self.codes[independent(weights, n, rng)]
        # Records that are near each other in this order are alike: rounding then errs less in every marginal.
        order = np.lexsort(self.codes.T)
        rows = order[systematic(weights[order], n, rng)]
        rng.shuffle(rows)
        return self.codes[rows]

    def sampler(
        self, *, where: Mapping[str, int | Iterable[int]] | None = None
    ) -> Callable[[int, np.random.Generator], np.ndarray]:
        """What draws rows as `sample` does, any number of times and on any thread."""
        return partial(self.sample, where=where)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the records to one .npz file without pickles; an existing file is replaced at once."""
        facts, arrays = self._content()
        header = np.array(json.dumps({"format": FORMAT, "version": _VERSION, **facts}))
        with replacing(path) as stream:
            np.savez_compressed(stream, allow_pickle=False, **arrays, header=header)

    @property
    def digest(self) -> str:
        """The SHA-256, in hexadecimal, of all that they say; records that were saved and loaded have the same."""
        return sha256_of_values(*self._content())

    def _content(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        facts = {
            "attributes": self.domain.attributes,
            "sizes": self.domain.sizes,
            "total": self.total,
            "independent": self.independent,
        }
        return facts, {"codes": self.codes, "weights": self.weights}

    def _meets(self, where: Mapping[str, int | Iterable[int]]) -> np.ndarray:
        meets = np.ones(len(self.weights), dtype=bool)
        for name, given in where.items():
            allowed = {int(given)} if isinstance(given, (int, np.integer)) else {int(code) for code in given}
            size = self.domain[name]
            if not allowed or min(allowed) < 0 or max(allowed) >= size:
                raise ValueError(f"`where` needs codes between 0 and {size - 1} for {name!r}. Found {sorted(allowed)}.")
            meets &= np.isin(self.codes[:, self.domain.axes((name,))[0]], sorted(allowed))
        return meets


def is_saved(path: str | os.PathLike[str]) -> bool:
    """Whether the file says that it holds weighted records."""
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            return bool(parsed_json(str(archive["header"]))["format"] == FORMAT)
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError, AttributeError, ValueError):
        return False


def load(path: str | os.PathLike[str]) -> WeightedRecords:
    """What `WeightedRecords.save` wrote.

    Raises:
        ValueError: for a file that is damaged, holds pickled objects, or is of another kind or version.
    """
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as archive:
            header, codes, weights = parsed_json(str(archive["header"])), archive["codes"], archive["weights"]
        if (header["format"], header["version"]) != (FORMAT, _VERSION):
            raise ValueError(f"it must have version {_VERSION}. Found {header['version']!r}")
        domain = Domain(tuple(header["attributes"]), tuple(header["sizes"]))
        return WeightedRecords(domain, codes, weights, float(header["total"]), bool(header["independent"]))
    except (zipfile.BadZipFile, EOFError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)!r} does not hold weighted records: {error}") from error
