"""A distributed run on Ray, if it is installed: the same bytes, and a worker that dies."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

joblib = pytest.importorskip("joblib")
ray = pytest.importorskip("ray", reason="Ray is not installed (pip install ray)")
from calibandit import _joblib  # noqa: E402
from sharding import SPEC, local_bytes, run, shards_begun, worker  # noqa: E402


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    importlib.import_module("ray.util.joblib").register_ray()  # joblib does not know Ray by itself
    yield
    ray.shutdown()


@pytest.mark.usefixtures("cluster")
def test_results_equal_those_of_a_local_run(tmp_path: Path) -> None:
    with joblib.parallel_config("ray"):
        run(SPEC, shards=4, out=tmp_path / "shards")
    assert (tmp_path / "shards" / "results.csv").read_bytes() == local_bytes(SPEC, tmp_path / "local")


@pytest.mark.usefixtures("cluster")
def test_the_shard_of_a_dead_worker_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    log.mkdir()
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log, dies_at=3)))
    with joblib.parallel_config("ray"):
        run(SPEC, shards=4, out=tmp_path / "shards")
    assert (log / "died-0").exists()
    assert shards_begun(log).count(1) == 1, "the first shards were done before"
    assert (tmp_path / "shards" / "results.csv").read_bytes() == local_bytes(SPEC, tmp_path / "local")
