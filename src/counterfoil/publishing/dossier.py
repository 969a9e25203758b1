"""What NIST SP 800-226 has an evaluator ask of a deployment, answered from a receipt as far as it can.

Source: NIST Special Publication 800-226, Guidelines for Evaluating Differential Privacy Guarantees, initial public
draft of December 2023. The draft asks its readers to examine every part of a deployment (its figure 1, from epsilon
down to the collection of the data) and names privacy hazards for each; every question here is one of these hazards or
key takeaways, restated as a question, with the section that it comes from. The final publication of March 2025 may
number and word them otherwise.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil.inert import inert_document
from counterfoil.publishing.markdown import plain
from counterfoil.publishing.registry import mechanism_sentences, warnings_of_use
from counterfoil.receipt.schema_bought import bought_sentences, describes_table, share_of
from counterfoil.receipt.schema_total import bought_of
from counterfoil.receipt.text import cost_sentences, good_for, protection_sentences

SOURCE = (
    "NIST SP 800-226, Guidelines for Evaluating Differential Privacy Guarantees, initial public draft, December 2023. "
    "Sections are those of the draft; the final publication of March 2025 may number and word them otherwise."
)

_WIDTH = 100

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A question of the guidelines.

    Args:
        section: of the draft.
        title: what it is about.
        text: the question.
        answer: sentences from the receipt; None where a receipt can't say.
        rests_on: the proofs and the tests that the answer rests on; paths within the source of Counterfoil.
        steward: what the steward has to write, whether or not there is an answer; empty for nothing.
    """

    section: str
    title: str
    text: str
    answer: Callable[[Document], list[str]] | None = None
    rests_on: str = ""
    steward: str = ""


def _parameters(document: Document) -> list[str]:
    alone = " of the release without its schema" if "schema_bought" in document else ""
    return [
        f"The guarantee{alone} is epsilon {document['budget']['epsilon']:g} at delta {document['spent']['delta']:g}, "
        "fixed before the first question.",
        *(sentence for sentence in cost_sentences(document) if sentence.startswith("In plain words")),
        *bought_sentences(document),
    ]


def _variant(document: Document) -> list[str]:
    return [*_own_variant(document), *_variant_of_schema(document)]


def _own_variant(document: Document) -> list[str]:
    """The variant of the release without its schema."""
    if document["spent"]["delta"] == 0:
        if "schema_bought" in document:
            return ["The questions of this release, without its schema, are purely private: their delta is 0."]
        return ["Pure differential privacy: delta is 0, and no failure is possible."]
    whose = "of this release, its schema aside, " if "schema_bought" in document else ""
    rule = document["composition"]["rule"]
    kinds = sorted({str(charge["event"]["kind"]).replace("_", " ") for charge in document["charges"]})
    what = f"The events of the charges are {', '.join(kinds)}; they are composed by the rule {rule}."
    approximate = any(charge["event"]["kind"].startswith("approximate") for charge in document["charges"])
    if share_of(document) is not None:
        return [
            what,
            "The schema was bought with a share of the budget, where texts that nobody listed are released above a "
            "threshold: that can fail with the small probability that the receipt of the purchase states.",
        ]
    if approximate:
        return [what, "At least one mechanism can fail with the small probability that its own delta states."]
    return [
        what,
        f"No single mechanism {whose}has a delta of its own: the delta comes from stating the composed guarantee as "
        "epsilon and delta, and is not the probability of a catastrophic failure.",
    ]


def _variant_of_schema(document: Document) -> list[str]:
    """What the schema's own guarantee does to the variant; nothing where it was not bought."""
    bought = bought_of(document)
    if bought is None:
        return []
    if bought.delta == 0:
        return ["The schema was bought with delta 0."]
    return [
        f"The schema was bought with delta {bought.delta:g}, so that release and schema together are not purely "
        "private. Its own receipt says which of its mechanisms can fail with a delta of their own; those that release "
        "texts do.",
    ]


def _comparable(document: Document) -> list[str]:
    unit = document["privacy_unit"]
    whose = "one row" if unit is None else f"all rows of one value of {unit['column']}, at most {unit['max_rows']}"
    also = [] if bought_of(document) is None else ["Count the schema with it, which was bought too (see Epsilon)."]
    return [
        f"Compare only with guarantees for the same delta ({document['spent']['delta']:g}), the same unit ({whose}) "
        f"and the same neighboring relation ({document['neighboring_relation']}).",
        *also,
        "The receipt has the parameter of each noise, from which others can convert to another delta.",
    ]


def _contributions(document: Document) -> list[str]:
    unit = document["privacy_unit"]
    if unit is None:
        return ["Contributions were not bounded: the unit is a row."]
    return [
        f"At most {unit['max_rows']} rows of each unit were used, chosen at random, and the noise was scaled to what "
        "so many rows can change.",
    ]


def _budget(document: Document) -> list[str]:
    bought = list(bought_sentences(document))
    if document.get("ledger"):
        return [*bought, "A ledger of the table counts this release with the others: its totals are with the steward."]
    return [*bought, "No ledger counts this release: the receipt does not show what others of the same table cost."]


def _libraries(document: Document) -> list[str]:
    return [*mechanism_sentences(document), document["composition"]["sentence"]]


def _histograms(document: Document) -> list[str]:
    if describes_table(document):
        return [
            "They were not given: categories, bounds and bins are what this release asked for, with noise, and what is "
            "among its charges. What the steward stated by hand was not asked.",
        ]
    return [
        "Categories, bounds and bins are those of the schema, which was fixed before this release asked its first "
        "question. A count of combinations of values covers every cell, empty ones too. The schema's SHA-256 is "
        f"{document['schema_sha256']}.",
        *bought_sentences(document),
    ]


def _utility(document: Document) -> list[str]:
    return list(good_for(document)) or ["No measure of utility was bought for this release."]


def _looks(document: Document) -> list[str]:
    if describes_table(document):
        return ["Bounds were rounded outwards, and texts whose noisy counts are small were left out."]
    released = document.get("released", "table")
    if released == "model":
        return ["Nothing was changed after training: the model is released as the noisy answers made it."]
    if released == "measures":
        return ["Nothing was changed: the noisy answers are released as they were bought."]
    return [
        "Rows look like those of the real table by design: rounded, within bounds, and without negative counts. The "
        "noisy counts themselves are released as they were bought."
    ]


def _bias(document: Document) -> list[str]:
    released = document.get("released", "table")
    if released == "model":
        said = (
            "The noise of each answer is centered. What one record adds to an answer was bounded before, and values "
            "outside of the bounds were clamped: both can move the model."
        )
    elif released == "measures":
        said = (
            "Noisy answers on the receipt are not corrected, so that their noise is centered. What is concluded from "
            "them may not be: it is what shows."
        )
    else:
        said = (
            "Noisy counts on the receipt are not corrected, so that their noise is centered. Rows and models are: "
            "counts are made consistent and not negative, values outside of the bounds were clamped before they were "
            "counted."
        )
    return [said, *warnings_of_use(document)]


def _synthetic(document: Document) -> list[str]:
    name = document["method"]["name"]
    if describes_table(document):
        return ["What was released is a schema, with the guarantee above: no synthetic data were made for it."]
    if (released := document.get("released", "table")) != "table":
        what = "a model" if released == "model" else "noisy measures"
        return [f"What was released is not a table but {what}, by {name}, with the guarantee above."]
    return [
        f"The rows were drawn from what the method {name} made of the noisy answers that the charges bought; nothing "
        "else of the records reached them, but for what the neighboring relation takes as public."
    ]


def _training(document: Document) -> list[str]:
    asked = {charge["query"] for charge in document["charges"]}
    if any(query.endswith("gradient") for query in asked) or "teacher_votes" in asked:
        return ["A model was trained on the records; all that its training asked of them is among the charges."]
    return ["No model was trained on the records: models were fitted to the noisy answers alone."]


def _release_model(document: Document) -> list[str]:
    return [
        "Data release: whoever holds the table asked all questions, and no others for this release. Who has the "
        "release can't ask the table anything."
    ]


def _side_channels(document: Document) -> list[str]:
    return [
        f"Noise: {document['noise_source']}. What floating point can change is bounded in the proofs and held back "
        "from the budget.",
        "How long the run took is not hidden, nor is what its machine could observe; nobody outside chose the "
        "questions.",
    ]


QUESTIONS = (
    Question(
        "2.2",
        "Epsilon",
        "How large is epsilon, and does a value of this size give meaningful privacy?",
        _parameters,
        "docs/privacy_proofs.md, Events and Composition; tests/curator/test_audit.py, "
        "tests/receipt/test_verification.py",
        "why this epsilon is small enough for these people",
    ),
    Question(
        "2.3",
        "Variant and delta",
        "Which variant of differential privacy is it, and can it fail catastrophically with probability delta?",
        _variant,
        "docs/privacy_proofs.md, Composition, and Rounding and slack; tests/accounting",
        "how delta compares with one over the number of people",
    ),
    Question(
        "2.4",
        "Unit of privacy",
        "What do neighboring tables differ in, and does that cover what someone would want to learn about a person?",
        protection_sentences,
        "docs/privacy_proofs.md, Neighbors and sensitivity; tests/curator/test_conformance.py",
        "whether one person can have several rows, and which two situations must not be distinguished",
    ),
    Question(
        "2.4, 3.4.1",
        "Bounded contributions",
        "Where the unit is a person with several rows: how were contributions bounded, and was noise added for it?",
        _contributions,
        "docs/privacy_proofs.md, Units of several rows; tests/curator/test_conformance.py",
    ),
    Question(
        "2.5",
        "Comparison",
        "With which other guarantees may this one be compared, and are the original parameters reported?",
        _comparable,
        "docs/privacy_proofs.md, Under the other relation; tests/receipt/test_other_relation.py",
    ),
    Question(
        "2.2, 4.1",
        "Budget",
        "What do all analyses of the same data cost together, and who keeps the total?",
        _budget,
        "docs/privacy_proofs.md, Composition; tests/ledger",
        "the total that may be spent on these people, and what was spent before and elsewhere",
    ),
    Question(
        "2.6",
        "Other releases",
        "Which statistics of the same data are released without differential privacy, and what do they reveal?",
        steward="a list of such releases, or that there are none",
    ),
    Question(
        "3, 3.1",
        "Mechanisms",
        "Which mechanisms were used, and are they those of a well-tested library?",
        _libraries,
        "docs/privacy_proofs.md, Events; tests/noise, tests/curator/test_audit.py",
    ),
    Question(
        "3.2",
        "Utility and accuracy",
        "How was utility measured, and for which uses?",
        _utility,
        "tests/fidelity, tests/inference",
        "which uses the release is meant for",
    ),
    Question(
        "3.3.1",
        "Systemic bias",
        "Are small groups hurt more than large ones, and was that looked at?",
        steward="which groups matter, how large they are against the noise, and what was done about it",
    ),
    Question(
        "3.3.2",
        "Human bias",
        "Were results changed so that they look as people expect, and what else did that change?",
        _looks,
        "tests/publishing/test_noisy_tables.py",
    ),
    Question(
        "3.3.3",
        "Statistical bias",
        "Which bias do the mechanism and what follows it introduce?",
        _bias,
        "tests/graphical_model, tests/inference",
    ),
    Question(
        "3.4.1, 3.4.2",
        "Bins and bounds",
        "Were categories, bins and bounds given without looking at the data?",
        _histograms,
        "docs/privacy_proofs.md, Neighbors and sensitivity; tests/test_wall.py",
        "that what was not bought of the schema was written from public knowledge",
    ),
    Question(
        "3.5",
        "Machine learning",
        "Where a model was trained: was it trained with differential privacy?",
        _training,
        "docs/privacy_proofs.md, Gradients of batches; tests/test_replay.py",
    ),
    Question(
        "3.6",
        "Synthetic data",
        "Was the synthetic data generated with differential privacy, and by a method that keeps what matters?",
        _synthetic,
        "tests/test_replay.py",
    ),
    Question(
        "3.7",
        "Unstructured data",
        "Is there free text, sound or pictures, of which it is unclear whose they are?",
        lambda document: [
            "None was used: a schema has columns of numbers, dates, categories and booleans, and identifiers are not "
            "read."
        ],
        "tests/schema",
    ),
    Question(
        "4.1",
        "Query model",
        "Can analysts put queries of their own to the data, and who spends the budget?",
        _release_model,
    ),
    Question(
        "4.2",
        "Trust",
        "Who holds the real data, who receives results, and do the trust assumptions hold in the real world?",
        lambda document: ["The central model: whoever holds the table sees it, and is trusted with it."],
        steward="who holds the table, who can see it, and why they can be trusted",
    ),
    Question(
        "4.3",
        "Side channels",
        "Which measures protect against floating-point arithmetic, timing, and errors of the backend?",
        _side_channels,
        "docs/privacy_proofs.md, Rounding and slack; tests/noise/test_sampler.py, tests/curator/test_refusals.py",
        "who could watch the machine while the release was made",
    ),
    Question(
        "4.4",
        "Security",
        "How is the real table protected where it is stored and while it is used?",
        steward="storage, encryption, and who has the keys",
    ),
    Question(
        "4.4",
        "Access control",
        "Who may read the real table, and how is that enforced?",
        steward="the access control policy",
    ),
    Question(
        "4.5",
        "Data collection",
        "Did these data need to be collected, and could less have been?",
        steward="why they were collected, and when they are deleted",
    ),
)


def dossier_text(document: Document) -> str:
    """The dossier, in Markdown: each question with its answer, what that rests on, and what the steward must write.

    Args:
        document: the receipt; its texts are shown inert and escaped.
    """
    shown = {key: value for key, value in document.items() if key != "answers"}
    document = inert_document(shown)
    alarm = [] if document["private"] else ["**NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.**"]
    without = [question for question in QUESTIONS if question.answer is None]
    asked = [question for question in QUESTIONS if question.steward]
    head = [
        f"# Dossier of a release of {plain(document['source'])}",
        *alarm,
        _wrapped(f"Questions: {SOURCE}"),
        _wrapped(
            f"Answers: the receipt of {document['created'][:10]}, method {plain(document['method']['name'])}, and the "
            "proofs and tests of Counterfoil "
            f"{plain(document['program']['counterfoil'])}. Of {len(QUESTIONS)} questions, a receipt leaves "
            f"{len(without)} unanswered: {', '.join(question.title.lower() for question in without)}. To "
            f"{len(asked)} the steward has something to add."
        ),
    ]
    return "\n\n".join([*head, *(part for one in QUESTIONS for part in _answered(one, document))]) + "\n"


def _answered(question: Question, document: Document) -> Iterator[str]:
    yield f"## {question.title} (section {question.section})"
    yield _wrapped(f"*{question.text}*")
    if question.answer is None:
        yield "**UNANSWERED: no receipt can say this.**"
    else:
        for sentence in question.answer(document):
            yield _wrapped(plain(sentence, most=4000))
    if question.rests_on:
        yield _wrapped(f"Rests on: {question.rests_on}.")
    if question.steward:
        yield _wrapped(f"**TO BE WRITTEN BY THE STEWARD:** {question.steward}.")


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
