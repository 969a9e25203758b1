"""What `counterfoil synth` is asked for, from its options: checked before a record is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.neighbors import PrivacyUnit
    from counterfoil.domain.domain import Domain
    from counterfoil.domain.workload import Workload
    from counterfoil.fidelity.fidelity import Fidelity
    from counterfoil.methods.method import Method
    from counterfoil.schema import Schema
    from counterfoil.schema.bought import Bought
    from counterfoil.synthesis.time_limit import TimeLimit


@dataclass(frozen=True)
class Request:
    """A release that is to be made: its source and its parameters, all of them public.

    Args:
        source: a path, or `file.db::table`.
        schema: the public facts about the table.
        budget: the most that the release may cost.
        relation: which tables are neighbors.
        unit: whose records are protected together; a single row where None.
        rows: how many rows to draw; about as many as the table has where None.
        seed: of noise that can be repeated; None for a release that protects.
        ledger: the file that is charged, or None.
        fidelity: the error measures to buy, or None.
        check_schema: the share of the budget that checks the schema; 0 for none.
        unit_sizes: the share of the budget that buys a histogram of rows per privacy unit; 0 for none.
        time_limit: of the fits; None for as long as they take.
        rest: whether it spends the rest of a budget of which a share bought the schema.
        schema_file: where the schema is from; None where it is from no file.
    """

    source: str
    schema: Schema
    budget: Budget
    relation: str
    unit: PrivacyUnit | None
    rows: int | None
    seed: int | None
    ledger: Path | None
    fidelity: Fidelity | None
    check_schema: float = 0.0
    unit_sizes: float = 0.0
    time_limit: TimeLimit | None = None
    rest: bool = False
    schema_file: Path | None = None


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


def budget_of(
    epsilon: float | None, delta: float | None, *, default_delta: float, rest: bool, bought: Bought | None
) -> Budget:
    """The budget that the options state; with `--rest`, that of which a share bought the schema, where they do not."""
    from counterfoil.accounting.budget import Budget

    whole = None if bought is None or not rest else bought.whole
    if epsilon is None and whole is not None:
        return Budget(whole.epsilon, whole.delta if delta is None else delta)
    if epsilon is None:
        share = None if bought is None else bought.whole
        if share is not None:
            advice = f"add --rest, which spends what the schema left of epsilon {share.epsilon:g}, or another epsilon."
        elif rest:
            advice = "add it: the schema was not bought with a share of a budget, so that --rest says nothing."
        else:
            advice = "add it, such as --epsilon 1."
        raise ValueError(f"`--epsilon` says the most that this release may cost. Found none: {advice}")
    inherited = default_delta if whole is None else whole.delta
    return Budget(epsilon, inherited if delta is None else delta)


def require_rest_kept(ledger: Path | None, *, discard: bool) -> None:
    """Refuses to delete the answers of a run that began to spend the rest of a budget: no other run may have it.

    Raises:
        ValueError: which says so.
    """
    if discard and ledger is not None:
        raise ValueError(
            "`--discard-answers` gives up what was paid for, and the rest of a budget is for one release. Found "
            "`--rest` with a ledger, which lets no other run have it: finish the run with --resume, or make a release "
            "with a budget of its own."
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


def fidelity_of(share: float | None, target: str | None, protected: str | None) -> Fidelity | None:
    """The fidelity that the options name; without a share, a target is certified from the release's error bars."""
    from counterfoil.fidelity.fidelity import Fidelity

    if protected is not None and (target is None or share is None):
        raise ValueError(
            "`--protected` measures how alike the certified linear model treats groups. It goes with `--target` and "
            "`--fidelity`, the share of the budget that buys the figures."
        )
    if share is None and target is None:
        return None
    if share is not None and not 0 < share < 1:
        raise ValueError(f"`--fidelity` must be a share of the budget between 0 and 1, such as 0.05. Found {share}.")
    return Fidelity(share or 0.0, target, protected)


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
