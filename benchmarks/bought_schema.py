"""What a bought schema costs in accuracy: AIM with it, beside AIM with the schema that its code book gives.

Run: python benchmarks/bought_schema.py --data ../shared/data [--tables law heart ...] [--runs 2] [--share 0.1]
[--epsilon 1] [--out figures.json], or with [--tables] [--files a.csv b.csv ...] for tables without a code book, whose
schema by hand is one that an epsilon of 3000 bought

For each public table: AIM at epsilon 1, delta 1e-9, with the schema in benchmarks/schemas, which was written by hand
from its code book; AIM with what is left after a share of epsilon bought the schema from the CSV file, whose types
nobody states; and AIM with the rest of a budget of that epsilon, of which the same share bought the schema, so that
both are one guarantee. All are measured alike and by no schema: numbers of many values are cut at 32 quantiles of the
real table, all other columns have a code for each of their real values, and one more code holds missing cells and what
is no value of the real table. The error is the mean over all pairs of columns of the L1 distance of normalized
marginals. Columns that a schema leaves out count as missing in every row.

Noise comes from the operating system: the figures are those of `--runs` runs, of which the median is given with the
standard error of the mean, and ratios are those of medians.

A second figure is coarser: values that the bought schema does not list count as one, and numbers beyond its bounds as
the bound, in all tables. It says how well the rest was kept; the first one counts what became `other` as lost. It is
that of the schema that was bought with an epsilon of its own.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from counterfoil.schema import Schema

SCHEMAS = Path(__file__).parent / "schemas"
TABLES = {
    "adult": ("adult.csv.gz", "adult"),
    "acs": ("acs_ma2019.csv", "acs_ma"),
    "dutch": ("dutch.csv.gz", "dutch"),
    "law": ("law.csv.gz", "law"),
    "heart": ("heart.csv", "heart"),
    "compas": ("compas.csv", "compas"),
    "churn": ("churn.csv", "churn"),
}
"""File and hand-written schema; the last two were used for no choice in the package."""

CLEAR = 3000.0
"""An epsilon that buys what all of the table shows: in place of a code book."""

DELTA = 1e-9
QUANTILES = 32


def codes_of(
    real: pd.DataFrame, table: pd.DataFrame, coarser: Schema | None
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """The codes of the cells of both tables, by column, as public facts about the real one cut them.

    Args:
        real: the table that was copied, of texts.
        table: another one, of texts.
        coarser: a schema, to tell apart only what it does; None for everything.
    """
    facts = {} if coarser is None else {column.name: column for column in coarser.synthesized}
    one: dict[str, np.ndarray] = {}
    other: dict[str, np.ndarray] = {}
    for name in real.columns:
        cells = table[name] if name in table.columns else pd.Series([None] * len(table), dtype=object)
        numbers = pd.to_numeric(real[name], errors="coerce")
        if numbers.notna().mean() > 0.5 and numbers.nunique() > QUANTILES:
            lower, upper = (getattr(facts.get(name), end, None) for end in ("lower", "upper"))
            numbers, cells = (pd.to_numeric(part, errors="coerce").clip(lower, upper) for part in (numbers, cells))
            edges = np.unique(np.quantile(numbers.dropna(), np.arange(1, QUANTILES) / QUANTILES))
            one[name], other[name] = (_cut(part, edges) for part in (numbers, cells))
        else:
            known = dict.fromkeys(map(_text, real[name]))
            if (listed := getattr(facts.get(name), "values", None)) is not None:
                known = dict.fromkeys(text for text in known if text in set(map(_text, listed)))
            places = {text: i for i, text in enumerate(known)}
            one[name], other[name] = (
                np.array([places.get(_text(cell), len(places)) for cell in part]) for part in (real[name], cells)
            )
    return one, other


def _cut(numbers: pd.Series, edges: np.ndarray) -> np.ndarray:
    return np.where(numbers.isna(), len(edges) + 1, np.searchsorted(edges, numbers.fillna(0), side="right"))


def _text(cell: object) -> str:
    """Equal numbers have equal texts, and so have truths and missing cells."""
    if cell is None or cell != cell:
        return ""
    word = str(cell).strip()
    try:
        return f"{float({'true': 1, 'false': 0}.get(word.casefold(), word)):.12g}"
    except ValueError:
        return word


def pair_error(real: pd.DataFrame, synthetic: pd.DataFrame, coarser: Schema | None = None) -> float:
    """The mean L1 distance of the normalized marginals of all pairs of columns."""
    one, other = codes_of(real, synthetic, coarser)
    sizes = {name: int(max(one[name].max(), other[name].max())) + 1 for name in one}
    errors = []
    for first, second in itertools.combinations(one, 2):
        cells = sizes[first] * sizes[second]
        shares = [
            np.bincount(codes[first] * sizes[second] + codes[second], minlength=cells) / len(codes[first])
            for codes in (one, other)
        ]
        errors.append(float(np.abs(shares[0] - shares[1]).sum()))
    return statistics.fmean(errors)


def made_with(source: Path, schema: Schema | Path, epsilon: float, **options: Any) -> pd.DataFrame:
    """One synthetic table, as the CSV file that is written of it holds it."""
    from counterfoil import synthesize

    release = synthesize(str(source), schema, epsilon=epsilon, delta=DELTA, **options)
    with tempfile.TemporaryDirectory() as folder:
        release.write(Path(folder) / "synthetic.csv")
        return pd.read_csv(Path(folder) / "synthetic.csv", dtype=str, keep_default_na=False)


def schema_bought_of(source: Path, epsilon: float, share: float = 1.0) -> Schema:
    """A bought schema. Where it asks whether one number is all that a column has, the answer is yes."""
    from counterfoil.accounting.budget import Budget
    from counterfoil.fidelity.bought_schema import SchemaPurchase

    purchase = SchemaPurchase.of(str(source), Budget(epsilon, DELTA), "add_or_remove_one", share=share)
    made, curator = purchase.make(None)
    curator.close()
    return Schema.from_toml(re.sub(r"^confirm = true  # .*\n", "", made.text, flags=re.MULTILINE))


def made_of_one_budget(source: Path, epsilon: float, share: float) -> pd.DataFrame | None:
    """A synthetic table and its schema within one budget; None where no column can be told from the noise."""
    schema = schema_bought_of(source, epsilon, share)
    return None if schema.confirm else made_with(source, schema, epsilon, rest=True)


def compare(source: Path, schema: Schema | Path, *, epsilon: float, share: float, runs: int) -> dict[str, object]:
    """Errors with either schema, their ratio, and what was bought."""
    real = pd.read_csv(source, dtype=str, keep_default_na=False)
    kinds = ("by_hand", "bought", "one_budget", "by_hand_coarser", "bought_coarser")
    errors: dict[str, list[float]] = {name: [] for name in kinds}
    seconds, left_out = [], []
    for _ in range(runs):
        by_hand = made_with(source, schema, epsilon)
        errors["by_hand"].append(pair_error(real, by_hand))
        if (shared := made_of_one_budget(source, epsilon, share)) is not None:
            errors["one_budget"].append(pair_error(real, shared))
        start = time.perf_counter()
        schema_bought = schema_bought_of(source, share * epsilon)
        seconds.append(time.perf_counter() - start)
        if schema_bought.confirm:  # no column can be told from the noise, so that nothing is made
            left_out.append(len(real.columns))
            continue
        left_out.append(
            len(schema_bought.ignore) + sum(column.kind == "identifier" for column in schema_bought.columns)
        )
        bought = made_with(source, schema_bought, (1 - share) * epsilon)
        errors["bought"].append(pair_error(real, bought))
        for name, table in (("by_hand", by_hand), ("bought", bought)):
            errors[f"{name}_coarser"].append(pair_error(real, table, schema_bought))
    return {
        "rows": len(real),
        "columns": len(real.columns),
        **{name: _median(one) for name, one in errors.items()},
        "all_errors": errors,
        **{f"{name}_error": _error(one) for name, one in errors.items()},
        "ratio": _median(errors["bought"]) / _median(errors["by_hand"]),
        "ratio_of_one_budget": _median(errors["one_budget"]) / _median(errors["by_hand"]),
        "ratio_coarser": _median(errors["bought_coarser"]) / _median(errors["by_hand_coarser"]),
        "left_out": statistics.fmean(left_out),
        "buying_seconds": statistics.fmean(seconds),
    }


def _median(figures: list[float]) -> float:
    return statistics.median(figures) if figures else float("nan")


def _error(figures: list[float]) -> float:
    return statistics.stdev(figures) / len(figures) ** 0.5 if len(figures) > 1 else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--files", nargs="*", type=Path, default=[])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    figures = {}
    columns = (
        f"{'by hand':>16} {'bought':>16} {'ratio':>6} {'coarser':>7} {'one budget':>16} {'ratio':>6} {'buying':>7}"
    )
    print(f"{'table':8} {'rows':>7} {columns}")
    chosen: list[tuple[str, Path, Path | None]] = [
        (name, arguments.data / TABLES[name][0], SCHEMAS / f"{TABLES[name][1]}.schema.toml")
        for name in arguments.tables
    ]
    chosen += [(path.stem, path, None) for path in arguments.files]
    for name, file, schema in chosen:
        found = compare(
            file,
            schema or schema_bought_of(file, CLEAR),
            epsilon=arguments.epsilon,
            share=arguments.share,
            runs=arguments.runs,
        )
        figures[name] = found
        shown = (f"{found[key]:.4f} +- {found[f'{key}_error']:.4f}" for key in ("by_hand", "bought", "one_budget"))
        hand, ours, shared = shown
        print(
            f"{name:8} {found['rows']:7,} {hand:>16} {ours:>16} {found['ratio']:6.3f} {found['ratio_coarser']:7.3f} "
            f"{shared:>16} {found['ratio_of_one_budget']:6.3f} {found['buying_seconds']:6.1f}s",
            flush=True,
        )
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
