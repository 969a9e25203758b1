"""The lowest versions that pyproject.toml admits, as constraints for pip; with `--check`, whether these are installed.

They are read from the declared bounds each time, so that what is tested can't differ from what is declared.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(\[(?P<extras>[\w,-]+)\])?(>=(?P<lowest>[\d.]+)(,<[\d.]+)?)?")


def lowest_versions(project: Path, extra: str) -> dict[str, str]:
    """The lowest version of every package that the project needs, and of those in `extra`.

    Raises:
        ValueError: for a requirement without a lower bound, or in a form other than `name>=1.2,<3`.
    """
    declared = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = declared["optional-dependencies"]

    def expanded(requirements: list[str]) -> Iterator[tuple[str, str]]:
        for text in requirements:
            found = _REQUIREMENT.fullmatch(text)
            if found is None or (found["name"] == declared["name"]) == bool(found["lowest"]):
                raise ValueError(f"A requirement must read like name>=1.2,<3. Found {text!r}.")
            if found["lowest"]:
                yield found["name"], found["lowest"]
            for name in (found["extras"] or "").split(","):
                yield from expanded(extras[name] if name else [])

    return dict(expanded([*declared["dependencies"], *extras[extra]]))


def same_release(one: str, other: str) -> bool:
    """Whether two versions are equal, trailing zeros aside: 2.0 is 2.0.0."""
    return re.sub(r"(\.0)+$", "", one) == re.sub(r"(\.0)+$", "", other)


def main(arguments: list[str]) -> int:
    lowest = lowest_versions(PROJECT, "test")
    if arguments != ["--check"]:
        print("\n".join(f"{name}=={found}" for name, found in lowest.items()))
        return 0
    wrong = {name: version(name) for name, found in lowest.items() if not same_release(version(name), found)}
    for name, found in wrong.items():
        print(f"{name} must be {lowest[name]}, the lowest declared. Found {found}: run `make clean`.", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
