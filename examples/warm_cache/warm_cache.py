"""Which layout of the data should answer? A page cache that truly warms up, and four ways to decide.

Run ``python warm_cache.py``. It builds a database (once, in a temporary folder unless --data says where), measures how
each layout warms up, and then lets everybody answer the same batches of orders. Nothing is simulated: losses are
latencies measured here and now, divided by --slowest and cut at 1. On a machine that is busy with other things, --clock
cpu counts only the time that the processor worked on the answer.
"""

from __future__ import annotations

import argparse
import csv
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import calibandit as cb
from shop import LAYOUTS, SMALL, Answer, Shop, Size

NAMES = list(LAYOUTS)


@dataclass(frozen=True)
class Setting:
    """What is measured, and how often."""

    size: Size = field(default_factory=Size)
    batch: int = 30  # orders in a question
    plays: int = 5_000  # questions that each contender answers
    rounds: int = 3  # how often everybody plays
    in_a_row: int = 20  # plays of a layout in a row when its warm-up is measured
    repeats: int = 30  # how often it is measured
    slowest_ms: float = 1.5  # a loss of 1
    memory_bound: int = 12  # what `calibrated` is told
    clock: str = "wall"  # or "cpu": without the time in which the machine did something else
    log: Path | None = None  # a log of plays from which `calibrated` starts
    quick: bool = False  # too few plays for a comparison

    def cost(self, answer: Answer) -> float:
        """The seconds that count."""
        return answer.seconds if self.clock == "wall" else answer.cpu_seconds

    def loss(self, seconds: float) -> float:
        """A time as a loss from 0 to 1."""
        return min(1.0, 1e3 * seconds / self.slowest_ms)


@dataclass(frozen=True)
class Course:
    """What one contender did in one round: what every play took, and its layout."""

    answers: list[Answer]
    costs: list[float]
    layouts: list[str]
    said: str = ""


class Contender:
    """Somebody who picks layouts, and hears how long it took."""

    def __init__(
        self, pick: Callable[[], str], hear: Callable[[float], None], say: Callable[[], str] = lambda: ""
    ) -> None:
        self.pick = pick
        self.hear = hear
        self.say = say  # what it knows at the end


def round_robin(setting: Setting) -> Contender:
    """Each layout in turn."""
    turns = iter(range(setting.plays))
    return Contender(lambda: NAMES[next(turns) % len(NAMES)], lambda _: None)


def always(layout: str) -> Callable[[Setting], Contender]:
    """One layout, whatever happens."""
    return lambda _: Contender(lambda: layout, lambda _: None)


def past_losses(setting: Setting) -> dict[str, list[float]] | None:
    """The losses of calibrated layouts in a log, which are those from the M-th play in a row on."""
    if setting.log is None:
        return None
    past: dict[str, list[float]] = {name: [] for name in NAMES}
    last, in_a_row = "", 0
    with setting.log.open(newline="") as file:
        for row in csv.DictReader(file):
            in_a_row = in_a_row + 1 if row["layout"] == last else 1
            last = row["layout"]
            if in_a_row >= setting.memory_bound:
                past[last].append(setting.loss(float(row["ms"]) / 1e3))
    return past


def advised(kind: str, *, informed: bool = False, **parameters: Any) -> Callable[[Setting], Contender]:
    """A policy of the library, put to live use: ask, play, tell.

    If it is `informed`, it starts from the log, and watches with a probe whether its memory bound is too small.
    """

    def make(setting: Setting) -> Contender:
        past = past_losses(setting) if informed else None
        policy = cb.policy(kind, **parameters)
        advisor = cb.Advisor(policy, NAMES, horizon=setting.plays, seed=1, warm_start=past, probe=informed)
        asked: list[cb.Decision] = []

        def pick() -> str:
            asked.append(advisor.ask())
            return str(asked[-1].arm)

        def hear(seconds: float) -> None:
            advisor.tell(asked.pop(), loss=setting.loss(seconds))

        return Contender(pick, hear, lambda: str(advisor.state()))

    return make


def contenders(setting: Setting) -> dict[str, Callable[[Setting], Contender]]:
    """Everybody who plays, by name."""
    return {
        "round-robin": round_robin,
        "UCB1": advised("ucb1"),
        "Thompson": advised("thompson"),
        "calibrated": advised("calibrated", informed=True, memory_bound=setting.memory_bound),
        "always slim": always("slim"),
    }


def batches(setting: Setting, seed: int) -> Callable[[], list[int]]:
    """The questions, the same for everybody."""
    generator = random.Random(seed)
    return lambda: [generator.randrange(setting.size.orders) for _ in range(setting.batch)]


def warm_up(shop: Shop, setting: Setting) -> dict[str, list[list[float]]]:
    """Seconds of the first, second, ... play in a row of each layout, after the others had the cache to themselves."""
    curves: dict[str, list[list[float]]] = {name: [[] for _ in range(setting.in_a_row)] for name in NAMES}
    ask = batches(setting, seed=0)
    for repeat in range(setting.repeats + 1):
        for name in NAMES:
            for play in range(setting.in_a_row):
                answer = shop.answer(name, ask())
                if repeat > 0:  # the first time the file itself is cold
                    curves[name][play].append(setting.cost(answer))
    return curves


def play(shop: Shop, contender: Contender, setting: Setting, seed: int) -> Course:
    """One contender answers all batches."""
    ask = batches(setting, seed)
    course = Course([], [], [])
    for _ in range(setting.plays):
        layout = contender.pick()
        answer = shop.answer(layout, ask())
        contender.hear(setting.cost(answer))
        course.answers.append(answer)
        course.costs.append(setting.cost(answer))
        course.layouts.append(layout)
    return replace(course, said=contender.say())


def contest(shop: Shop, setting: Setting) -> dict[str, list[Course]]:
    """Everybody plays, in every round in another order: a machine that is busy for a while should not hit one alone."""
    makers = contenders(setting)
    courses: dict[str, list[Course]] = {name: [] for name in makers}
    for number in range(setting.rounds):
        order = list(makers)
        random.Random(number).shuffle(order)
        for name in order:
            courses[name].append(play(shop, makers[name](setting), setting, seed=1 + number))
    return courses


def check(shop: Shop, setting: Setting) -> None:
    """All layouts must give the same answers: it is the same data."""
    orders = batches(setting, seed=0)()
    totals = {name: shop.answer(name, orders).total for name in NAMES}
    if len(set(totals.values())) != 1:
        raise SystemExit(f"the layouts disagree: {totals}")


def report(setting: Setting, curves: dict[str, list[list[float]]], courses: dict[str, list[Course]]) -> str:
    """What was measured, as text."""
    medians = {name: [1e3 * statistics.median(times) for times in curve] for name, curve in curves.items()}
    shown = [1, 2, 3, 5, 8, 12, setting.in_a_row]
    shown = [at for at in dict.fromkeys(shown) if at <= setting.in_a_row]
    text = ["Warm-up: median milliseconds of a play, by plays in a row"]
    text.append("  layout  " + "".join(f"{at:>8}" for at in shown) + "   first / last")
    for name, curve in medians.items():
        cells = "".join(f"{curve[at - 1]:8.2f}" for at in shown)
        text.append(f"  {name:<8}{cells}{curve[0] / curve[-1]:12.1f}x   {LAYOUTS[name][0]}")
    text.append("")
    if setting.quick:
        text.append(f"Everything works. {setting.plays} plays of a small database do not show who is fastest: the")
        text.append("opening of `calibrated` alone takes about as many. Run it without --quick for a comparison.")
        text.append("")
    totals = {name: statistics.fmean(sum(course.costs) for course in each) for name, each in courses.items()}
    text.append(
        f"Total seconds for {setting.plays:,} batches of {setting.batch} orders, mean of {setting.rounds} rounds"
    )
    compared = "" if setting.quick else f"{setting.clock + ' time':>9} saved by calibrated"
    text.append(f"  who            wall     CPU   {compared:<29}   at the end mostly")
    best = totals["calibrated"]
    for name, total in totals.items() if setting.quick else sorted(totals.items(), key=lambda item: item[1]):
        wall = statistics.fmean(sum(answer.seconds for answer in course.answers) for course in courses[name])
        cpu = statistics.fmean(sum(answer.cpu_seconds for answer in course.answers) for course in courses[name])
        last = courses[name][-1].layouts[-setting.plays // 10 :]
        settled = max(NAMES, key=last.count)
        saved = "" if setting.quick or name == "calibrated" else f"{total - best:+10.2f} s  {1 - best / total:+5.0%}"
        text.append(f"  {name:<12}{wall:7.2f} {cpu:7.2f}   {saved:<31}{settled}")
    text.append("")
    text.append(f"What `calibrated` knew after the last round (a loss of 1 is {setting.slowest_ms:g} ms)")
    text.append(courses["calibrated"][-1].said.rstrip())
    return "\n".join(text)


def main() -> None:
    """Measures, prints, plots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="where to keep the database (about 320 MB) for another time")
    parser.add_argument("--plot", type=Path, help="the picture [default: warm_cache.png, or quick.png with --quick]")
    parser.add_argument("--plays", type=int, default=Setting.plays, help="batches that everybody answers")
    parser.add_argument("--rounds", type=int, default=Setting.rounds, help="how often everybody plays")
    parser.add_argument("--memory-bound", type=int, default=Setting.memory_bound, help="what `calibrated` is told")
    parser.add_argument("--log", type=Path, help="a log of plays (order, layout, ms) that `calibrated` starts from")
    parser.add_argument("--slowest", type=float, default=Setting.slowest_ms, help="milliseconds that are a loss of 1")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: for a machine that is busy")
    parser.add_argument("--quick", action="store_true", help="a small database and few plays: does it work at all?")
    options = parser.parse_args()
    setting = Setting(
        plays=options.plays,
        rounds=options.rounds,
        slowest_ms=options.slowest,
        memory_bound=options.memory_bound,
        clock=options.clock,
        log=options.log,
    )
    if options.quick:
        setting = replace(setting, size=SMALL, plays=200, rounds=1, repeats=3, quick=True)
    with tempfile.TemporaryDirectory(prefix="warm-cache-") as temporary:
        shop = Shop(options.data or Path(temporary), setting.size)
        check(shop, setting)
        curves, courses = warm_up(shop, setting), contest(shop, setting)
        shop.close()
    print(report(setting, curves, courses))
    from picture import draw

    # The picture of the full form is in the README; a quick look must not replace it.
    plot = options.plot or Path("quick.png" if options.quick else "warm_cache.png")
    draw(plot, curves, {name: [course.costs for course in each] for name, each in courses.items()})
    print(f"\n{plot}")


if __name__ == "__main__":
    main()
