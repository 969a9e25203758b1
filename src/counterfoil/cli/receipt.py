"""`counterfoil receipt show|verify|key|sign|export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from counterfoil.cli.options import Json
from counterfoil.cli.receipt_export import export
from counterfoil.cli.terminal import Terminal
from counterfoil.console import filled
from counterfoil.inert import inert

if TYPE_CHECKING:
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.verification import Verification

receipt = typer.Typer(help="Read a receipt, check it, sign it, or export it.", no_args_is_help=True)
receipt.command()(export)

ReceiptFile = Annotated[
    Path, typer.Argument(help="The receipt, or the folder of a model or a saved release.", metavar="R.json")
]


@receipt.command()
def show(path: ReceiptFile, json: Json = False) -> None:
    """Print the receipt as a page for a privacy officer."""
    from counterfoil.receipt.receipt import Receipt

    terminal, loaded = Terminal(json=json), Receipt.load(_within(path))
    terminal.say(loaded.text().rstrip("\n"))
    terminal.document(loaded.to_json())


@receipt.command()
def key(
    path: Annotated[Path, typer.Argument(help="A new file for the private key.", metavar="PATH")], json: Json = False
) -> None:
    """Make a key pair: PATH signs receipts, and PATH.pub, which you publish, verifies them.

    Whoever has PATH can sign in your name: only its owner can read it, and it is for you to keep.
    """
    from counterfoil.receipt.signature import SigningKey, public_beside

    terminal, made = Terminal(json=json), SigningKey.generate()
    made.save(path)
    fingerprint = made.verify_key.fingerprint
    terminal.say(f"Made {path}, which is yours alone, and {public_beside(path)}, to publish.")
    terminal.say(f"Fingerprint: {fingerprint}")
    terminal.document({"private": str(path), "public": str(public_beside(path)), "fingerprint": fingerprint})


@receipt.command()
def sign(
    path: ReceiptFile,
    key: Annotated[Path, typer.Option("--key", help="The private key, from `receipt key`.", metavar="PATH")],
    json: Json = False,
) -> None:
    """Sign a receipt in place: you vouch for every word of it. Nothing can be added to it afterwards.

    It must hold, and files that lie beside it must be its own.
    """
    from counterfoil.publishing.release_folder import is_release, sign_release
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.signature import SigningKey
    from counterfoil.synthesis.folder import save_receipt

    terminal, signing, place = Terminal(json=json), SigningKey.load(key), _within(path)
    loaded, folder = Receipt.load(place), _folder_of(path)
    signed = loaded.signed(signing)
    problems = [*loaded.verify(place.parent).problems, *_folder_problems(folder), *_kept_problems(loaded, place)]
    if problems:
        raise ValueError(f"Only a receipt that holds can be signed. Found that {place} does not: {problems[0]}")
    if folder is None:
        signed.save(place)
    elif is_release(folder):
        sign_release(folder, signed)
    else:
        save_receipt(folder, signed)
    terminal.say(f"Signed {place} by the key of fingerprint\n{signing.verify_key.fingerprint}")
    terminal.document({"receipt": str(place), "fingerprint": signing.verify_key.fingerprint, "sha256": signed.digest})


@receipt.command()
def verify(
    path: ReceiptFile,
    key: Annotated[
        Path | None, typer.Option("--key", help="The steward's public key: who must have signed it.", metavar="PUB")
    ] = None,
    ledger: Annotated[Path | None, typer.Option("--ledger", help="The ledger that must know it.", metavar="L")] = None,
    json: Json = False,
) -> None:
    """Recompute everything that follows from what is recorded, and compare it.

    Costs are recomputed from the recorded events alone, and so are sentences, measures and certificates. The release's
    files, where they lie beside the receipt, are compared with their SHA-256 and their rows, and a saved folder or a
    kept model as a whole; of a folder that `synth --out FOLDER/` wrote, every file. A signature or a ledger vouches
    for the rest; without either, the fields that nobody vouches for are listed.
    Exits with status 1 when the receipt does not hold, or the ledger that was asked can't vouch for it.
    """
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.receipt.terms import declares

    place = _within(path)
    terminal, loaded = Terminal(json=json), Receipt.load(place)
    checked = _checked(loaded, place.parent, key, ledger)
    folder = _folder_of(path)
    problems = [*checked.problems, *_label_problems(loaded, place.parent), *_folder_problems(folder)]
    problems += _kept_problems(loaded, place)
    loose = _unvouched_files(folder)
    wrong = [problem for problem in problems if problem != checked.unrecorded]
    for problem in wrong:
        terminal.say(f"DOES NOT HOLD: {problem}")
    if not wrong:
        _say_that_it_holds(terminal, loaded, key, None if checked.unrecorded else ledger)
    if checked.unrecorded:
        terminal.say(filled(f"{'NOT VOUCHED FOR: ' if checked.unrecorded in problems else ''}{checked.unrecorded}"))
    if not declares(loaded.document):
        terminal.say(
            "An older receipt: its `other_relation` holds for the questions of this run alone.\n"
            "What holds for every run is on the page that `counterfoil receipt show` prints."
        )
    for output in loaded.document["outputs"]:
        if not (place.parent / Path(output["file"]).name).is_file():
            terminal.say(f"Not beside the receipt, and not compared: {inert(output['file'])}")
    if checked.unvouched:
        listed = f"Nobody vouches for: {', '.join(checked.unvouched)}."
        terminal.say(filled(listed, subsequent_indent="  "))
        terminal.say(filled(_WHO_VOUCHES))
    if loose:
        listed = f"No receipt fixes what these files say, only that they are unchanged: {', '.join(loose)}."
        terminal.say(filled(listed, subsequent_indent="  "))
    if not loaded.private:
        terminal.alarm("NOT PRIVATE: the noise came from a seed. DO NOT SHARE this release.")
    terminal.document(
        {
            "holds": not problems,
            "recomputed_epsilon": _finite(checked.recomputed_epsilon),
            "stated_epsilon": checked.stated_epsilon,
            "private": loaded.private,
            "problems": problems,
            "unrecorded": checked.unrecorded or None,
            "unvouched": list(checked.unvouched),
            "unvouched_files": loose,
        }
    )
    if problems:
        raise typer.Exit(1)


_WHO_VOUCHES = (
    "Whoever made this file can have written anything there. A signature by a key that you know (--key) or the ledger "
    "of the source (--ledger) vouches for all of it."
)


def _checked(loaded: Receipt, folder: Path, key: Path | None, ledger: Path | None) -> Verification:
    """The verification, with the key and the ledger where they were asked for."""
    from counterfoil.ledger.ledger import Ledger
    from counterfoil.receipt.signature import VerifyKey

    public = None if key is None else VerifyKey.load(key)
    if ledger is None:
        return loaded.verify(folder, key=public)
    with Ledger.open(ledger, source=None) as opened:
        return loaded.verify(folder, key=public, ledger=opened)


def _say_that_it_holds(terminal: Terminal, loaded: Receipt, key: Path | None, ledger: Path | None) -> None:
    budget = loaded.document["budget"]
    terminal.say(
        f"The receipt holds: its charges ({len(loaded.document['charges'])}) stay within the budget,\n"
        f"epsilon {budget['epsilon']:g} at delta {budget['delta']:g}, which is the guarantee."
    )
    if key is not None:
        terminal.say(f"Every word of it is as it was signed by the key in {key}.")
    if ledger is not None:
        terminal.say(f"Every word of it is as {ledger} has recorded.")
    if key is None and "signature" in loaded.document:
        terminal.say("It is signed, by a key that was not asked for: compare it with --key.")


def _folder_of(path: Path) -> Path | None:
    """The folder that a receipt is a part of, also where its index is gone, by which others know it."""
    from counterfoil.publishing.release_folder import was_release
    from counterfoil.synthesis.folder import RECEIPT, folder_of

    folder = path if path.is_dir() else path.parent
    if (path.is_dir() or path.name == RECEIPT) and was_release(folder):
        return folder
    return folder_of(path)


def _folder_problems(folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from counterfoil.fidelity.saved_release import folder_problems
    from counterfoil.publishing.release_check import release_problems
    from counterfoil.publishing.release_folder import is_release

    problems = folder_problems(folder)
    if is_release(folder):
        # A file that is damaged is said once, though its saved part and the list of checksums both show it.
        problems = list(dict.fromkeys([*problems, *release_problems(folder)]))
    return [inert(problem) for problem in problems]


def _kept_problems(loaded: Receipt, place: Path) -> list[str]:
    """What is wrong with the model that lies beside the table of a receipt."""
    from counterfoil.receipt.receipt import Receipt
    from counterfoil.synthesis.folder import RECEIPT
    from counterfoil.synthesis.saved import kept_beside, other_release

    problems = []
    for output in loaded.document["outputs"]:
        kept = kept_beside(place.parent / Path(output["file"]).name)
        if not kept.is_dir():
            continue
        found = _folder_problems(kept)
        if not found and (other := other_release(loaded, Receipt.load(kept / RECEIPT))):
            found = [inert(f"{kept.name} is of another release: its receipt has other {other}.")]
        problems += found
    return problems


def _unvouched_files(folder: Path | None) -> list[str]:
    """Files of a folder that no signature and no ledger fixes, for they keep the hash of the receipt alone."""
    from counterfoil.publishing.release_check import strange_files, unvouched_files
    from counterfoil.publishing.release_folder import is_release

    if folder is None:
        return []
    return unvouched_files(folder) if is_release(folder) else strange_files(folder)


def _label_problems(loaded: Receipt, folder: Path) -> list[str]:
    from counterfoil.synthesis.parquet_label import label_problems

    return [inert(problem) for problem in label_problems(loaded.document, folder)]


def _within(path: Path) -> Path:
    """The receipt at `path`, or in the folder that is there.

    Raises:
        ValueError: for a table, with the name of the receipt beside it.
    """
    if path.is_file() and path.name.lower().endswith((".csv", ".csv.gz", ".parquet")):
        from counterfoil.synthesis.saved import receipt_beside

        beside = receipt_beside(path)
        remedy = f"its receipt is {beside}" if beside.is_file() else "name its receipt, a .json file"
        raise ValueError(f"A receipt or the folder of a release must be named. Found the table {path}: {remedy}.")
    return path / "receipt.json" if path.is_dir() else path


def _finite(epsilon: float) -> float | None:
    return epsilon if epsilon < float("inf") else None
