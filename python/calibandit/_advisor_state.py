"""What an advisor says about itself: its state, how sure it is, why it decided, whether M looks too small."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Union

from . import _core, _html
from ._frame import Frame
from ._json import loads

__all__ = ["AdvisorState", "Confidence", "Explanation", "MonitorVerdict"]

ArmName = Union[int, str]
"""What an advisor calls an arm: a name, or an index if the arms have no names."""

Assumption = Literal["bounded", "normal"]
"""What intervals assume: losses in the declared range, or normal losses if there is no range."""


@dataclass(frozen=True)
class MonitorVerdict:
    """Whether the bound on the memory looks too small: losses still change after M plays in a row.

    Its silence does not prove that the bound is long enough.
    """

    alarm: bool
    """Whether the bound looks too small. An alarm stays."""
    evidence: float
    """The greatest evidence so far, in nats."""
    threshold: float
    """The evidence at which there is an alarm."""
    false_alarms: float
    """The probability of an alarm at any time if the bound is long enough."""
    runs: int
    """The number of runs that were compared."""
    memory_bound: int | None
    """The bound on the memory, if the policy has one."""
    probe: bool
    """Whether first visits have a longer burn-in."""
    detectable: float | None
    """With the probe, after the first visits: the least difference between the losses from the M-th to the 2M-th play
    in a row and the later ones that the test of the probes finds in 80 % of the cases. Half of it takes four times as
    many plays."""


class AdvisorState(Frame):
    """The state of an advisor: a table with one row per arm, and what is certain so far.

    The columns are ``arm``, ``plays`` (burn-in included), ``measured`` (losses that count), their ``mean``, ``low`` and
    ``high`` (an interval of the mean that holds at every time at once, together with those of all arms), ``evidence``
    that the arm is worse than the best so far and the ``threshold`` at which that rules it out, in nats, and
    ``status``: ``unopened``, ``warming``, ``leading``, ``challenged``, ``challenger``, ``in play`` or ``ruled out``.
    """

    __slots__ = (
        "_summary",
        "_text",
        "assumption",
        "beyond_horizon",
        "decisions",
        "delta",
        "gap",
        "horizon",
        "monitor",
        "recommended",
    )

    decisions: int
    horizon: int | None
    beyond_horizon: bool
    recommended: ArmName
    gap: float
    delta: float
    assumption: Assumption
    monitor: MonitorVerdict

    def __init__(self, core: tuple[str, _core.Frame, str, str], names: Sequence[Any]) -> None:
        described, table, self._text, self._summary = core
        super().__init__(table)
        state = loads(described)
        #: The number of decisions made.
        self.decisions = state["decisions"]
        #: The number of plays that the policy was told, or None.
        self.horizon = state["horizon"]
        #: Whether more decisions were made than the horizon has plays.
        self.beyond_horizon = state["beyond_horizon"]
        #: The arm to use if learning stopped now.
        self.recommended = names[state["recommended"]]
        #: The most by which its mean loss exceeds that of the best arm; infinite if nothing is known.
        self.gap = _finite(state["gap"], math.inf)
        #: The probability that any interval, and so the gap, is wrong at any time.
        self.delta = state["delta"]
        #: What the intervals assume about the losses.
        self.assumption = state["assumption"]
        #: Whether the bound on the memory looks too small.
        self.monitor = MonitorVerdict(**state["monitor"])

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def _repr_html_(self) -> str:
        return self._html(f"{self.decisions:,} decisions")

    def _html(self, caption: str) -> str:
        columns = [self.to_numpy(column).tolist() for column in self.columns]
        rows = [["" if _missing(cell) else cell for cell in row] for row in zip(*columns)]
        lines = "<br>".join(html.escape(line) for line in self._summary.splitlines())
        return _html.table(caption, self.columns, rows) + f"<p><small>{lines}</small></p>"


@dataclass(frozen=True)
class Confidence:
    """Intervals that contain the mean losses of all arms at every time at once, except with probability ``delta``.

    They hold however the policy chooses, and whenever somebody looks or stops. The mean is that of the losses that
    count: the eventual loss of an arm, if the policy has a burn-in and its bound on the memory is long enough.
    """

    delta: float
    """The probability that any interval is wrong at any time."""
    intervals: dict[ArmName, tuple[float, float]]
    """The interval of each arm."""
    assumption: Assumption
    """What the intervals assume about the losses."""
    recommended: ArmName
    """The arm that the policy recommends."""
    gap: float
    """The most by which its mean loss exceeds that of the best arm; infinite if nothing is known."""
    possible: tuple[ArmName, ...]
    """The arms that may be the best one."""

    @classmethod
    def _of(cls, core: tuple[str, tuple[list[int], float] | None], names: Sequence[Any]) -> Confidence:
        described, certificate = core
        found = loads(described)
        ends = [(_finite(one["low"], -math.inf), _finite(one["high"], math.inf)) for one in found["intervals"]]
        possible = range(len(names)) if certificate is None else certificate[0]
        return cls(
            delta=found["delta"],
            intervals=dict(zip(names, ends)),
            assumption=found["assumption"],
            recommended=names[found["recommended"]],
            gap=_finite(found["gap"], math.inf),
            possible=tuple(names[arm] for arm in possible),
        )

    def __str__(self) -> str:
        if math.isinf(self.gap):
            return f"nothing is certain yet about {self.recommended}"
        return f"with {100 * (1 - self.delta):g} %, {self.recommended} is within {self.gap:.3f} of the best arm"

    def _repr_html_(self) -> str:
        rows = [
            (str(arm), low, high, "" if arm in self.possible else "ruled out") for arm, (low, high) in self._items()
        ]
        return _html.table(str(self), ("arm", "low", "high", ""), rows)

    def _items(self) -> list[tuple[ArmName, tuple[float, float]]]:
        return list(self.intervals.items())


@dataclass(frozen=True)
class Explanation:
    """Why an advisor made a decision. ``str()`` gives the sentence."""

    decision: int
    """The number of the decision."""
    arm: ArmName
    """Its arm."""
    phase: Literal["burn-in", "measured"]
    """Whether the policy uses its loss."""
    play: int
    """The number of this play among the burn-in plays, or among the measured plays, of its run, from 1."""
    of: int | None
    """How many of them the run has; None for a run without an end. A larger ``play`` replaces a lost loss."""
    probe: int
    """How many of the burn-in plays belong to the probe of the monitor."""
    switched_from: ArmName | None
    """The arm that was played before the run, if it was another one and is known."""
    reason: Literal["opening", "leading", "challenge", "index", "comparison", "commitment", "unstated"]
    """Why the policy asked for the run."""
    leader: ArmName | None
    """For a challenge: the best arm so far."""
    evidence: float | None
    """For a challenge: the evidence, in nats, that the arm is worse than the leader."""
    threshold: float | None
    """For a challenge: the evidence at which the arm is ruled out."""
    text: str
    """The explanation in words."""

    @classmethod
    def _of(cls, core: tuple[str, str], names: Sequence[Any]) -> Explanation:
        described, text = core
        found = loads(described)
        reason = found["reason"]

        def name(arm: int | None) -> ArmName | None:
            return None if arm is None else names[arm]

        return cls(
            decision=found["decision"],
            arm=names[found["arm"]],
            phase=found["phase"],
            play=found["play"],
            of=None if found["of"] == 2**64 - 1 else found["of"],
            probe=found["probe"],
            switched_from=name(found["switched_from"]),
            reason=reason["kind"],
            leader=name(reason.get("leader")),
            evidence=reason.get("evidence"),
            threshold=reason.get("threshold"),
            text=text,
        )

    def __str__(self) -> str:
        return self.text


def _finite(value: float | None, otherwise: float) -> float:
    """A number of a JSON text, in which infinite numbers are null."""
    return otherwise if value is None else value


def _missing(cell: Any) -> bool:
    return isinstance(cell, float) and math.isnan(cell)
