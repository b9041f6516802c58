"""The picture of what was measured: how layouts warm up, and what everybody's choices add up to."""

from __future__ import annotations

import itertools
import statistics
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

# Colours that stay apart for colour-blind readers; dashes and markers say the same once more.
LAYOUT_STYLES = {
    "wide": ("#0072b2", "--", "s"),
    "slim": ("#000000", "-", "o"),
    "full": ("#e69f00", "-.", "^"),
    "heap": ("#d55e00", ":", "v"),
}
CONTENDER_STYLES: dict[str, tuple[str, Any]] = {
    "round-robin": ("#7a7a7a", "--"),
    "UCB1": ("#cc79a7", "-."),
    "Thompson": ("#882255", (0, (3, 1, 1, 1, 1, 1))),
    "calibrated": ("#000000", "-"),
    "always slim": ("#009e73", ":"),
}


def draw(path: Path, curves: dict[str, list[list[float]]], courses: dict[str, list[list[float]]]) -> None:
    """Draws both panels into a file."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), constrained_layout=True)
    ends: dict[str, float] = {}
    top = 0.0
    for name, curve in curves.items():
        colour, dash, marker = LAYOUT_STYLES[name]
        at = range(1, len(curve) + 1)
        quartiles = [statistics.quantiles([1e3 * time for time in times], n=4) for times in curve]
        left.fill_between(at, [q[0] for q in quartiles], [q[2] for q in quartiles], color=colour, alpha=0.15, lw=0)
        medians = [q[1] for q in quartiles]
        left.plot(at, medians, color=colour, ls=dash, marker=marker, ms=4)
        ends[name] = medians[-1]
        top = max(top, *medians)
    # Quartiles of a machine that is busy with other things may leave the picture; medians never do.
    left.set(
        xlabel="plays of the layout in a row", ylabel="milliseconds a batch (median, quartiles)", ylim=(0, 1.2 * top)
    )
    at_least = -1.0
    for name, end in sorted(ends.items(), key=lambda item: item[1]):
        at_least = max(end, at_least + 0.06 * top)  # so that names do not cover each other
        place = (len(curves[name]), at_least)
        left.annotate(name, place, xytext=(7, -3), textcoords="offset points", color=LAYOUT_STYLES[name][0])
    left.set_title("How the layouts warm up", loc="left")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    for name, each in courses.items():
        colour, dashes = CONTENDER_STYLES[name]
        for seconds in each:
            right.plot(list(itertools.accumulate(seconds)), color=colour, lw=0.6, alpha=0.35)
        means = [statistics.fmean(times) for times in zip(*each, strict=True)]
        total = f"{name}: {sum(means):.1f} s"
        right.plot(list(itertools.accumulate(means)), color=colour, ls=dashes, lw=2, label=total)
    right.set(xlabel="batches answered", ylabel="seconds spent", xlim=(0, None), ylim=(0, None))
    right.set_title("What the choices add up to", loc="left")
    right.legend(frameon=False, loc="upper left")
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, lw=0.5)
    figure.savefig(path, dpi=90)
    plt.close(figure)
