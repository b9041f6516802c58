"""Warm-up curves fitted to tables of Python, compared with the program and with known curves."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import calibandit as cb


def table(runs: int = 40) -> dict[str, list[Any]]:
    """Losses around two known curves: 0.2 + 0.6 exp(-0.5 k), and 0.4 + 0.1 exp(-0.3 k)."""
    noise = np.random.default_rng(1)
    rows = [
        (name, k, level + height * math.exp(-rate * k) + 0.02 * noise.standard_normal())
        for name, level, height, rate in [("slow", 0.2, 0.6, 0.5), ("steady", 0.4, 0.1, 0.3)]
        for _ in range(runs)
        for k in range(1, 13)
    ]
    arms, positions, losses = zip(*rows)
    return {"arm": list(arms), "position": list(positions), "loss": list(losses)}


def test_known_curves_are_found() -> None:
    fitted = cb.fit(table(), tolerance=0.01)
    assert fitted.game.arm_names == ["slow", "steady"] and fitted.tolerance == 0.01
    for arm, (level, height, rate) in zip(fitted.arms, [(0.2, 0.6, 0.5), (0.4, 0.1, 0.3)]):
        for k in range(1, 13):
            assert arm(k) == pytest.approx(level + height * math.exp(-rate * k), abs=0.015)
        assert arm.sd == pytest.approx(0.02, rel=0.1) and arm.losses == 480 and arm.last_position == 12
        assert arm.last_loss == pytest.approx(arm(12))
    # 0.6 exp(-0.5 k) is within 0.01 of its value at 12 from k = 7.7 on, 0.1 exp(-0.3 k) from k = 6.5 on.
    slow, steady = fitted.arms
    assert slow.memory == 8 == fitted.game.memory and 6 <= steady.memory <= 8
    played = fitted.game.play(["slow"] * 12).tolist()
    assert played == pytest.approx([slow(k if k < slow.memory else 12) for k in range(1, 13)])
    assert cb.fit(table(), memory=12).game.play(["slow"] * 12).tolist() == pytest.approx(
        [slow(k) for k in range(1, 13)]
    )


def test_the_memory_does_not_grow_with_the_length_of_the_runs() -> None:
    for last in (40, 400):
        position = np.tile(np.arange(1, last + 1), 20)
        loss = 0.2 + 0.6 * np.exp(-0.5 * position) + 0.02 * np.random.default_rng(1).standard_normal(len(position))
        fitted = cb.fit({"arm": ["a"] * len(loss), "position": position, "loss": loss}, tolerance=0.01)
        assert fitted.game.memory in (8, 9, 10) and not fitted.arms[0].still_changes, "exactly: 8.2"


def test_a_log_is_fitted_by_the_positions_in_its_runs(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    play = np.arange(3000)
    position, quick = play % 30 + 1, play // 30 % 2
    noise = 0.01 * np.random.default_rng(2).standard_normal(3000)
    loss = np.where(quick, 0.5, 0.2 + 0.6 * np.exp(-0.5 * position)) + noise
    rows = {"arm": np.where(quick, "quick", "slow"), "loss": loss, "time": play + 50}
    expected = cb.fit({**rows, "position": position}).arms
    assert cb.fit(rows).arms == expected, "the order of the rows"
    mixed = {name: column[np.random.default_rng(3).permutation(3000)] for name, column in rows.items()}
    for one, other in zip(
        sorted(cb.fit(mixed, order="time").arms, key=lambda arm: arm.name), sorted(expected, key=lambda arm: arm.name)
    ):
        assert one(1) == pytest.approx(other(1), rel=1e-9) and one.memory == other.memory
    assert cb.fit({**rows, "position": position}, order="time").arms == expected, "an order comes before a position"
    frame = pandas.DataFrame(rows)
    frame.to_csv(tmp_path / "log.csv", index=False)
    frame.to_parquet(tmp_path / "log.parquet")
    for path in (tmp_path / "log.csv", tmp_path / "log.parquet"):
        assert cb.fit(path).arms == expected and cb.fit(path, order="time").arms == expected
    with pytest.raises(cb.SpecError, match="`position`"):
        cb.fit(rows, position="time", order="time")


def test_the_model_of_the_paper_is_fitted_only_if_it_is_asked_for() -> None:
    """Its curves run to zero: it put the eventual loss of such an arm at 0."""
    position = np.tile(np.arange(1, 6), 30)
    loss = 0.9 - 0.15 * position + 0.05 * np.random.default_rng(4).standard_normal(150)
    columns = {"arm": ["a"] * 150, "position": position, "loss": loss}
    assert cb.fit(columns).arms[0].model in ("settling", "plateau")
    assert cb.fit(columns, model="exponential-linear").arms[0].model == "exponential-linear"


def test_every_kind_of_table_gives_the_fit_of_the_program(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = table(runs=3)
    frame = pandas.DataFrame(columns)
    path = tmp_path / "losses.csv"
    frame.to_csv(path, index=False, lineterminator="\r\n")
    names = ["--arm", "arm", "--position", "position", "--loss", "loss", "--json"]
    command = [sys.executable, "-m", "calibandit", "fit", str(path), *names]
    printed = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    arrays = {name: np.array(values) for name, values in columns.items()}
    for data in (columns, arrays, frame, polars.DataFrame(columns), path, str(path)):
        fitted = cb.fit(data)
        assert [arm.name for arm in fitted.arms] == [arm["name"] for arm in printed]
        for arm, expected in zip(fitted.arms, printed):
            assert arm.model == expected["model"]
            for parameter in ("alpha", "beta", "gamma", "level", "sd"):
                assert getattr(arm, parameter) == pytest.approx(expected[parameter], rel=1e-9)
    assert list(fitted.to_pandas()["name"]) == ["slow", "steady"]
    assert (
        repr(fitted) == f"<GameFit of 2 arms, memory {max(arm.memory for arm in fitted.arms)}>"
        and "steady" in fitted._repr_html_()
    )


def test_arms_that_cannot_be_fitted_are_left_out_with_a_warning() -> None:
    columns = table(runs=3)
    for name, value in (("arm", "new"), ("position", 1), ("loss", 0.5)):
        columns[name].append(value)
    with pytest.warns(cb.LeftOutWarning, match="arm 'new' is left out of the game"):
        fitted = cb.fit(columns)
    assert list(fitted.left_out) == ["new"] and "new" not in fitted.game.arm_names
    with pytest.raises(cb.SpecError, match=r"no arm can be part of a game.*`loss_range`") as caught:
        cb.fit({**table(3), "loss": [-5.0] * 72})
    assert "--" not in str(caught.value), "no options of the program"


def test_rows_without_a_loss_are_skipped() -> None:
    pandas = pytest.importorskip("pandas")
    columns = table(runs=3)
    whole = cb.fit(columns)
    for missing in (None, math.nan, pandas.NA):
        more = {
            "arm": [*columns["arm"], "slow"],
            "position": [*columns["position"], 2],
            "loss": [*columns["loss"], missing],
        }
        assert cb.fit(more).arms == whole.arms
        assert cb.fit(pandas.DataFrame(more)).arms == whole.arms


@pytest.mark.parametrize(
    ("data", "options", "builtin", "message"),
    [
        ("nowhere.csv", {}, FileNotFoundError, r"nowhere\.csv"),
        (3, {}, TypeError, "`data`"),
        ({"arm": []}, {"position": "position"}, KeyError, "no column 'position'"),
        (table(1), {"memory": 0}, ValueError, "`memory` is 0"),
        (table(1), {"tolerance": 0}, ValueError, "`tolerance` is 0"),
        (table(1), {"starts": "warm"}, ValueError, "`starts`"),
        ({**table(1), "loss": [0.5]}, {}, ValueError, "equal length"),
        ({**table(1), "position": [0] * 24}, {}, ValueError, r"`position\[0\]` is 0"),
        ({**table(1), "loss": ["x"] * 24}, {}, TypeError, r"`loss\[0\]`"),
        (table(1), {"model": "laps"}, ValueError, "'plateau'"),
        (table(1), {"loss_range": (1, 0)}, ValueError, "invalid loss range"),
        (table(1), {"loss_range": 1}, TypeError, "`loss_range`"),
    ],
)
def test_invalid_tables_are_rejected(data: Any, options: Any, builtin: type[Exception], message: str) -> None:
    with pytest.raises(builtin, match=message) as caught:
        cb.fit(data, **options)
    assert isinstance(caught.value, cb.CalibanditError)
