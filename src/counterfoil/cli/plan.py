"""`counterfoil plan`: what to expect at each epsilon, before anything is spent; nothing sensitive is read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli.compiling_note import note_compiling
from counterfoil.cli.failure import Stopped
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
from counterfoil.cli.options import Force, Json, Quiet, SchemaFile
from counterfoil.cli.row_count import row_count
from counterfoil.cli.terminal import Terminal

if TYPE_CHECKING:
    from counterfoil.domain.workload import Workload
    from counterfoil.planning.outlook import Outlook

DEFAULT_EPSILONS = "0.3,1,3"

what, of_release, rehearsal, output = (
    partial(typer.Option, rich_help_panel=group) for group in ("What to expect", "The release", "Rehearsals", "Output")
)
"""An option of each group in the help."""


def plan(
    schema: SchemaFile,
    rows: Annotated[
        int | None,
        typer.Option(
            "--rows",
            parser=row_count,
            help="About how many records there are; as many as --like has if left out.",
            metavar="N",
        ),
    ] = None,
    epsilon: Annotated[
        str | None,
        what(
            "--epsilon",
            help=f"Up to 20, with commas; {DEFAULT_EPSILONS} if left out, unless something is wanted.",
            metavar="E,E",
        ),
    ] = None,
    want: Annotated[
        list[str] | None,
        what("--want", help="Find the smallest epsilon for this: 'pairs 0.08' or 'income auc 0.89'.", metavar="WANT"),
    ] = None,
    target: Annotated[
        str | None, what("--target", help="Train models for this column of 2 to 64 values.", metavar="COLUMN")
    ] = None,
    like: Annotated[
        str | None,
        rehearsal(
            "--like", help="A PUBLIC table to rehearse on; never the sensitive one or a part of it.", metavar="PUBLIC"
        ),
    ] = None,
    runs: Annotated[
        int | None,
        rehearsal(
            "--runs",
            help="Rehearsals at each epsilon; two of each simulation, or three of a public table, if left out.",
            metavar="N",
        ),
    ] = None,
    jobs: Annotated[
        int | None, rehearsal("--jobs", help="Processes at a time; as many as processors if left out.", metavar="N")
    ] = None,
    seed: Annotated[int, rehearsal("--seed", help="Repeats the simulation; no release has it.", metavar="N")] = 0,
    method: Annotated[str, of_method("--method", help="As in synth.", metavar="NAME")] = "aim",
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
    delta: Annotated[float | None, of_release("--delta", help="As in synth.", metavar="D")] = None,
    relation: Annotated[str | None, of_release("--relation", help="As in synth.", metavar="R")] = None,
    max_rows: Annotated[
        int | None,
        of_release(
            "--max-rows",
            help="As in synth with --privacy-unit: how many rows of each person are protected together; --rows are "
            "those that are used.",
            metavar="K",
        ),
    ] = None,
    focus: Annotated[
        str | None, of_method("--focus", help="As in synth; --target if left out.", metavar="COLUMN")
    ] = None,
    fidelity: Annotated[
        float | None, of_release("--fidelity", help="The share that will be spent on error measures.", metavar="F")
    ] = None,
    check_schema: Annotated[
        float | None,
        of_release("--check-schema", help="The share for the schema check; 0.01 if left out.", metavar="F"),
    ] = None,
    picture: Annotated[Path | None, output("--picture", help="Draw the errors here, as SVG.", metavar="F.svg")] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rehearse a release on public or simulated records. Nothing sensitive is read, and nothing is charged.

    Errors are L1 distances between shares, as in evaluate: 0 for equal, 2 for nothing in common. Without --like,
    records are simulated from the schema alone, with weak relations between columns and with strong ones; most real
    tables have errors between the two.
    """
    from counterfoil.cli.plan_report import outlook_svg, show_outlook
    from counterfoil.files import write_text
    from counterfoil.planning.planned import LIKE_IS_PUBLIC
    from counterfoil.planning.planned import plan as rehearsed
    from counterfoil.planning.workers import usable_processors

    terminal = Terminal(quiet=quiet, json=json)
    require_picture_possible(picture, schema=schema, like=like, force=force)
    wants = want or []
    asked = epsilons_in(epsilon if epsilon is not None or wants else DEFAULT_EPSILONS)
    if like is None:
        require_no_patterns(schema)
        if rows is None:
            raise ValueError(
                "A plan needs the number of records. Give `--rows`, about how many there are, or rehearse on a public "
                "table of about as many with `--like`."
            )
    parameters = {
        "workload": None if workload is None else workload_for(workload, schema, like),
        "max_model_size": max_model_size,
        "variant": variant,
        "preset": preset,
        "iterations": iterations,
        "population": population,
        "reference": reference,
        "queries": queries,
        "fit": fit,
        "support": support,
        "keep_rare": keep_rare or None,
    }
    if like is not None:
        terminal.note(f"WARNING: {LIKE_IS_PUBLIC.replace('`like`', '--like')}")
    note_compiling(terminal)
    try:
        with terminal.progress() as progress:
            outlook: Outlook = rehearsed(
                schema,
                rows=rows,
                epsilons=asked,
                like=like,
                wants=wants,
                method=method,
                delta=delta,
                relation=relation,
                max_rows=max_rows,
                target=target,
                focus=focus,
                parameters=parameters,
                fidelity=fidelity,
                check_schema=check_schema,
                runs=runs,
                jobs=usable_processors() if jobs is None else jobs,
                seed=seed,
                progress=progress,
            )
        drawn = None if picture is None else outlook_svg(outlook)
    except KeyboardInterrupt as error:
        raise Stopped("Nothing was charged, and no file was written.") from error
    if picture is not None and drawn is not None:
        write_text(picture, drawn)
    show_outlook(terminal, outlook)
    if picture is not None:
        terminal.say(f"\nThe picture is {picture}.")
    terminal.document({**outlook.to_json(), "picture": None if picture is None else str(picture)})


def require_no_patterns(schema: Path) -> None:
    """Refuses a schema whose columns only a table could say, where no table is read.

    Raises:
        ValueError: naming the pattern, and what to do.
    """
    from counterfoil.curator.given import schema_given

    facts = schema_given(schema)
    if facts.patterns and not facts.confirm:
        raise ValueError(
            f"Without `--like`, the columns of a plan must stand in the schema. Found the pattern "
            f"{facts.patterns[0].name!r}, whose columns depend on a table: give a public one that has them with "
            "`--like`, or give each column an entry of its own; where the name is meant as it stands, write "
            "`exact_names = true` above the first column."
        )


def workload_for(text: str, schema: Path, like: str | None) -> Workload | int:
    """What `--workload` says of the columns of a schema, and of a public table where one is rehearsed on.

    Raises:
        ValueError: for anything but 1, 2, 3 and a file of marginals of these columns.
    """
    from counterfoil.cli.synth_request import workload_of
    from counterfoil.curator.given import schema_given
    from counterfoil.curator.resolved_schema import schema_for

    facts = schema_given(schema, source=like)
    return workload_of(text, (facts if like is None else schema_for(like, facts)).domain)


def epsilons_in(text: str | None) -> list[float]:
    """The numbers in a text, with commas between them; none where it is None.

    Raises:
        ValueError: for an empty text, or what is no number.
    """
    if text is None:
        return []
    found = []
    for part in text.split(","):
        try:
            found.append(float(part))
        except ValueError:
            raise ValueError(f"`--epsilon` must be numbers with commas, such as 0.3,1,3. Found {text!r}.") from None
    return found


def require_picture_possible(picture: Path | None, *, schema: Path, like: str | None, force: bool) -> None:
    """Refuses a picture that could not be drawn or written, or that would overwrite what is still needed.

    Raises:
        ValueError: for another suffix, a file that is there (without `force`), or one that is needed.
        ModuleNotFoundError: without the extra `report`.
    """
    from counterfoil.cli.outputs import inputs, require_free, require_harmless
    from counterfoil.kept_files import KeptFile, kept_source
    from counterfoil.pictures.svg import require_report

    if picture is None:
        return
    if picture.suffix.lower() != ".svg":
        raise ValueError(f"`--picture` is written as .svg. Found {picture.suffix or 'no suffix'!r} in {picture}.")
    public = [] if like is None else [KeptFile(file.path, "the public table") for file in kept_source(like)]
    require_harmless([picture], [*inputs(schema=schema), *public])
    if picture.exists() and not picture.is_dir() and not force:
        raise ValueError(f"{picture} is there already. Choose another name, or overwrite it with --force.")
    require_free([picture], force=force)
    require_report()
