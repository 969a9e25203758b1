"""`counterfoil train` and `predict`: what they leave, what they charge, and what they refuse."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

pytest.importorskip("torch")

from command_line import SCHEMA, Ended, Office, make_office
from counterfoil import networks
from counterfoil.cli.model_kinds import KINDS, loaded_model
from counterfoil.cli.terminal import Terminal
from counterfoil.cli.train_report import _held_against
from counterfoil.cli.train_run import NO_CHECKPOINT
from counterfoil.curator import teachers
from counterfoil.curator.training import Training
from counterfoil.receipt.receipt import Receipt
from counterfoil.training.checkpoint import TrainingCheckpoint
from counterfoil.training.reference_loss import ReferenceLoss

HOURS = '\n[columns.hours]\nkind = "integer"\nlower = 0\nupper = 80\nbins = 8\n'
FAIR = ("--target", "income", "--protected", "sex")
# What each kind is given, and the columns of its predictions.
MADE: dict[str, tuple[tuple[str, ...], list[str]]] = {
    "fair-classifier": ((*FAIR, "--alpha", "0.75"), ["predicted_income", "probability_low", "probability_high"]),
    "fair-regressor": (("--target", "age,hours", "--protected", "sex"), ["predicted_age", "predicted_hours"]),
    "fair-encoder": (("--protected", "sex", "--code", "3", "--hidden", "8"), ["code_1", "code_2", "code_3"]),
    "dp-sgd": (("--target", "income"), ["predicted_income", "probability_low", "probability_high"]),
    "pate": (
        ("--target", "income", "--public", "others.csv", "--teachers", "9"),
        ["predicted_income", "probability_low", "probability_high"],
    ),
    "sliced-wasserstein-generator": (
        ("--schema", "points.toml", "--public", "others.csv", "--protects", "Z", "--hidden", "4", "--iterations", "20"),
        ["age", "hours"],
    ),
}
SIDED = ("sliced-wasserstein-generator", ("--schema", "sided.toml", "--protects", "both"))


@pytest.fixture
def office(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Office:
    office = make_office(tmp_path, capsys, monkeypatch)
    Path("people.toml").write_text(SCHEMA + HOURS)
    sex, rest = SCHEMA.split("[columns.age]")
    age = "[columns.age]" + rest.split("[columns.income]")[0]
    Path("points.toml").write_text('name = "points"\nignore = ["sex", "income"]\n' + age + HOURS)
    Path("sided.toml").write_text(sex.replace("[columns.sex]", 'ignore = ["income"]\n[columns.sex]') + age + HOURS)
    lines = Path("people.csv").read_text().splitlines()
    rows = [f"{line},{'hours' if number == 0 else number % 60}" for number, line in enumerate(lines)]
    Path("people.csv").write_text("\n".join(rows) + "\n")
    Path("others.csv").write_text("\n".join([rows[0], *rows[200:260]]) + "\n")
    return office


def train(office: Office, kind: str, *arguments: str, epsilon: str = "1", out: str = "model") -> Ended:
    steps = () if kind == "pate" or "--iterations" in arguments else ("--iterations", "20")
    given = ("--schema", "people.toml", "--epsilon", epsilon, "--out", out, *steps)
    return office.run("train", kind, "people.csv", *given, *arguments)


@pytest.mark.parametrize(("kind", "remedy"), [("dp-sgd", "this kind can't protect"), ("pate", "--privacy-unit")])
def test_rows_of_one_person_are_thought_of_before_anything_is_charged(office: Office, kind: str, remedy: str) -> None:
    """`synth` says so, and a model of a hospital's stays protected single stays without a word."""
    assert "Each row is protected" not in train(office, kind, *MADE[kind][0]).err
    for name in ("people.csv", "others.csv"):
        first, *rows = Path(name).read_text().splitlines()
        Path(name).write_text("\n".join([f"{first},person", *(f"{row},{i // 2}" for i, row in enumerate(rows))]) + "\n")
    with Path("people.toml").open("a") as schema:
        schema.write('\n[columns.person]\nkind = "identifier"\nreplace = "drop"\n')
    ended = train(office, kind, *MADE[kind][0], out="other")
    assert ended.status == 0
    assert "Each row is protected by itself." in ended.err
    assert remedy in " ".join(ended.err.split())
    if kind == "pate":
        unit = ("--privacy-unit", "person", "--max-rows", "2")
        assert "Each row is protected" not in train(office, kind, *MADE[kind][0], *unit, out="third").err


def said(ended: Ended) -> str:
    """The one sentence of a command that failed."""
    sentences = [line for line in ended.err.splitlines() if line.startswith("counterfoil: ")]
    assert len(sentences) == 1, ended.err
    assert "Traceback" not in ended.err
    return sentences[0].removeprefix("counterfoil: ")


@pytest.mark.parametrize("kind", MADE)
def test_a_table_in_a_model_and_its_receipt_out(office: Office, kind: str) -> None:
    before = office.files()
    arguments, columns = MADE[kind]
    ended = train(office, kind, *arguments, "--json")
    assert ended.status == 0, ended.err
    assert office.files() - before == {"model"}
    told = ended.document
    assert (told["kind"], told["private"], told["epsilon"], told["delta"]) == (kind, True, 1.0, 1e-6)
    assert told["spent"]["epsilon"] <= 1
    assert told["public_groups"] == (["sex"] if kind.startswith("fair") else [])
    assert (told["loss"] is None) == (told["loss_standard_error"] is None) == (kind == "pate")
    reference = {"loss": pytest.approx(0.6931, abs=1e-4), "of": "even odds for 2 classes"}
    assert told["reference_loss"] == (reference if kind in ("fair-classifier", "dp-sgd") else None)
    checked = office.run("receipt", "verify", "model/receipt.json")
    assert (checked.status, "The receipt holds" in checked.out) == (0, True), checked.out
    page = office.run("receipt", "show", "model/receipt.json")
    assert f"A model trained on people.csv, method {kind}." in page.out
    assert max(map(len, page.out.splitlines())) <= 80
    refused = office.run("report", "model", "--out", "page.html").err
    assert "is of another kind. Found a model: apply it with `counterfoil predict`, or read it with" in refused
    applied = office.run("predict", "model", "others.csv", "--out", "said.csv", "--json")
    assert applied.status == 0, applied.err
    assert (applied.document["rows"], applied.document["columns"]) == (60, columns)
    table = csv.read_csv("said.csv")
    assert (table.num_rows, table.column_names) == (60, columns)
    numbers = [table[name] for name in columns if table[name].type != pa.string()]
    assert np.isfinite(np.column_stack(numbers)).all()


@pytest.mark.parametrize("kind", ["fair-classifier", "dp-sgd"])
def test_predictions_are_those_of_the_model_row_by_row(office: Office, kind: str) -> None:
    assert train(office, kind, *MADE[kind][0]).status == 0
    assert office.run("predict", "model", "others.csv", "--out", "said.parquet").status == 0
    table, model = parquet.read_table("said.parquet"), loaded_model(Path("model"))
    probabilities = model.predict_proba("others.csv")
    assert np.array_equal(np.column_stack([table["probability_low"], table["probability_high"]]), probabilities)
    labels = np.where(probabilities[:, 0] >= probabilities[:, 1], "low", "high")
    assert table["predicted_income"].to_pylist() == labels.tolist()
    # Columns that the model does not read may be missing, or hold what the schema has no place for.
    rows = csv.read_csv("others.csv")
    csv.write_csv(rows.drop_columns(["income"]).set_column(0, "sex", pa.array(["unknown"] * 60)), "bare.csv")
    ended = office.run("predict", "model", "bare.csv", "--out", "again.parquet")
    if kind == "fair-classifier":
        assert parquet.read_table("again.parquet").equals(table)
    else:
        assert (ended.status, "Column 'sex', line 2 of bare.csv" in ended.err) == (2, True)
        assert "again.parquet" not in office.files()


def test_a_table_without_rows_trains_no_voters(office: Office) -> None:
    Path("people.csv").write_text(Path("people.csv").read_text().splitlines()[0] + "\n")
    ended = train(office, "pate", *MADE["pate"][0])
    assert ended.status == 2
    assert (
        said(ended)
        == "people.csv must have rows to be copied. Found a table without any: name another one, or fill it."
    )
    assert "model" not in office.files()


@pytest.mark.parametrize("checkpoint", [False, True])
def test_it_is_said_before_a_run_that_it_can_not_be_continued(office: Office, checkpoint: bool) -> None:
    kept = ("--checkpoint", "run.npz") if checkpoint else ()
    ended = train(office, "dp-sgd", *MADE["dp-sgd"][0], "--ledger", "models.ledger", *kept)
    assert ended.status == 2  # there is no such ledger: nothing is said of a run that does not begin
    assert "A run that is stopped" not in ended.err
    made = office.run(
        "ledger", "create", "models.ledger", "--source", "people.csv", "--epsilon", "2", "--delta", "1e-5"
    )
    assert made.status == 0
    ended = train(office, "dp-sgd", *MADE["dp-sgd"][0], "--ledger", "models.ledger", *kept)
    assert ended.status == 0, ended.err
    words = "A run that is stopped is spent and leaves no model: with --checkpoint FILE, it can be continued"
    assert (words in " ".join(ended.err.split())) is not checkpoint


@pytest.mark.parametrize("has_place", [False, True])
def test_unknown_values_refuse_the_rows_unless_they_have_a_place_as_the_help_says(
    office: Office, has_place: bool
) -> None:
    page = " ".join(office.run("predict", "--help").out.split())
    assert "unknown ones as missing or `other` where the schema has that place for them; how many did is said." in page
    assert "An unknown value of a column without such a place refuses the file." in page
    text = Path("people.toml").read_text()
    if has_place:
        Path("people.toml").write_text(text.replace("[columns.sex]", "[columns.sex]\nother = true", 1))
    assert train(office, "dp-sgd", *MADE["dp-sgd"][0]).status == 0
    rows = csv.read_csv("others.csv")
    place = rows.column_names.index("sex")
    unknown = ["unknown", *rows["sex"].to_pylist()[1:]]
    csv.write_csv(rows.set_column(place, "sex", pa.array(unknown)), "new.csv")
    ended = office.run("predict", "model", "new.csv", "--out", "said.csv")
    if has_place:
        assert (ended.status, "sex: 1 counted as `other`" in ended.err) == (0, True), ended.err
    else:
        assert (ended.status, "Column 'sex', line 2 of new.csv" in ended.err) == (2, True), ended.err


def test_what_is_printed_fits_80_columns_and_says_what_it_cost(office: Office) -> None:
    ended = train(office, "fair-classifier", *FAIR, "--ledger", "people.ledger")
    assert ended.status == 0, ended.err
    for words in (
        "Trained a fair-classifier in 20 steps; its noisy loss came to ",
        "epsilon 1, delta 1e-06 (the default), replace_one within groups of equal sex",
        "receipt  model/receipt.json",
    ):
        assert words in ended.out
    assert max(map(len, (ended.out + ended.err).splitlines())) <= 80
    shown = " ".join(ended.out.split())
    assert "Mean of the last 20 steps, standard error " in shown
    assert (
        "; the loss of a record counts up to 2.77; a penalty is not in it. Guesses by even odds for 2 classes have "
        "0.693, by the true shares"
    ) in shown
    said = " ".join(ended.err.split())
    assert said.startswith(f"{NO_CHECKPOINT} The noise in the mean of all gradients is "), "before the charge"
    assert " ".join(shown.split("WARNING: ")[-1].split()[:9]) in said
    assert "No ledger" in train(office, "dp-sgd", "--target", "income", out="other").err
    quiet = train(office, "dp-sgd", "--target", "income", "--quiet", out="third")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")
    for command in ("train", "predict"):
        page = office.run(command, "--help")
        assert page.status == 0
        assert max(map(len, page.out.splitlines())) <= 80


def test_progress_tells_the_loss_and_epsilon(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, float]] = []

    @contextmanager
    def progress(self: Terminal) -> Iterator[Callable[[str, float], None]]:
        yield lambda message, fraction: told.append((message, fraction))

    monkeypatch.setattr(Terminal, "progress", progress)
    assert train(office, "dp-sgd", "--target", "income", epsilon="0.5").status == 0
    assert re.fullmatch(r"step 20 of 20, loss -?\d+\.\d{3}, epsilon 0\.5", told[-1][0])
    assert [fraction for _, fraction in told] == pytest.approx(np.arange(1, 21) / 20)
    assert max(len(message) for message, _ in told) <= 80 - len("####################  100% 0:00:00 ")


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from counterfoil.cli.app import run; run(['train', '--help']); run(['predict', '--help']);"
        "heavy = {'numpy', 'pyarrow', 'torch', 'scipy', 'numba', 'opendp', 'sklearn'} & set(sys.modules);"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_default_folder_is_named_after_the_input_and_the_kind(office: Office) -> None:
    given = ("--schema", "people.toml", "--epsilon", "1", "--iterations", "2", "--target", "income")
    assert office.run("train", "dp-sgd", "people.csv", *given).status == 0
    assert "people.dp-sgd" in office.files()


def test_a_ledger_counts_models(office: Office) -> None:
    for number in (1, 2):
        given = ("--delta", "1e-7", "--ledger", "people.ledger")
        ended = train(office, "fair-classifier", *FAIR, *given, out=f"model{number}")
        assert ended.status == 0, ended.err
        assert Receipt.load(f"model{number}/receipt.json").document["ledger"] is True
        known = office.run("receipt", "verify", f"model{number}", "--ledger", "people.ledger")
        assert (known.status, "as people.ledger has recorded" in known.out) == (0, True)
    shown = office.run("ledger", "show", "people.ledger", "--json").document
    assert shown["spent"] == {"epsilon": 2.0, "delta": 2e-7}
    refused = train(office, "fair-classifier", *FAIR, *given, out="model3", epsilon="1.5")
    assert (refused.status, said(refused).endswith("Ask for at most what is left.")) == (2, True)
    assert "model3" not in office.files()


@pytest.mark.parametrize("kind", ["fair-classifier", "pate"])
def test_a_ledger_for_other_neighbors_is_refused_with_what_to_do(office: Office, kind: str) -> None:
    relation = {"fair-classifier": "add_or_remove_one", "pate": "replace_one"}[kind]
    released = office.synth("--ledger", "people.ledger", "--relation", relation, "--out", "s.csv", epsilon="0.5")
    assert released.status == 0, released.err
    before = contents(office)
    ended = train(office, kind, *MADE[kind][0], "--ledger", "people.ledger")
    assert ended.status == 2
    assert f"after {relation!r}: use {relation!r}, for this release too" in said(ended)
    assert "counterfoil ledger create" not in said(ended)
    only = kind == "fair-classifier"
    assert ("no other relation than the first; a model that" in said(ended)) == only
    assert "released from this ledger, costs nothing more" in said(ended)
    assert contents(office) == before


def test_dp_sgd_shares_a_ledger_with_tables_of_the_same_relation(office: Office) -> None:
    assert office.synth("--ledger", "people.ledger", "--relation", "replace_one", "--out", "s.csv").status == 0
    ended = train(office, "dp-sgd", "--target", "income", "--delta", "1e-7", "--ledger", "people.ledger")
    assert ended.status == 0, ended.err
    assert [release["epsilon"] for release in office.releases()] == [1.0, 1.0]


def test_a_seeded_model_is_repeatable_and_not_private(office: Office) -> None:
    for out in ("one", "two"):
        ended = train(office, "dp-sgd", "--target", "income", "--seed", "7", "--not-private", out=out)
        assert (ended.status, "NOT PRIVATE" in ended.out) == (0, True), ended.err
    one, two = (Path(out, "parameters.safetensors").read_bytes() for out in ("one", "two"))
    assert one == two
    assert "NOT PRIVATE" in office.run("receipt", "show", "one/receipt.json").out
    assert "NOT PRIVATE" in office.run("predict", "one", "others.csv", "--out", "said.csv").out


def test_options_reach_the_estimator(office: Office) -> None:
    given = ("--penalty", "equality_of_odds", "--alpha", "0.25", "--iterations", "7", "--batch-share", "0.3")
    given += (
        "--clip-norm",
        "2",
        "--hidden",
        "5,4",
        "--learning-rate",
        "0.1",
        "--optimizer",
        "sgd",
        "--momentum",
        "0.5",
    )
    given += ("--bound", "0.4", "--jacobian-norm", "0.5", "--projections", "9", "--gradient-clip", "3")
    given += ("--activation", "tanh", "--averaged", "0.25", "--clipping", "components", "--init-seed", "3")
    ended = train(office, "fair-classifier", *FAIR, *given, "--delta", "1e-5", "--use-protected", "--device", "cpu")
    assert ended.status == 0, ended.err
    assert "replace_one within groups of equal income and sex" in ended.out
    parameters = json.loads(Path("model/model.json").read_text())["parameters"]
    expected = {
        "penalty": "equality_of_odds", "alpha": 0.25, "iterations": 7, "batch_share": 0.3, "clip_norm": 2.0,
        "hidden": [5, 4], "learning_rate": 0.1, "optimizer": "sgd", "momentum": 0.5, "bound": 0.4,
        "jacobian_norm": 0.5, "projections": 9, "gradient_clip": 3.0, "activation": "tanh", "averaged": 0.25,
        "clipping": "components", "init_seed": 3, "delta": 1e-5, "use_protected": True, "device": "cpu", "seed": None,
    }  # fmt: skip
    assert {name: parameters[name] for name in expected} == expected


def test_public_rows_may_be_a_saved_release_and_units_are_told(office: Office) -> None:
    from counterfoil import synthesize

    synthesize("others.csv", "people.toml", epsilon=1, method="independent", rows=50).save("release")
    given = ("--target", "income", "--public", "release", "--teachers", "5", "--queries", "20")
    ended = train(office, "pate", *given, "--relation", "replace_one", "--protected", "sex,age")
    assert ended.status == 0, ended.err
    assert Receipt.load("model/receipt.json").document["neighboring_relation"] == "replace_one"
    assert json.loads(Path("model/model.json").read_text())["features"]["leave_out"] == ["sex", "age"]
    ended = train(office, "pate", *given, "--privacy-unit", "age", "--max-rows", "2", "--protected", "age", out="units")
    assert ended.status == 0, ended.err
    assert "add_or_remove_one of age with at most 2 rows" in " ".join(ended.out.split())


# Stopping and continuing

RUN = ("--ledger", "people.ledger", "--checkpoint", "run.npz", "--iterations", "40")


def stopped_after(monkeypatch: pytest.MonkeyPatch, saves: int, at: str = "save") -> None:
    """Has Ctrl-C come when the checkpoint was saved so many times."""
    original = TrainingCheckpoint.save
    seen = []

    def save(self: TrainingCheckpoint, path: Path) -> None:
        original(self, path)
        seen.append(path)
        if len(seen) == saves:
            raise KeyboardInterrupt

    monkeypatch.setattr(TrainingCheckpoint, "save", save)


def test_a_run_that_was_stopped_goes_on_and_is_paid_once(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped_after(monkeypatch, 3)
    ended = train(office, "fair-classifier", *FAIR, *RUN)
    monkeypatch.undo()
    monkeypatch.chdir(office.path)
    assert ended.status == 130
    assert said(ended) == (
        "Interrupted. The ledger people.ledger counts epsilon 1 and delta 1e-06 as spent. Continue from run.npz at no "
        "further cost: the same command with --resume."
    )
    assert "model" not in office.files()
    assert office.releases()[0]["status"] == "open"
    for changed, because in (
        ((), "run.npz is there already. Continue that run with --resume"),
        (("--resume", "--alpha", "0.25"), "a run with other parameters"),
    ):
        refused = train(office, "fair-classifier", *FAIR, *RUN, *changed)
        assert (refused.status, because in said(refused)) == (2, True), refused.err
    ended = train(office, "fair-classifier", *FAIR, *RUN, "--resume")
    assert ended.status == 0, ended.err
    assert office.run("receipt", "verify", "model/receipt.json").status == 0
    resumed = json.loads(Path("model/receipt.json").read_text())["warnings"]
    assert any("begun by an earlier run and finished by a later one" in sentence for sentence in resumed)
    shown = office.run("ledger", "show", "people.ledger", "--json").document
    assert [release["status"] for release in shown["releases"]] == ["closed"]
    assert shown["spent"]["epsilon"] == 1.0
    # A finished run has its model: it can be had again where it was not saved, and costs nothing.
    again = train(office, "fair-classifier", *FAIR, *RUN, "--resume", out="again")
    assert again.status == 0, again.err
    receipts = [(office.path / folder / "receipt.json").read_text() for folder in ("again", "model")]
    assert receipts[0] == receipts[1]
    assert office.run("ledger", "show", "people.ledger", "--json").document["spent"]["epsilon"] == 1.0


def test_steps_that_were_charged_and_lost_are_told(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a killed run had asked and not kept yet was charged, and is not asked again."""
    original, asked = Training.step, iter(range(5))

    def step(self: Training, *draws: Any) -> Any:
        if next(asked, None) is None:
            raise KeyboardInterrupt
        return original(self, *draws)

    monkeypatch.setattr(Training, "step", step)
    assert train(office, "fair-classifier", *FAIR, *RUN).status == 130
    monkeypatch.undo()
    monkeypatch.chdir(office.path)
    ended = train(office, "fair-classifier", *FAIR, *RUN, "--resume")
    assert ended.status == 0, ended.err
    taken = len(json.loads(Path("model/model.json").read_text())["losses"])
    assert taken < 40
    assert f"in {taken} of 40 steps, the rest lost by an earlier run; its noisy loss" in " ".join(ended.out.split())


def test_ctrl_c_says_what_it_cost(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    from counterfoil.curator.training import Training

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    counted = "Interrupted. The ledger people.ledger counts epsilon 1 and delta 1e-07 as spent. "
    before = office.files()
    monkeypatch.setattr(Training, "step", interrupted)
    for more, sentence in (
        (RUN, counted + "Continue from run.npz at no further cost: the same command with --resume."),
        (RUN[:2], counted + "No file was written; with --checkpoint FILE, a run can be continued."),
        ((), "Interrupted. What had been computed is discarded, and no file was written: nothing was released."),
    ):
        ended = train(office, "fair-classifier", *FAIR, *more, "--delta", "1e-7")
        assert (ended.status, said(ended)) == (130, sentence)
        assert office.files() - before == ({"run.npz"} if more == RUN else set())
        Path("run.npz").unlink(missing_ok=True)
    # Between the first checkpoint and the first charge nothing is spent, and no checkpoint of a dead release is left.
    monkeypatch.setattr("counterfoil.curator.account.Account.train", interrupted)
    ended = train(office, "fair-classifier", *FAIR, *RUN, "--delta", "1e-7")
    assert (ended.status, said(ended)) == (130, "Interrupted. Nothing was charged, and no file was written.")
    assert office.files() == before
    assert [release["status"] for release in office.releases()] == ["open", "open", "abandoned"]


SCRIPT = """
import sys, time
from counterfoil.cli.app import run
from counterfoil.training import private_run

def wait(*arguments, **keywords):
    print("reached", flush=True)
    for _ in range(6000):  # a signal right before one long sleep would be heeded at its end
        time.sleep(0.01)

private_run.Schedule.batch_sizes = wait
sys.exit(run(sys.argv[1:]))
"""


def test_ctrl_c_in_a_vote_promises_no_checkpoint(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("counterfoil.training.pate.train_student", interrupted)
    ended = train(office, "pate", *MADE["pate"][0], "--ledger", "people.ledger")
    assert ended.status == 130
    assert said(ended).endswith(
        "The ledger people.ledger counts epsilon 1 and delta 1e-06 as spent. No file was written."
    )


def test_a_signal_before_the_first_charge_costs_nothing(office: Office) -> None:
    before = office.files()
    arguments = ["train", "fair-classifier", "people.csv", "--schema", "people.toml", "--epsilon", "1", *FAIR, *RUN[:2]]
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "reached\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert "counterfoil: Interrupted. Nothing was charged, and no file was written.\n" in err
    assert office.files() == before
    assert office.releases() == []


@pytest.mark.parametrize(("option", "more"), [((), "; with --checkpoint FILE, a run can be continued."), (RUN[2:], "")])
def test_a_model_that_can_not_be_written_anywhere_leaves_nothing_half_written(
    office: Office, monkeypatch: pytest.MonkeyPatch, option: tuple[str, ...], more: str
) -> None:
    def full(self: Receipt, path: Path) -> None:
        raise OSError(28, "No space left on device")

    elsewhere = homes(office, monkeypatch)
    before = office.files()
    with monkeypatch.context() as patched:
        patched.setattr(Receipt, "save", full)
        ended = train(office, "fair-classifier", *FAIR, "--ledger", "people.ledger", *option)
    assert ended.status == 2
    assert "The disk is full" in said(ended)
    assert "counts epsilon 1 and delta 1e-06 as spent. The model could not be written" in said(ended)
    assert list(elsewhere.iterdir()) == []
    if not option:
        assert said(ended).endswith(more)
        assert office.files() == before
        return
    assert said(ended).endswith("Continue from run.npz at no further cost: the same command with --resume.")
    paid = office.releases()
    assert train(office, "fair-classifier", *FAIR, "--ledger", "people.ledger", *option, "--resume").status == 0
    assert [release["charges"] for release in office.releases()] == [release["charges"] for release in paid]


def homes(office: Office, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a place for temporary files, in one."""
    elsewhere = office.path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(Path, "home", lambda: elsewhere)
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    return elsewhere


@pytest.mark.parametrize("ledger", [True, False])
@pytest.mark.parametrize("kind", ["fair-classifier", "pate"])
def test_a_model_that_is_paid_for_is_written_elsewhere_where_its_disk_is_full(
    office: Office, monkeypatch: pytest.MonkeyPatch, kind: str, ledger: bool
) -> None:
    saved = Receipt.save
    elsewhere = homes(office, monkeypatch)

    def full(self: Receipt, path: Path) -> None:
        if elsewhere not in path.absolute().parents:
            raise OSError(28, "No space left on device")
        saved(self, path)

    before = office.files()
    with monkeypatch.context() as patched:
        patched.setattr(Receipt, "save", full)
        ended = train(office, kind, *MADE[kind][0], *(("--ledger", "people.ledger") if ledger else ()))
    assert ended.status == 2
    assert "The disk is full" in said(ended)
    assert ("The ledger people.ledger counts" in said(ended)) == ledger
    place = Path(ended.err.strip().rpartition(" in ")[2].removesuffix("."))
    assert place.parent.parent == elsewhere
    assert office.files() == before
    assert office.run("receipt", "verify", str(place)).status == 0
    assert office.run("predict", str(place), "people.csv", "--out", "predicted.csv").status == 0


def test_an_interrupt_while_a_model_is_written_loses_nothing(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    saved, tries = Receipt.save, []

    def interrupted(self: Receipt, path: Path) -> None:
        tries.append(path)
        if len(tries) == 1:
            raise KeyboardInterrupt
        saved(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(Receipt, "save", interrupted)
        ended = train(office, "fair-classifier", *FAIR, "--ledger", "people.ledger", "--out", "model")
    assert ended.status == 130
    assert said(ended).endswith(
        "counts epsilon 1 and delta 1e-06 as spent. The model is whole, with its receipt, in model."
    )
    assert office.run("receipt", "verify", "model").status == 0


# Refusals


def contents(office: Office) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(office.path.rglob("*")) if path.is_file()}


def edited(old: str, new: str) -> Any:
    return lambda: Path("people.toml").write_text(Path("people.toml").read_text().replace(old, new, 1))


def cell(line: int, text: str) -> Any:
    def change() -> None:
        lines = Path("people.csv").read_text().splitlines()
        lines[line - 1] = text
        Path("people.csv").write_text("\n".join(lines) + "\n")

    return change


CLASSIFIER = "fair-classifier"
CASES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "a kind with a typo": ("fair-clasifier", (), "Did you mean 'fair-classifier'?"),
    "an option of another kind": (CLASSIFIER, (*FAIR, "--code", "2"), "`--code` goes with fair-encoder. Found it with"),
    "an option of several others": (
        "pate", (*MADE["pate"][0], "--alpha", "0.5"),
        "`--alpha` goes with fair-classifier, fair-regressor and fair-encoder. Found it with pate",
    ),
    "a checkpoint of pate": ("pate", (*MADE["pate"][0], "--checkpoint", "run.npz"), "`--checkpoint` goes with fair"),
    "resuming pate": ("pate", (*MADE["pate"][0], "--resume"), "`--resume` goes with fair-classifier"),
    "units of gradients": ("dp-sgd", ("--target", "income", "--max-rows", "2"), "`--max-rows` goes with pate"),
    "no target": (CLASSIFIER, ("--protected", "sex"), "`fair-classifier` needs --target, the column to predict."),
    "no protected column": (CLASSIFIER, ("--target", "income"), "`fair-classifier` needs --protected"),
    "no public rows": ("pate", ("--target", "income"), "`pate` needs --public, rows that need no protection."),
    "a target of an encoder": ("fair-encoder", FAIR, "`--target` goes with fair-classifier"),
    "an unknown target": (CLASSIFIER, ("--target", "incom", "--protected", "sex"), "Did you mean 'income'?"),
    "an unknown protected column": (CLASSIFIER, ("--target", "income", "--protected", "sexx"), "Did you mean 'sex'?"),
    "several targets of a classifier": (CLASSIFIER, ("--target", "income,age", "--protected", "sex"), "'income,age'"),
    "a target that is protected": (CLASSIFIER, ("--target", "sex", "--protected", "sex"), "can't be protected too"),
    "an unordered target": ("fair-regressor", FAIR, "A regressor's targets are ordered columns"),
    "small groups": (CLASSIFIER, (*FAIR, "--batch-share", "0.02"), "of at least 5 that a comparison needs"),
    "a penalty that is none": (CLASSIFIER, (*FAIR, "--penalty", "parity"), "`penalty` must be one of"),
    "odds without classes": ("fair-encoder", ("--protected", "sex", "--penalty", "equality_of_odds"), "no such target"),
    "no labels": (SIDED[0], (*SIDED[1], "--sides", "sex"), "`--sides` must be COLUMN=X,Z"),
    "one label": (SIDED[0], (*SIDED[1], "--sides", "sex=male"), "`--sides` must be COLUMN=X,Z"),
    "a label that is none": (SIDED[0], (*SIDED[1], "--sides", "sex=man,female"), "Found 'man'"),
    "public rows beside both": (
        SIDED[0], (*SIDED[1], "--sides", "sex=male,female", "--public", "others.csv"), 'Found some with "both"',
    ),
    "no public rows of the other side": (SIDED[0], ("--schema", "points.toml"), "Found none with 'Z': give them"),
    "a side that is none": (SIDED[0], ("--schema", "points.toml", "--protects", "Y"), '"Z", "X" or "both"'),
    "a clipping that is none": (CLASSIFIER, (*FAIR, "--clipping", "rows"), "`clipping` must be"),
    "sides of a classifier": (CLASSIFIER, (*FAIR, "--sides", "sex=male,female"), "`--sides` goes with sliced"),
    "a loss of a generator": (SIDED[0], ("--clip-norm", "1"), "`--clip-norm` goes with fair-classifier"),
    "alpha above 1": (CLASSIFIER, (*FAIR, "--alpha", "1.5"), "`alpha` must lie between 0 and 1"),
    "epsilon 0": (CLASSIFIER, (*FAIR, "--epsilon", "0"), "`epsilon` must be positive and finite. Found 0"),
    "epsilon below 0": ("pate", (*MADE["pate"][0], "--epsilon", "-1"), "`epsilon` must be positive"),
    "delta 0": (CLASSIFIER, (*FAIR, "--delta", "0"), "`delta` must be positive"),
    "a delta said once": (CLASSIFIER, (*FAIR, "--delta", "0.5"), "repeat it with `--confirm-delta`"),
    "votes with a delta said once": ("pate", (*MADE["pate"][0], "--delta", "0.1"), "repeat it with `--confirm-delta`"),
    "a delta said otherwise": (
        CLASSIFIER, (*FAIR, "--delta", "0.5", "--confirm-delta", "0.4"), "repeats delta. Found 0.4 beside 0.5",
    ),
    "an epsilon beyond numbers": (CLASSIFIER, (*FAIR, "--epsilon", "1e300"), "`epsilon` must be at most 1e+09"),
    "delta 1": (CLASSIFIER, (*FAIR, "--delta", "1"), "`delta` must be at least 0 and below 1"),
    "no iterations": (CLASSIFIER, (*FAIR, "--iterations", "0"), "`iterations` must be a whole number of at least 1"),
    "a batch of more than all": (CLASSIFIER, (*FAIR, "--batch-share", "1.5"), "`batch_share` must lie in (0, 1]"),
    "no clipping": (CLASSIFIER, (*FAIR, "--clip-norm", "0"), "`clip_norm`"),
    "no bound": (CLASSIFIER, (*FAIR, "--bound", "-1"), "`bound` must be"),
    "layers of no numbers": (CLASSIFIER, (*FAIR, "--hidden", "64,few"), "`--hidden` must be whole numbers"),
    "an optimizer that is none": (CLASSIFIER, (*FAIR, "--optimizer", "adams"), "`optimizer` must be one of"),
    "a device that is not there": (CLASSIFIER, (*FAIR, "--device", "tpu"), "one that this machine has"),
    "no teachers": ("pate", (*MADE["pate"][0], "--teachers", "0"), "`teachers` must be a whole number"),
    "the sensitive table as public": (
        "pate", ("--target", "income", "--public", "people.csv"), "Found the sensitive table itself",
    ),
    "public rows that are not there": ("pate", ("--target", "income", "--public", "absent.csv"), "There is no file"),
    "more than is left": (CLASSIFIER, (*FAIR, "--epsilon", "3.5"), "Ask for at most what is left"),
    "a ledger that is not there": (CLASSIFIER, (*FAIR, "--ledger", "absent"), "There is no ledger at absent"),
    "a schema that is not there": (CLASSIFIER, (*FAIR, "--schema", "absent.toml"), "absent.toml"),
    "a folder that exists": (CLASSIFIER, (*FAIR, "--out", "kept"), "Found kept: choose another name with --out."),
    "a folder in none": (CLASSIFIER, (*FAIR, "--out", "nowhere/model"), "There is no folder nowhere"),
    "a folder in a file": (CLASSIFIER, (*FAIR, "--out", "people.csv/model"), "There is no folder people.csv"),
    "the table as the folder": (CLASSIFIER, (*FAIR, "--out", "people.csv"), "is the sensitive table"),
    "the journal of the ledger": (CLASSIFIER, (*FAIR, "--out", "people.ledger-journal"), "a part of the ledger"),
    "the table as the checkpoint": (CLASSIFIER, (*FAIR, "--checkpoint", "./people.csv"), "is the sensitive table"),
    "the ledger as the checkpoint": (
        CLASSIFIER, (*FAIR, "--checkpoint", "people.ledger", "--resume"), "is the ledger",
    ),
    "a checkpoint that is the folder": (CLASSIFIER, (*FAIR, "--checkpoint", "model"), "another file of the same"),
    "a checkpoint that is there": (CLASSIFIER, (*FAIR, "--checkpoint", "others.csv"), "others.csv is there already"),
    "a checkpoint that is none": (
        CLASSIFIER, (*FAIR, "--checkpoint", "others.csv", "--resume"), "others.csv is not a checkpoint",
    ),
    "nothing to resume": (CLASSIFIER, (*FAIR, "--checkpoint", "run.npz", "--resume"), "There is no checkpoint run.npz"),
    "resuming without a file": (CLASSIFIER, (*FAIR, "--resume"), "`--resume` continues the run at --checkpoint"),
    "a seed that is not confirmed": (CLASSIFIER, (*FAIR, "--seed", "1"), "--not-private"),
}  # fmt: skip
CHANGED: dict[str, tuple[Any, tuple[str, ...], str]] = {
    "a target with one class": (edited('["low", "high"]', '["low"]'), FAIR, "A classifier needs two classes"),
    "a value of no category": (cell(18, "secret,30,low,5"), FAIR, "Column 'sex', line 18 of people.csv"),
    "a line with too few cells": (cell(18, "secret"), FAIR, "line 18"),
    "a table without rows": (lambda: Path("people.csv").write_text("sex,age,income,hours\n"), FAIR, "Found"),
    "a draft": (edited('kind = "integer"', 'confirm = true\nkind = "integer"'), FAIR, "draft"),
}
BY_RECORDS = {"a value of no category", "a line with too few cells"}


def refused(office: Office, kind: str, *arguments: str) -> str:
    """The sentence with which the command was refused, once it left no trace."""
    Path("kept").mkdir()
    before = {path: data for path, data in contents(office).items() if not path.endswith("people.ledger")}
    defaults = {"--schema": "people.toml", "--epsilon": "1", "--ledger": "people.ledger", "--out": "model"}
    defaults |= {} if kind == "pate" or "--iterations" in arguments else {"--iterations": "20"}
    given = [part for option, value in defaults.items() if option not in arguments for part in (option, value)]
    ended = office.run("train", kind, "people.csv", *given, *arguments)
    assert ended.status == 2, (ended.out, ended.err)
    assert ended.out == ""
    assert "secret" not in ended.err
    assert "bug" not in ended.err
    assert {path: data for path, data in contents(office).items() if not path.endswith("people.ledger")} == before
    assert not Path("model").exists()
    assert {release["status"] for release in office.releases()} <= {"abandoned"}
    return said(ended)


@pytest.mark.parametrize("name", CASES)
def test_bad_options_are_one_sentence_and_cost_nothing(office: Office, name: str) -> None:
    kind, arguments, because = CASES[name]
    assert because in refused(office, kind, *arguments)
    assert office.run("ledger", "show", "people.ledger", "--json").document["refused"] == 0


@pytest.mark.parametrize("name", CHANGED)
def test_bad_tables_are_one_sentence_and_cost_nothing(office: Office, name: str) -> None:
    prepare, arguments, because = CHANGED[name]
    prepare()
    assert because in refused(office, "fair-classifier", *arguments)
    assert office.run("ledger", "show", "people.ledger", "--json").document["refused"] == (name in BY_RECORDS)


def test_a_value_is_shown_to_who_asks(office: Office) -> None:
    cell(18, "secret,30,low,5")()
    assert "'secret'" in said(train(office, "dp-sgd", "--target", "income", "--show-values"))


def test_a_checkpoint_needs_a_ledger(office: Office) -> None:
    ended = train(office, "dp-sgd", "--target", "income", "--checkpoint", "run.npz")
    assert (ended.status, "`--checkpoint` needs --ledger" in said(ended)) == (2, True)


@pytest.mark.parametrize("kind", MADE)
def test_without_its_package_a_kind_is_refused_before_anything_is_read(
    office: Office, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("the source was opened")

    monkeypatch.setattr("counterfoil.curator.source_facts.open_source", opened)
    monkeypatch.setattr("counterfoil.curator.curator.open_source", opened)
    monkeypatch.setattr(networks, "find_spec", lambda name: None)
    monkeypatch.setattr(teachers, "find_spec", lambda name: None)
    package = {"pate": "counterfoil[evaluation]"}.get(kind, "Install counterfoil[torch].")
    ended = train(office, kind, *MADE[kind][0], "--ledger", "people.ledger")
    assert (ended.status, package in said(ended)) == (2, True)
    assert office.releases() == []


# Applying


def test_predict_refuses_what_is_no_model_and_writes_nothing(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    assert train(office, "dp-sgd", "--target", "income").status == 0
    Path("broken.csv").write_text("sex,age,hours\nfemale,30,5\nmale,secret,5\n")
    Path("empty.csv").write_text("sex,age,hours\n")
    Path("short.csv").write_text("sex,hours\nfemale,30\n")
    before = contents(office)
    for model, rows, out, because in (
        ("people.csv", "others.csv", "p.csv", "MODEL must be a folder that `counterfoil train` wrote"),
        ("absent", "others.csv", "p.csv", "MODEL must be a folder that `counterfoil train` wrote"),
        (".", "others.csv", "p.csv", "MODEL must be a folder that `counterfoil train` wrote"),
        ("model", "absent.csv", "p.csv", "There is no file"),
        ("model", "broken.csv", "p.csv", "Column 'age', line 3 of broken.csv"),
        ("model", "short.csv", "p.csv", "'age'"),
        ("model", "others.csv", "p.xlsx", ".csv or .parquet"),
        ("model", "others.csv", "nowhere/p.csv", "There is no folder nowhere"),
        ("model", "others.csv", "people.csv", "people.csv is there already"),
        ("model", "others.csv", "others.csv", "is the table of rows"),
    ):
        ended = office.run("predict", model, rows, "--out", out)
        assert (ended.status, because in said(ended)) == (2, True), ended.err
        assert "secret" not in ended.err
        assert contents(office) == before
    assert office.run("predict", "model", "others.csv", "--out", "p.csv").status == 0
    first = Path("p.csv").read_bytes()
    assert office.run("predict", "model", "others.csv", "--out", "p.csv").status == 2
    assert office.run("predict", "model", "others.csv", "--out", "p.csv", "--force").status == 0
    assert Path("p.csv").read_bytes() == first
    ended = office.run("predict", "model", "empty.csv", "--out", "none.csv")
    assert (ended.status, ended.err) == (0, "")
    assert csv.read_csv("none.csv").num_rows == 0


def test_predict_counts_values_that_the_model_does_not_see_as_they_are(office: Office) -> None:
    """In the columns that it reads: the target is none of them."""
    facts = Path("people.toml").read_text().replace('values = ["female", "male"]', 'values = ["female"]\nother = true')
    Path("people.toml").write_text(facts.replace("upper = 80\n", "upper = 80\nmissing = true\n"))
    assert train(office, "dp-sgd", "--target", "income").status == 0
    Path("odd.csv").write_text("sex,age,hours,income\nfemale,900,8,low\nsecret,-9,odd,high\nfemale,-17,,what\n")
    ended = office.run("predict", "model", "odd.csv", "--out", "p.csv")
    assert ended.status == 0, ended.err
    assert " ".join(ended.err.split()) == (
        "Some values of the rows are not as the schema declares, and the model sees others in their place. "
        "sex: 1 counted as `other`; age: 2 clamped to 0, 1 clamped to 99; hours: 1 read as missing."
    )
    assert not {"900", "secret", "odd"} & {*ended.err.replace(";", "").split()}
    ended = office.run("predict", "model", "odd.csv", "--out", "p.csv", "--force", "--json")
    assert ended.document["changed"]["age"] == {"clamped to 0": 2, "clamped to 99": 1}
    Path("even.csv").write_text("sex,age,hours\nfemale,90,8\nfemale,9,\n")
    ended = office.run("predict", "model", "even.csv", "--out", "p.csv", "--force", "--json")
    assert (ended.err, ended.document["changed"]) == ("", {})


def test_train_notes_public_rows_with_values_beyond_the_bounds(office: Office) -> None:
    Path("others.csv").write_text(re.sub(r",(\d+),(low|high)", r",700,\2", Path("others.csv").read_text()))
    ended = train(office, "pate", *MADE["pate"][0])
    assert ended.status == 0, ended.err
    assert "age: 60 clamped to 99" in " ".join(ended.err.split())
    assert "ChangedRowsWarning" not in ended.err


@pytest.mark.parametrize("name", ["parameters.safetensors", "model.json", "schema.toml", "receipt.json"])
def test_a_model_that_was_changed_since_is_refused(office: Office, name: str) -> None:
    assert train(office, "dp-sgd", "--target", "income").status == 0
    path = Path("model", name)
    path.write_bytes(path.read_bytes()[:-1] + b" ")
    ended = office.run("predict", "model", "others.csv", "--out", "p.csv")
    assert ended.status == 2
    assert f"{name} is not what was saved" in said(ended) or "MODEL must be a folder" in said(ended)
    assert "p.csv" not in office.files()


def test_a_model_of_another_machine_is_applied_by_the_cpu(office: Office) -> None:
    assert train(office, "dp-sgd", "--target", "income").status == 0
    assert office.run("predict", "model", "others.csv", "--out", "here.csv").status == 0
    model = loaded_model(Path("model"))
    model.device = "cuda:99"
    model.save("there")
    assert '"device": "cuda:99"' in Path("there", "model.json").read_text()
    assert office.run("predict", "there", "others.csv", "--out", "there.csv").status == 0
    assert Path("there.csv").read_bytes() == Path("here.csv").read_bytes()
    ended = office.run("predict", "there", "others.csv", "--out", "p.csv", "--device", "cuda:99")
    assert (ended.status, "`device` must be one that this machine has: cpu" in said(ended)) == (2, True)


def test_votes_have_no_device(office: Office) -> None:
    assert train(office, "pate", *MADE["pate"][0]).status == 0
    ended = office.run("predict", "model", "others.csv", "--out", "p.csv", "--device", "cpu")
    assert (ended.status, "A model of kind pate has none: leave it out" in said(ended)) == (2, True)


def test_both_sides_of_a_table_are_protected(office: Office) -> None:
    kind, given = SIDED
    ended = train(
        office, kind, *given, "--sides", "sex=male,female", "--hidden", "4", "--ledger", "own.ledger", "--json"
    )
    assert "There is no ledger at own.ledger" in said(ended)
    ended = train(office, kind, *given, "--sides", "sex=male,female", "--hidden", "4", "--json")
    assert ended.status == 0, ended.err
    assert ended.document["public_groups"] == ["sex"]
    assert ended.document["neighboring_relation"] == "replace_one"
    model = loaded_model(Path("model"))
    assert (model.protects, model.sides) == ("both", ["sex", "male", "female"])
    assert model.receipt.document["charges"][0]["parameters"]["sides"] == [1, 0]
    checked = office.run("receipt", "verify", "model")
    assert (checked.status, "The receipt holds" in checked.out) == (0, True), checked.out
    applied = office.run("predict", "model", "others.csv", "--out", "moved.csv", "--json")
    assert applied.document["columns"] == ["age", "hours"]


def test_moved_rows_are_rows_that_the_schema_allows(office: Office) -> None:
    """Ages were reals with sixteen digits, dates would have been numbers of days, and `decimals` was ignored."""
    facts = {
        "age": 'kind = "integer"\nlower = 0\nupper = 90\nstep = 5',
        "dose": 'kind = "real"\nlower = 0\nupper = 10\nbins = 5\ndecimals = 1\ndecimal_char = ","',
        "seen": 'kind = "date"\nlower = 2020-01-01\nupper = 2020-12-31\nbins = 4\nformat = "%d.%m.%Y"',
    }
    Path("moved.toml").write_text("".join(f"[columns.{name}]\n{said}\n" for name, said in facts.items()))
    rows = [f"{5 * (i % 19)};{i % 10},{i % 7};{1 + i % 28:02}.{1 + i % 12:02}.2020\n" for i in range(100)]
    Path("people.csv").write_text("age;dose;seen\n" + "".join(rows))
    Path("others.csv").write_text("age;dose;seen\n" + "".join(rows[::3]))
    given = ("--public", "others.csv", "--hidden", "4", "--iterations", "3", "--schema", "moved.toml")
    assert train(office, "sliced-wasserstein-generator", *given).status == 0
    for out in ("moved.csv", "moved.parquet"):
        assert office.run("predict", "model", "others.csv", "--out", out).status == 0
    assert parquet.read_schema("moved.parquet").types == [pa.int64(), pa.float64(), pa.date32()]
    header, *lines = Path("moved.csv").read_text().splitlines()
    assert (header, len(lines)) == ("age;dose;seen", 34)
    assert all(re.fullmatch(r"\d?[05];\d+,\d;\d\d\.\d\d\.2020", line) for line in lines), lines
    assert loaded_model(Path("model")).transform("others.csv").dtype == np.float64


def test_a_cell_that_a_generator_has_no_input_for_is_refused_with_what_helps(office: Office) -> None:
    """To declare `missing = true` was advised, which a trained model's schema can't, and a generator refuses."""
    facts = (
        'ignore = ["sex", "income", "hours"]\n' + SCHEMA[SCHEMA.index("[columns.age]") :].split("[columns.income]")[0]
    )
    Path("ages.toml").write_text(facts)
    Path("hole.csv").write_text("age,sex,income,hours\n30,male,low,1\n,male,low,1\n")
    given = ("--public", "others.csv", "--hidden", "4", "--iterations", "2", "--schema", "ages.toml")
    kind = "sliced-wasserstein-generator"
    assert train(office, kind, *given).status == 0
    for ended in (
        office.run("predict", "model", "hole.csv", "--out", "moved.csv"),
        office.run("predict", "model", "hole.csv", "--out", "moved.csv", "--show-values"),
        train(office, kind, *given, "--public", "hole.csv", out="other"),
    ):
        assert "Column 'age', line 3 of hole.csv: the value" in said(ended)
        assert said(ended).endswith("leave the row out: what a generator moves are numbers that are never missing.")
    train(office, "dp-sgd", "--target", "income", out="classifier")
    refused = said(office.run("predict", "classifier", "hole.csv", "--out", "said.csv"))
    assert "line 3 of hole.csv: the value" in refused
    assert "leave the row out: a model has no input for such a value, unless its schema gave" in refused


def test_every_kind_is_tried_here() -> None:
    assert set(MADE) == set(KINDS)


def test_the_receipt_of_a_folder_is_the_one_in_it(office: Office) -> None:
    train(office, "dp-sgd", "--target", "income", "--seed", "1", "--not-private")
    for command in ("show", "verify"):
        ended = [office.run("receipt", command, place) for place in ("model", "model/receipt.json")]
        assert ended[0].out == ended[1].out
        assert ended[0].status == ended[1].status == 0


def test_a_delta_that_is_said_twice_is_told(office: Office) -> None:
    ended = train(office, "fair-classifier", *FAIR, "--delta", "0.5", "--confirm-delta", "0.5", "--ledger", "none")
    assert "There is no ledger at none" in said(ended)
    ended = train(office, "fair-classifier", *FAIR, "--delta", "0.5", "--confirm-delta", "0.5")
    assert ended.status == 0, ended.err
    assert "WARNING: Delta 0.5 is above one in the" in " ".join(ended.out.split())


def test_a_loss_that_is_no_better_than_a_guess_is_called_that(office: Office) -> None:
    """Of two steps little is known, whatever the noise: not even how large it is."""
    shown = " ".join(train(office, "dp-sgd", "--target", "income", "--iterations", "2", epsilon="0.1").out.split())
    assert "Mean of the last 2 steps, standard error" in shown
    assert "by the true shares of the classes less" in shown
    guess = ReferenceLoss(0.693, "even odds for 2 classes", is_best=False, largest=2.77)
    for losses, sure in (
        ([0.7], False),
        ([0.1], False),
        ([-4.0, -1.4], False),
        ([0.4, 0.6] * 10, True),
        ([0.6, 0.8], False),
    ):
        said = _held_against(SimpleNamespace(losses_=np.array(losses)), float(np.mean(losses)), guess)
        assert ("this one is not surely better." in said) == (not sure)
