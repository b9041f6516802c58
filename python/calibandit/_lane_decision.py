"""Decisions of lane advisors, and how their outcomes count."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

from ._advisor_state import ArmName
from ._arguments import LARGEST, whole
from .errors import UnknownNameError

__all__ = ["LaneDecision", "Recorded", "number_of"]


@dataclass(frozen=True)
class LaneDecision:
    """The next play of a lane."""

    id: int
    """Identifies the decision. Decisions of all lanes are numbered from 0."""
    lane: Hashable
    """The lane."""
    arm: ArmName
    """The arm to play, by its name. The index if the arms have no names."""
    phase: Literal["warm-up", "measured", "filler"]
    """How its loss is used: not at all, because the arm warms up in this lane; for the policy, which has asked for it;
    or for a later run, if the arm is calibrated."""
    position: int
    """The plays of this arm in a row in this lane, this one included."""
    index: int = field(repr=False)
    """The index of the arm, from 0."""
    run: int = field(repr=False)
    """The number of the policy's run that was open, from 0."""
    asked_at: float = field(repr=False)
    """When it was asked for, in seconds."""
    expires_at: float | None = field(repr=False)
    """When it expires, in seconds; None if it does not."""
    beyond_horizon: bool = field(default=False, repr=False)
    """Whether it is beyond the horizon that the policy was told."""
    redelivered: bool = field(default=False, repr=False)
    """Whether it was given out before, and this is the answer to a repeated request."""

    @property
    def measured(self) -> bool:
        """Whether the policy has asked for its loss."""
        return self.phase == "measured"


@dataclass(frozen=True)
class Recorded:
    """How an outcome counts. It is true if its loss is used."""

    decision: int
    """The decision. A play without advice has a number of its own."""
    counted: Literal["run", "bank", "warm-up", "not", "late"]
    """As a loss of the open run, or of a later one; as a warm-up play; not at all; or not because the decision had
    expired."""
    first: bool
    """False if the same outcome was reported before, so that nothing has changed."""

    def __bool__(self) -> bool:
        return self.counted in ("run", "bank")


def number_of(decision: LaneDecision | int) -> int:
    if isinstance(decision, LaneDecision):
        return decision.id
    given = whole("decision", decision, low=-LARGEST)
    if given < 0:
        raise UnknownNameError(f"there is no decision {given}: decisions are numbered from 0")
    return given
