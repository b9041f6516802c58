"""Results: shared memory, and conversion to other formats."""

from __future__ import annotations

import gc
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import calibandit as cb


@pytest.fixture(scope="module")
def result() -> cb.Result:
    policies = [cb.policies.calibrated(memory_bound=3), cb.policies.exp3()]
    return cb.simulate(cb.games.step(), policies, 10_000, instances=5, checkpoints=20)


def address(array: object) -> int:
    return int(array.__array_interface__["data"][0])  # type: ignore[attr-defined]


def test_numpy_shares_the_memory(result: cb.Result) -> None:
    for column in ("instance", "t", "loss", "cpr", "switches"):
        one, other = result[column], result.to_numpy(column)
        assert address(one) == address(other) and np.shares_memory(one, other)
        assert not one.flags.writeable
        with pytest.raises(ValueError):
            one[0] = 1


def test_arrays_outlive_the_result() -> None:
    result = cb.simulate(cb.games.step(), "ucb1", 1000, instances=2)
    column = result["cpr"]
    copy = column.copy()
    del result
    gc.collect()
    rubbish = [np.random.default_rng(0).random(1000) for _ in range(100)]
    assert (column == copy).all() and rubbish


def test_differences_of_whole_numbers_do_not_wrap() -> None:
    """They were unsigned: 1 - 2 gave 18446744073709551615 in NumPy, pandas and polars."""
    pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    result = cb.simulate(cb.games.step(), ["ucb1", "thompson"], 1000, 5, checkpoints=5)
    assert (result["t"] - 600)[:5].tolist() == [-400, -200, 0, 200, 400]
    frame = result.to_pandas()
    assert [str(frame[column].dtype) for column in ("instance", "t", "switches")] == ["int64"] * 3
    last = frame[frame["t"] == 1000].pivot(index="instance", columns="policy", values="switches")
    one, other = last["UCB1"] - last["Thompson"], last["Thompson"] - last["UCB1"]
    assert (one == -other).all() and min(one.min(), other.min()) < 0
    polars = result.to_polars()
    assert polars.schema["t"] == pl.Int64 and (polars["t"] - 600).min() == -400


def test_a_frame_can_be_edited() -> None:
    """Assignments to single cells raised an error, because the frame was a view of the table."""
    pytest.importorskip("pandas")
    result = cb.simulate(cb.games.step(), "ucb1", 1000, 5)
    before = result["cpr"].copy()
    frame = result.to_pandas()
    frame.loc[frame["t"] < 100, "cpr"] = np.nan
    frame.iloc[0, 5] = 1.0
    frame.loc[0, "switches"] = 7
    assert frame.loc[0, "switches"] == 7 and frame["cpr"].isna().any()
    assert (result["cpr"] == before).all(), "the result is as it was"


def test_pandas_shares_the_memory_if_asked(result: cb.Result) -> None:
    pytest.importorskip("pandas")
    frame = result.to_pandas(copy=False)
    assert list(frame.columns) == list(result.columns) and len(frame) == len(result)
    assert np.shares_memory(frame["cpr"].to_numpy(), result["cpr"])
    assert not np.shares_memory(result.to_pandas()["cpr"].to_numpy(), result["cpr"])
    assert result.to_numpy("cpr", copy=True).flags.writeable
    assert list(frame["policy"].cat.categories) == result.policies
    means = frame[frame["t"] == 10_000].groupby("policy", observed=True)["cpr"].mean()
    assert means["EXP3"] == pytest.approx(result["cpr"].reshape(2, 5, 20)[1, :, -1].mean())


def test_pandas_does_not_need_pyarrow(result: cb.Result, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(result.to_pandas()) == len(result)


def test_arrow_shares_the_memory(result: cb.Result) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(result)
    assert table.column_names == list(result.columns)
    for column in ("t", "loss", "cpr"):
        (chunk,) = table[column].chunks
        assert chunk.buffers()[1].address == address(result[column])
    assert table["policy"].to_pylist() == result["policy"].tolist()
    assert pa.schema(result).field("cpr").type == pa.float64()
    assert pa.schema(result) == table.schema
    del table
    gc.collect()
    assert pa.table(result).num_rows == len(result), "a stream can be had again and again"


def test_polars_reads_results(result: cb.Result) -> None:
    pl = pytest.importorskip("polars")
    frame = result.to_polars()
    assert frame.columns == list(result.columns)
    assert (frame["cpr"].to_numpy() == result["cpr"]).all()
    assert frame["policy"].cast(pl.String).to_list() == result["policy"].tolist()
    assert address(frame["cpr"].to_numpy()) == address(result["cpr"]), "not copied"


def test_an_unused_stream_is_released(result: cb.Result) -> None:
    for _ in range(100):
        result.__arrow_c_stream__()
        result.__arrow_c_schema__()


def test_csv_has_the_same_numbers(result: cb.Result, tmp_path: Path) -> None:
    result.to_csv(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text().splitlines()
    assert lines[0] == ",".join(result.columns) and len(lines) == len(result) + 1
    assert [float(line.rsplit(",", 2)[1]) for line in lines[1:]] == result["cpr"].tolist()
    with pytest.raises(OSError, match="nowhere"):
        result.to_csv(tmp_path / "nowhere" / "r.csv")


def test_the_summary_equals_that_of_numpy(result: cb.Result) -> None:
    cpr = result["cpr"].reshape(2, 5, 20)
    for row in result.summary():
        values = cpr[result.policies.index(row["policy"]), :, -1]
        assert row["mean"] == pytest.approx(values.mean())
        assert row["stderr"] == pytest.approx(values.std(ddof=1) / np.sqrt(5))
        assert row["p90"] == pytest.approx(np.quantile(values, 0.9))
    assert len(result.summary(all_times=True)) == 40
    shown = repr(result.summary()).splitlines()
    assert shown[0].split()[:3] == ["policy", "instances", "mean"]
    assert shown[3].startswith("CPR at t = 10,000, over instances")
    assert "paired t-test" in " ".join(shown) and "Holm" in " ".join(shown) and "5%" in " ".join(shown)
    page = result._repr_html_()
    assert "<table>" in page and "paired t-test" in page and "CPR at t = 10,000" in page


def test_summaries_become_frames(result: cb.Result) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    summary = result.summary()
    frame = summary.to_pandas()
    assert frame["policy"].tolist() == [row["policy"] for row in summary]
    assert frame["t"].tolist() == [10_000, 10_000] and "better_than" in frame
    assert summary.to_polars()["mean"].to_list() == frame["mean"].tolist()


def test_equal_instances_have_no_standard_error() -> None:
    """It was rounding noise such as 3.6e-14."""
    constant = cb.Game([cb.Arm(memory=2, loss=0.3, feedback="none"), cb.Arm(memory=2, loss=0.7, feedback="none")])
    summary = cb.simulate(constant, cb.policies.calibrated(memory_bound=2), 1000).summary()
    assert summary[0]["min"] == summary[0]["max"] == summary[0]["mean"]
    assert summary[0]["stderr"] == 0.0


def test_a_comparison_equals_that_of_scipy(result: cb.Result) -> None:
    stats = pytest.importorskip("scipy.stats")
    ours, theirs = (result["cpr"].reshape(2, 5, 20)[i, :, -1] for i in (0, 1))
    found = result.compare("calibrated", "EXP3")
    expected = stats.ttest_rel(ours, theirs)
    interval = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.p_corrected == pytest.approx(expected.pvalue), "there is only one pair"
    assert found.interval == pytest.approx((interval.low, interval.high))
    assert found.mean_difference == pytest.approx((ours - theirs).mean())
    assert found.effect_size == pytest.approx((ours - theirs).mean() / (ours - theirs).std(ddof=1))
    assert (found.n, found.game) == (5, result.games[0]) and "paired t-test" in found.test
    assert "calibrated - EXP3" in str(found)
    back = result.compare("EXP3", "calibrated")
    assert back.mean_difference == -found.mean_difference and back.p == found.p


def test_several_pairs_are_corrected_by_holm() -> None:
    stats = pytest.importorskip("scipy.stats")
    policies = ["ucb1", "thompson", "exp3"]
    result = cb.simulate(cb.games.step(), policies, 2000, instances=6, checkpoints=1)
    values = result["cpr"].reshape(3, 6)
    pairs = [(0, 1), (0, 2), (1, 2)]
    raw = [stats.ttest_rel(values[i], values[j]).pvalue for i, j in pairs]
    order = np.argsort(raw)
    corrected = np.maximum.accumulate(np.array(raw)[order] * np.array([3, 2, 1])).clip(max=1.0)
    for rank, pair in enumerate(order):
        i, j = pairs[pair]
        found = result.compare(result.policies[i], result.policies[j])
        assert found.p == pytest.approx(raw[pair]) and found.p_corrected == pytest.approx(corrected[rank])


def test_comparisons_that_are_impossible_say_why() -> None:
    games = {"a": cb.games.step(), "b": cb.games.step(memory=2)}
    result = cb.simulate(games, ["ucb1", "exp3"], 200, instances=3)
    with pytest.raises(cb.SpecError, match='several games: give `game`, one of "a", "b"'):
        result.compare("UCB1", "EXP3")
    with pytest.raises(cb.UnknownNameError, match='no game "c"; the games are "a", "b"'):
        result.compare("UCB1", "EXP3", game="c")
    with pytest.raises(cb.UnknownNameError, match='no policy "SE"; the policies are UCB1, EXP3'):
        result.compare("UCB1", "SE", game="a")
    with pytest.raises(cb.UnknownNameError, match='no experiment "x"'):
        result.compare("UCB1", "EXP3", game="a", experiment="x")
    single = cb.simulate("step", ["ucb1", "exp3"], 200, instances=1)
    with pytest.raises(cb.SpecError, match="at least 2 instances"):
        single.compare("UCB1", "EXP3")


def test_results_can_be_pickled(result: cb.Result) -> None:
    again = pickle.loads(pickle.dumps(result))
    assert again == result and again.spec == result.spec and repr(again) == repr(result)


def test_the_specification_reproduces_the_results(result: cb.Result) -> None:
    assert cb.run(result.spec) == result


def test_report_is_written(result: cb.Result, tmp_path: Path) -> None:
    result.report(tmp_path / "out.html", title="Two policies")
    page = (tmp_path / "out.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "Two policies" in page and "EXP3" in page

    class Own(cb.Policy):
        def next_run(self) -> cb.Run:
            return cb.Run.forever(0)

        def observe(self, run: cb.Run, feedback: cb.Feedback) -> None:
            pass

    own = cb.simulate(cb.Game([cb.Arm(memory=2, loss=lambda t: 0.5)]), [Own(), "ucb1"], 100)
    own.report(tmp_path / "own.html")
    page = (tmp_path / "own.html").read_text()
    assert "Own" in page and "UCB1" in page
    assert pickle.loads(pickle.dumps(own)) == own


def test_unknown_columns_are_rejected(result: cb.Result) -> None:
    with pytest.raises(KeyError, match="there is no column 'regret'"):
        result["regret"]
    assert result["policy"][0] == "calibrated"
