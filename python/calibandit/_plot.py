"""Curves over time with matplotlib."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from .errors import UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._result import Result

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a7a7a")
_DASHES = ("--", ":", "-.", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), "-", (0, (1, 3)))
#: Each style has a colour of a palette for colour-blind readers and a dash pattern, so that neither is needed alone.
STYLES = tuple((colour, dash, 1.8) for colour, dash in zip(_COLOURS, _DASHES))


def plot(result: Result, ax: Axes | None, column: str, band: bool) -> Axes:
    import matplotlib.pyplot as plt
    import numpy as np

    if column not in ("cpr", "loss", "switches"):
        raise UnknownNameError(f"column {column!r} cannot be plotted; use cpr, loss or switches")
    if ax is None:
        _, ax = plt.subplots()
    times, values, instance = result["t"], result[column].astype(float), result["instance"]
    keys = {name: np.array(result._table.labels(name)[0]) for name in ("experiment", "game", "policy")}
    labels = {name: result._table.labels(name)[1] for name in keys}
    several = [name for name in ("experiment", "game") if len(labels[name]) > 1]
    styles = itertools.cycle(STYLES)
    for curve in sorted(set(zip(keys["experiment"], keys["game"], keys["policy"]))):
        mine = np.ones(len(result), dtype=bool)
        for name, key in zip(keys, curve):
            mine &= keys[name] == key
        rows = values[mine].reshape(len(np.unique(instance[mine])), -1)
        t = times[mine][: rows.shape[1]]
        named = dict(zip(keys, curve))
        label = ", ".join(labels[name][named[name]] for name in [*several, "policy"])
        colour, dash, width = ("#000000", "-", 2.5) if label == "calibrated" else next(styles)
        (line,) = ax.plot(t, rows.mean(axis=0), color=colour, linestyle=dash, linewidth=width, label=label)
        if band and len(rows) > 1:
            low, high = np.quantile(rows, [0.1, 0.9], axis=0)
            ax.fill_between(t, low, high, color=line.get_color(), alpha=0.15, linewidth=0)
    ax.set_xlabel("plays t")
    ax.set_ylabel({"cpr": "CPR", "loss": "expected loss", "switches": "switches"}[column])
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.legend()
    return ax
