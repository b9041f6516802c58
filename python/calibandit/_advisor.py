"""Live use: ask for one decision at a time, and tell its loss when it is known."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, SupportsFloat

from . import _core
from ._advisor_arguments import arms_of, loss_ends, past_losses, saved_horizon, saved_label, saved_names
from ._advisor_state import AdvisorState, ArmName, Confidence, Explanation, MonitorVerdict
from ._arguments import LARGEST, number, outcome, whole
from ._game import Game, warn_short_bound
from ._json import dumps
from ._log import warn
from ._options import SeedLike, path_of, seed_of
from ._policy import Policy, PolicyLike, PolicySpec, _Entry
from .errors import (
    ArgumentTypeError,
    HorizonWarning,
    MissingFileError,
    SnapshotError,
    TellError,
    UnknownNameError,
    UnreadableFileError,
)

__all__ = ["Advisor", "ArmName", "Certificate", "Decision"]


@dataclass(frozen=True)
class Decision:
    """The next play to make."""

    id: int
    """Identifies the decision when its loss is told. Decisions are numbered from 0."""
    arm: ArmName
    """The arm to play, by its name. The index if the arms have no names."""
    phase: Literal["burn-in", "measured"]
    """Whether the policy uses the loss. The loss of a burn-in play need not be told."""
    index: int
    """The index of the arm, from 0."""
    beyond_horizon: bool = field(default=False, repr=False)
    """Whether it is beyond the horizon that the policy was told."""

    @property
    def measured(self) -> bool:
        """Whether the policy uses its loss."""
        return self.phase == "measured"


@dataclass(frozen=True)
class Certificate:
    """With probability 1 - ``delta``, the best arm is among ``arms``, and each of them is within ``gap`` of it."""

    arms: tuple[ArmName, ...]
    gap: float
    delta: float


class Advisor:
    """Decides live which arm to play next, and learns from the losses.

    Args:
        policy: Everything accepted as a policy.
        arms: The number of arms, the names of the arms, or a :class:`Game` whose arms are meant. With a game, a memory
            bound below the memory of the game is warned about.
        memory_bound: The bound on the memory, passed to the policy if its kind takes one and it has none.
        horizon: The number of plays, for policies that need it. Asking beyond it warns once.
        seed: The seed of the policy's own randomness.
        loss_range: The range of losses, both ends included; ``(-math.inf, math.inf)`` accepts every finite number.
        warm_start: Past losses of calibrated arms to start from, by arm: the losses themselves, or a
            :class:`Feedback` with their number, sum and sum of squares. They must be the first recorded losses of an
            arm, not a selection. Policies that keep no means refuse them.
        probe: Whether the first visit of each arm has a burn-in of ``4 * memory_bound - 1`` plays. Tell the losses of
            burn-in plays too: from them the monitor sees whether the bound is too small (:attr:`monitor`).

    Play the arms in the order of the decisions, one after the other. Losses may arrive late and in any order within a
    run; each counts at most once. If the policy needs an outstanding loss before its next run, :meth:`ask` raises
    :class:`WaitingError` with the outstanding decisions. Methods and properties may be used from several threads,
    but plays must not overlap: losses of plays at the same time need not be those of a calibrated arm. If up to c plays
    are under way at once, give a ``memory_bound`` that is larger by ``2 * (c - 1)``, and start no play before the one c
    places earlier has finished. A policy written in Python must not use the advisor that it works for: that
    raises :class:`ReentrantCallError`.

    >>> import calibandit as cb
    >>> advisor = cb.Advisor("calibrated", arms=["worker-1", "worker-2", "worker-3"], memory_bound=8)
    >>> task = advisor.ask()
    >>> task
    Decision(id=0, arm='worker-1', phase='burn-in', index=0)
    >>> advisor.tell(task, loss=0.6)           # a burn-in play: its loss does not count
    False
    >>> for _ in range(1000):
    ...     task = advisor.ask()
    ...     if task.phase == "measured":
    ...         counted = advisor.tell(task, loss=0.1 if task.arm == "worker-2" else 0.6)
    >>> advisor.recommend()
    'worker-2'
    """

    def __init__(
        self,
        policy: PolicyLike,
        arms: int | Iterable[ArmName] | Game,
        *,
        memory_bound: int | None = None,
        horizon: int | None = None,
        seed: SeedLike = 1,
        loss_range: tuple[float, float] = (0.0, 1.0),
        warm_start: Mapping[ArmName, Any] | None = None,
        probe: bool = False,
    ) -> None:
        number, names = arms_of(arms)
        bound = None if memory_bound is None else whole("memory_bound", memory_bound, low=1)
        entry = _Entry(policy, bound)
        label = entry.label or PolicySpec(entry.table).label
        if isinstance(arms, Game) and entry.factory is None:
            warn_short_bound(label, PolicySpec(entry.table).memory_bound, arms, stacklevel=2)
        last = None if horizon is None else whole("horizon", horizon, low=1)
        ends = loss_ends(loss_range)
        past = None if warm_start is None else past_losses(warm_start, number, names)
        core = _core.Advisor(dumps(entry.table), entry.factory, number, last, seed_of(seed), ends, past, bool(probe))
        # After the compiled part has refused absurd numbers of arms.
        self._start(core, list(range(number)) if names is None else names, label, last)

    def _start(self, core: _core.Advisor, names: list[Any], label: str, horizon: int | None) -> None:
        self._core, self._names, self._label, self._horizon = core, names, label, horizon
        self._warned = False
        # Re-entrant, so that a policy that calls its own advisor gets an exception of the compiled part and does not
        # wait for itself.
        self._lock = threading.RLock()

    def ask(self) -> Decision:
        """Return the next play to make."""
        with self._lock:
            identity, arm, measured, beyond = self._core.ask()
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
        return Decision(identity, self._names[arm], "measured" if measured else "burn-in", arm, beyond)

    def tell(
        self,
        decision: Decision | int,
        *,
        loss: SupportsFloat | None = None,
        reward: SupportsFloat | None = None,
    ) -> bool:
        """Report the loss of a decision, or its reward. Return whether the policy uses it.

        The policy uses no losses of burn-in plays, and none once it has decided for good.

        Losses are minimised. A reward is converted to the loss ``low + high - reward``, where ``(low, high)`` is the
        range of losses: ``1 - reward`` for losses in [0, 1], ``-reward`` for an unbounded range. So rewards lie in the
        same range.
        """
        identity = _number(decision)
        if loss is not None and reward is None:
            told = outcome("loss", loss)
        elif reward is not None and loss is None:
            low, high = self.loss_range
            given = outcome("reward", reward)
            if not low <= given <= high:
                raise TellError(
                    f"the reward {given:g} of decision {identity} does not lie in [{low:g}, {high:g}], the rewards "
                    f"that `loss_range=({low:g}, {high:g})` declares possible"
                )
            told = low + high - given
        else:
            raise ArgumentTypeError(
                "tell needs the loss or the reward of the decision, by name: one of `loss=` and `reward=`"
            )
        with self._lock:
            return self._core.tell(identity, told)

    def forget(self, decision: Decision | int) -> None:
        """Give up a loss that will never arrive. If the policy needs it, one more play replaces it.

        Whether a loss is missing must not depend on its value. If only failures are missing, tell a loss of 1 instead.
        """
        with self._lock:
            self._core.forget(_number(decision))

    def recommend(self) -> ArmName:
        """Return the arm to use if learning stopped now."""
        with self._lock:
            arm: ArmName = self._names[self._core.recommend()]
        return arm

    def certificate(self) -> Certificate | None:
        """Return what is certain about the arms so far; None if that is nothing.

        It is what the policy guarantees, if it does, otherwise what :meth:`confidence` shows.
        """
        with self._lock:
            found = self._core.certificate()
        if found is None:
            return None
        arms, gap, delta = found
        return Certificate(tuple(self._names[arm] for arm in arms), gap, delta)

    def state(self) -> AdvisorState:
        """Return what the advisor knows about each arm, and how sure it is: a table.

        >>> import calibandit as cb
        >>> advisor = cb.Advisor("calibrated", ["ada", "bo"], memory_bound=3)
        >>> for _ in range(500):
        ...     task = advisor.ask()
        ...     counted = advisor.tell(task, loss=0.2 if task.arm == "bo" else 0.6)
        >>> state = advisor.state()
        >>> state.to_pandas()[["arm", "measured", "status"]].values.tolist()
        [['ada', 32, 'ruled out'], ['bo', 464, 'leading']]
        >>> state.recommended, state.gap, state.monitor.alarm
        ('bo', 0.0, False)
        """
        with self._lock:
            return AdvisorState(self._core.state([str(name) for name in self._names]), self._names)

    def confidence(self, delta: float = 0.05) -> Confidence:
        """Return intervals of the mean losses of all arms that hold at every time at once.

        Except with probability ``delta`` all of them are right at all times, however the policy chooses and whenever
        you look or stop. ``str()`` gives the certificate in words.
        """
        with self._lock:
            return Confidence._of(self._core.confidence(number("delta", delta)), self._names)

    def explain(self, decision: Decision | int) -> Explanation:
        """Return why a decision was made.

        The reasons of the latest 64 runs are kept, in memory only; for earlier decisions this raises
        :class:`UnknownNameError`.

        >>> import calibandit as cb
        >>> advisor = cb.Advisor("calibrated", ["ada", "bo"], memory_bound=10)
        >>> print(advisor.explain(advisor.ask()))
        burn-in play 1 of 9 of ada: its loss does not count; measuring every arm once
        """
        with self._lock:
            names = [str(name) for name in self._names]
            return Explanation._of(self._core.explain(_number(decision), names), self._names)

    @property
    def monitor(self) -> MonitorVerdict:
        """Whether the bound on the memory looks too small."""
        return self.state().monitor

    @property
    def arms(self) -> list[ArmName]:
        """The names of the arms."""
        return list(self._names)

    @property
    def plays(self) -> dict[ArmName, int]:
        """The number of plays of each arm."""
        with self._lock:
            return dict(zip(self._names, self._core.plays))

    @property
    def switches(self) -> int:
        """The number of changes of the arm from one play to the next."""
        with self._lock:
            return self._core.switches

    @property
    def decisions(self) -> int:
        """The number of decisions made."""
        with self._lock:
            return self._core.decisions

    @property
    def outstanding(self) -> list[int]:
        """The decisions whose losses the policy needs before its next run, oldest first."""
        with self._lock:
            return self._core.outstanding

    @property
    def current_run(self) -> _core.Run | None:
        """The current run, with the index of the arm."""
        with self._lock:
            return self._core.current_run

    @property
    def loss_range(self) -> tuple[float, float]:
        """The range of losses."""
        with self._lock:
            return self._core.loss_range

    def to_json(self) -> str:
        """Serialise the advisor, including the random generator of its policy. A restored advisor continues exactly
        from here."""
        with self._lock:
            return self._core.snapshot(self._parts())

    def _parts(self) -> tuple[str, str, int | None]:
        """What a snapshot has besides the advisor: the names of the arms as JSON, the label and the horizon."""
        if self._core.own_policy is not None:
            raise SnapshotError(f"{self._label} is a Python object without a JSON form: pickle the advisor instead")
        if not all(isinstance(name, (str, int, float)) and name == name for name in self._names):
            raise SnapshotError("the names of the arms have no JSON form: pickle the advisor, or use strings as names")
        return json.dumps(self._names), self._label, self._horizon

    @classmethod
    def from_json(cls, text: str, *, edited: bool = False) -> Advisor:
        """Restore an advisor from the text that :meth:`to_json` returned.

        The text has checksums, which find accidental damage. ``edited=True`` accepts a text that was changed on
        purpose: the checksums are not compared, and everything else is checked as before.
        """
        try:
            saved = json.loads(text)
            layout = saved["calibandit_python"]
            if layout not in (1, 2):
                raise SnapshotError(f"the snapshot has layout {layout!r}; this version reads 1 and 2")
            names, label, advisor, horizon = saved["arms"], saved["label"], saved["advisor"], saved.get("horizon")
            parts = (json.dumps(saved_names(names)), saved_label(label), saved_horizon(horizon))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            if isinstance(error, SnapshotError):
                raise
            raise SnapshotError(f"not a snapshot of an advisor: {error!r}") from error
        # Layout 1 has no checksum.
        given = saved.get("checksum")
        if not edited and (given is not None or layout > 1) and given != _core.parts_checksum(parts):
            raise SnapshotError(
                "the snapshot does not match its checksum: it was damaged, or edited; `edited=True` reads a snapshot "
                "that was edited on purpose"
            )
        return cls._restored(json.dumps(advisor), names, label, None, horizon, edited)

    @classmethod
    def _restored(
        cls,
        text: str,
        names: list[Any],
        label: str,
        policy: Policy | None,
        horizon: int | None = None,
        edited: bool = False,
    ) -> Advisor:
        made = cls.__new__(cls)
        core = _core.Advisor.from_json(text, policy, edited)
        if len(core.plays) != len(names):
            raise SnapshotError(f"the snapshot has {len(names)} names for {len(core.plays)} arms")
        made._start(core, names, label, horizon)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the advisor to a file. Several threads may save, and so may several processes.

        The file is replaced atomically, and it is on disk when this method returns: at any time, also after a crash,
        it has a whole snapshot. It is not older than the last save of this advisor that returned.
        """
        with self._lock:
            parts = self._parts()
        self._core.save(path_of("path", path), parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, edited: bool = False) -> Advisor:
        """Restore an advisor from a file that :meth:`save` wrote. ``edited`` is that of :meth:`from_json`."""
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError as error:
            raise MissingFileError(f"{os.fspath(path)}: there is no such file") from error
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFileError(f"{os.fspath(path)}: {error}") from error
        return cls.from_json(text, edited=edited)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            own = copy.deepcopy(self._core.own_policy)
            return (Advisor._restored, (self._core.to_json(), self._names, self._label, own, self._horizon))

    def __repr__(self) -> str:
        with self._lock:
            waiting, decisions = len(self.outstanding), self.decisions
        awaits = f", {waiting} losses outstanding" if waiting else ""
        return f"<Advisor {self._label}: {len(self._names)} arms, {decisions} decisions{awaits}>"

    def _repr_html_(self) -> str:
        with self._lock:
            state, run, waiting = self.state(), self.current_run, len(self.outstanding)
        playing = "" if run is None else f", playing {self._names[run.arm]}"
        caption = f"Advisor, {self._label}: {state.decisions:,} decisions, {waiting:,} losses outstanding{playing}"
        return state._html(caption)


def _number(decision: Decision | int) -> int:
    if isinstance(decision, Decision):
        return decision.id
    given = whole("decision", decision, low=-LARGEST)
    if given < 0:
        raise UnknownNameError(f"there is no decision {given}: decisions are numbered from 0")
    return given
