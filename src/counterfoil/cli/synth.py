"""`counterfoil synth`: a table in, a synthetic table and its receipt out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterfoil.cli.options import Force, Json, LedgerFile, Quiet, SchemaFile, ShowValues
from counterfoil.cli.outputs import Outputs, inputs
from counterfoil.cli.synth_report import report
from counterfoil.cli.synth_request import (
    Request,
    fidelity_of,
    relation_named,
    require_rows_fit,
    require_seed_confirmed,
    synthesizer_of,
    unit_of,
)
from counterfoil.cli.synth_run import run
from counterfoil.cli.terminal import Terminal
from counterfoil.kept_files import KeptFile
from counterfoil.ledger.no_ledger import NO_LEDGER


def synth(
    source: Annotated[str, typer.Argument(help="A CSV or Parquet file, or FILE.db::TABLE.", metavar="INPUT")],
    schema: SchemaFile,
    epsilon: Annotated[float, typer.Option("--epsilon", help="The most that this release may cost.")],
    delta: Annotated[
        float | None, typer.Option("--delta", help="The same for delta; 1e-9 if left out.", show_default=False)
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(
            "--relation",
            help="add_or_remove_one, or replace_one (the number of rows is public); the first if left out, but for "
            "wasserstein-generator, which needs the second.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="aim, mst, direct, independent, reweighting; for points evolution, signed-measure, measure-tree, "
            "wasserstein-generator.",
        ),
    ] = "aim",
    workload: Annotated[
        str | None,
        typer.Option("--workload", help="Keep all marginals of 1, 2 or 3 columns, or those of a TOML.", metavar="W"),
    ] = None,
    max_model_size: Annotated[
        float | None, typer.Option("--max-model-size", help="The most megabytes of a model.", metavar="MB")
    ] = None,
    variant: Annotated[
        str | None,
        typer.Option("--variant", help="With aim: batched (the default), gaussian or published.", metavar="V"),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="With evolution: bounded-lipschitz, practical, theoretical or laplace-threshold.",
            metavar="P",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", help="With evolution: how many.", metavar="T")
    ] = None,
    population: Annotated[
        int | None, typer.Option("--population", help="With evolution: how many points.", metavar="N")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            help="With reweighting: product, uniform, histogram, bernstein, tree, or the path of another release.",
            metavar="R",
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            "--queries", help="With reweighting: marginals:K, moments:K, losses:..., or a TOML file.", metavar="Q"
        ),
    ] = None,
    fit: Annotated[
        str | None, typer.Option("--fit", help="With reweighting: likelihood or minimax.", metavar="F")
    ] = None,
    support: Annotated[
        int | None,
        typer.Option("--support", help="With reweighting: how many records to draw and weigh.", metavar="M"),
    ] = None,
    rows: Annotated[int | None, typer.Option("--rows", help="How many rows to draw.")] = None,
    fidelity: Annotated[
        float | None,
        typer.Option(
            "--fidelity", help="Spend this share of the budget, such as 0.05, on error measures.", metavar="F"
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option("--target", help="Certify linear models for this column of two values.", metavar="COLUMN"),
    ] = None,
    protected: Annotated[
        str | None,
        typer.Option(
            "--protected",
            help="With --fidelity and --target: measure how alike the linear model treats this column's groups.",
            metavar="COLUMN",
        ),
    ] = None,
    focus: Annotated[
        str | None,
        typer.Option(
            "--focus", help="With aim: keep best what predicts this column; --target if left out.", metavar="COLUMN"
        ),
    ] = None,
    ledger: LedgerFile = None,
    privacy_unit: Annotated[
        str | None, typer.Option("--privacy-unit", help="Protect all rows with one value here.", metavar="COLUMN")
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", help="With it: how many rows of each are used.", metavar="K")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A .csv or .parquet file; INPUT.synthetic.parquet here if left out.", metavar="F"),
    ] = None,
    force: Force = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Repeatable, hence NOT PRIVATE.")] = None,
    not_private: Annotated[
        bool, typer.Option("--not-private", help="Confirms that a release made with --seed must not be shared.")
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Make a synthetic copy of a sensitive table, and its receipt."""
    from counterfoil.accounting.budget import Budget
    from counterfoil.methods.registry import method_type, require_fidelity_possible
    from counterfoil.schema import Schema
    from counterfoil.schema.possibility import rarely_met, require_possible

    terminal = Terminal(quiet=quiet, json=json)
    outputs = Outputs(out if out is not None else default_output(source))
    wishes = wished_files(workload=workload, queries=queries, reference=reference)
    outputs.require_harmless([*inputs(source, ledger=ledger, schema=schema), *wishes])
    require_seed_confirmed(seed, confirmed=not_private)
    kind = method_type(method)
    request = Request(
        source=source,
        schema=Schema.from_toml(schema),
        budget=Budget(epsilon, kind.default_delta if delta is None else delta),
        relation=relation_named(kind.default_relation.value if relation is None else relation),
        unit=unit_of(privacy_unit, max_rows),
        rows=rows,
        seed=seed,
        ledger=ledger,
        fidelity=fidelity_of(fidelity, target, protected),
    )
    request.schema.require_confirmed()
    require_possible(request.schema)
    if request.fidelity is not None:
        require_fidelity_possible(method)
    require_rows_fit(rows, request.schema.domain)
    outputs.require_possible(force=force)
    synthesizer = synthesizer_of(
        method,
        workload,
        request.schema.domain,
        max_model_size=max_model_size,
        variant=variant,
        preset=preset,
        iterations=iterations,
        population=population,
        focus=kind.focus_for(target, variant=variant) if focus is None else focus,
        reference=reference,
        queries=queries,
        fit=fit,
        support=support,
    )
    if (rare := rarely_met(request.schema, zeros_followed=not kind.gives_points)) is not None:
        terminal.note(f"WARNING: {rare}")
    if ledger is None:
        terminal.note(NO_LEDGER)
    synthesis = run(request, synthesizer, outputs, terminal, show_values=show_values)
    report(terminal, request, synthesis, outputs, method=method, delta_by_default=delta is None)


def default_output(source: str) -> Path:
    """people.csv.gz and people.db::people give people.synthetic.parquet in the current folder."""
    name = source.rpartition("::")[2] or source
    return Path(f"{Path(name).name.split('.')[0]}.synthetic.parquet")


def wished_files(**given: str | None) -> list[KeptFile]:
    """What options name and no output may replace: a file of a workload or of queries, or a release's table."""
    return [KeptFile(Path(path), f"the {what}") for what, path in given.items() if path is not None]
