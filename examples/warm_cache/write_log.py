"""Writes a log of plays (order, layout, ms) as CSV, for ``calibandit diagnose``.

``python write_log.py thompson.csv`` plays Thompson sampling, as a shop might that knows nothing of warm-up.
``python write_log.py pilot.csv --plan plan.csv`` plays the runs of a plan that ``calibandit pilot`` wrote.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shop import LAYOUTS, SMALL, Shop
from warm_cache import NAMES, Contender, Setting, advised, batches, check, round_robin

POLICIES = {"round-robin": round_robin, "ucb1": advised("ucb1"), "thompson": advised("thompson")}


def read_plan(path: Path) -> list[tuple[str, int]]:
    """The runs of a plan: a layout, and how often it is played in a row."""
    with path.open(newline="") as file:
        runs = [(row["arm"], int(row["plays"])) for row in csv.DictReader(file)]
    unknown = sorted({layout for layout, _ in runs} - set(LAYOUTS))
    if unknown:
        raise SystemExit(f"{path}: the layouts are {', '.join(NAMES)}, but the plan has {', '.join(unknown)}")
    return runs


def planned(runs: list[tuple[str, int]]) -> Contender:
    """Plays a plan, whatever it hears."""
    plays: Iterator[str] = itertools.chain.from_iterable([layout] * plays for layout, plays in runs)
    return Contender(lambda: next(plays), lambda _: None)


def write(path: Path, shop: Shop, contender: Contender, setting: Setting) -> None:
    """Plays, and writes one row per play."""
    ask = batches(setting, seed=0)
    # The first reads of the file are slower than any later ones: they are not part of the log.
    for layout in NAMES:
        for _ in range(setting.in_a_row):
            shop.answer(layout, ask())
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["order", "layout", "ms"])
        for order in range(1, setting.plays + 1):
            layout = contender.pick()
            seconds = setting.cost(shop.answer(layout, ask()))
            contender.hear(seconds)
            table.writerow([order, layout, f"{1e3 * seconds:.3f}"])


def main() -> None:
    """Plays a policy or a plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path, help="the file to write")
    parser.add_argument("--policy", choices=sorted(POLICIES), default="thompson", help="the policy that plays")
    parser.add_argument("--plan", type=Path, help="play the runs of this file (arm, plays) instead")
    parser.add_argument("--plays", type=int, default=Setting.plays, help="the number of plays of a policy")
    parser.add_argument("--data", type=Path, help="where to keep the database (about 320 MB) for another time")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: for a machine that is busy")
    parser.add_argument("--quick", action="store_true", help="a small database: does it work at all?")
    options = parser.parse_args()
    runs = read_plan(options.plan) if options.plan else None
    plays = sum(plays for _, plays in runs) if runs else options.plays
    setting = Setting(size=SMALL if options.quick else Setting().size, plays=plays, clock=options.clock)
    contender = planned(runs) if runs else POLICIES[options.policy](setting)
    with tempfile.TemporaryDirectory(prefix="warm-cache-") as temporary:
        shop = Shop(options.data or Path(temporary), setting.size)
        check(shop, setting)
        write(options.log, shop, contender, setting)
        shop.close()


if __name__ == "__main__":
    main()
