"""The file that `counterfoil schema` writes: its place, checked before anything is asked or charged, and its name."""

from __future__ import annotations

from pathlib import Path


def require_schema_file(out: Path, source: str, *, force: bool) -> None:
    """Refuses what could not be written, or would destroy what is still needed.

    Args:
        out: where the schema goes.
        source: the table that it is for.
        force: whether a file that is there may be replaced.

    Raises:
        ValueError: when `out` is no .toml file, or is there already (without `force`), or is the table.
    """
    from counterfoil.cli.outputs import inputs, require_free, require_harmless

    require_harmless([out], inputs(source))
    if out.suffix.lower() != ".toml":
        raise ValueError(f"A schema is written to a .toml file. Found {out.name!r}.")
    require_free([out], force=force)


def name_of(source: str) -> str:
    """people.csv.gz and people.db::people are called people."""
    return Path(source.rpartition("::")[2] or source).name.split(".")[0]
