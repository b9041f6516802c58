"""Helpers of the tests of distributed runs: an experiment, and workers that kill themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import calibandit as cb

SPEC: dict[str, Any] = {
    "name": "small",
    "horizon": 2_000,
    "instances": 5,
    "checkpoints": {"points": 7},
    "game": {"kind": "step", "arms": 3, "memory": 2},
    "policy": [{"kind": "calibrated", "memory_bound": 2}, {"kind": "exp3"}],
    "sweep": {"game.arms": [3, 4]},
}


def run(source: dict[str, Any] | Path, **options: Any) -> cb.Result:
    """Run an experiment in shards."""
    experiment = cb.Experiment.from_dict(source) if isinstance(source, dict) else cb.Experiment.load(source)
    return experiment.run(backend="joblib", **options)


Work = Callable[[Any, int, int, str], Any]


def local_bytes(spec: dict[str, Any], folder: Path) -> bytes:
    """The table of results of a run without shards."""
    cb.run(spec, out=folder, progress=False)
    return (folder / "results.csv").read_bytes()


def worker(log: Path, *, seconds: float = 0.0, dies_at: int = 0, times: int = 1) -> Work:
    """A worker that notes down what it does, takes its time, and dies at one shard some number of times.

    It is a closure, so that it travels by value to processes that do not know the tests.
    """
    folder = str(log)

    def work(spec: Any, shard: int, of: int, version: str) -> Any:
        import os
        import time
        from pathlib import Path

        from calibandit._joblib import work as real

        (Path(folder) / f"{shard}-{os.getpid()}-{time.time_ns()}").touch()
        time.sleep(seconds)
        deaths = len(list(Path(folder).glob("died-*")))
        if shard == dies_at and deaths < times:
            (Path(folder) / f"died-{deaths}").touch()
            os._exit(1)
        return real(spec, shard, of, version)

    return work


def shards_begun(log: Path) -> list[int]:
    """The shards that workers have begun, as often as they have."""
    return sorted(int(path.name.split("-")[0]) for path in log.iterdir() if not path.name.startswith("died"))
