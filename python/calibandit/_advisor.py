"""Live use: ask for one decision at a time, and tell its loss when it is known."""

from __future__ import annotations

import copy
import json
import math
import os
import threading
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from . import _core
from ._arguments import LARGEST, whole
from ._json import dumps
from ._policy import Policy, PolicyLike, PolicySpec, _Entry
from .errors import SnapshotError, SpecError, UnknownNameError

__all__ = ["Advisor", "Certificate", "Decision"]


@dataclass(frozen=True)
class Decision:
    """The next play to make."""

    id: int
    """Identifies the decision when its loss is told. Decisions are numbered from 0."""
    arm: Any
    """The arm to play, by its name."""
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

    arms: tuple[Any, ...]
    gap: float
    delta: float


class Advisor:
    """Decides live which arm to play next, and learns from the losses.

    ``arms`` is the number of arms or a list of names (any hashable values; JSON snapshots need strings or numbers).
    ``policy`` is everything accepted as a policy; ``memory_bound`` is passed to it if its kind takes one and it has
    none. Losses lie in ``loss_range``, both ends included; ``(-math.inf, math.inf)`` accepts every finite number.

    Play the arms in the order of the decisions, one after the other. Losses may arrive late and in any order within a
    run; each counts at most once. If the policy needs an outstanding loss before its next run, :meth:`ask` raises
    :class:`WaitingError` with the outstanding decisions. Methods may be called from several threads; the plays
    themselves must not overlap.

    >>> import calibandit as cb
    >>> advisor = cb.Advisor("calibrated", arms=["worker-1", "worker-2", "worker-3"], memory_bound=8)
    >>> task = advisor.ask()
    >>> task
    Decision(id=0, arm='worker-1', phase='burn-in', index=0)
    >>> for _ in range(1000):
    ...     task = advisor.ask()
    ...     if task.measured:
    ...         advisor.tell(task, loss=0.1 if task.arm == "worker-2" else 0.6)
    >>> advisor.recommend()
    'worker-2'
    """

    def __init__(
        self,
        policy: PolicyLike,
        arms: Sequence[Hashable] | int,
        *,
        memory_bound: int | None = None,
        horizon: int | None = None,
        seed: int = 1,
        loss_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        names = list(range(whole("arms", arms))) if not isinstance(arms, Sequence) else list(arms)
        if len(set(names)) != len(names):
            raise SpecError(f"two arms have the same name: {names!r}")
        entry = _Entry(policy, memory_bound)
        self._start(
            _core.Advisor(
                dumps(entry.table),
                entry.factory,
                len(names),
                None if horizon is None else whole("horizon", horizon),
                whole("seed", seed),
                (float(loss_range[0]), float(loss_range[1])),
            ),
            names,
            entry.label or PolicySpec(entry.table).label,
        )

    def _start(self, core: _core.Advisor, names: list[Any], label: str) -> None:
        self._core, self._names, self._label = core, names, label
        self._lock = threading.Lock()

    def ask(self) -> Decision:
        """Return the next play to make."""
        with self._lock:
            number, arm, measured = self._core.ask()
        return Decision(number, self._names[arm], "measured" if measured else "burn-in", arm)

    def tell(self, decision: Decision | int, *, loss: float | None = None, reward: float | None = None) -> None:
        """Report the loss of a decision, or its reward.

        Losses are minimised. A reward is converted to the loss ``low + high - reward``, where ``(low, high)`` is the
        range of losses: ``1 - reward`` for losses in [0, 1], ``-reward`` for an unbounded range.
        """
        if (loss is None) == (reward is None):
            raise TypeError("tell needs the loss or the reward of the decision, by name: one of `loss=` and `reward=`")
        if loss is None:
            low, high = self._core.loss_range
            loss = low + high - float(reward if reward is not None else math.nan)
        with self._lock:
            self._core.tell(_number(decision), float(loss))

    def forget(self, decision: Decision | int) -> None:
        """Give up a loss that will never arrive. If the policy needs it, one more play replaces it.

        Whether a loss is missing must not depend on its value. If only failures are missing, tell a loss of 1 instead.
        """
        with self._lock:
            self._core.forget(_number(decision))

    def recommend(self) -> Any:
        """Return the arm to use if learning stopped now."""
        with self._lock:
            return self._names[self._core.recommend()]

    def certificate(self) -> Certificate | None:
        """Return what the policy guarantees about its arms so far; None for most policies."""
        found = self._core.certificate()
        if found is None:
            return None
        arms, gap, delta = found
        return Certificate(tuple(self._names[arm] for arm in arms), gap, delta)

    @property
    def arms(self) -> list[Any]:
        """The names of the arms."""
        return list(self._names)

    @property
    def plays(self) -> dict[Any, int]:
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
        return json.dumps({"calibandit_python": 1, "arms": self._names, "label": self._label, "advisor": advisor})

    @classmethod
    def from_json(cls, text: str) -> Advisor:
        """Restore an advisor from the text that :meth:`to_json` returned."""
        try:
            saved = json.loads(text)
            names, label, advisor = saved["arms"], saved["label"], saved["advisor"]
            if saved["calibandit_python"] != 1:
                raise SnapshotError(f"the snapshot has layout {saved['calibandit_python']!r}; this version reads 1")
        except (ValueError, KeyError, TypeError) as error:
            if isinstance(error, SnapshotError):
                raise
            raise SnapshotError(f"not a snapshot of an advisor: {error!r}") from error
        return cls._restored(json.dumps(advisor), names, label, None)

    @classmethod
    def _restored(cls, text: str, names: list[Any], label: str, policy: Policy | None) -> Advisor:
        made = cls.__new__(cls)
        core = _core.Advisor.from_json(text, policy)
        if len(core.plays) != len(names):
            raise SnapshotError(f"the snapshot has {len(names)} names for {len(core.plays)} arms")
        made._start(core, names, label)
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
        with open(path, encoding="utf-8") as file:
            return cls.from_json(file.read())

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            own = copy.deepcopy(self._core.own_policy)
            return (Advisor._restored, (self._core.to_json(), self._names, self._label, own))

    def __repr__(self) -> str:
        waiting = len(self.outstanding)
        awaits = f", {waiting} losses outstanding" if waiting else ""
        return f"<Advisor {self._label}: {len(self._names)} arms, {self.decisions} decisions{awaits}>"


def _number(decision: Decision | int) -> int:
    if isinstance(decision, Decision):
        return decision.id
    number = whole("decision", decision, low=-LARGEST)
    if number < 0:
        raise UnknownNameError(f"there is no decision {number}: decisions are numbered from 0")
    return number
