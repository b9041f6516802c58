"""One lane of a lane advisor, to ask and tell without naming it each time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, SupportsFloat

from ._advisor_state import ArmName
from ._lane_decision import LaneDecision, Recorded, number_of
from .errors import UnknownDecisionError

if TYPE_CHECKING:
    from ._lanes import LaneAdvisor

__all__ = ["Lane"]


class Lane:
    """One lane of a :class:`LaneAdvisor`, to ask and tell without naming it each time.

    >>> import calibandit as cb
    >>> advisor = cb.LaneAdvisor("calibrated", 2, memory_bound=2, timeout=None)
    >>> lane = advisor.lane("server-1")
    >>> for second in range(10):
    ...     play = lane.ask(now=second)
    ...     counted = lane.tell(loss=0.5, now=second)
    >>> lane.streak
    10
    """

    __slots__ = ("_advisor", "_open", "name")

    name: Hashable

    def __init__(self, advisor: LaneAdvisor, name: Hashable) -> None:
        hash(name)
        self._advisor, self.name = advisor, name
        self._open: list[LaneDecision] = []

    def ask(self, *, now: float | None = None, available: Iterable[ArmName] | None = None) -> LaneDecision:
        """Return the next play of the lane."""
        decision = self._advisor.ask(self.name, now=now, available=available)
        self._open.append(decision)
        # With overlap, a lane has as many open plays; without, only the newest can be meant.
        del self._open[:-1024]
        return decision

    def tell(
        self,
        decision: LaneDecision | int | None = None,
        *,
        loss: SupportsFloat | None = None,
        reward: SupportsFloat | None = None,
        now: float | None = None,
    ) -> Recorded:
        """Report the loss or the reward of a decision; without one, of the newest decision asked here."""
        meant = self._newest() if decision is None else decision
        recorded = self._advisor.tell(meant, loss=loss, reward=reward, now=now)
        return self._close(meant, recorded)

    def done(self, decision: LaneDecision | int | None = None, *, now: float | None = None) -> Recorded:
        """Report that a play was made without a loss to tell."""
        meant = self._newest() if decision is None else decision
        return self._close(meant, self._advisor.done(meant, now=now))

    def forget(self, decision: LaneDecision | int | None = None, *, now: float | None = None) -> Recorded:
        """Report that a play was made and its loss is lost."""
        meant = self._newest() if decision is None else decision
        return self._close(meant, self._advisor.forget(meant, now=now))

    def not_played(self, decision: LaneDecision | int | None = None, *, now: float | None = None) -> Recorded:
        """Report that a play was not made."""
        meant = self._newest() if decision is None else decision
        return self._close(meant, self._advisor.not_played(meant, now=now))

    def reset(self, *, now: float | None = None) -> None:
        """Report that the lane has lost its memory."""
        self._advisor.reset(self.name, now=now)

    @property
    def arm(self) -> ArmName | None:
        """The arm that the lane plays at present; None if it is cold."""
        index = self._found()[0]
        return None if index is None else self._advisor.arms[index]

    @property
    def streak(self) -> int:
        """Its plays of that arm in a row."""
        return self._found()[1]

    def __repr__(self) -> str:
        return f"<Lane {self.name!r}: {self.streak} plays of {self.arm!r} in a row>"

    def _found(self) -> tuple[int | None, int, int | None]:
        with self._advisor._lock:
            key = self._advisor._lanes.get(self.name)
            found = None if key is None else self._advisor._core.lane(key)
        return (None, 0, None) if found is None else found

    def _newest(self) -> LaneDecision:
        if not self._open:
            raise UnknownDecisionError(f"lane {self.name!r} has no open decision: ask first, or give the decision")
        return self._open[-1]

    def _close(self, decision: LaneDecision | int, recorded: Recorded) -> Recorded:
        self._open = [one for one in self._open if one.id != number_of(decision)]
        return recorded
