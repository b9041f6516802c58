"""Plots: the numbers, and the looks of the report."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibandit as cb

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

SWEEP = {
    "name": "how-much-M-costs",
    "horizon": 1000,
    "instances": 4,
    "checkpoints": {"points": 10},
    "game": {"kind": "step", "arms": 3, "memory": 2},
    "policy": [{"kind": "calibrated", "memory_bound": 2}, {"kind": "epoch-ucb", "memory_bound": 2}],
    "sweep": {"game.arms": [3, 5], "policy.memory_bound": [8, 2, 4]},
}


@pytest.fixture(scope="module")
def result() -> cb.Result:
    policies = [cb.policies.exp3(), cb.policies.calibrated(memory_bound=3), cb.policies.thompson()]
    return cb.simulate(cb.games.step(), policies, 10_000, instances=5, checkpoints=20, name="looks")


@pytest.fixture(scope="module")
def sweep() -> cb.Result:
    return cb.Experiment.from_dict(SWEEP).run()


@pytest.fixture(autouse=True)
def close() -> Any:
    yield
    plt.close("all")


def lines(axes: Any) -> dict[str, Any]:
    return {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}


def test_the_means_of_every_policy_are_drawn(result: cb.Result) -> None:
    axes = result.plot()
    drawn = lines(axes)
    assert list(drawn) == result.policies
    expected = result["cpr"].reshape(3, 5, 20).mean(axis=1)
    for label, mean in zip(result.policies, expected):
        assert np.allclose(drawn[label].get_ydata(), mean)
    assert axes.get_title() == f"looks\n{result.games[0]}" and axes.get_xlabel() == "plays t"
    assert [text.get_text() for text in axes.get_figure().legends[0].get_texts()] == result.policies


def test_colours_are_those_of_the_report(result: cb.Result, tmp_path: Path) -> None:
    """They were handed out by the order of the policies."""
    drawn = lines(result.plot())
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    colours = [line.get_color() for line in drawn.values()]
    assert len(set(colours)) == 3
    for colour in colours:
        assert re.search(re.escape(colour), page, re.IGNORECASE), f"{colour} is not in the report"
    # The same policies in another order, and one of them alone, look the same.
    policies = [cb.policies.thompson(), cb.policies.calibrated(memory_bound=3), cb.policies.exp3()]
    again = lines(cb.simulate(cb.games.step(), policies, 1000, instances=2).plot())
    alone = lines(result.plot(policies="EXP3"))
    assert list(alone) == ["EXP3"]
    for label, line in drawn.items():
        assert again[label].get_color() == line.get_color()
        assert again[label].get_marker() == line.get_marker()
    assert alone["EXP3"].get_color() == drawn["EXP3"].get_color()


def test_the_band_is_one_standard_error(result: cb.Result) -> None:
    axes = result.plot(policies=["Thompson"])
    (band,) = axes.collections
    values = result["cpr"].reshape(3, 5, 20)[2, :, -1]
    stderr = values.std(ddof=1) / np.sqrt(5)
    at_the_end = band.get_paths()[0].vertices
    ys = at_the_end[at_the_end[:, 0] == 10_000][:, 1]
    assert (ys.min(), ys.max()) == pytest.approx((values.mean() - stderr, values.mean() + stderr))


def test_other_spreads(result: cb.Result) -> None:
    values = result["cpr"].reshape(3, 5, 20)[2, :, -1]
    axes = result.plot(policies="Thompson", spread="quantiles")
    outer, inner = (band.get_paths()[0].vertices for band in axes.collections)
    assert outer[outer[:, 0] == 10_000][:, 1].max() == pytest.approx(values.max())
    assert inner[inner[:, 0] == 10_000][:, 1].max() == pytest.approx(np.quantile(values, 0.9))
    axes = result.plot(policies="Thompson", spread="instances")
    assert len(axes.get_lines()) == 6 and not axes.collections
    assert sorted(line.get_ydata()[-1] for line in axes.get_lines()[:5]) == pytest.approx(sorted(values))
    axes = result.plot(spread=None)
    assert len(axes.get_lines()) == 3 and not axes.collections


def test_columns_axes_and_scales(result: cb.Result) -> None:
    _, own = plt.subplots()
    assert result.plot(own, column="loss", log=True) is own
    assert (own.get_xscale(), own.get_yscale(), own.get_ylabel()) == ("log", "log", "expected loss")
    assert lines(own)["EXP3"].get_ydata()[-1] == pytest.approx(result["loss"].reshape(3, 5, 20)[0, :, -1].mean())
    switches = result.plot(column="switches", log="y")
    assert (switches.get_xscale(), switches.get_yscale()) == ("linear", "log")
    assert result.plot(log=False).get_yscale() == "linear"


def test_several_games_are_several_panels() -> None:
    games = {"short": cb.games.step(memory=2), "long": cb.games.step(memory=8), "longer": cb.games.step(memory=16)}
    result = cb.simulate(games, ["ucb1", "exp3"], 1000, instances=3, checkpoints=5)
    panels = result.plot()
    assert [panel.get_title() for panel in panels.ravel()[:3]] == ["short", "long", "longer"]
    values = result["cpr"].reshape(3, 2, 3, 5).mean(axis=2)
    for i, panel in enumerate(panels.ravel()[:3]):
        for j, label in enumerate(result.policies):
            assert np.allclose(lines(panel)[label].get_ydata(), values[i, j])
    with pytest.raises(cb.SpecError, match="`ax` holds one panel, but there are 3"):
        result.plot(plt.subplots()[1])


def test_a_swept_key_on_the_horizontal_axis(sweep: cb.Result) -> None:
    panels = sweep.plot(x="policy.memory_bound")
    assert [panel.get_title() for panel in panels.ravel()] == ["K = 3", "K = 5"]
    frame = sweep.to_pandas()
    for arms, panel in zip([3, 5], panels.ravel()):
        assert panel.get_xlabel() == "M" and panel.get_ylabel() == "CPR at T = 1,000"
        for label, line in lines(panel).items():
            mine = frame[(frame["t"] == 1000) & (frame["policy"] == label) & (frame["game.arms"] == arms)]
            expected = mine.groupby("policy.memory_bound")["cpr"].mean()
            assert line.get_xdata().tolist() == [2, 4, 8]
            assert np.allclose(line.get_ydata(), expected)


def test_plotly_draws_the_same_numbers_in_the_same_colours(result: cb.Result) -> None:
    pytest.importorskip("plotly")
    figure = result.plot(backend="plotly")
    drawn = lines(result.plot())
    means = {trace.name: trace for trace in figure.data if trace.meta["role"] == "mean"}
    assert list(means) == result.policies
    for label, trace in means.items():
        assert np.allclose(np.array(trace.y, dtype=float), drawn[label].get_ydata())
        assert trace.line.color.lower() == drawn[label].get_color().lower()
    assert "plotly" in figure.to_html(include_plotlyjs=False).lower()
    log = result.plot(backend="plotly", log="y", policies="EXP3")
    assert log.layout.yaxis.type == "log"
    with pytest.raises(cb.SpecError, match="`ax` is for matplotlib"):
        result.plot(plt.subplots()[1], backend="plotly")


def test_what_cannot_be_plotted_is_explained(result: cb.Result, sweep: cb.Result) -> None:
    with pytest.raises(KeyError, match="'policy' cannot be plotted"):
        result.plot(column="policy")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="no policy 'SE'; the policies are EXP3, calibrated, Thompson"):
        result.plot(policies="SE")
    with pytest.raises(KeyError, match="nothing is swept"):
        result.plot(x="policy.memory_bound")
    with pytest.raises(KeyError, match=r"no swept key \"game.memory\"; the swept keys are game.arms, policy.mem"):
        sweep.plot(x="game.memory")
    with pytest.raises(ValueError, match="`spread` must be 'stderr', 'quantiles', 'instances' or None"):
        result.plot(spread="sd")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`backend` must be 'matplotlib' or 'plotly'"):
        result.plot(backend="bokeh")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`log` must be"):
        result.plot(log="z")  # type: ignore[arg-type]


def test_a_script_shows_the_figure(tmp_path: Path) -> None:
    script = (
        "import matplotlib; matplotlib.use('Agg')\n"
        "import matplotlib.pyplot as plt, calibandit as cb\n"
        "cb.simulate('step', 'ucb1', 100).plot()\n"
        "print(len(plt.get_fignums()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1", "plt.show() shows what pyplot knows"
