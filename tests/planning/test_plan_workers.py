"""Rehearsals in processes: the same figures as in one, and nothing that outlives an error or an interrupt."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from counterfoil.planning import plan
from counterfoil.planning.workers import Workers
from counterfoil.schema import Schema

SCHEMA = Schema.from_toml("[columns.a]\nkind = 'boolean'\n[columns.b]\nkind = 'categorical'\nvalues = ['x', 'y', 'z']")

SLOW = """
import sys, time
from counterfoil.planning.workers import Workers

if __name__ == "__main__":
    with Workers(2) as workers:
        print("reached", flush=True)
        workers.map(time.sleep, [60, 60, 60], lambda: None)
"""

STUCK = """
import os, struct, sys, time
from counterfoil.planning.workers import Workers


def half_sent(number):
    if number == 0:
        return number
    time.sleep(0.5)
    frame = sys._getframe()
    while "result_queue" not in frame.f_locals:
        frame = frame.f_back
    os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 20_000) + b"x")
    time.sleep(60)


def interrupted():
    time.sleep(1.5)
    raise KeyboardInterrupt


if __name__ == "__main__":
    try:
        with Workers(2) as workers:
            workers.map(half_sent, [0, 1], interrupted)
    except KeyboardInterrupt:
        print("ended")
"""

COMMAND = """
import sys
from counterfoil.cli.app import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
"""

ENDED = "counterfoil: Interrupted. Nothing was charged, and no file was written.\n"


def refuse(number: int) -> int:
    raise ValueError(f"Found {number}.")


def die(number: int) -> int:
    os._exit(number)


def children() -> set[int]:
    return {child.pid for child in multiprocessing.active_children() if child.pid is not None}


def test_processes_make_the_same_outlook() -> None:
    one, two = (
        plan(SCHEMA, rows=200, epsilons=[0.5, 1], method="independent", runs=2, seed=4, wants=["pairs 0.3"], jobs=jobs)
        for jobs in (1, 2)
    )
    assert one == two
    assert one.to_json() == two.to_json()


def test_results_keep_their_order_and_are_counted() -> None:
    told: list[int] = []
    for jobs in (1, 2):
        with Workers(jobs) as workers:
            assert workers.map(abs, [-3, 2, -1], lambda: told.append(1)) == [3, 2, 1]
            assert workers.map(abs, [-5], lambda: told.append(1)) == [5]
    assert len(told) == 8


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_ends_all_with_its_sentence(jobs: int) -> None:
    before = children()
    with pytest.raises(ValueError, match=r"^Found 3\.$"), Workers(jobs) as workers:
        workers.map(refuse, [3] * 4)
    assert children() <= before


def test_a_process_that_is_ended_from_outside_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="want of memory: use fewer"), Workers(2) as workers:
        workers.map(die, [9, 9, 9])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_the_one_that_started_it(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "slow.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: (signal.signal(signal.SIGINT, signal.default_int_handler), None)[1],
    ) as ran:
        assert ran.stdout is not None
        assert ran.stderr is not None
        assert ran.stdout.readline() == "reached\n"
        wait_until(lambda: len(spawned(ran.pid)) >= 2)
        workers = spawned(ran.pid)
        if number == signal.SIGINT:
            os.killpg(ran.pid, number)  # as a terminal does: to all of them
        else:
            os.kill(ran.pid, number)
        ran.wait(60)
        wait_until(lambda: not any(alive(pid) for pid in workers))
        said = ran.stderr.read()
    if number == signal.SIGINT:
        assert said.count("KeyboardInterrupt") == 1, "of the script itself, and of no process"


def test_a_process_that_is_ended_while_it_sends_a_result_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    ran = subprocess.run([sys.executable, str(tmp_path / "stuck.py")], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "ended\n"


def test_an_interrupted_plan_ends_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "ab.toml").write_text(SCHEMA.to_toml())
    (tmp_path / "p.py").write_text(COMMAND)
    given = ("--schema", "ab.toml", "--rows", "20000", "--runs", "60", "--jobs", "2", "--picture", "p.svg")
    with subprocess.Popen(
        [sys.executable, "p.py", "plan", *given],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: (signal.signal(signal.SIGINT, signal.default_int_handler), None)[1],
    ) as ran:
        wait_until(lambda: len(spawned(ran.pid)) >= 2)
        workers = spawned(ran.pid)
        os.killpg(ran.pid, signal.SIGINT)
        out, said = ran.communicate(timeout=120)
    assert (ran.returncode, out, said) == (130, "", ENDED)
    assert not any(alive(pid) for pid in workers)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ab.toml", "p.py"]


def spawned(pid: int) -> list[int]:
    """The processes that `pid` has spawned, those which hold results among them."""
    path = Path(f"/proc/{pid}/task/{pid}/children")
    found = [int(child) for child in path.read_text().split()] if path.exists() else []
    return [child for child in found if "spawn_main" in command(child)]


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def alive(pid: int) -> bool:
    return "spawn_main" in command(pid)


def wait_until(happens) -> None:
    for _ in range(600):
        if happens():
            return
        time.sleep(0.1)
    raise AssertionError("it did not happen within a minute")
