"""Diagnoses of logs of known games, from every kind of table and from files."""

from __future__ import annotations

import copy
import json
import math
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibandit as cb


def log(blocks: int = 500, block: int = 40, warm_up: int = 5) -> dict[str, Any]:
    """Two layouts in turn, in blocks. The second one needs `warm_up` plays, and its eventual loss is 0.7."""
    play = np.arange(blocks * block)
    slim = play // block % 2
    cold = slim * (play % block < warm_up)
    noise = np.random.default_rng(1).uniform(-0.1, 0.1, len(play))
    return {"layout": np.where(slim, "slim", "plain"), "ms": 1.0 - 0.3 * slim + 0.5 * cold + noise, "order": play + 7}


def diagnosed(data: Any, **options: Any) -> cb.Diagnosis:
    return cb.diagnose(data, arm="layout", loss="ms", **{"longest": 20, "tolerance": 0.05, **options})


def test_the_warm_up_of_a_known_game_is_found() -> None:
    found = diagnosed(log())
    # Five cold plays: the loss is settled from the sixth on, and not before.
    assert (found.memory_bound, found.why, found.reach >= 20) == (6, "settled", True)
    slim, plain = found.arms["slim"], found.arms["plain"]
    assert list(found.arms) == ["plain", "slim"] and slim.plays == 10_000 and slim.runs == 250
    lower, upper = slim.settled
    assert (lower, upper, plain.settled.upper) == (6, 6, 1)
    assert slim.eventual is not None and slim.eventual.low < 0.7 < slim.eventual.high
    assert slim.sd == pytest.approx(0.2 / math.sqrt(12), rel=0.05)
    assert found.reo.verdict == "holds" and found.reo.alpha[0] == 0.0
    assert found.tolerance == 0.05 and found.confidence == 0.95 and found.plays == 20_000 and found.missing == 0
    assert repr(found).startswith("<Diagnosis of 20,000 plays of 2 arms: M = 6 if no arm")
    assert "slim" in found._repr_html_() and "Repeated exposure: holds" in found._repr_html_()


def test_a_log_that_is_too_short_gets_no_bound_and_the_reason() -> None:
    found = diagnosed(log(block=4, blocks=5000), longest=64)
    assert (found.memory_bound, found.why) == (None, "reach") and found.reach < 64
    assert found.notes[0].kind == "reach" and "64" in found.notes[0].text
    unsaid = diagnosed(log(), longest=None)
    assert (unsaid.memory_bound, unsaid.why, unsaid.conditional_bound) == (None, "no-longest", 6)
    texts = " ".join(note.text for note in unsaid.notes)
    assert "`longest=`" in texts and "--" not in texts, "the words of Python, not the options of the program"


def test_every_kind_of_table_gives_the_same_diagnosis(tmp_path: Path) -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = log(blocks=100)
    columns["ms"][3] = math.nan
    expected = diagnosed(columns).to_dict()
    frame = pandas.DataFrame(columns)
    csv, parquet = tmp_path / "log.csv", tmp_path / "log.parquet"
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet)
    table = pyarrow.table(columns)
    lists = {name: column.tolist() for name, column in columns.items()}
    lists["ms"][3] = None
    structured = np.empty(len(frame), dtype=[("layout", "U5"), ("ms", "f8")])
    structured["layout"], structured["ms"] = columns["layout"], columns["ms"]
    nullable = frame.assign(ms=frame["ms"].astype("Float64"), layout=frame["layout"].astype("category"))
    for data in [
        lists,
        frame,
        nullable,
        polars.DataFrame(columns),
        polars.DataFrame(columns).lazy(),
        polars.DataFrame(columns).with_columns(polars.col("layout").cast(polars.Categorical)),
        table,
        pyarrow.concat_tables([table.slice(0, 1000), table.slice(1000)]),
        pyarrow.table({**columns, "layout": pyarrow.array(columns["layout"]).dictionary_encode()}),
        structured,
        csv,
        str(csv),
        parquet,
    ]:
        assert diagnosed(data).to_dict() == expected, type(data)
        assert diagnosed(data).missing == 1


def test_order_and_units_are_those_of_the_columns() -> None:
    columns = log()
    expected = diagnosed(columns).to_dict()
    shuffled = np.random.default_rng(2).permutation(len(columns["ms"]))
    mixed = {name: column[shuffled] for name, column in columns.items()}
    assert diagnosed(mixed, order="order").to_dict()["arms"][1]["settled"] == expected["arms"][1]["settled"]
    assert diagnosed(mixed).memory_bound is None, "without the order, the runs are not known"
    # The same log twice, side by side.
    twice = {name: np.repeat(column, 2) for name, column in columns.items()}
    twice["machine"] = np.tile([3, 4], len(columns["ms"]))
    both = diagnosed(twice, unit="machine", order="order")
    assert (both.units, both.memory_bound, both.plays) == (2, 6, 40_000)
    with pytest.raises(cb.SpecError, match=r"order 7 occurs twice, in rows 0 and 1 .*`unit`"):
        diagnosed(twice, order="order")


def test_curves_are_arrow_tables() -> None:
    pandas, polars, pyarrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = log()
    curve = diagnosed(columns).arms["slim"].curve
    assert isinstance(curve, cb.Frame)
    assert curve.columns[:6] == ("first", "last", "plays", "loss", "low", "high") and curve["first"][0] == 1
    # The first positions are alone in their range: their means by definition.
    slim = columns["layout"] == "slim"
    for position in range(5):
        at = slim & (np.arange(len(slim)) % 40 == position)
        assert curve["loss"][position] == pytest.approx(columns["ms"][at].mean(), rel=1e-12)
        assert curve["plays"][position] == at.sum() == 250 and not curve["settled"][position]
    assert curve["settled"].dtype == np.bool_ and curve["settled"][5:].all()
    frame = curve.to_pandas()
    frame.loc[0, "loss"] = 0.0
    assert isinstance(frame, pandas.DataFrame) and len(frame) == len(curve)
    for other in (pyarrow.table(curve).to_pandas(), curve.to_polars().to_pandas()):
        assert list(other.columns) == list(frame.columns)
        assert other["difference"].dropna().tolist() == frame["difference"].dropna().tolist()
    assert polars.DataFrame(diagnosed(columns).arms["slim"].forgetting).columns[:2] == ["first", "last"]
    assert "first" in curve._repr_html_()


def test_the_json_has_what_the_program_writes(tmp_path: Path) -> None:
    found = diagnosed(log())
    told = json.loads(found.to_json())
    assert told == found.to_dict()
    assert {"memory_bound", "why", "reach", "arms", "reo", "tallying", "notes"} <= told.keys()
    assert {"settled", "eventual"} <= told["arms"][0].keys() and {"verdict", "alpha"} <= told["reo"].keys()


def test_the_tallying_set_of_randomly_switched_arms_has_the_memory() -> None:
    """Losses are drawn from a tallying game with memory 8, whose curve falls linearly."""
    draw = np.random.default_rng(3)
    plays, memory = 20_000, 8
    switched = draw.random(plays) > 0.9
    arms = np.zeros(plays, dtype=int)
    for t in range(1, plays):
        arms[t] = draw.integers(2) if switched[t] else arms[t - 1]
    played = np.stack([arms == arm for arm in range(2)])
    padded = np.cumsum(np.pad(played, ((0, 0), (memory, 0))), axis=1)
    # A play counts itself and the plays before it, `memory` in all.
    tally = np.where(arms == 1, padded[1, memory:] - padded[1, :-memory], 0)
    losses = np.where(arms == 1, 0.9 - 0.1 * tally, 0.5) + 0.1 * draw.standard_normal(plays)
    found = cb.diagnose({"arm": arms, "loss": losses}, longest=32, tolerance=0.05)
    assert found.tallying is not None and found.tallying.kernel == "unit"
    low, high = found.tallying.set
    assert low <= memory <= (high or math.inf) and found.tallying.memory == memory
    assert list(found.arms) == [str(arms[0]), str(1 - arms[0])]


def test_the_fitted_game_has_the_curves_of_the_log() -> None:
    found = diagnosed(log())
    low, high = found.loss_range
    assert low == pytest.approx(0.6, abs=0.01) and high == pytest.approx(1.3, abs=0.01)
    game = found.game()
    assert isinstance(game, cb.Game) and game.arm_names == ["plain", "slim"]
    played = low + (high - low) * game.play(["slim"] * 10)
    assert played.tolist() == pytest.approx([1.2] * 5 + [0.7] * 5, abs=0.02)
    drawn = found.games(5, seed=3)
    again = found.games(5, seed=3)
    losses = [one.play(["slim"] * 10).tolist() for one in drawn]
    assert losses == [one.play(["slim"] * 10).tolist() for one in again] and len({tuple(one) for one in losses}) == 5
    for one in losses:
        assert one == pytest.approx(game.play(["slim"] * 10).tolist(), abs=0.05)
    with pytest.raises(cb.GameError, match="arm"):
        diagnosed(log(blocks=2)).game()


def test_the_price_is_that_of_the_simulated_game() -> None:
    found = diagnosed(log())
    price = found.price(20_000, games=10, seed=2)
    assert isinstance(price, cb.Price) and isinstance(price, cb.Frame)
    assert price.columns == ("policy", "memory_bound", "regret", "stderr")
    assert (price.horizon, price.memory_bound) == (20_000, 6) and price.text in repr(price)
    frame = price.to_pandas()
    calibrated = frame[frame["policy"] == "calibrated"].set_index("memory_bound")["regret"]
    assert {1, 3, 6, 12, 24, 48} <= set(calibrated.index)
    assert calibrated[6] < calibrated[48], "a longer burn-in at every switch"
    assert frame[frame["policy"] == "Thompson"]["memory_bound"].isna().all()
    # The fitted game itself, simulated: the draws of the other games are close to it.
    played = cb.simulate(found.game(), [cb.policies.calibrated(memory_bound=6)], horizon=20_000, instances=200)
    low, high = found.loss_range
    assert calibrated[6] == pytest.approx((high - low) * played.summary()[0]["mean"], rel=0.3)
    with pytest.raises(cb.SpecError, match="`horizon` is 0"):
        found.price(0)


def test_the_plot_shows_the_curves_of_the_tables() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = diagnosed(log())
    price = found.price(2_000, games=3)
    panels = {ax.get_title().partition(":")[0]: ax for ax in found.plot(price=price).ravel() if ax.get_visible()}
    assert {"Warm-up", "What is still to change", "The price of M"} <= panels.keys()
    lines = {line.get_label(): line for line in panels["Warm-up"].get_lines()}
    assert lines["slim"].get_ydata().tolist() == pytest.approx(found.arms["slim"].curve["loss"].tolist())
    assert any(set(line.get_xdata()) == {6.0} for line in panels["Warm-up"].get_lines()), "a line at M"
    alone = price.plot()
    assert alone.get_xlabel() == "memory bound M" and alone.get_xscale() == "log"
    import matplotlib.pyplot as plt

    plt.close("all")
    with pytest.raises(cb.SpecError, match="`backend`"):
        found.plot(backend="bokeh")  # type: ignore[arg-type]


def test_the_plot_is_a_plotly_figure_on_demand() -> None:
    plotly = pytest.importorskip("plotly.graph_objects")
    found = diagnosed(log())
    figure = found.plot(backend="plotly")
    assert isinstance(figure, plotly.Figure) and {"slim", "plain"} <= {trace.name for trace in figure.data}
    with pytest.raises(cb.SpecError, match="nothing to draw"):
        diagnosed(log(blocks=2)).plot()


def test_the_report_is_one_file_with_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    diagnosed(log()).report(path)
    page = path.read_text(encoding="utf-8")
    assert "M = 6" in page and "The price of M" in page and "slim" in page
    diagnosed(log(blocks=2)).report(path)
    assert "No price can be predicted" in path.read_text(encoding="utf-8")
    with pytest.raises(cb.FolderError):
        diagnosed(log()).report(tmp_path / "nowhere" / "out.html")


def test_a_pilot_for_what_the_log_cannot_say() -> None:
    found = diagnosed(log(block=4, blocks=5000), longest=64)
    plan = found.pilot()
    assert plan.longest == 64 and {arm for arm, _ in plan.runs} == {"plain", "slim"}
    # 400 (sd / drop)^2 plays of each arm, but at least ten times the longest memory.
    sd = max(arm.sd for arm in found.arms.values())
    assert plan.plays == 2 * max(math.ceil(400 * (sd / 0.1) ** 2), 640)
    assert found.pilot(longest=8).longest == 8 and found.pilot(believe="nothing").plays > plan.plays
    with pytest.raises(cb.SpecError, match="`longest`"):
        diagnosed(log(), longest=None).pilot()


BAD = log(blocks=4)


@pytest.mark.parametrize(
    ("data", "options", "builtin", "message"),
    [
        ("nowhere.csv", {}, FileNotFoundError, r"nowhere\.csv"),
        (3, {}, TypeError, "`data` must be a frame"),
        (np.zeros((3, 2)), {}, TypeError, "`data` must be a frame"),
        ({"layout": []}, {}, KeyError, "`loss`: there is no column 'ms'"),
        (BAD, {"order": "ordr"}, KeyError, "Did you mean 'order'"),
        ({**BAD, "ms": [0.5]}, {}, ValueError, "equal length"),
        ({**BAD, "ms": np.full(160, "x")}, {}, TypeError, r"`ms\[0\]` must be a number"),
        ({**BAD, "ms": np.full(160, np.inf)}, {}, ValueError, r"the loss in row 0 \(counted from 0\) is inf"),
        ({**BAD, "ms": np.full(160, np.nan)}, {}, ValueError, "no play of the log has a loss"),
        ({**BAD, "ms": np.ones(160)}, {"tolerance": None}, ValueError, "give `tolerance`"),
        ({**BAD, "layout": ["a"] * 159 + [None]}, {}, ValueError, "the arm in row 159 .* not missing"),
        ({**BAD, "u": [math.nan] * 160}, {"unit": "u"}, ValueError, "the unit in row 0 .* is missing"),
        ({**BAD, "order": BAD["order"] + 0.5}, {"order": "order"}, TypeError, r"`order\[0\]` must be a whole"),
        ({**BAD, "order": [None] * 160}, {"order": "order"}, TypeError, r"`order\[0\]` must be a whole"),
        ({"layout": [], "ms": []}, {}, ValueError, "no plays"),
        (BAD, {"longest": 0}, ValueError, "`longest` is 0"),
        (BAD, {"tolerance": -1}, ValueError, "`tolerance` is -1"),
        (BAD, {"confidence": 1}, ValueError, "`confidence` is 1"),
        (BAD, {"starts": "warm"}, ValueError, "`starts`"),
    ],
)
def test_invalid_logs_are_rejected(data: Any, options: Any, builtin: type[Exception], message: str) -> None:
    with pytest.raises(builtin, match=message) as caught:
        diagnosed(data, **options)
    assert isinstance(caught.value, cb.CalibanditError)
    assert "--" not in str(caught.value), "no options of the program"


def test_files_that_are_no_logs_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("layout,ms\na,0.5\na,x\n")
    with pytest.raises(cb.SpecError, match=r"line 3: `ms` is `x`"):
        diagnosed(path)
    with pytest.raises(cb.UnknownNameError, match="no column `arm`"):
        cb.diagnose(path, loss="ms")
    with pytest.raises(cb.ArgumentTypeError, match="`arm` must be a text"):
        cb.diagnose(path, arm=3)  # type: ignore[arg-type]


def test_diagnoses_and_prices_can_be_pickled_and_copied() -> None:
    found = diagnosed(log())
    price = found.price(horizon=2000, games=4)
    for copied in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert copied.to_json() == found.to_json()
        assert copied.game().spec == found.game().spec
        assert [game.spec for game in copied.games(3)] == [game.spec for game in found.games(3)]
        curves = [diagnosis.arms["slim"].curve["loss"].tolist() for diagnosis in (copied, found)]
        assert curves[0] == curves[1]
        assert copied.price(horizon=2000, games=4)["regret"].tolist() == price["regret"].tolist()
        assert repr(copied) == repr(found)
    for copied_price in (pickle.loads(pickle.dumps(price)), copy.deepcopy(price)):
        assert (copied_price.text, copied_price["regret"].tolist()) == (price.text, price["regret"].tolist())


def test_no_arm_of_a_fitted_game_remembers_more_than_the_bound() -> None:
    found = diagnosed(log())
    assert found.memory_bound is not None
    memory = found.game().memory
    assert memory != "all" and memory <= found.memory_bound


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="threads are counted in /proc")
def test_ctrl_c_ends_the_computation_too() -> None:
    program = (
        "import glob, numpy as np, calibandit as cb, time\n"
        "n = 10**6\n"
        "log = {'arm': np.random.default_rng(2).integers(0, 4, n), 'loss': np.random.default_rng(1).random(n)}\n"
        "def working(): return [one for one in glob.glob('/proc/self/task/*/comm') if 'calib' in open(one).read()]\n"
        "print('begins', flush=True)\n"
        "try:\n"
        "    while True: cb.diagnose(log, longest=2000)\n"
        "except KeyboardInterrupt:\n"
        "    while working(): time.sleep(0.01)\n"
        "    print('nothing works', flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begins\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "nothing works\n"


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for child processes")
def test_ctrl_c_ends_a_long_diagnosis() -> None:
    program = (
        "import numpy as np, calibandit as cb, sys\n"
        "n = 10**7\n"
        "log = {'arm': np.arange(n) // 40 % 4, 'loss': np.random.default_rng(1).random(n)}\n"
        "print('begins', flush=True)\n"
        "while True: cb.diagnose(log, longest=30)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begins\n"
    child.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in child.communicate(timeout=60)[1]
    assert child.returncode != 0
