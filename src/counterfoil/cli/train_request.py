"""What `counterfoil train` is asked for, from its options: checked before a record is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterfoil.cli.model_kinds import ModelKind
from counterfoil.cli.outputs import inputs, require_free, require_harmless
from counterfoil.kept_files import KeptFile, kept_source

if TYPE_CHECKING:
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.neighbors import Neighbors
    from counterfoil.curator.curator import Curator
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.schema import Schema


@dataclass(frozen=True)
class TrainingRequest:
    """A model that is to be trained: its source and its parameters, all of them public.

    Args:
        kind: of the model.
        source: the sensitive table.
        schema: the public facts about it.
        model: the estimator, not trained yet.
        wishes: what its `fit` gets beyond the source, the schema and the ledger.
        budget: the most that the model may cost.
        neighbors: between which tables the guarantee holds.
        ledger: the file that counts the cost.
        resume: whether the run at the checkpoint goes on.
    """

    kind: ModelKind
    source: str
    schema: Schema
    model: Any
    wishes: Mapping[str, Any]
    budget: Budget
    neighbors: Neighbors
    ledger: Path | None
    resume: bool

    @property
    def checkpoint(self) -> Path | None:
        """Where the state of the run is kept."""
        return self.wishes.get("checkpoint")

    @property
    def _instead(self) -> str:
        """What a user does whose model has neighbors that the ledger can't add up."""
        options = (
            "--relation, --privacy-unit and --max-rows choose it"
            if "relation" in self.kind.wishes
            else "there is no other relation than the first"
        )
        return (
            f"For this model {options}; a model that is learned from a synthetic copy, released from this ledger, "
            "costs nothing more."
        )

    def require_room(self, ledger: Ledger) -> None:
        """Refuses what the ledger could only refuse after the records were read.

        Raises:
            ValueError: where its releases have no neighbors in common with this run.
            BudgetExceeded: when less is left than a new run needs.
        """
        from counterfoil.ledger.errors import LedgerError

        own = self.neighbors.describe()
        try:
            ledger.require_common(own)
        except LedgerError as error:
            raise ValueError(f"{self.ledger}: {error} {self._instead}") from None
        if not self.resume:
            ledger.require_room(self.budget, own)


def request_of(
    kind: ModelKind,
    source: str,
    schema: Path,
    given: Mapping[str, Any],
    *,
    ledger: Path | None,
    resume: bool,
    confirm_delta: float | None = None,
) -> TrainingRequest:
    """The request of options that `kind` has.

    Args:
        given: values by the names of the estimator's parameters and of those of its `fit`.
        confirm_delta: the same as `delta`, which one of .1 or more needs.

    Raises:
        ValueError: for an option that is out of its range, or names no column.
    """
    from counterfoil.accounting.budget import Budget
    from counterfoil.accounting.sanity import require_moderate_delta
    from counterfoil.cli.synth_request import unit_of
    from counterfoil.curator.resolved_schema import schema_for
    from counterfoil.schema.possibility import require_possible

    facts = schema_for(source, schema, unit=given.get("privacy_unit") or "")
    facts.require_confirmed()
    require_possible(facts)
    if "device" in given:
        from counterfoil.networks.devices import require_device

        require_device(given["device"])
    model = kind.type(**{name: value for name, value in given.items() if name in kind.parameters})
    wishes = {name: value for name, value in given.items() if name in kind.wishes}
    for role in ("target", "protected"):
        if role in wishes:
            wishes[role] = _columns(role, wishes[role], facts, several=role == "protected" or _many_targets(kind))
    if "public" in wishes:
        wishes["public"] = _public_rows(wishes["public"])
    if "privacy_unit" in kind.wishes:
        wishes["privacy_unit"] = unit_of(given.get("privacy_unit"), given.get("max_rows"))
    if "prepare" in kind.wishes:
        wishes["prepare"] = _require_rows
    budget = Budget(model.epsilon, model.delta)
    if not budget.delta:
        raise ValueError("`delta` must be positive: the noise of training is Gaussian. Found 0.")
    require_moderate_delta(budget.delta, confirm_delta)
    neighbors = _neighbors(kind, model, wishes)
    return TrainingRequest(kind, source, facts, model, wishes, budget, neighbors, ledger, resume)


def require_places(
    folder: Path, source: str, schema: Path, *, ledger: Path | None, public: str | None, checkpoint: Path | None
) -> None:
    """Refuses outputs that would destroy what is still needed, or that could only fail after the budget was spent.

    Raises:
        ValueError: for a folder that exists, or is in none; and for an output that is one of the inputs.
        OSError: when it can't be written, or its disk is full.
    """
    kept = inputs(source, ledger=ledger, schema=schema)
    kept += [] if public is None else [KeptFile(file.path, "the public rows") for file in kept_source(public)]
    outputs = [folder] if checkpoint is None else [folder, checkpoint]
    require_harmless(outputs, kept)
    if folder.exists() or folder.is_symlink():
        raise ValueError(f"A model is written to a new folder. Found {folder}: choose another name with --out.")
    require_free([folder], force=False)


def require_checkpoint(checkpoint: Path | None, *, resume: bool, ledger: Path | None) -> None:
    """Refuses a checkpoint that could not be continued, or would replace another run's.

    Raises:
        ValueError: which says what to do.
        OSError: when it can't be written.
    """
    if checkpoint is None:
        if resume:
            raise ValueError("`--resume` continues the run at --checkpoint. Found none: name its file.")
        return
    if ledger is None:
        raise ValueError(
            "`--checkpoint` needs --ledger: a run goes on in the release that its ledger holds. Found no ledger."
        )
    if resume and not checkpoint.exists():
        raise ValueError(f"There is no checkpoint {checkpoint} to continue. Leave --resume out to start a run.")
    if not resume and checkpoint.exists():
        raise ValueError(
            f"{checkpoint} is there already. Continue that run with --resume, or choose another name with --checkpoint."
        )
    require_free([checkpoint], force=resume)


def _columns(role: str, text: str, schema: Schema, *, several: bool) -> str | tuple[str, ...]:
    """The column called `text`, or those that it lists between commas.

    Raises:
        ValueError: for one that the schema does not have.
    """
    from counterfoil.schema.errors import did_you_mean

    known = schema.domain.attributes
    if text in known:
        return text
    names = tuple(name.strip() for name in text.split(",")) if several else (text,)
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ValueError(f"`--{role}` must name synthesized columns of the schema. Found {name!r}.{hint}")
    return names


def _require_rows(curator: Curator) -> None:
    """Refuses a table without rows, a mistake of its steward's, as `synth` does."""
    curator.require_rows()


def _many_targets(kind: ModelKind) -> bool:
    return kind.name == "fair-regressor"


def _public_rows(text: str) -> Any:
    """A path, or the release that is saved in that folder."""
    if not Path(text).is_dir():
        return text
    from counterfoil.synthesis.synthesis import Synthesis

    return Synthesis.load(text)


def _neighbors(kind: ModelKind, model: Any, wishes: Mapping[str, Any]) -> Neighbors:
    """Between which tables the guarantee will hold: those with as many rows in each group that is treated alike.

    Raises:
        ValueError: for a penalty or a relation that is none.
    """
    from counterfoil.accounting.neighbors import NeighboringRelation, Neighbors
    from counterfoil.cli.synth_request import relation_named

    if "relation" in kind.wishes:
        relation = relation_named(wishes.get("relation", NeighboringRelation.ADD_OR_REMOVE_ONE.value))
        return Neighbors(NeighboringRelation(relation), wishes["privacy_unit"])
    groups: tuple[str, ...] = getattr(model, "public_groups", ())
    if "penalty" in kind.parameters:
        from counterfoil.training.penalties import group_columns

        protected = wishes["protected"]
        named = (protected,) if isinstance(protected, str) else protected
        groups = group_columns(model.penalty, named, wishes["target"] if kind.name == "fair-classifier" else None)
    return Neighbors(NeighboringRelation.REPLACE_ONE, None, groups)
