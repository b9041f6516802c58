"""Live use on many lanes: users, machines or workers with a memory of their own, who share what is learnt."""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Iterable
from typing import Any, Literal, SupportsFloat

from . import _core
from ._advisor import Certificate
from ._advisor_arguments import arms_of, loss_ends
from ._advisor_state import ArmName
from ._arguments import listed, outcome, whole
from ._game import Game, warn_short_bound
from ._json import dumps
from ._lane import Lane
from ._lane_arguments import UNITS, UNSTATED, Unstated, duration_of, expiry_of, time_of
from ._lane_decision import LaneDecision, Recorded, number_of
from ._lane_state import LaneCounts, LaneState
from ._log import warn
from ._options import SeedLike, choice, seed_of
from ._policy import PolicyLike, PolicySpec, _Entry
from .errors import ArgumentTypeError, HorizonWarning, TellError, UnknownNameError

__all__ = ["LaneAdvisor"]


class LaneAdvisor:
    """Decides live which arm each lane plays next, and learns from the losses of all lanes.

    A lane is what has the memory: a user, a machine, a worker pool. What is learnt is shared, windows are not.

    Args:
        policy: Everything accepted as a policy, except EXP3, batched EXP3, pilots and policies that plan, where losses
            could come from other lanes or from plays beyond the policy's runs.
        arms: The number of arms, the names of the arms, or a :class:`Game` whose arms are meant.
        timeout: After how many seconds a decision without an outcome expires; None if decisions never expire. There is
            no default: only you know whether losses may be missing.
        on_timeout: What becomes of a decision that expires: ``"lost"`` (nothing is known; it must not be played any
            more) or the loss that it gets, for example 1 for "no click". Needed if there is a timeout.
        memory_bound: The bound on the memory, passed to the policy if its kind takes one and it has none. For other
            policies it is the number of plays in a row from which on losses are used.
        many: False for one lane only, on which every play is part of the policy's runs.
        overlap: How many plays of one lane may be under way at once. Above 1, every play must be reported when it is
            finished, and the burn-in is longer by ``2 * (overlap - 1)`` plays.
        reset_after: After how many seconds without a play a lane is cold again; None if never.
        filler: What lanes that play the policy's run play while its losses are outstanding: its arm again (``"stay"``),
            the recommended arm (``"leader"``), or nothing (``"wait"``: :meth:`ask` raises :class:`WaitingError`).
        explorers: The most lanes that explore at once; None for a number that follows from the active lanes.
        horizon: The number of plays of all lanes, for policies that need it. Asking beyond it warns once.
        seed: The seed of the policy's own randomness, and of the choice of lanes that explore.
        loss_range: The range of losses, both ends included.

    Lanes are named by any hashable value. Every method takes the time as ``now``, in seconds on any clock that you
    choose; the default is ``time.time()``. Time never goes back. Methods may be used from several threads.

    >>> import calibandit as cb
    >>> advisor = cb.LaneAdvisor(
    ...     "calibrated", ["red", "blue"], memory_bound=3, timeout=60, on_timeout=1.0, reset_after=1800
    ... )
    >>> slot = advisor.ask("user-17", now=0)
    >>> slot
    LaneDecision(id=0, lane='user-17', arm='red', phase='warm-up', position=1)
    >>> bool(advisor.tell(slot, loss=0.0, now=5))    # a warm-up play: its loss does not count
    False
    >>> advisor.ask("user-23", now=6).position       # another user has a window of its own
    1
    >>> advisor.ask("user-17", now=10).position
    2
    >>> advisor.ask("user-17", now=4000).position    # after more than half an hour, a new session
    1
    """

    def __init__(
        self,
        policy: PolicyLike,
        arms: int | Iterable[ArmName] | Game,
        *,
        timeout: float | None,
        on_timeout: SupportsFloat | Literal["lost"] | None = None,
        memory_bound: int | None = None,
        many: bool = True,
        overlap: int = 1,
        reset_after: float | None = None,
        filler: Literal["stay", "leader", "wait"] = "stay",
        explorers: int | None = None,
        horizon: int | None = None,
        seed: SeedLike = 1,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        count, names = arms_of(arms)
        bound = None if memory_bound is None else whole("memory_bound", memory_bound, low=1)
        entry = _Entry(policy, bound)
        label = entry.label or PolicySpec(entry.table).label
        if isinstance(arms, Game) and entry.factory is None:
            warn_short_bound(label, PolicySpec(entry.table).memory_bound, arms, stacklevel=2)
        settings = {
            "lanes": "many" if many else "one",
            "overlap": whole("overlap", overlap, low=1, high=1024),
            "memory_bound": bound or 1,
            "filler": choice("filler", filler, ("stay", "leader", "wait")),
            "expiry": expiry_of(timeout, on_timeout),
            "reset_after": None if reset_after is None else duration_of("reset_after", reset_after),
            "explorers": "auto" if explorers is None else {"at-most": whole("explorers", explorers, low=1)},
        }
        last = None if horizon is None else whole("horizon", horizon, low=1)
        self._ends = loss_ends(loss_range)
        self._core = _core.LaneAdvisor(
            dumps(entry.table), entry.factory, count, last, seed_of(seed), self._ends, dumps(settings)
        )
        self._names: list[Any] = list(range(count)) if names is None else names
        self._label, self._horizon, self._warned = label, last, False
        self._lanes: dict[Hashable, int] = {}
        # Re-entrant, so that a policy that calls its own advisor gets an exception of the compiled part.
        self._lock = threading.RLock()

    def ask(
        self,
        lane: Hashable = 0,
        *,
        now: float | None = None,
        after: LaneDecision | int | Unstated | None = UNSTATED,
        available: Iterable[ArmName] | None = None,
    ) -> LaneDecision:
        """Return the next play of a lane.

        Without overlap, asking again says that the lane's plays so far were made as advised, or were reported
        otherwise. ``after`` is the newest decision of the lane that you have, None for none: a request that is repeated
        after a lost answer then gets the same decision again. ``available`` lists the arms that can be played now.
        """
        arms = None if available is None else [self._arm(arm) for arm in listed("available", available, "arms")]
        before = None if isinstance(after, Unstated) else -1 if after is None else number_of(after)
        at = time_of(now)
        with self._lock:
            key = self._lanes.get(lane)
            if key is None:
                key = len(self._lanes)
            found = self._core.ask(key, at, before, arms)
            self._lanes.setdefault(lane, key)
            identity, arm, phase, position, run, asked_at, expires_at, beyond, again = found
            beyond = beyond or (self._horizon is not None and identity >= self._horizon)
            late = beyond and not self._warned
            self._warned = self._warned or late
        if late:
            warn(
                f"decision {identity} is beyond the horizon of {self._horizon} plays that {self._label} was told: what "
                "it guarantees holds up to there",
                HorizonWarning,
                stacklevel=2,
            )
        expires = None if expires_at is None else expires_at / UNITS
        name = self._names[arm]
        return LaneDecision(identity, lane, name, phase, position, arm, run, asked_at / UNITS, expires, beyond, again)

    def tell(
        self,
        decision: LaneDecision | int,
        *,
        loss: SupportsFloat | None = None,
        reward: SupportsFloat | None = None,
        played_at: float | None = None,
        now: float | None = None,
    ) -> Recorded:
        """Report the loss of a decision, or its reward. The answer is true if the loss is used.

        The same loss again changes nothing; another one raises :class:`AlreadySettledError`. A loss that comes after
        the decision has expired is counted as late and not used. ``played_at`` is when the play was made, if that is
        known: a pause before it that is longer than ``reset_after`` makes it the first play of a cold lane.
        """
        told = self._loss(number_of(decision), loss, reward)
        if told is None:
            raise ArgumentTypeError(
                "tell needs the loss or the reward of the decision, by name: one of `loss=` and `reward=`"
            )
        return self._settle(decision, "loss", told, None, played_at, now)

    def done(self, decision: LaneDecision | int, *, now: float | None = None) -> Recorded:
        """Report that a play was made, and that there is no loss to tell: for warm-up and filler plays."""
        return self._settle(decision, "done", None, None, None, now)

    def forget(self, decision: LaneDecision | int, *, now: float | None = None) -> Recorded:
        """Report that a play was made and its loss is lost. If the policy needs it, one more play replaces it."""
        return self._settle(decision, "lost", None, None, None, now)

    def not_played(self, decision: LaneDecision | int, *, now: float | None = None) -> Recorded:
        """Report that a play was not made and will not be."""
        return self._settle(decision, "not-played", None, None, None, now)

    def overridden(
        self,
        decision: LaneDecision | int,
        arm: ArmName,
        *,
        loss: SupportsFloat | None = None,
        reward: SupportsFloat | None = None,
        now: float | None = None,
    ) -> Recorded:
        """Report that another arm was played instead, with its loss or reward if that is known."""
        told = self._loss(number_of(decision), loss, reward)
        return self._settle(decision, "overridden", told, self._arm(arm), None, now)

    def play(
        self,
        lane: Hashable,
        arm: ArmName,
        *,
        loss: SupportsFloat | None = None,
        reward: SupportsFloat | None = None,
        now: float | None = None,
    ) -> Recorded:
        """Report a play that was made without advice."""
        told, index, at = self._loss(None, loss, reward), self._arm(arm), time_of(now)
        with self._lock:
            key = self._lanes.get(lane, len(self._lanes))
            counted, first, identity = self._core.play(key, index, told, at)
            self._lanes.setdefault(lane, key)
        return Recorded(identity, counted, first)

    def reset(self, lane: Hashable | None = None, *, now: float | None = None) -> None:
        """Report that a lane has lost its memory, for example by a restart; without a lane, that all lanes have."""
        at = time_of(now)
        with self._lock:
            if lane is None:
                self._core.reset(None, at)
            elif lane in self._lanes:
                self._core.reset(self._lanes[lane], at)
            # A lane that was never asked is cold.

    def tick(self, *, now: float | None = None) -> None:
        """Let time pass: decisions expire. Every other method does so too."""
        with self._lock:
            self._core.tick(time_of(now))

    def lane(self, name: Hashable) -> Lane:
        """Return a lane, to ask and tell without naming it each time."""
        return Lane(self, name)

    def recommend(self) -> ArmName:
        """Return the arm to use if learning stopped now."""
        with self._lock:
            arm: ArmName = self._names[self._core.recommend()]
        return arm

    def certificate(self) -> Certificate | None:
        """Return what the policy guarantees about the arms so far; None if that is nothing."""
        with self._lock:
            found = self._core.certificate()
        if found is None:
            return None
        arms, gap, delta = found
        return Certificate(tuple(self._names[arm] for arm in arms), gap, delta)

    def state(self) -> LaneState:
        """Return what is known about each arm, and what became of the decisions: a table."""
        with self._lock:
            return LaneState(
                self._core.state([str(name) for name in self._names]),
                decisions=self._core.decisions,
                lanes=len(self._lanes),
                active_lanes=self._core.active_lanes,
                recommended=self._names[self._core.recommend()],
                counts=LaneCounts._of(self._core.counts()),
            )

    @property
    def arms(self) -> list[ArmName]:
        """The names of the arms."""
        return list(self._names)

    @property
    def lanes(self) -> list[Hashable]:
        """The lanes that were ever asked, in the order of their first decisions."""
        with self._lock:
            return list(self._lanes)

    @property
    def plays(self) -> dict[ArmName, int]:
        """The number of plays of each arm, as far as is known."""
        with self._lock:
            return dict(zip(self._names, self._core.plays))

    @property
    def decisions(self) -> int:
        """The number of decisions made, plays without advice included."""
        with self._lock:
            return self._core.decisions

    @property
    def outstanding(self) -> list[int]:
        """The decisions without an outcome, oldest first."""
        with self._lock:
            return self._core.open

    @property
    def burn_in(self) -> int:
        """How many plays in a row a lane makes before losses of an arm are used."""
        return self._core.burn_in

    @property
    def current_run(self) -> _core.Run | None:
        """The run that the policy has asked for, with the index of the arm."""
        with self._lock:
            return self._core.current_run

    @property
    def loss_range(self) -> tuple[float, float]:
        """The range of losses."""
        return self._ends

    def __repr__(self) -> str:
        with self._lock:
            lanes, decisions, waiting = len(self._lanes), self.decisions, len(self.outstanding)
        awaits = f", {waiting} outstanding" if waiting else ""
        return f"<LaneAdvisor {self._label}: {len(self._names)} arms, {lanes} lanes, {decisions} decisions{awaits}>"

    def _repr_html_(self) -> str:
        with self._lock:
            state, waiting = self.state(), len(self.outstanding)
        return state._html(f"LaneAdvisor, {self._label}: {state.decisions:,} decisions, {waiting:,} outstanding")

    def _settle(
        self,
        decision: LaneDecision | int,
        outcome: str,
        loss: float | None,
        arm: int | None,
        played_at: float | None,
        now: float | None,
    ) -> Recorded:
        played, at = None if played_at is None else time_of(played_at), time_of(now)
        with self._lock:
            counted, first, identity = self._core.settle(number_of(decision), outcome, loss, arm, played, at)
        return Recorded(identity, counted, first)

    def _loss(self, decision: int | None, loss: Any, reward: Any) -> float | None:
        """The loss that was given, or that of the reward; None if there is neither."""
        if loss is not None and reward is not None:
            raise ArgumentTypeError("give the loss or the reward, not both")
        if reward is None:
            return None if loss is None else outcome("loss", loss)
        (low, high), given = self._ends, outcome("reward", reward)
        if not low <= given <= high:
            of = "" if decision is None else f" of decision {decision}"
            raise TellError(
                f"the reward {given:g}{of} does not lie in [{low:g}, {high:g}], the rewards that "
                f"`loss_range=({low:g}, {high:g})` declares possible"
            )
        return -given if math.isinf(low) else low + high - given

    def _arm(self, arm: Any) -> int:
        try:
            return self._names.index(arm)
        except ValueError:
            known = ", ".join(map(repr, self._names[:20])) + (", ..." if len(self._names) > 20 else "")
            raise UnknownNameError(f"there is no arm {arm!r}; the arms are {known}") from None
