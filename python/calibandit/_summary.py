"""Statistics of results: summaries over instances, and comparisons of two policies."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["Comparison", "Summary"]

#: The level of the tests.
SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Comparison:
    """Policy ``a`` compared with policy ``b`` by their CPR at the horizon.

    Both play the same instances, so everything is about the differences ``a - b``, instance by instance. A negative
    difference says that ``a`` has the smaller regret.

    >>> import calibandit as cb
    >>> result = cb.simulate(cb.games.step(), ["ucb1", cb.policies.calibrated(memory_bound=3)], horizon=10_000)
    >>> found = result.compare("calibrated", "UCB1")
    >>> found.mean_difference < 0, found.significant, found.n
    (True, True, 20)
    """

    a: str
    b: str
    game: str
    """The label of the game."""
    n: int
    """The number of instances."""
    mean_difference: float
    """The mean of the differences."""
    interval: tuple[float, float]
    """The 95 % confidence interval of the mean difference, by Student's distribution."""
    effect_size: float
    """The mean of the differences divided by their standard deviation; infinite if all are equal and not 0."""
    p: float
    """The two-sided p-value of this pair alone."""
    p_corrected: float
    """The p-value corrected by Holm over all pairs of policies of this game."""
    test: str
    """The name of the test."""

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is at most 5 %. The policies then share no letter in the summary."""
        return self.p_corrected <= SIGNIFICANCE

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.a} - {self.b} on {self.game}: {_cell(self.mean_difference)} "
            f"(95 % interval {_cell(low)} to {_cell(high)}), effect size {self.effect_size:.3g}, "
            f"p = {self.p:.3g}, corrected {self.p_corrected:.3g}, n = {self.n}; {self.test}"
        )


class Summary(list[dict[str, Any]]):
    """The rows of a summary: a list of dictionaries that is printed as a table.

    ``mean`` is the mean CPR over the instances, ``stderr`` its standard error, ``p10`` to ``p99`` are quantiles. At the
    horizon, ``better_than`` lists the policies that this one beats, and policies that share a letter in ``groups`` do
    not differ significantly, by the test that :attr:`test` names, at 5 %.
    """

    SHOWN = ("policy", "t", "instances", "mean", "stderr", "median", "p99", "max", "switches", "groups")

    test: str
    """The test behind ``groups`` and ``better_than``."""

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        super().__init__(rows)
        self.test = _core.test_name()

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(list(self))

    def to_polars(self) -> polars.DataFrame:
        """Convert to a polars data frame."""
        import polars as pl

        return pl.DataFrame(list(self), infer_schema_length=None)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        several = [key for key in ("experiment", "game") if len({row[key] for row in self}) > 1]
        shown = [*several, *(key for key in self.SHOWN if self and key in self[0])]
        if len({row["t"] for row in self}) == 1:
            shown.remove("t")
        return shown, [[_cell(row[key]) for key in shown] for row in self]

    def _note(self) -> str:
        times = {row["t"] for row in self}
        at = f" at t = {times.pop():,}" if len(times) == 1 else ""
        note = f"CPR{at}, over instances; less is better."
        if self and "groups" in self[0]:
            note += f" Policies that share a letter do not differ at {SIGNIFICANCE:.0%} ({self.test})."
        return note

    def __repr__(self) -> str:
        if not self:
            return "(no results)"
        header, rows = self._cells()
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        left = {"experiment", "game", "policy", "groups"}
        lines = []
        for row in [header, *rows]:
            cells = [c.ljust(w) if h in left else c.rjust(w) for h, c, w in zip(header, row, widths)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *textwrap.wrap(self._note(), 100)])

    def _repr_html_(self) -> str:
        if not self:
            return "<p>no results</p>"
        header, rows = self._cells()
        style = dict.fromkeys(("experiment", "game", "policy", "groups"), ' style="text-align:left"')
        head = "".join(f"<th{style.get(key, '')}>{html.escape(key)}</th>" for key in header)
        body = "".join(
            "<tr>"
            + "".join(f"<td{style.get(key, '')}>{html.escape(cell)}</td>" for key, cell in zip(header, row))
            + "</tr>"
            for row in rows
        )
        note = f"<p><small>{html.escape(self._note())}</small></p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
