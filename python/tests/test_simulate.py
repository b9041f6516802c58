"""Simulations and experiments: same bytes as the command line, any number of threads, no interpreter lock."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import calibandit as cb

PROGRAM = [sys.executable, "-m", "calibandit"]
SPEC = """
name = "first"
horizon = 20_000
instances = 6

[game]
kind = "decay"
arms = 4
memory = 3

[[policy]]
kind = "calibrated"
memory_bound = 3

[[policy]]
kind = "exp3"

[sweep]
"game.memory" = [2, 3]
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "first.toml"
    path.write_text(SPEC)
    return path


def command_line(*arguments: object) -> None:
    subprocess.run([*PROGRAM, *map(str, arguments)], check=True, capture_output=True)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_run_writes_the_same_folder_as_the_command_line(spec: Path, tmp_path: Path) -> None:
    command_line("run", spec, "--out", tmp_path / "program", "--jobs", 1)
    result = cb.run(spec, out=tmp_path / "python", n_jobs=2)
    ours, theirs = files(tmp_path / "python"), files(tmp_path / "program")
    assert set(ours) == set(theirs) and "report.html" in ours
    for name, content in ours.items():
        assert content == theirs[name], name
    result.to_csv(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == theirs["results.csv"]
    assert cb.Result.load(tmp_path / "program") == result


def test_simulate_gives_the_bytes_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "simulation.toml"
    path.write_text(
        'name = "simulation"\nhorizon = 5000\ninstances = 8\nseed = 3\n[game]\nkind = "step"\nmemory = 4\n'
        '[[policy]]\nkind = "calibrated"\nmemory_bound = 4\n[[policy]]\nkind = "thompson"\n'
    )
    command_line("run", path, "--out", tmp_path / "out")
    policies = [cb.policies.calibrated(memory_bound=4), cb.policies.thompson()]
    cb.simulate(cb.games.step(memory=4), policies, 5000, instances=8, seed=3).to_csv(tmp_path / "ours.csv")
    assert (tmp_path / "ours.csv").read_bytes() == (tmp_path / "out" / "results.csv").read_bytes()


def test_shards_merge_into_the_whole(spec: Path, tmp_path: Path) -> None:
    parts = [cb.run(spec, out=tmp_path / f"{i}", shard=(i, 3)) for i in (1, 2, 3)]
    merged = cb.Result.merge([tmp_path / f"{i}" for i in (1, 2, 3)], tmp_path / "merged")
    assert merged == cb.run(spec) and sum(map(len, parts)) == len(merged)
    with pytest.raises(cb.FolderError, match="shard 2/3 is missing"):
        cb.Result.merge([tmp_path / "1", tmp_path / "3"], tmp_path / "never")
    with pytest.raises(ValueError, match=r"`shard` is \(4, 3\): give a pair \(i, n\) with i from 1 to n"):
        cb.run(spec, shard=(4, 3))
    with pytest.raises(ValueError, match=r"`shard\[0\]` is 0: give a whole number from 1"):
        cb.run(spec, shard=(0, 3))


def test_a_table_gives_the_results_of_a_file(spec: Path) -> None:
    table = {
        "name": "first",
        "horizon": 20_000,
        "instances": 6,
        "game": cb.games.decay(arms=4, memory=3),
        "policy": [cb.policies.calibrated(memory_bound=3), {"kind": "exp3"}],
        "sweep": {"game.memory": [2, 3]},
    }
    assert cb.run(table) == cb.run(spec)
    assert cb.run(table, seed=2) != cb.run(spec)
    assert cb.Experiment.from_dict(table).check()["points"] == cb.Experiment.load(spec).check()["points"]


def test_check_equals_the_command_line(spec: Path) -> None:
    import json

    said = subprocess.run([*PROGRAM, "check", spec, "--json"], check=True, capture_output=True).stdout
    assert cb.Experiment.load(spec).check() == json.loads(said)


def test_exit_codes_of_the_program(tmp_path: Path) -> None:
    def code(*arguments: object) -> int:
        return subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True).returncode

    assert code("--version") == 0 and code("games") == 0
    assert code("no-such-command") == 2 and code("run", tmp_path / "nowhere.toml") == 2


def test_numbers_do_not_depend_on_the_number_of_jobs() -> None:
    def results(jobs: int) -> cb.Result:
        return cb.simulate(cb.games.darts(), ["thompson", "exp3"], 2000, instances=12, n_jobs=jobs)

    assert results(1) == results(2) == results(7)


def test_other_threads_run_during_a_simulation() -> None:
    counted = 0
    over = threading.Event()

    def count() -> None:
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    cb.simulate(cb.games.step(), "thompson", 2_000_000, instances=2, n_jobs=1)
    elapsed = time.monotonic() - start
    over.set()
    thread.join()
    assert elapsed > 0.1, "too fast to tell anything"
    assert counted > 50 * elapsed, f"{counted} rounds in {elapsed:.2f} s"


def test_progress_is_reported_and_can_stop_the_simulation() -> None:
    told: list[tuple[int, int, float]] = []
    cb.simulate(cb.games.step(), "thompson", 10_000, instances=4, progress=lambda *seen: told.append(seen))
    assert told[-1] == (4, 4, 1.0)

    class Enough(Exception):
        pass

    def enough(done: int, pieces: int, part: float) -> None:
        raise Enough(done)

    with pytest.raises(Enough):
        cb.simulate(cb.games.step(), "thompson", 100_000, instances=1000, progress=enough)


def test_checkpoints_in_every_documented_form() -> None:
    def times(checkpoints: object) -> list[int]:
        result = cb.simulate(cb.games.step(), "ucb1", 1000, instances=1, checkpoints=checkpoints)  # type: ignore[arg-type]
        return [int(t) for t in result["t"]]

    assert times(4) == [250, 500, 750, 1000]
    assert times([10, 500]) == [10, 500, 1000]
    assert times({"scale": "log", "points": 4})[-1] == 1000
    assert times(np.array([7])) == [7, 1000]
