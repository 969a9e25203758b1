"""`counterfoil synth`: a table in, a synthetic table and its receipt out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli.compiling_note import note_compiling
from counterfoil.cli.durations import seconds_of
from counterfoil.cli.folder_outputs import outputs_of
from counterfoil.cli.method_options import (
    Fit,
    Iterations,
    KeepRare,
    MaxModelSize,
    Population,
    Preset,
    Queries,
    Reference,
    Support,
    Variant,
    WorkloadOption,
    of_method,
)
from counterfoil.cli.options import Source
from counterfoil.cli.outputs import inputs
from counterfoil.cli.row_count import row_count
from counterfoil.cli.synth_accept import acceptance_of, require_nothing_kept, run_judged
from counterfoil.cli.synth_advice import notes_before
from counterfoil.cli.synth_keeping import (
    Keeping,
    command_to_finish,
    facts_of,
    place_of,
    require_keeping_possible,
)
from counterfoil.cli.synth_report import report
from counterfoil.cli.synth_request import (
    Request,
    budget_of,
    fidelity_of,
    relation_named,
    require_rest_kept,
    require_seed_confirmed,
    synthesizer_of,
    unit_of,
)
from counterfoil.cli.synth_run import run
from counterfoil.cli.terminal import Terminal
from counterfoil.kept_files import KeptFile
from counterfoil.table_url import stem_of

if TYPE_CHECKING:
    from counterfoil.methods.method import SyntheticRelease
    from counterfoil.receipt.signature import SigningKey

made, privacy, output = (
    partial(typer.Option, rich_help_panel=group) for group in ("What to make", "Privacy", "Output")
)
"""An option of each group in the help."""


def synth(
    context: typer.Context,
    source: Source,
    schema: Annotated[Path, made("--schema", help="The TOML file that states the public facts.", metavar="S.toml")],
    epsilon: Annotated[
        float | None,
        privacy("--epsilon", help="The most that this release may cost; needed, but with --rest.", metavar="E"),
    ] = None,
    rest: Annotated[
        bool, privacy("--rest", help="Spend what the schema left of its budget, which it was bought with a --share of.")
    ] = False,
    rows: Annotated[
        int | None,
        made(
            "--rows",
            parser=row_count,
            help="How many rows, such as 5000 or 1e8; about as many as INPUT if left out.",
            metavar="N",
        ),
    ] = None,
    target: Annotated[
        str | None, made("--target", help="Certify linear models for this column of 2 to 64 values.", metavar="COLUMN")
    ] = None,
    protected: Annotated[
        str | None,
        made(
            "--protected",
            help="With --fidelity and --target: measure how alike the linear model treats this column's groups.",
            metavar="COLUMN",
        ),
    ] = None,
    fidelity: Annotated[
        float | None,
        made("--fidelity", help="Spend this share of the budget, such as 0.05, on error measures.", metavar="F"),
    ] = None,
    check_schema: Annotated[
        float | None,
        made(
            "--check-schema",
            help="Spend this share on how many values the schema had no place for; 0.01 if left out, 0 for none.",
            metavar="F",
            show_default=False,
        ),
    ] = None,
    unit_sizes: Annotated[
        float | None,
        made(
            "--unit-sizes",
            help="With --privacy-unit: spend this share, such as 0.02, on how many rows units have, which the "
            "identifiers of the synthetic rows then follow.",
            metavar="F",
        ),
    ] = None,
    accept: Annotated[
        Path | None,
        made(
            "--accept",
            help="Write the release only where it keeps the bounds in this TOML file; else it is withheld, with status "
            "3 and the whole budget spent.",
            metavar="C.toml",
        ),
    ] = None,
    attempts: Annotated[
        int | None,
        made(
            "--attempts",
            help="With --accept: repeat a run that fails, at most K times on average, within the same budget; once if "
            "left out.",
            metavar="K",
            show_default=False,
        ),
    ] = None,
    delta: Annotated[
        float | None,
        privacy(
            "--delta",
            help="The same for delta; if left out 1e-9, but 1e-6 with wasserstein-generator, and 0 with measure-tree "
            "and signed-measure.",
            metavar="D",
            show_default=False,
        ),
    ] = None,
    confirm_delta: Annotated[
        float | None, privacy("--confirm-delta", help="Says a delta of 0.1 or more twice.", metavar="D")
    ] = None,
    relation: Annotated[
        str | None,
        privacy(
            "--relation",
            help="add_or_remove_one, or replace_one (the number of rows is public); the first if left out, but for "
            "wasserstein-generator, which needs the second.",
            metavar="R",
            show_default=False,
        ),
    ] = None,
    ledger: Annotated[Path | None, privacy("--ledger", help="The ledger to charge.", metavar="L")] = None,
    privacy_unit: Annotated[
        str | None, privacy("--privacy-unit", help="Protect all rows with one value here.", metavar="COLUMN")
    ] = None,
    max_rows: Annotated[
        int | None, privacy("--max-rows", help="With it: how many rows of each are used.", metavar="K")
    ] = None,
    seed: Annotated[int | None, privacy("--seed", help="Repeatable, hence NOT PRIVATE.", metavar="N")] = None,
    not_private: Annotated[
        bool, privacy("--not-private", help="Confirms that a release made with --seed must not be shared.")
    ] = False,
    method: Annotated[
        str,
        of_method(
            "--method",
            help="aim, mst, direct, independent, reweighting; for points evolution, signed-measure, measure-tree, "
            "wasserstein-generator.",
            metavar="M",
        ),
    ] = "aim",
    workload: WorkloadOption = None,
    max_model_size: MaxModelSize = None,
    variant: Variant = None,
    preset: Preset = None,
    iterations: Iterations = None,
    population: Population = None,
    reference: Reference = None,
    queries: Queries = None,
    fit: Fit = None,
    support: Support = None,
    keep_rare: KeepRare = False,
    focus: Annotated[
        str | None,
        of_method(
            "--focus", help="With aim: keep best what predicts this column; --target if left out.", metavar="COLUMN"
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        of_method(
            "--time-limit",
            help="With aim, mst, direct and independent: end fits after so long, such as 90s, 10m or 1h30m, with the "
            "best model so far; a bare number is seconds.",
            metavar="T",
        ),
    ] = None,
    out: Annotated[
        str | None,
        output(
            "--out",
            help="A .csv or .parquet file, or FOLDER/ for a release that explains itself; INPUT.synthetic.parquet here "
            "if left out.",
            metavar="F",
        ),
    ] = None,
    table_format: Annotated[
        str | None,
        output("--format", help="With FOLDER/: csv or parquet for its table; parquet if left out.", metavar="T"),
    ] = None,
    force: Annotated[bool, output("--force", help="Overwrite files that are there.")] = False,
    keep_model: Annotated[
        bool,
        output("--keep-model", help="Keep the model in F's .release folder, to ask it again; FOLDER/ has it anyway."),
    ] = False,
    sign: Annotated[
        Path | None, output("--sign", help="Sign the receipt with this key, of `receipt key`.", metavar="KEY")
    ] = None,
    keep: Annotated[
        Path | None,
        output(
            "--keep", help="Keep answers here until the release is whole; beside --out if left out.", metavar="PLACE"
        ),
    ] = None,
    resume: Annotated[
        bool, output("--resume", help="Finish a run that ended early, with the answers that it kept.")
    ] = False,
    discard_answers: Annotated[
        bool, output("--discard-answers", help="Delete the answers of a run that ended early.")
    ] = False,
    quiet: Annotated[bool, output("--quiet", "-q", help="Print errors only.")] = False,
    json: Annotated[bool, output("--json", help="Print one JSON document and nothing else.")] = False,
    show_values: Annotated[
        bool, output("--show-values", help="Show a value at fault, on your own terminal; it is a record's.")
    ] = False,
) -> None:
    """Make a synthetic copy of a sensitive table, and its receipt."""
    from counterfoil.accounting.sanity import require_moderate_delta
    from counterfoil.api import require_rest_possible, schema_check_share
    from counterfoil.curator.resolved_schema import schema_for
    from counterfoil.methods.method import time_limit_for
    from counterfoil.methods.registry import JUDGED, method_type, require_fidelity_possible
    from counterfoil.schema.possibility import require_possible
    from counterfoil.synthesis.row_memory import require_rows_fit
    from counterfoil.synthesis.streamed_rows import require_streamed_rows_fit

    terminal = Terminal(quiet=quiet, json=json)
    outputs = outputs_of(out, default_output(source), table_format, keeps_model=keep_model)
    place = place_of(outputs, keep)
    wishes = wished_files(
        workload=workload, queries=queries, reference=reference, criteria=str(accept) if accept else None
    )
    outputs.require_harmless([*inputs(source, ledger=ledger, schema=schema), *wishes, *signing(sign)], place)
    require_seed_confirmed(seed, confirmed=not_private)
    kind = method_type(method)
    facts = schema_for(source, schema, unit=privacy_unit or "")
    budget = budget_of(epsilon, delta, default_delta=kind.default_delta, rest=rest, bought=facts.bought)
    require_moderate_delta(budget.delta, confirm_delta)
    facts.require_confirmed()
    require_possible(facts)
    measured = fidelity_of(fidelity, target, protected)
    acceptance = acceptance_of(accept, attempts)
    if measured is not None or acceptance is not None:
        certifies = "`--target` certifies linear models" if fidelity is None else "Fidelity can be measured"
        require_fidelity_possible(method, asked=certifies if acceptance is None else JUDGED)
    if acceptance is not None:
        require_nothing_kept(keep, resume=resume, discard=discard_answers)
        acceptance.require_possible(facts)
    # What measures the rows or numbers them anew reads all of them at once.
    read_at_once = measured is not None or acceptance is not None or bool(unit_sizes)
    if read_at_once or kind.gives_points or kind.holds_rows:
        require_rows_fit(rows, len(facts.domain.attributes))
    else:
        kept = outputs.model is not None
        require_streamed_rows_fit(rows, len(facts.domain.attributes), outputs.table, kept=kept)
    outputs.require_possible(force=force)
    synthesizer = synthesizer_of(
        method,
        workload,
        facts.domain,
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
        keep_rare=keep_rare or None,
    )
    if rest:
        require_rest_possible(synthesizer, judged=acceptance is not None, seed=seed)
        require_rest_kept(ledger, discard=discard_answers)
    request = Request(
        source=source,
        schema=facts,
        budget=budget,
        relation=relation_named(kind.default_relation.value if relation is None else relation),
        unit=unit_of(privacy_unit, max_rows),
        rows=rows,
        seed=seed,
        ledger=ledger,
        fidelity=measured,
        check_schema=schema_check_share(check_schema, synthesizer),
        unit_sizes=unit_sizes or 0.0,
        time_limit=time_limit_for(None if time_limit is None else seconds_of(time_limit), synthesizer),
        rest=rest,
        schema_file=schema,
    )
    key = None if sign is None else key_of(sign)
    keeping = None
    if acceptance is None and require_keeping_possible(
        place, method=method, seed=seed, asked=keep is not None, resume=resume, discard=discard_answers
    ):
        stated = facts_of(request, synthesizer, method=method)
        keeping = Keeping(place, resume, stated, command_to_finish(context))
    for note in notes_before(request, outputs.table, gives_points=kind.gives_points):
        terminal.note(note)
    note_compiling(terminal)
    synthesis: SyntheticRelease
    if acceptance is None:
        synthesis = run(request, synthesizer, outputs, terminal, show_values=show_values, keeping=keeping, key=key)
    else:
        synthesis = run_judged(request, synthesizer, outputs, terminal, acceptance, show_values=show_values, key=key)
    report(terminal, request, synthesis, outputs, method=method, delta_by_default=delta is None and not rest)


def default_output(source: str) -> Path:
    """people.csv.gz and people.db::people give people.synthetic.parquet in the current folder."""
    return Path(f"{stem_of(source)}.synthetic.parquet")


def wished_files(**given: str | None) -> list[KeptFile]:
    """What options name and no output may replace: a file of a workload or of queries, or a release's table."""
    return [KeptFile(Path(path), f"the {what}") for what, path in given.items() if path is not None]


def signing(key: Path | None) -> list[KeptFile]:
    """The key that signs, and its public half beside it, which no output may replace."""
    from counterfoil.receipt.signature import public_beside

    if key is None:
        return []
    return [KeptFile(key, "the key that signs"), KeptFile(public_beside(key), "the public key")]


def key_of(path: Path) -> SigningKey:
    """The key that signs the receipt, read before anything is charged."""
    from counterfoil.receipt.signature import SigningKey

    return SigningKey.load(path)
