"""What a lane advisor says about itself."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

from . import _core, _html
from ._advisor_state import ArmName
from ._frame import Frame
from ._json import loads

__all__ = ["LaneCounts", "LaneState"]


@dataclass(frozen=True)
class LaneCounts:
    """How many decisions and outcomes of each kind there were."""

    told: int
    """Losses told."""
    done: int
    """Plays made without a loss to tell."""
    lost: int
    """Plays made whose loss was lost."""
    not_played: int
    """Plays that were not made."""
    overridden: int
    """Plays of another arm than advised."""
    expired: int
    """Decisions that expired."""
    late: int
    """Outcomes reported after the expiry."""
    resets: int
    """Resets by report."""
    idle_resets: int
    """Resets after an idle time."""
    unadvised: int
    """Plays without advice."""
    demoted: int
    """Calibrated plays that turned out not to be."""
    warm_up: int
    """Decisions of the warm-up."""
    measured: int
    """Decisions that the policy had asked for."""
    filler: int
    """Decisions beyond the runs."""

    @classmethod
    def _of(cls, described: str) -> LaneCounts:
        found = loads(described)
        return cls(**{name: found[name] for name in cls.__dataclass_fields__})


class LaneState(Frame):
    """The state of a lane advisor: a table with one row per arm.

    The columns are ``arm``, ``plays`` (warm-up included), ``measured`` (losses that the policy has got), their
    ``mean``, and ``banked`` (calibrated losses that wait for a run).
    """

    __slots__ = ("active_lanes", "counts", "decisions", "lanes", "recommended")

    decisions: int
    lanes: int
    active_lanes: float
    recommended: ArmName
    counts: LaneCounts

    def __init__(
        self,
        table: _core.Frame,
        *,
        decisions: int,
        lanes: int,
        active_lanes: float,
        recommended: ArmName,
        counts: LaneCounts,
    ) -> None:
        super().__init__(table)
        #: The number of decisions made.
        self.decisions = decisions
        #: The number of lanes that were ever asked.
        self.lanes = lanes
        #: An estimate of the number of lanes that are asked at present.
        self.active_lanes = active_lanes
        #: The arm to use if learning stopped now.
        self.recommended = recommended
        #: How many decisions and outcomes of each kind there were.
        self.counts = counts

    def _rows(self) -> list[list[Any]]:
        columns = [self.to_numpy(column).tolist() for column in self.columns]
        return [["" if isinstance(cell, float) and math.isnan(cell) else cell for cell in row] for row in zip(*columns)]

    def _summary(self) -> str:
        counts = self.counts
        return (
            f"{self.decisions:,} decisions on {self.lanes:,} lanes: {counts.warm_up:,} warm-up, {counts.measured:,} "
            f"measured, {counts.filler:,} filler; {counts.lost:,} lost, {counts.expired:,} expired; recommended: "
            f"{self.recommended}"
        )

    def __repr__(self) -> str:
        cells = [list(self.columns)]
        for row in self._rows():
            cells.append([f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row])
        widths = [max(len(row[i]) for row in cells) for i in range(len(self.columns))]
        lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, self._summary()])

    def _repr_html_(self) -> str:
        return self._html(f"{self.decisions:,} decisions")

    def _html(self, caption: str) -> str:
        table = _html.table(caption, self.columns, self._rows())
        return table + f"<p><small>{html.escape(self._summary())}</small></p>"
