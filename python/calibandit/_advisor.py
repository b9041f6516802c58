"""Live use: ask for one decision at a time, and tell its loss when it is known."""

from __future__ import annotations

import copy
import json
import os
import threading
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat, Union

from . import _core, _html
from ._arguments import LARGEST, is_number, listed, number, whole
from ._game import Game, warn_short_bound
from ._json import dumps
from ._options import SeedLike, seed_of
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
    :class:`WaitingError` with the outstanding decisions. Methods may be called from several threads; the plays
    themselves must not overlap.

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
        names = _names(arms)
        bound = None if memory_bound is None else whole("memory_bound", memory_bound, low=1)
        entry = _Entry(policy, bound)
        label = entry.label or PolicySpec(entry.table).label
        if isinstance(arms, Game) and entry.factory is None:
            warn_short_bound(label, PolicySpec(entry.table).memory_bound, arms, stacklevel=2)
        last = None if horizon is None else whole("horizon", horizon, low=1)
        ends = _range(loss_range)
        core = _core.Advisor(dumps(entry.table), entry.factory, len(names), last, seed_of(seed), ends)
        self._start(core, names, label, last)

    def _start(self, core: _core.Advisor, names: list[Any], label: str, horizon: int | None) -> None:
        self._core, self._names, self._label, self._horizon = core, names, label, horizon
        self._warned = False
        self._lock = threading.Lock()

    def ask(self) -> Decision:
        """Return the next play to make."""
        with self._lock:
            identity, arm, measured = self._core.ask()
            late = self._horizon is not None and identity >= self._horizon and not self._warned
            self._warned = self._warned or late
        if late:
            warnings.warn(
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
            low, high = self._core.loss_range
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
        return dict(zip(self._names, self._core.plays))

    @property
    def switches(self) -> int:
        """The number of changes of the arm from one play to the next."""
        return self._core.switches

    @property
    def decisions(self) -> int:
        """The number of decisions made."""
        return self._core.decisions

    @property
    def outstanding(self) -> list[int]:
        """The decisions whose losses the policy needs before its next run, oldest first."""
        return self._core.outstanding

    @property
    def current_run(self) -> _core.Run | None:
        """The current run, with the index of the arm."""
        return self._core.current_run

    @property
    def loss_range(self) -> tuple[float, float]:
        """The range of losses."""
        return self._core.loss_range

    def to_json(self) -> str:
        """Serialise the advisor, including the random generator of its policy. A restored advisor continues exactly
        from here."""
        if self._core.own_policy is not None:
            raise SnapshotError(f"{self._label} is a Python object without a JSON form: pickle the advisor instead")
        if not all(isinstance(name, (str, int, float, bool)) for name in self._names):
            raise SnapshotError("the names of the arms have no JSON form: pickle the advisor, or use strings as names")
        with self._lock:
            advisor = json.loads(self._core.to_json())
        horizon = {} if self._horizon is None else {"horizon": self._horizon}
        saved = {"calibandit_python": 1, "arms": self._names, "label": self._label, **horizon, "advisor": advisor}
        return json.dumps(saved)

    @classmethod
    def from_json(cls, text: str) -> Advisor:
        """Restore an advisor from the text that :meth:`to_json` returned."""
        try:
            saved = json.loads(text)
            names, label, advisor = saved["arms"], saved["label"], saved["advisor"]
            # Snapshots without it are of advisors whose policy was told no horizon, or older.
            horizon = saved.get("horizon")
            if saved["calibandit_python"] != 1:
                raise SnapshotError(f"the snapshot has layout {saved['calibandit_python']!r}; this version reads 1")
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, SnapshotError):
                raise
            raise SnapshotError(f"not a snapshot of an advisor: {error!r}") from error
        return cls._restored(json.dumps(advisor), names, label, None, horizon)

    @classmethod
    def _restored(
        cls, text: str, names: list[Any], label: str, policy: Policy | None, horizon: int | None = None
    ) -> Advisor:
        made = cls.__new__(cls)
        core = _core.Advisor.from_json(text, policy)
        if len(core.plays) != len(names):
            raise SnapshotError(f"the snapshot has {len(names)} names for {len(core.plays)} arms")
        made._start(core, names, label, horizon)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the advisor to a file. The file is replaced atomically."""
        text = self.to_json()
        fresh = os.fspath(path) + ".new"
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Advisor:
        """Restore an advisor from a file that :meth:`save` wrote."""
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except FileNotFoundError as error:
            raise MissingFileError(f"{os.fspath(path)}: there is no such file") from error
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFileError(f"{os.fspath(path)}: {error}") from error
        return cls.from_json(text)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            own = copy.deepcopy(self._core.own_policy)
            return (Advisor._restored, (self._core.to_json(), self._names, self._label, own, self._horizon))

    def __repr__(self) -> str:
        waiting = len(self.outstanding)
        awaits = f", {waiting} losses outstanding" if waiting else ""
        return f"<Advisor {self._label}: {len(self._names)} arms, {self.decisions} decisions{awaits}>"

    def _repr_html_(self) -> str:
        run, plays = self.current_run, self._core.plays
        rows = [
            (str(name), plays[arm], "playing" if run is not None and run.arm == arm else "")
            for arm, name in enumerate(self._names)
        ]
        caption = f"Advisor, {self._label}: {self.decisions:,} decisions, {len(self.outstanding):,} losses outstanding"
        return _html.table(caption, ("arm", "plays", ""), rows)


def _number(decision: Decision | int) -> int:
    if isinstance(decision, Decision):
        return decision.id
    given = whole("decision", decision, low=-LARGEST)
    if given < 0:
        raise UnknownNameError(f"there is no decision {given}: decisions are numbered from 0")
    return given


def _names(arms: Any) -> list[Any]:
    """The names of the arms: those given, those of a game, or the indices."""
    if isinstance(arms, Game):
        return list(arms.arm_names) if arms._has_names else list(range(arms.n_arms))
    if is_number(arms):
        return list(range(whole("arms", arms, low=1)))
    names = listed("arms", arms, "names")
    try:
        repeated = len(set(names)) != len(names)
    except TypeError:
        raise ArgumentTypeError(f"`arms` must contain names, but {names!r} has a value that cannot be one") from None
    if repeated:
        raise SpecError(f"`arms` has the same name twice: {names!r}")
    if not names:
        raise SpecError("`arms` is empty: an advisor needs at least one arm")
    return names


def _range(given: Any) -> tuple[float, float]:
    ends = listed("loss_range", given)
    if len(ends) != 2:
        raise SpecError(f"`loss_range` must be a pair (low, high), not {given!r}")
    return number("loss_range[0]", ends[0]), number("loss_range[1]", ends[1])
