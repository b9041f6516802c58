"""Experiments as objects: loading, checking, running, sweeps, options, and former names."""

from __future__ import annotations

import json
import logging
import pickle
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibandit as cb

TABLE: dict[str, Any] = {
    "name": "first",
    "horizon": 2_000,
    "instances": 4,
    "checkpoints": {"points": 5},
    "game": {"kind": "step", "arms": 3, "memory": 2},
    "policy": [{"kind": "calibrated", "memory_bound": 2}, {"kind": "exp3"}],
}
SWEPT = {**TABLE, "sweep": {"game.arms": [3, 5], "policy.memory_bound": [2, 4]}}


def experiment(**more: Any) -> cb.Experiment:
    return cb.Experiment.from_dict({**TABLE, **more})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "first.toml"
    path.write_text(
        'name = "first"\nhorizon = 2_000\ninstances = 4\n[checkpoints]\npoints = 5\n'
        '[game]\nkind = "step"\narms = 3\nmemory = 2\n'
        '[[policy]]\nkind = "calibrated"\nmemory_bound = 2\n[[policy]]\nkind = "exp3"\n'
    )
    return path


def test_a_file_and_a_dictionary_give_the_same_experiment(file: Path) -> None:
    loaded, made = cb.Experiment.load(file), experiment()
    assert loaded == made and loaded.spec == made.spec and cb.Experiment(TABLE) == made
    assert loaded.run() == made.run() == cb.run(file) == cb.run(TABLE) == cb.run(made)
    assert loaded.name == "first" and loaded.spec["seed"] == 1
    assert repr(made) == "<Experiment 'first': 2 policies, 4 instances, horizon 2,000, seed 1>"
    assert pickle.loads(pickle.dumps(loaded)) == loaded


def test_games_and_policies_may_be_objects() -> None:
    objects = experiment(game=cb.games.step(arms=3, memory=2), policy=[cb.policies.calibrated(memory_bound=2), "exp3"])
    assert objects.run() == experiment().run()
    own = cb.Game([cb.Arm(memory=2, loss=lambda tally: 0.5)])
    with pytest.raises(cb.SpecError, match="`game` has a loss curve written in Python"):
        experiment(game=own)


def test_errors_are_found_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(cb.SpecError, match="unknown key `memroy`") as caught:
        experiment(game={"kind": "step", "memroy": 3})
    assert caught.value.errors[0]["suggestion"] == "memory"
    with pytest.raises(FileNotFoundError, match=r"nope\.toml") as missing:
        cb.Experiment.load(tmp_path / "nope.toml")
    assert isinstance(missing.value, cb.MissingFileError)
    with pytest.raises(TypeError, match=r"`Experiment\.load` reads a file"):
        cb.Experiment("first.toml")  # type: ignore[arg-type]
    bad = tmp_path / "bad.toml"
    bad.write_text('name = "x"\nhorizn = 3\n')
    with pytest.raises(cb.SpecError, match=r"bad\.toml:2:1"):
        cb.Experiment.load(bad)


def test_loading_results_of_a_wrong_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nope") as caught:
        cb.Result.load(tmp_path / "nope")
    assert isinstance(caught.value, cb.FolderError)
    with pytest.raises(cb.MissingFolderError, match="is not the output folder of a run"):
        cb.Result.load(tmp_path)
    with pytest.raises(TypeError, match="`folders` must be a list"):
        cb.Result.merge(str(tmp_path), tmp_path / "out")


def test_results_of_another_experiment_are_replaced_only_on_demand(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = experiment().run(out=out)
    other = experiment(name="other")
    refusal = r"out holds .*first.*; choose another folder.*`force=True`"
    with pytest.raises(cb.FolderError, match=refusal):
        other.run(out=out)
    with pytest.raises(cb.FolderError, match=refusal):
        cb.run(other, out=out)
    with pytest.raises(cb.FolderError, match=refusal):
        joblib_run(other, out, False)
    assert cb.Result.load(out) == first
    for replaced in (other.run(out=out, force=True), cb.Result.load(out), cb.run(experiment(), out=out, force=True)):
        assert replaced.experiments in (["other"], ["first"])
    assert joblib_run(other, out, True) == cb.Result.load(out) == other.run()
    parts = [tmp_path / "1", tmp_path / "2"]
    for i, part in enumerate(parts, 1):
        experiment().run(out=part, shard=(i, 2))
    with pytest.raises(cb.FolderError, match="`force=True`"):
        cb.Result.merge(parts, out)
    assert cb.Result.merge(parts, out, force=True) == first


def joblib_run(one: cb.Experiment, out: Path, force: bool) -> cb.Result:
    return one.run(out=out, force=force, backend="joblib", shards=2, n_jobs=1)


def test_messages_are_in_the_words_of_python(tmp_path: Path) -> None:
    with pytest.raises(cb.SpecError, match=r'checkpoints: `scale` must be "linear" or "log".*Did you mean `log`'):
        cb.simulate(cb.games.step(), "ucb1", 100, checkpoints={"scale": "lg"})
    with pytest.raises(cb.SpecError, match=r"checkpoints: unknown key `point`\. Did you mean `points`"):
        cb.simulate(cb.games.step(), "ucb1", 100, checkpoints={"point": 3})
    with pytest.raises(cb.SpecError, match=r'two policies have the label "x": give each a `label` of its own'):
        cb.simulate("step", [cb.policies.ucb1(label="x"), cb.policies.thompson(label="x")], 100)
    for call in (
        lambda: cb.Experiment.load(tmp_path / "no.toml"),
        lambda: cb.Result.load(tmp_path / "no"),
        lambda: cb.Advisor.load(tmp_path / "no.json"),
        lambda: cb.fit(tmp_path / "no.csv", arm="a", position="p", loss="l"),
        lambda: experiment().run().to_csv(tmp_path / "no" / "a.csv"),
        lambda: experiment().run().report(tmp_path / "no" / "a.html"),
    ):
        with pytest.raises(FileNotFoundError) as missing:
            call()
        assert isinstance(missing.value, cb.CalibanditError) and "os error" not in str(missing.value)
        assert str(tmp_path / "no") in str(missing.value)


def test_one_policy_needs_no_list() -> None:
    for one in ("exp3", {"kind": "exp3"}, cb.policies.exp3()):
        assert experiment(policy=one) == experiment(policy=["exp3"])


def test_swept_keys_are_columns(tmp_path: Path) -> None:
    """The values were only in labels such as "K=5, M=4"."""
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    result = cb.Experiment.from_dict(SWEPT).run(out=tmp_path / "out")
    assert result.columns[-2:] == ("game.arms", "policy.memory_bound")
    assert result["game.arms"].dtype == np.int64 and not result["game.arms"].flags.writeable
    seen = {(arms, bound, game) for arms, bound, game in zip(*(result[c] for c in (*result.columns[-2:], "game")))}
    assert seen == {(3, 2, "K=3, M=2"), (3, 4, "K=3, M=4"), (5, 2, "K=5, M=2"), (5, 4, "K=5, M=4")}
    frame = result.to_pandas()
    assert frame["policy.memory_bound"].dtype == np.int64
    assert pa.table(result)["game.arms"].to_pylist() == frame["game.arms"].tolist()
    stored = pd.read_csv(tmp_path / "out" / "results.csv")
    assert stored["policy.memory_bound"].tolist() == result["policy.memory_bound"].tolist()
    summary = result.summary()
    assert {(row["game.arms"], row["policy.memory_bound"]) for row in summary} == {(3, 2), (3, 4), (5, 2), (5, 4)}
    assert summary.to_pandas().groupby("policy.memory_bound")["mean"].size().tolist() == [4, 4]
    assert {row["game.arms"] for row in result.summary(all_times=True)} == {3, 5}
    for again in (cb.Result.load(tmp_path / "out"), pickle.loads(pickle.dumps(result))):
        assert again == result and again.columns == result.columns
        assert again["game.arms"].dtype == np.int64


def test_keys_that_are_not_set_everywhere_are_missing_values() -> None:
    pa = pytest.importorskip("pyarrow")
    points = [{"game.arms": 3}, {"game.arms": 5, "policy.calibrated.index": "moss"}]
    result = cb.Experiment.from_dict({**TABLE, "sweep": {"point": points}}).run()
    column = result["policy.calibrated.index"].tolist()
    assert set(column) == {None, "moss"} and column.count(None) == column.count("moss")
    assert pa.table(result)["policy.calibrated.index"].null_count == column.count(None)
    numbers = cb.Experiment.from_dict(
        {**TABLE, "sweep": {"point": [{"game.arms": 3}, {"game.arms": 5, "game.memory": 2}]}}
    ).run()
    memory = numbers["game.memory"]
    assert memory.dtype == np.float64 and set(memory[~np.isnan(memory)]) == {2.0} and np.isnan(memory).any()
    assert numbers.to_pandas()["game.memory"].isna().sum() == np.isnan(memory).sum()


def test_seeds_of_every_form() -> None:
    def cpr(seed: Any) -> Any:
        result = cb.simulate("step", "thompson", 200, instances=2, checkpoints=1, seed=seed)
        assert cb.run(result.spec) == result, "the seed that was used is recorded"
        return result["cpr"].tolist()

    assert cpr(7) == cpr(np.int64(7)) == cpr(7.0)
    assert cpr(None) != cpr(None)
    assert cpr(np.random.default_rng(3)) == cpr(np.random.default_rng(3)) != cpr(np.random.default_rng(4))
    assert cpr(np.random.SeedSequence(3)) == cpr(np.random.SeedSequence(3))
    generator = np.random.default_rng(3)
    assert cpr(generator) != cpr(generator), "a generator is advanced"
    result = experiment().run(seed=np.random.default_rng(3))
    assert result.spec["seed"] == cb.simulate("step", "ucb1", 10, seed=np.random.default_rng(3)).spec["seed"]
    with pytest.raises(ValueError, match="`seed` is -1"):
        cpr(-1)
    with pytest.raises(TypeError, match="`seed` must be a whole number, None, a NumPy Generator"):
        cpr("seven")


def test_numbers_of_jobs_follow_joblib() -> None:
    def cpr(**options: Any) -> Any:
        return cb.simulate("step", "thompson", 200, instances=3, checkpoints=1, **options)["cpr"].tolist()

    assert cpr() == cpr(n_jobs=-1) == cpr(n_jobs=-2) == cpr(n_jobs=1) == cpr(n_jobs=np.int8(3))
    with pytest.raises(cb.SpecError, match="`n_jobs` must not be 0"):
        cpr(n_jobs=0)
    with pytest.raises(cb.ArgumentTypeError, match="`n_jobs` must be a whole number, not None"):
        cpr(n_jobs=None)
    with pytest.warns(DeprecationWarning, match="`jobs` is now called `n_jobs`") as caught:
        assert cpr(jobs=0) == cpr()
    assert caught[0].filename == __file__


def test_several_games_have_the_numbers_that_they_have_alone() -> None:
    own = cb.Game([cb.Arm(memory=2, loss=lambda tally: 0.9 - 0.3 * tally), cb.Arm(memory=2, loss=0.5)])
    games = {"own": own, "step": "step", "table": {"kind": "decay", "arms": 3}}
    told: list[tuple[int, int, float]] = []
    both = cb.simulate(games, ["ucb1", "exp3"], 500, instances=3, progress=lambda *seen: told.append(seen))
    assert both.games == ["own", "step", "table"] and told[-1] == (18, 18, 1.0)
    for label, game in games.items():
        alone = cb.simulate(game, ["ucb1", "exp3"], 500, instances=3)  # type: ignore[arg-type]
        assert (both["cpr"][both["game"] == label] == alone["cpr"]).all()
    assert list(both.spec["games"]) == ["own", "step", "table"] and both.spec["games"]["step"]["kind"] == "step"
    assert pickle.loads(pickle.dumps(both)) == both
    listed = cb.simulate([cb.games.step(), cb.games.step(memory=2)], "ucb1", 100)
    assert listed.games == [cb.games.step().title, cb.games.step(memory=2).title]
    with pytest.raises(cb.SpecError, match="two games have the label"):
        cb.simulate([cb.games.step(), cb.games.step()], "ucb1", 100)
    with pytest.raises(cb.SpecError, match="at least one game"):
        cb.simulate([], "ucb1", 100)


def test_a_report_of_several_games_names_them(tmp_path: Path) -> None:
    result = cb.simulate({"first game": cb.games.step(), "second game": cb.games.darts()}, ["ucb1", "exp3"], 200)
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "first game" in page and "second game" in page


def test_a_memory_bound_that_is_too_small_is_a_warning(file: Path) -> None:
    """It passed silently."""
    message = "calibrated is told M = 2, but the game's memory is m = 8"
    game = cb.games.step(memory=8)
    with pytest.warns(cb.MemoryBoundWarning, match=message) as caught:
        cb.simulate(game, cb.policies.calibrated(memory_bound=2), 100)
    assert caught[0].filename == __file__
    with pytest.warns(cb.MemoryBoundWarning, match=message) as caught:
        experiment(game=game).run()
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(cb.MemoryBoundWarning, match=message) as caught:
        cb.run({**TABLE, "game": game})
    assert [warning.filename for warning in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cb.simulate(game, cb.policies.calibrated(memory_bound=8), 100)
        cb.Experiment.load(file).run()


def test_shards_warn_once_and_in_the_caller() -> None:
    pytest.importorskip("joblib")
    with pytest.warns(cb.MemoryBoundWarning) as caught:
        experiment(game=cb.games.step(memory=8)).run(backend="joblib", shards=2)
    assert [warning.filename for warning in caught] == [__file__]


def test_what_goes_on_is_logged(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    caplog.set_level(logging.INFO, logger="calibandit")
    cb.simulate("step", "ucb1", 100, instances=3, name="one")
    begin, end = (record.getMessage() for record in caplog.records)
    assert begin.startswith("one begins: 1 policy, 1 game, 3 instances, horizon 100, seed 1")
    assert end.startswith("one is finished after ")
    caplog.clear()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / ".unfinished-first.jsonl").write_text("")
    experiment().run(out=tmp_path / "out")
    assert "has an unfinished run" in caplog.records[0].getMessage()

    class Enough(Exception):
        pass

    def enough(done: int, tasks: int, part: float) -> None:
        raise Enough

    caplog.clear()
    with pytest.raises(Enough):
        cb.simulate("step", "thompson", 10_000, instances=100, progress=enough)
    assert caplog.records[-1].getMessage().endswith("Enough")


def test_progress_is_a_bar_of_tqdm(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from calibandit import _progress

    monkeypatch.setattr(_progress, "AFTER", 0)
    with _progress.watcher(True, "fig1a") as told:
        assert told is not None
        told(3, 40, 0.25)
        time.sleep(0.2)  # tqdm draws at most ten times per second
        told(40, 40, 1.0)
    shown = capsys.readouterr().err
    assert "fig1a:" in shown and "100%" in shown and ", 40 of 40 tasks]" in shown
    assert "| ," not in shown, "the postfix of tqdm begins with a comma"
    with _progress.watcher(None, "fig1a") as told:
        assert told is None, "neither a terminal nor a notebook"


def test_options_of_joblib_need_joblib() -> None:
    with pytest.raises(cb.SpecError, match='`shards` needs `backend="joblib"`'):
        experiment().run(shards=3)
    with pytest.raises(cb.SpecError, match="`backend` must be 'threads' or 'joblib', but is 'dask'"):
        experiment().run(backend="dask")  # type: ignore[arg-type]
    with pytest.raises(cb.SpecError, match="give one of them"):
        experiment().run(backend="joblib", shard=(1, 2))
    with pytest.raises(TypeError, match=r"`shard` must be a pair \(i, n\)"):
        experiment().run(shard=3)  # type: ignore[arg-type]


def test_former_functions_still_work_and_warn(file: Path, tmp_path: Path) -> None:
    former: Any = cb
    result = experiment().run(out=tmp_path / "out")
    calls: dict[str, Callable[[], Any]] = {
        "Result.load": lambda: former.read(tmp_path / "out") == result,
        "Experiment.check": lambda: former.check(file) == experiment().check(),
        "Experiment.spec": lambda: former.spec(TABLE, seed=7)["seed"] == 7,
    }
    for present, call in calls.items():
        with pytest.warns(DeprecationWarning, match=f"is now {present}") as caught:
            assert call()
        assert caught[0].filename == __file__
    for i in (1, 2):
        experiment().run(out=tmp_path / str(i), shard=(i, 2))
    with pytest.warns(DeprecationWarning, match=r"is now Result\.merge"):
        assert former.merge([tmp_path / "1", tmp_path / "2"], tmp_path / "merged") == result


def test_sweep_is_a_former_name_of_a_backend() -> None:
    pytest.importorskip("joblib")
    former: Any = cb
    with pytest.warns(DeprecationWarning, match=r'is now Experiment\.run\(backend="joblib"\)'):
        assert former.sweep(TABLE, shards=2) == experiment().run()


def test_the_specification_has_every_default() -> None:
    spec = experiment().spec
    assert spec["game"]["best_loss"] == 0.35 and spec["policy"][0]["index"] == "challenge"
    assert json.loads(json.dumps(spec)) == spec
    spec["seed"] = 99
    assert experiment().spec["seed"] == 1, "a copy"
