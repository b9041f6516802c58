"""Live use: ask for one decision at a time, and tell its loss when it is known."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat, Union

from . import _core, _html
from ._arguments import LARGEST, is_number, listed, number, whole
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
    SpecError,
    TellError,
    UnknownNameError,
    UnreadableFileError,
)

__all__ = ["Advisor", "ArmName", "Certificate", "Decision"]

ArmName = Union[int, str]
"""What an advisor calls an arm: a name, or an index if the arms have no names."""


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

    Play the arms in the order of the decisions, one after the other. Losses may arrive late and in any order within a
    run; each counts at most once. If the policy needs an outstanding loss before its next run, :meth:`ask` raises
    :class:`WaitingError` with the outstanding decisions. Methods and properties may be used from several threads; the
    plays themselves must not overlap. A policy written in Python must not use the advisor that it works for: that
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
    ) -> None:
        number, names = _arms(arms)
        bound = None if memory_bound is None else whole("memory_bound", memory_bound, low=1)
        entry = _Entry(policy, bound)
        label = entry.label or PolicySpec(entry.table).label
        if isinstance(arms, Game) and entry.factory is None:
            warn_short_bound(label, PolicySpec(entry.table).memory_bound, arms, stacklevel=2)
        last = None if horizon is None else whole("horizon", horizon, low=1)
        ends = _range(loss_range)
        core = _core.Advisor(dumps(entry.table), entry.factory, number, last, seed_of(seed), ends)
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
            identity, arm, measured = self._core.ask()
            late = self._horizon is not None and identity >= self._horizon and not self._warned
            self._warned = self._warned or late
        if late:
            warn(
                f"decision {identity} is beyond the horizon of {self._horizon} plays that {self._label} was told: what "
                "it guarantees holds up to there",
                HorizonWarning,
                stacklevel=2,
            )
        return Decision(identity, self._names[arm], "measured" if measured else "burn-in", arm)

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
            told = number("loss", loss)
        elif reward is not None and loss is None:
            low, high = self.loss_range
            given = number("reward", reward)
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
        """Return what the policy guarantees about its arms so far; None for most policies."""
        with self._lock:
            found = self._core.certificate()
        if found is None:
            return None
        arms, gap, delta = found
        return Certificate(tuple(self._names[arm] for arm in arms), gap, delta)

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
            parts = (json.dumps(_saved_names(names)), _saved_label(label), _saved_horizon(horizon))
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
            run, plays, decisions, waiting = self.current_run, self._core.plays, self.decisions, len(self.outstanding)
        rows = [
            (str(name), plays[arm], "playing" if run is not None and run.arm == arm else "")
            for arm, name in enumerate(self._names)
        ]
        caption = f"Advisor, {self._label}: {decisions:,} decisions, {waiting:,} losses outstanding"
        return _html.table(caption, ("arm", "plays", ""), rows)


def _number(decision: Decision | int) -> int:
    if isinstance(decision, Decision):
        return decision.id
    given = whole("decision", decision, low=-LARGEST)
    if given < 0:
        raise UnknownNameError(f"there is no decision {given}: decisions are numbered from 0")
    return given


def _arms(arms: Any) -> tuple[int, list[Any] | None]:
    """The number of arms, and their names: those given, those of a game, or None for the indices."""
    if isinstance(arms, Game):
        return arms.n_arms, list(arms.arm_names) if arms._has_names else None
    if is_number(arms):
        return whole("arms", arms, low=1), None
    names = listed("arms", arms, "names")
    try:
        repeated = _repeated(names)
    except TypeError:
        raise ArgumentTypeError(f"`arms` must contain names, but {names!r} has a value that cannot be one") from None
    if repeated:
        raise SpecError(f"`arms` has the same name twice: {names!r}")
    if not names:
        raise SpecError("`arms` is empty: an advisor needs at least one arm")
    return len(names), names


def _repeated(names: list[Any]) -> bool:
    return len(set(names)) != len(names)


def _saved_names(names: Any) -> list[Any]:
    if not isinstance(names, list) or not all(isinstance(name, (str, int, float)) for name in names):
        raise SnapshotError(f"`arms` of the snapshot must be a list of names, not {names!r}")
    if _repeated(names):
        raise SnapshotError(f"`arms` of the snapshot has the same name twice: {names!r}")
    return names


def _saved_label(label: Any) -> str:
    if not isinstance(label, str):
        raise SnapshotError(f"`label` of the snapshot must be a text, not {label!r}")
    return label


def _saved_horizon(horizon: Any) -> int | None:
    if horizon is not None and not (type(horizon) is int and 1 <= horizon <= LARGEST):
        raise SnapshotError(f"`horizon` of the snapshot must be a whole number from 1 to 2**63 - 1, not {horizon!r}")
    return horizon


def _range(given: Any) -> tuple[float, float]:
    ends = listed("loss_range", given)
    if len(ends) != 2:
        raise SpecError(f"`loss_range` must be a pair (low, high), not {given!r}")
    return number("loss_range[0]", ends[0]), number("loss_range[1]", ends[1])
