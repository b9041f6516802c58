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


def test_pandas_shares_the_memory(result: cb.Result) -> None:
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert list(frame.columns) == list(result.columns) and len(frame) == len(result)
    assert np.shares_memory(frame["cpr"].to_numpy(), result["cpr"])
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
    assert shown[0].split()[:3] == ["policy", "instances", "mean"] and len(shown) == 3
    assert "<table>" in result._repr_html_()


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


def test_plot_draws_every_policy(result: cb.Result) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = result.plot()
    assert [line.get_label() for line in axes.get_lines()] == result.policies
    expected = result["cpr"].reshape(2, 5, 20).mean(axis=1)
    for line, mean in zip(axes.get_lines(), expected):
        assert np.allclose(line.get_ydata(), mean)
    assert result.plot(axes, column="loss", band=False) is axes
    with pytest.raises(KeyError):
        result.plot(column="policy")


def test_unknown_columns_are_rejected(result: cb.Result) -> None:
    with pytest.raises(KeyError, match="there is no column 'regret'"):
        result["regret"]
    assert result["policy"][0] == "calibrated"
