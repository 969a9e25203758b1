"""`counterfoil demo`: a first release, start to end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterfoil.cli.options import Quiet
from counterfoil.cli.outputs import Outputs, inputs, require_harmless
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled
from counterfoil.evaluation.comparison_blocks import ALARM, ALARM_AGAIN

if TYPE_CHECKING:
    from counterfoil.evaluation.marginals import MarginalComparison
    from counterfoil.synthesis.synthesis import Synthesis


def demo(
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.", metavar="DIR")] = Path(
        "counterfoil-demo"
    ),
    quiet: Quiet = False,
) -> None:
    """Copy a real survey at epsilon 1, show the receipt and what was kept, and end with a report to look at."""
    from counterfoil.demo import Demo
    from counterfoil.evaluation.comparison import compare
    from counterfoil.files import write_text

    terminal, survey = Terminal(quiet=quiet), Demo.find()
    out.mkdir(parents=True, exist_ok=True)
    outputs = Outputs(out / "affairs.synthetic.parquet")
    schema, page = out / "affairs.schema.toml", out / "affairs.report.html"
    require_harmless([outputs.table, outputs.receipt, schema, page], inputs(str(survey.source)), table=outputs.table)
    outputs.require_possible(force=True)
    terminal.say("A survey of 6366 women on their marriages and affairs (Fair 1978): a table that")
    terminal.say("nobody would hand out. Making a synthetic copy with AIM at epsilon 1 ...")
    with terminal.progress() as progress:
        synthesis = survey.synthesize(progress)
    receipt = outputs.write(synthesis)
    write_text(schema, survey.schema.to_toml())
    terminal.say("")
    terminal.say(receipt.text())
    show_inference(terminal, synthesis)
    terminal.alarm(ALARM)
    comparison = compare(survey.source, outputs.table, survey.schema, reason="the demonstration")
    show_kept(terminal, comparison.marginals[0], comparison.marginals[1])
    terminal.alarm(ALARM_AGAIN)
    terminal.say("\nThe files are in " + str(out.resolve()))
    for path in (outputs.table, outputs.receipt, schema):
        terminal.say(f"  {path.name}")
    say_report(terminal, replace(synthesis, receipt=receipt), page)


def say_report(terminal: Terminal, synthesis: Synthesis, page: Path) -> None:
    """Writes the report to share, and says how to open it; without its packages, how to get one."""
    from counterfoil.files import write_text
    from counterfoil.pictures.svg import require_report
    from counterfoil.report import report_of

    try:
        require_report()
    except ModuleNotFoundError:
        page.unlink(missing_ok=True)  # of an earlier release
        terminal.say("\nFor pictures of it: pip install 'counterfoil[report]', then")
        terminal.say("  counterfoil report affairs.synthetic.parquet")
        return
    write_text(page, report_of(synthesis))
    terminal.say(f"  {page.name}")
    terminal.say("\nLook at it: the report is one page, made from the release alone. Open it in any\nbrowser:")
    terminal.say(f"  {page.resolve().as_uri()}")


def show_inference(terminal: Terminal, synthesis: Synthesis) -> None:
    """What the copy says of the real women, beside what whoever took its rows for data would believe."""
    from counterfoil.cli.infer import show
    from counterfoil.inference.finding import Unanswerable
    from counterfoil.inference.naive import naive_proportion
    from counterfoil.inference.proportions import proportion

    event, by = "affairs > 0", "rate_marriage"
    terminal.say("\nWhat the copy says of all such women, by how they rate their marriage, 5 being")
    terminal.say("best (counterfoil infer affairs.synthetic.parquet proportion 'affairs > 0' \\")
    terminal.say("--by rate_marriage):\n")
    try:
        found = proportion(synthesis, event, by=by)
    except Unanswerable as refusal:  # AIM chose other pairs, by noisy scores
        terminal.say(filled(str(refusal)))
        return
    show(terminal, found, naive_proportion(synthesis, event, by=by))


def show_kept(terminal: Terminal, singles: MarginalComparison, pairs: MarginalComparison) -> None:
    """A triangle of how well each column (on the diagonal) and each pair is kept: 100% is exact."""
    from rich.table import Table

    names = [clique[0] for clique in singles.errors]
    table: Any = Table(box=None, pad_edge=False, title="How much of each column and pair is kept", title_style="")
    table.add_column("")
    for number in range(1, len(names) + 1):
        table.add_column(str(number), justify="right")
    for number, name in enumerate(names):
        kept = [pairs.errors[(other, name)] for other in names[:number]] + [singles.errors[(name,)]]
        table.add_row(f"{number + 1} {name}", *(f"{1 - error / 2:.0%}" for error in kept))
    terminal.show(table)
    terminal.say("The share of rows that would not have to change for the counts to agree.")
