"""`counterfoil synth`: a table in, a synthetic table and its receipt out."""

from __future__ import annotations

import os
import textwrap
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.failure import Stopped
from counterfoil.cli.options import Force, Json, LedgerFile, Quiet, SchemaFile, ShowValues
from counterfoil.cli.outputs import Outputs, inputs
from counterfoil.cli.show_values import showing_values
from counterfoil.cli.terminal import Terminal
from counterfoil.kept_files import KeptFile
from counterfoil.ledger.no_ledger import NO_LEDGER

if TYPE_CHECKING:
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.neighbors import PrivacyUnit
    from counterfoil.curator.curator import Curator
    from counterfoil.domain.domain import Domain
    from counterfoil.domain.workload import Workload
    from counterfoil.fidelity.fidelity import Fidelity
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.methods.method import Method, Synthesizer, SyntheticRelease
    from counterfoil.schema import Schema


def synth(
    source: Annotated[str, typer.Argument(help="A CSV or Parquet file, or FILE.db::TABLE.", metavar="INPUT")],
    schema: SchemaFile,
    epsilon: Annotated[float, typer.Option("--epsilon", help="The most that this release may cost.")],
    delta: Annotated[
        float | None, typer.Option("--delta", help="The same for delta; 1e-9 if left out.", show_default=False)
    ] = None,
    relation: Annotated[
        str, typer.Option("--relation", help="add_or_remove_one, or replace_one (the number of rows is public).")
    ] = "add_or_remove_one",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            help="aim, mst, direct, independent, reweighting; evolution, signed-measure or measure-tree.",
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
        typer.Option("--queries", help="With reweighting: marginals:K, moments:K, or a TOML file.", metavar="Q"),
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
        relation=relation_named(relation),
        unit=unit_of(privacy_unit, max_rows),
        rows=rows,
        seed=seed,
        ledger=ledger,
        fidelity=fidelity_of(fidelity, target),
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


@dataclass(frozen=True)
class Request:
    """A release that is to be made: its source and its parameters, all of them public."""

    source: str
    schema: Schema
    budget: Budget
    relation: str
    unit: PrivacyUnit | None
    rows: int | None
    seed: int | None
    ledger: Path | None
    fidelity: Fidelity | None


def run(
    request: Request, synthesizer: Synthesizer, outputs: Outputs, terminal: Terminal, *, show_values: bool
) -> SyntheticRelease:
    """Queries the table, fits a model, draws rows and writes them.

    Raises:
        Stopped: with the cause, when anything ended it after something was charged, or its user did.
    """
    from counterfoil.api import release_from
    from counterfoil.ledger.ledger import Ledger

    curator: Curator | None = None
    synthesis: SyntheticRelease | None = None
    with ExitStack() as stack:
        try:
            opened = None if request.ledger is None else stack.enter_context(Ledger.open(request.ledger, source=None))
            with showing_values(request.source, show=show_values):
                curator = stack.enter_context(curator_of(request, opened))
            with terminal.progress() as progress:
                synthesis = release_from(
                    curator, synthesizer, rows=request.rows, fidelity=request.fidelity, progress=progress
                )
            outputs.write(synthesis)
            close(curator, terminal)
        except BaseException as error:
            if synthesis is not None:
                charges = len(synthesis.receipt.document["charges"])
            else:
                charges = 0 if curator is None else curator.charged
            if charges or isinstance(error, KeyboardInterrupt):
                raise Stopped(what_was_charged(charges, request)) from error
            raise
        return synthesis


def close(curator: Curator, terminal: Terminal) -> None:
    """Ends a release whose files are in place: where the ledger can't note that, they are good all the same."""
    from counterfoil.ledger.errors import LedgerError

    try:
        curator.close()
    except LedgerError as error:
        terminal.note(f"The release is counted, and stays open in its ledger: {error}")


def curator_of(request: Request, ledger: Ledger | None) -> Curator:
    from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
    from counterfoil.curator.curator import Curator

    if ledger is not None:
        neighbors = Neighbors(NeighboringRelation(request.relation), request.unit)
        ledger.require_room(request.budget, neighbors.describe())
    curator = Curator(
        request.source,
        request.schema,
        budget=request.budget,
        relation=request.relation,
        privacy_unit=request.unit,
        ledger=ledger,
        seed=request.seed,
    )
    curator.require_rows()
    return curator


def what_was_charged(charges: int, request: Request) -> str:
    """A sentence for whoever stopped a release, or saw it fail."""
    if not charges:
        return "Nothing was charged, and no file was written."
    budget = f"epsilon {request.budget.epsilon:g} and delta {request.budget.delta:g}"
    if request.ledger is None:
        return (
            f"{charges} answers had been computed; they are discarded, and no file was written: nothing was released."
        )
    return f"{charges} charges were made: the ledger {request.ledger} counts {budget} as spent. No file was written."


def report(
    terminal: Terminal,
    request: Request,
    synthesis: SyntheticRelease,
    outputs: Outputs,
    *,
    method: str,
    delta_by_default: bool,
) -> None:
    """Prints what was made, where it is, what it cost and how far it can be off."""
    from counterfoil.receipt.text import good_for

    receipt, budget = synthesis.receipt, request.budget
    note = " (the default)" if delta_by_default else ""
    terminal.say(f"Made {synthesis.rows:,} synthetic rows with {method}.")
    terminal.say(f"  epsilon {budget.epsilon:g}, delta {budget.delta:g}{note}, {request.relation}")
    terminal.say(f"  table    {outputs.table}")
    terminal.say(f"  receipt  {outputs.receipt}")
    for sentence in good_for(receipt.document):
        terminal.say(textwrap.fill(sentence, 80, initial_indent="  ", subsequent_indent="    "))
    for sentence in receipt.document["warnings"]:
        terminal.alarm(f"WARNING: {sentence}")
    if not receipt.private:
        terminal.alarm("NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.")
    terminal.document(
        {
            "table": str(outputs.table),
            "receipt": str(outputs.receipt),
            "rows": synthesis.rows,
            "method": method,
            "private": receipt.private,
            "epsilon": budget.epsilon,
            "delta": budget.delta,
            "neighboring_relation": request.relation,
            "spent": receipt.document["spent"],
            "fidelity": receipt.document.get("fidelity", []),
            "certificates": receipt.document.get("certificates", []),
            "warnings": receipt.document["warnings"],
            "ledger": None if request.ledger is None else str(request.ledger),
        }
    )


def default_output(source: str) -> Path:
    """people.csv.gz and people.db::people give people.synthetic.parquet in the current folder."""
    name = source.rpartition("::")[2] or source
    return Path(f"{Path(name).name.split('.')[0]}.synthetic.parquet")


def wished_files(**given: str | None) -> list[KeptFile]:
    """What options name and no output may replace: a file of a workload or of queries, or a release's table."""
    return [KeptFile(Path(path), f"the {what}") for what, path in given.items() if path is not None]


def require_seed_confirmed(seed: int | None, *, confirmed: bool) -> None:
    if seed is not None and not confirmed:
        raise ValueError(
            "`--seed` makes noise that anyone can repeat, so that the release protects nobody. Leave it out, or add "
            "--not-private if the release will not be shared."
        )
    if seed is not None and seed < 0:
        raise ValueError(f"`--seed` must be a whole number of at least 0. Found {seed}.")
    if confirmed and seed is None:
        raise ValueError("`--not-private` confirms a --seed. Found none: leave it out, and the release is private.")


def require_rows_fit(rows: int | None, domain: Domain) -> None:
    """Refuses a number of rows that memory could not hold, before the budget is spent on it."""
    if rows is None:
        return
    if rows < 1:
        raise ValueError(f"`--rows` must be a whole number of at least 1. Found {rows}.")
    if not hasattr(os, "sysconf"):
        return  # Windows does not say how much memory there is
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = 16 * rows * len(domain.attributes)  # a code, and a value of 8 bytes, with room to write them
    if needed > memory:
        raise ValueError(
            f"`--rows` {rows:,} would need about {needed / 2**30:,.0f} GB of memory, of which there are "
            f"{memory / 2**30:,.0f}. Draw fewer rows."
        )


def relation_named(name: str) -> str:
    from counterfoil.accounting.neighbors import NeighboringRelation
    from counterfoil.schema.errors import did_you_mean

    known = [relation.value for relation in NeighboringRelation]
    if name not in known:
        raise ValueError(f"`--relation` must be {' or '.join(known)}. Found {name!r}.{did_you_mean(name, known)}")
    return name


def unit_of(column: str | None, max_rows: int | None) -> PrivacyUnit | None:
    from counterfoil.accounting.neighbors import PrivacyUnit

    if (column is None) != (max_rows is None):
        raise ValueError("`--privacy-unit` and `--max-rows` go together: at most so many rows of each unit are used.")
    return PrivacyUnit(column, max_rows) if column is not None and max_rows is not None else None


def fidelity_of(share: float | None, target: str | None) -> Fidelity | None:
    """The fidelity that the options name; without a share, a target is certified from the release's error bars."""
    from counterfoil.fidelity.fidelity import Fidelity

    if share is None and target is None:
        return None
    if share is not None and not 0 < share < 1:
        raise ValueError(f"`--fidelity` must be a share of the budget between 0 and 1, such as 0.05. Found {share}.")
    return Fidelity(share or 0.0, target)


def synthesizer_of(method: str, workload: str | None, domain: Domain, **parameters: Any) -> Method:
    from counterfoil.methods.registry import method_named

    size = parameters.get("max_model_size")
    if size is not None and not 0 < size < float("inf"):
        raise ValueError(f"`--max-model-size` must be a positive number of megabytes. Found {size}.")
    if workload is not None:
        parameters["workload"] = workload_of(workload, domain)
    return method_named(method, **parameters)


def workload_of(text: str, domain: Domain) -> Workload | int:
    from counterfoil.domain.workload import Workload

    if text in ("1", "2", "3"):
        return int(text)
    if not Path(text).is_file():
        raise ValueError(f"`--workload` must be 1, 2, 3 or a TOML file of cliques and weights. Found {text!r}.")
    return Workload.from_toml(text, domain)
