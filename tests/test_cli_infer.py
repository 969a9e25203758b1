"""`counterfoil infer`: what people and programs read, and what is refused in one sentence."""

from __future__ import annotations

import json

import pytest

from command_line import Office

MADE = "people.synthetic.parquet"
SEEDED = "--delta", "1e-6", "--seed", "1", "--not-private", "--quiet"


@pytest.fixture
def released(office) -> Office:
    assert office.synth(*SEEDED, method="direct", epsilon="3").status == 0
    return office


def words(text: str) -> str:
    return " ".join(text.split())


def test_shares_within_groups_for_people(released):
    said = released.run("infer", MADE, "proportion", "income == 'high'", "--by", "sex")
    assert said.status == 0, said.err
    assert "Share of records with income == 'high':" in said.out
    assert "sex = female" in said.out
    assert "noise" in said.out
    assert "sampling" in said.out
    assert "Each interval holds with probability 0.95." in said.out
    assert "Rests on: - Charge 1 counted the records by sex, income" in words(said.out)
    assert "independent draws from the population" in words(said.out)
    assert "NOT PRIVATE" in said.out
    assert max(map(len, said.out.splitlines())) <= 80


def test_shares_for_programs(released):
    ended = released.run("infer", MADE, "proportion", "age >= 50", "--level", "0.9", "--json")
    assert ended.status == 0, ended.err
    (found,) = ended.document["found"]
    assert found["lower"] < found["estimate"] < found["upper"]
    assert (found["level"], found["charges"], found["measured"]) == (0.9, [1], True)
    assert (ended.document["kind"], ended.document["private"]) == ("proportion", False)
    assert "naive" not in ended.document


def test_means_and_what_the_synthetic_rows_would_say(released):
    ended = released.run("infer", MADE, "mean", "age", "--by", "income", "--naive", "--json")
    assert ended.status == 0, ended.err
    assert [found["about"] for found in ended.document["found"]] == [
        "mean of age, where income = low",
        "mean of age, where income = high",
    ]
    for found, naive in zip(ended.document["found"], ended.document["naive"], strict=True):
        assert found["about"] == naive["about"]
        # Bins of ten years alone leave as much open as 300 rows seem to.
        assert naive["upper"] - naive["lower"] < found["upper"] - found["lower"]
        assert naive["basis"][0].startswith("MISLEADING")
    said = released.run("infer", MADE, "mean", "age", "--naive")
    assert "MISLEADING: the synthetic rows as if they were real records" in words(said.out)
    assert "leaves the mean open: between" in words(said.out)
    (shown,) = ended.document["found"][:1]
    assert shown["bins"] == pytest.approx(4.5, abs=0.1), "half of what bins of ten whole numbers leave open"
    heads, numbers = said.out.splitlines()[1:3]
    assert heads.split() == ["estimate", "interval", "noise", "sampling", "bins"]
    assert numbers.split()[-1] == "±4.5"
    assert max(map(len, said.out.splitlines())) <= 80


def test_answers_say_that_values_beyond_the_bounds_count_as_the_bound(released):
    said = released.run("infer", MADE, "proportion", "age >= 50")
    assert "- Values of age below 0 count as 0 and those above 99 as 99, so that" in words(said.out)
    ended = released.run("infer", MADE, "mean", "age", "--json")
    assert any("the mean is that of the clamped values" in line for line in ended.document["found"][0]["basis"])
    assert "count as" not in released.run("infer", MADE, "proportion", "sex == 'female'").out


def test_a_test_of_independence(released):
    said = released.run("infer", MADE, "chi2", "age", "income")
    assert said.status == 0, said.err
    assert "Hypothesis: age and income are independent." in said.out
    assert "p-value      0.001" in said.out
    document = released.run("infer", MADE, "chi2", "age", "income", "--json").document
    assert document["found"]["p_value"] == 0.001
    assert document["found"]["parameters"]["simulations"] == 999


def test_what_was_never_measured_is_refused_by_name(office):
    assert office.synth(*SEEDED, method="independent").status == 0
    for arguments in (("proportion", "sex == 'male'", "--by", "income"), ("chi2", "sex", "income")):
        ended = office.run("infer", MADE, *arguments)
        assert ended.status == 2
        assert ended.out == ""
        assert "The relation of sex and income was never measured." in ended.err
        assert "--workload or --queries" in ended.err
        assert len(ended.err.strip().splitlines()) == 1
        assert office.run("infer", MADE, *arguments, "--json").document["status"] == 2


def test_an_error_bar_is_told_as_one(office):
    """MST leaves a pair unmeasured, with a bound on it: the rows' own numbers, and a wide interval."""
    assert office.synth(*SEEDED, method="mst", epsilon="20").status == 0
    document = json.loads((office.path / "people.synthetic.receipt.json").read_text())
    measured = [one["attributes"] for one in document["answers"]["marginals"]]
    (bar,) = [one for one in document["answers"]["error_bars"] if one["attributes"] not in measured]
    one, other = bar["attributes"]
    events = {"sex": "sex == 'male'", "income": "income == 'high'", "age": "age >= 50"}
    said = office.run("infer", MADE, "proportion", f"{events[one]} and {events[other]}")
    assert said.status == 0, said.err
    assert "NEVER MEASURED: intervals are error bars" in words(said.out)
    assert f"{one}, {other} were never counted together" in words(said.out)
    (found,) = office.run("infer", MADE, "proportion", f"{events[one]} and {events[other]}", "--json").document["found"]
    assert found["measured"] is False
    assert found["noise"] <= bar["fraction"] / 2 + 1e-9


@pytest.mark.parametrize(
    "arguments",
    [
        ("covariance", "age", "income"),
        ("correlation", "age", "income"),
        ("pca", "age", "income"),
        ("ols", "age", "income"),
        ("graph", "age", "income"),
        ("risk", "income", "--norm", "0.5"),
    ],
)
def test_what_rests_on_moments_needs_them(released, arguments):
    """Each kind reaches its function, which says what must be bought."""
    ended = released.run("infer", MADE, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert "moments" in ended.err
    assert len(ended.err.strip().splitlines()) == 1


def test_models_by_their_losses(office):
    """From the losses that a release bought, through its receipt, to a set that holds the best model's weights."""
    asked = "--queries", "losses:logistic:income~age,sex:1:100"
    assert office.synth(*SEEDED, *asked, method="reweighting", epsilon="3").status == 0
    assert office.run("receipt", "verify", "people.synthetic.receipt.json").status == 0
    said = office.run("infer", MADE, "m-estimate")
    assert said.status == 0, said.err
    assert "weight of age" in said.out
    assert "smallest logistic loss, of the" in said.out
    assert "models for income = high have norm1 of the weights at most 1" in words(said.out)
    assert max(map(len, said.out.splitlines())) <= 80
    ended = office.run("infer", MADE, "m-estimate", "income", "--penalty", "0.1", "--json")
    assert ended.status == 0, ended.err
    found = ended.document["found"]
    assert [one["about"] for one in found[::2]] == [
        "smallest logistic loss and penalty",
        "excess risk of the estimated weights",
        "constant of the best model",
        "weight of age in the best model",
        "weight of sex = male in the best model",
    ]
    for one in found:
        assert one["lower"] <= one["estimate"] <= one["upper"]
        assert one["charges"] == [1, 2]
    # Those with a high income are those above 50, of numbers from 0 to 99: without a penalty the best weight is 1.
    (weight,) = [
        one for one in office.run("infer", MADE, "m-estimate", "--json").document["found"] if "age" in one["about"]
    ][:1]
    assert weight["estimate"] > 0.3
    named = office.run("infer", MADE, "m-estimate", "sex")
    assert named.status == 2
    assert "losses of models for sex were never measured. Those of income were." in words(named.err)


def test_of_rows_that_meet_a_condition_it_is_said_that_answers_are_about_all(office):
    assert office.synth(*SEEDED, "--keep-model", "--out", "all.csv", method="direct", epsilon="3").status == 0
    drawn = office.run("sample", "all.csv", "--where", "age >= 50", "--rows", "30", "--out", "old.csv")
    assert drawn.status == 0, drawn.err
    said = office.run("infer", "old.csv", "proportion", "sex == 'male'")
    assert said.status == 0, said.err
    assert "These rows were drawn where age >= 50. What is found is about all records" in words(said.out + said.err)
    whole = office.run("infer", "all.csv", "proportion", "sex == 'male'", "--json").document
    part = office.run("infer", "old.csv", "proportion", "sex == 'male'", "--json").document
    assert whole["found"] == part["found"]
    assert (len(whole["warnings"]), len(part["warnings"])) == (0, 1)


def test_saved_folders_and_receipts_elsewhere(released):
    import counterfoil

    made = counterfoil.synthesize("people.csv", counterfoil.Schema.from_toml("people.toml"), epsilon=1, seed=2)
    made.save("saved")
    assert released.run("infer", "saved", "mean", "age").status == 0
    (released.path / "people.synthetic.receipt.json").rename(released.path / "elsewhere.json")
    assert released.run("infer", MADE, "mean", "age", "--receipt", "elsewhere.json").status == 0
    missing = released.run("infer", MADE, "mean", "age")
    assert missing.status == 2
    assert "people.synthetic.receipt.json" in missing.err
    other = released.run("infer", "people.csv", "mean", "age", "--receipt", "elsewhere.json")
    assert other.status == 2
    assert "SHA-256 differs" in other.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("men", "age"), "Did you mean 'mean'?"),
        (("mean",), "`mean` takes a column of numbers. Found 0"),
        (("proportion", "age", ">", "50"), "an event is one argument, between quotes"),
        (("chi2", "age"), "`chi2` takes two columns. Found 1"),
        (("mean", "agee"), "Did you mean 'age'?"),
        (("mean", "sex"), "A mean is of a column of numbers"),
        (("proportion", "age >"), "An event must be an expression such as"),
        (("proportion", "age = 3"), "with == for equal"),
        (
            ("proportion", "sex == 'mal'"),
            "which is not among its values. Did you mean 'male'",
        ),
        (("proportion", "age > 3", "--level", "95"), "strictly between 0 and 1"),
        (("chi2", "age", "sex", "--by", "income"), "`--by` goes with proportion and mean"),
        (("mean", "age", "--norm", "2"), "`--norm` goes with risk"),
        (("risk", "income", "--penalty", "2"), "`--penalty` goes with m-estimate"),
        (("m-estimate", "income", "age"), "`m-estimate` takes the target of the models"),
        (("m-estimate", "--penalty", "-1"), "`penalty` must be a number of at least 0"),
        (("m-estimate",), "The losses of models were never measured. Buy them with a release by `--queries losses:"),
        (("chi2", "age", "sex", "--naive"), "`--naive` goes with proportion and mean"),
    ],
)
def test_requests_that_are_refused(released, arguments, message):
    ended = released.run("infer", MADE, *arguments)
    assert (ended.status, ended.out) == (2, "")
    assert message in words(ended.err)


def test_nothing_that_a_terminal_obeys_is_printed(office):
    schema = (office.path / "people.toml").read_text()
    (office.path / "people.toml").write_text(schema.replace('"high"', '"high", "\\u001b[31mred\\u202e"'))
    assert office.synth(*SEEDED, method="direct", epsilon="3").status == 0
    said = office.run("infer", MADE, "proportion", "age >= 50", "--by", "income")
    assert said.status == 0, said.err
    assert "income = \\x1b[31mred\\u202e" in said.out
    refused = office.run("infer", MADE, "proportion", "income == '\x1b[31mblue'")
    assert refused.status == 2
    for text in (said.out, said.err, refused.out, refused.err):
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_help_names_the_kinds(office):
    shown = office.run("infer", "--help")
    assert shown.status == 0
    for kind in (
        "proportion",
        "mean",
        "chi2",
        "covariance",
        "correlation",
        "pca",
        "ols",
        "graph",
        "risk",
        "m-estimate",
    ):
        assert kind in shown.out
    assert max(map(len, shown.out.splitlines())) <= 80


def test_an_unknown_kind_is_told_what_there_is_once(released):
    said = released.run("infer", MADE, "quantile", "age")
    assert said.status != 0
    assert said.err.count("m-estimate") == 1
    assert "Did you mean 'mean'?" in released.run("infer", MADE, "means", "age").err


def test_a_kind_before_the_release_is_said_to_come_after_it(released):
    said = released.run("infer", "mean", MADE, "age")
    assert (said.status, said.out) == (2, "")
    assert f"The release comes first, then what to infer: counterfoil infer {MADE} mean ..." in words(said.err)
