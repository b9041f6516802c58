"""Distributed runs on this machine: same bytes, workers that die, shards that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import calibandit as cb

joblib = pytest.importorskip("joblib")
from calibandit import _joblib  # noqa: E402
from calibandit._shards import FILES, Store, fingerprint  # noqa: E402
from sharding import SPEC, local_bytes, run, shards_begun, worker  # noqa: E402


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "log"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("shards", [1, 3, 40])  # 40: more than there are pieces of work
def test_results_are_those_of_a_local_run_byte_for_byte(tmp_path: Path, shards: int) -> None:
    with joblib.parallel_config("loky", n_jobs=2):
        result = run(SPEC, shards=shards, out=tmp_path / "shards")
    local = local_bytes(SPEC, tmp_path / "local")
    assert (tmp_path / "shards" / "results.csv").read_bytes() == local
    result.to_csv(tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == local


def test_all_files_of_a_local_run_are_written(tmp_path: Path) -> None:
    run(SPEC, shards=2, out=tmp_path / "shards")
    cb.run(SPEC, out=tmp_path / "local", progress=False)
    for path in (tmp_path / "local").rglob("*"):
        assert (tmp_path / "shards" / path.relative_to(tmp_path / "local")).exists(), path
    for name in ("summary.csv", "manifest.json", "results.parquet"):
        assert (tmp_path / "shards" / name).read_bytes() == (tmp_path / "local" / name).read_bytes(), name


def test_instances_and_seed_override_those_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text('name = "small"\nhorizon = 500\n[game]\nkind = "step"\n[[policy]]\nkind = "exp3"\n')
    parts = run(file, instances=4, seed=9, shards=3)
    whole = cb.run(file, instances=4, seed=9, progress=False)
    assert (parts["cpr"] == whole["cpr"]).all()
    assert len(set(parts["instance"].tolist())) == 4


def test_the_shard_of_a_dead_worker_is_run_again(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log, dies_at=3)))
    with joblib.parallel_config("loky", n_jobs=2):
        run(SPEC, shards=6, out=tmp_path / "shards")
    assert (log / "died-0").exists()
    assert shards_begun(log).count(3) == 2
    assert (tmp_path / "shards" / "results.csv").read_bytes() == local_bytes(SPEC, tmp_path / "local")


def test_workers_that_always_die_end_in_an_error_that_names_the_shards(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log, dies_at=2, times=10**6)))
    out = tmp_path / "shards"
    with joblib.parallel_config("loky", n_jobs=2), pytest.raises(cb.WorkersLostError, match="2/4") as lost:
        run(SPEC, shards=4, out=out, retries=2)
    assert lost.value.shards == [2]
    assert str(out) in str(lost.value)
    assert not (out / "results.csv").exists()
    # Somebody puts it right, and only what is left is run.
    before = shards_begun(log)
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log)))
    with joblib.parallel_config("loky", n_jobs=2):
        run(SPEC, out=out)  # splits as it did before
    assert shards_begun(log) == sorted([*before, 2])
    assert (out / "results.csv").read_bytes() == local_bytes(SPEC, tmp_path / "local")


def test_finished_shards_are_not_repeated(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log)))
    seen: list[tuple[int, int, float]] = []
    with joblib.parallel_config("sequential"):
        run(SPEC, shards=3, out=tmp_path)
        first = (tmp_path / "results.csv").read_bytes()
        run(SPEC, out=tmp_path, progress=lambda done, of, part: seen.append((done, of, part)))
        assert shards_begun(log) == [1, 2, 3]
        assert seen == [(3, 3, 1.0)]
        assert (tmp_path / "results.csv").read_bytes() == first
        # Another experiment in the same folder has nothing to do with it.
        run(SPEC, seed=2, shards=3, out=tmp_path)
    assert shards_begun(log) == [1, 1, 2, 2, 3, 3]
    assert (tmp_path / "results.csv").read_bytes() != first


def test_damaged_shards_are_run_again(tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(worker(log)))
    with joblib.parallel_config("sequential"):
        run(SPEC, shards=3, out=tmp_path)
        store = Store(tmp_path, fingerprint(cb.Experiment.from_dict(SPEC).spec, cb.__version__), 3)
        assert store.finished() == [1, 2, 3]
        table = store.path(2) / "results.csv"
        table.write_bytes(table.read_bytes()[:-20])
        assert store.finished() == [1, 3]
        run(SPEC, shards=3, out=tmp_path)
    assert shards_begun(log) == [1, 2, 2, 3]
    assert store.finished() == [1, 2, 3]


def test_errors_inside_a_shard_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(spec: object, shard: int, of: int, version: str) -> object:
        from calibandit._joblib import _Raised

        return shard, _Raised.inside(KeyError("no such thing"))

    monkeypatch.setattr(_joblib._Rounds, "work", staticmethod(work))
    with pytest.raises(KeyError, match="no such thing"):
        run(SPEC, shards=3)


def test_invalid_arguments_are_rejected_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="memroy"):
        run({**SPEC, "game": {"kind": "step", "memroy": 3}})
    with pytest.raises(ValueError, match="`shards` is 0"):
        run(SPEC, shards=0)
    with pytest.raises(ValueError, match="`retries` is -1"):
        run(SPEC, retries=-1)


def test_workers_of_another_version_are_rejected() -> None:
    _, outcome = _joblib.work(SPEC, 1, 2, "0.0.0-other")
    assert isinstance(outcome, _joblib._Raised)
    assert "install the same version everywhere" in str(outcome.error)


def test_a_shard_is_marked_with_its_experiment(tmp_path: Path) -> None:
    with joblib.parallel_config("sequential"):
        run(SPEC, shards=2, out=tmp_path)
    name = fingerprint(cb.Experiment.from_dict(SPEC).spec, cb.__version__)
    mark = json.loads((Store(tmp_path, name, 2).path(1) / "shard.json").read_text())
    assert (mark["fingerprint"], mark["shard"], mark["of"]) == (name, 1, 2)
    assert sorted(mark["sha256"]) == sorted(FILES)
    # A shard of other origin in the right place is still not taken.
    other = Store(tmp_path, name[:16] + "0" * 48, 2)
    assert other.path(1) == Store(tmp_path, name, 2).path(1)
    assert other.finished() == []
