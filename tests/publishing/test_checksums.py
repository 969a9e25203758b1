"""Checksums that the usual tool reads, and every difference from them."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from counterfoil import files
from counterfoil.publishing.checksums import CHECKSUMS, checksum_problems, read_checksums, write_checksums


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "release"
    (made / "noisy_tables").mkdir(parents=True)
    (made / "a.txt").write_text("a")
    (made / "noisy_tables" / "b b.csv").write_text("b")
    write_checksums(made)
    return made


def test_each_file_is_listed_once_with_its_hash(folder: Path) -> None:
    expected = {
        name: hashlib.sha256(text).hexdigest() for name, text in (("a.txt", b"a"), ("noisy_tables/b b.csv", b"b"))
    }
    assert read_checksums(folder) == expected
    assert list(checksum_problems(folder)) == []


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="the tool is not installed")
def test_the_usual_tool_reads_them(folder: Path) -> None:
    check = ["sha256sum", "--strict", "-c", CHECKSUMS]
    assert subprocess.run(check, cwd=folder, check=False, capture_output=True).returncode == 0
    (folder / "a.txt").write_text("c")
    assert subprocess.run(check, cwd=folder, check=False, capture_output=True).returncode == 1


def test_line_ends_of_windows_are_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_BLOCK", 3)  # between the two bytes of an end
    for text in ("ab\ncd\n", "a\nbcdef", "\n\n\n"):
        (folder / "a.txt").write_bytes(text.encode())
        write_checksums(folder)
        assert list(checksum_problems(folder)) == []
        (folder / "a.txt").write_bytes(text.replace("\n", "\r\n").encode())
        assert "by line ends alone" in next(checksum_problems(folder))
        (folder / "a.txt").write_bytes(text.replace("\n", "\r").encode())
        assert "by line ends alone" not in next(checksum_problems(folder))


def changed(folder: Path) -> None:
    (folder / "a.txt").write_text("other")


def removed(folder: Path) -> None:
    (folder / "a.txt").unlink()


def added(folder: Path) -> None:
    (folder / "noisy_tables" / "people.csv").write_text("names")


def linked(folder: Path) -> None:
    (folder / "a.txt").rename(folder.parent / "a.txt")
    (folder / "a.txt").symlink_to(folder.parent / "a.txt")


def folder_linked(folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder / "more").symlink_to(folder.parent / "elsewhere", target_is_directory=True)


def without_list(folder: Path) -> None:
    (folder / CHECKSUMS).unlink()


def line(text: str):
    def write(folder: Path) -> None:
        (folder / CHECKSUMS).write_text((folder / CHECKSUMS).read_text() + text)

    return write


ZEROS = "0" * 64


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed, "a.txt is not the file that checksums.txt names"),
        (removed, "a.txt is in checksums.txt and not in the folder"),
        (added, "noisy_tables/people.csv is in the folder and not in checksums.txt"),
        (linked, "a.txt is not a plain file"),
        (folder_linked, "more is in the folder and not in checksums.txt"),
        (without_list, "There is no list of checksums"),
        (line(f"{ZEROS}  ../people.csv\n"), "of files in its folder, each once"),
        (line(f"{ZEROS}  /etc/passwd\n"), "of files in its folder, each once"),
        (line(f"{ZEROS}  ./a.txt\n"), "of files in its folder, each once"),
        (line(f"{ZEROS}  a.txt\n"), "of files in its folder, each once"),
        (line("a.txt\n"), "is not a list that `sha256sum -c` reads"),
        (line(f"{ZEROS}  b.txt\n"), "b.txt is in checksums.txt and not in the folder"),
    ],
)
def test_what_differs_is_said(folder: Path, change, said: str) -> None:
    change(folder)
    assert any(said in problem for problem in checksum_problems(folder)), list(checksum_problems(folder))
