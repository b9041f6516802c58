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


def test_the_quick_form_runs(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "picture.png"
    command = [sys.executable, "warm_cache.py", "--quick", "--plot", str(picture)]
    done = subprocess.run(command, cwd=DEMO, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for name in ("round-robin", "UCB1", "Thompson", "calibrated", "first / last"):
        assert name in done.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
