"""examples/warm_cache in its quick form: it runs, the layouts agree, and a cache miss costs time."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

DEMO = Path(__file__).resolve().parents[2] / "examples" / "warm_cache"


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(DEMO))
    return importlib.import_module("shop")


def test_all_layouts_give_the_same_totals(shop: ModuleType, tmp_path: Path) -> None:
    size = shop.Size(orders=500, products=700, cache_mib=1)
    open_shop = shop.Shop(tmp_path, size)
    # By hand: line i of all lines has product 104729 i mod 700, and product p costs 100 + 7919 p mod 9900.
    orders = [0, 3, 499]
    lines = [3 * order + line for order in orders for line in range(3)]
    by_hand = sum(100 + (104729 * line % 700) * 7919 % 9900 for line in lines)
    totals = {layout: open_shop.answer(layout, orders).total for layout in shop.LAYOUTS}
    open_shop.close()
    assert totals == dict.fromkeys(shop.LAYOUTS, by_hand)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=DEMO, capture_output=True, text=True, timeout=120)


def test_a_log_has_the_runs_of_its_plan(tmp_path: Path) -> None:
    plan, log = tmp_path / "plan.csv", tmp_path / "pilot.csv"
    plan.write_text("arm,plays\nslim,3\nwide,1\nslim,2\n")
    done = run("write_log.py", str(log), "--plan", str(plan), "--quick")
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(",") for line in log.read_text().splitlines()]
    assert header == ["order", "layout", "ms"]
    assert [(row[0], row[1]) for row in rows] == [
        (str(order), layout) for order, layout in enumerate(["slim"] * 3 + ["wide"] + ["slim"] * 2, start=1)
    ]
    assert all(float(row[2]) > 0 for row in rows)
    plan.write_text("arm,plays\nthin,3\n")
    refused = run("write_log.py", str(log), "--plan", str(plan), "--quick")
    assert refused.returncode == 1 and "thin" in refused.stderr and "slim" in refused.stderr


def test_a_log_of_a_policy_has_one_row_per_play(tmp_path: Path) -> None:
    log = tmp_path / "thompson.csv"
    done = run("write_log.py", str(log), "--plays", "50", "--quick")
    assert done.returncode == 0, done.stderr
    assert len(log.read_text().splitlines()) == 51


def test_the_quick_form_runs_from_a_log_and_compares_nobody(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture, log = tmp_path / "picture.png", tmp_path / "pilot.csv"
    # Nine plays of each layout from its fourth play in a row on.
    runs = [f"{order},{layout},0.2" for order, layout in enumerate(["wide", "slim", "full", "heap"] * 12)]
    runs.sort(key=lambda row: row.split(",")[1])
    log.write_text("\n".join(["order,layout,ms", *runs]) + "\n")
    done = run("warm_cache.py", "--quick", "--log", str(log), "--memory-bound", "4", "--plot", str(picture))
    assert done.returncode == 0, done.stderr
    assert "do not show who is fastest" in done.stdout and "saved by" not in done.stdout
    # The losses of the log are in what `calibrated` knows at the end, and the probe in what its monitor says.
    known = done.stdout[done.stdout.index("What `calibrated` knew") :]
    assert "memory bound 4" in known, known
    for name in ("round-robin", "UCB1", "Thompson", "calibrated", "first / last"):
        assert name in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
