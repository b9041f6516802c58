"""A distributed run on a real Dask cluster: several local processes, one of which is killed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

joblib = pytest.importorskip("joblib")
distributed = pytest.importorskip("distributed")
from calibandit import _joblib  # noqa: E402
from sharding import SPEC, local_bytes, run, shards_begun, worker  # noqa: E402

SHARDS = 12


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    cluster = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def pids(client: Any) -> dict[str, int]:
    return dict(client.run(os.getpid))


def test_results_equal_those_of_a_local_run(client: Any, tmp_path: Path) -> None:
    assert len(set(pids(client).values()) - {os.getpid()}) == 3
    with joblib.parallel_config("dask"):
        run(SPEC, shards=SHARDS, out=tmp_path / "shards")
    assert (tmp_path / "shards" / "results.csv").read_bytes() == local_bytes(SPEC, tmp_path / "local")


def test_a_worker_killed_by_sigkill_does_not_change_results(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.mkdir()
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log, seconds=0.25)))
    client.wait_for_workers(3)
    victims: list[int] = []

    def kill_a_busy_worker() -> None:
        alive = set(pids(client).values())
        while not victims:
            at_work = [int(path.name.split("-")[1]) for path in sorted(log.iterdir())]
            if len(at_work) > 3:  # each has begun, and at least one has gone on to its second shard
                victims.extend([pid for pid in at_work[-1:] if pid in alive])
            time.sleep(0.01)
        os.kill(victims[0], signal.SIGKILL)

    killer = threading.Thread(target=kill_a_busy_worker)
    killer.start()
    with joblib.parallel_config("dask"):
        run(SPEC, shards=SHARDS, out=tmp_path / "shards")
    killer.join()
    assert victims, "nobody was killed"
    begun = shards_begun(log)
    assert set(begun) == set(range(1, SHARDS + 1))
    assert SHARDS < len(begun) <= SHARDS + 5, f"what the victim had begun is run again, and hardly more: {begun}"
    assert (tmp_path / "shards" / "results.csv").read_bytes() == local_bytes(SPEC, tmp_path / "local")


def test_tasks_that_dask_gives_up_are_submitted_again(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask gives a task up when it has killed several workers. joblib alone would then wait for ever."""
    log = tmp_path / "log"
    log.mkdir()
    client.wait_for_workers(3)
    scheduler = client.cluster.scheduler
    monkeypatch.setattr(scheduler, "allowed_failures", 0)
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log, dies_at=2, times=2)))
    with joblib.parallel_config("dask"):
        run(SPEC, shards=4, out=tmp_path / "shards")
    assert (log / "died-1").exists()
    assert (tmp_path / "shards" / "results.csv").read_bytes() == local_bytes(SPEC, tmp_path / "local")
