"""Live use: ask for one decision at a time, tell its loss when it is known."""

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
from ._game import _whole
from ._json import dumps
from ._policy import Policy, PolicyLike, PolicySpec, _Entry
from .errors import SnapshotError, SpecError, UnknownName

__all__ = ["Advisor", "Certificate", "Decision"]


@dataclass(frozen=True)
class Decision:
    """What to do next."""

    id: int
    """Names the decision when its loss is told. Decisions are numbered from 0."""
    arm: Any
    """The arm to play, by its name."""
    phase: Literal["warm-up", "measured"]
    """What its loss is used for. The loss of a warm-up play need not be told."""
    index: int
    """The arm's number, from 0."""

    @property
    def measured(self) -> bool:
        """Whether the policy learns from its loss."""
        return self.phase == "measured"


@dataclass(frozen=True)
class Certificate:
    """With probability 1 - ``delta``, the best arm is among ``arms``, and each of them is within ``gap`` of it."""

    arms: tuple[Any, ...]
    gap: float
    delta: float


class Advisor:
    """Tells live which arm to play next, and learns from the losses.

    ``arms`` are names (anything hashable; saved as JSON, so strings and numbers are best) or their number. ``policy`` is anything that stands for one;
    ``memory_bound`` is handed to it if it takes one and has none yet. Losses lie in ``loss_range``, both ends included;
    ``(-math.inf, math.inf)`` takes every finite number.

    Play the arms in the order of the decisions. Losses may come late and in any order within a run; each counts at most once.
    When the policy cannot go on without a loss, :meth:`ask` raises :class:`Waiting` with the decisions that are outstanding. An advisor may be used from
    several threads.

    >>> import calibandit as cb
    >>> advisor = cb.Advisor("calibrated", arms=["worker-1", "worker-2", "worker-3"], memory_bound=8)
    >>> task = advisor.ask()
    >>> task
    Decision(id=0, arm='worker-1', phase='warm-up', index=0)
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
        names = list(range(_whole("arms", arms))) if not isinstance(arms, Sequence) else list(arms)
        if len(set(names)) != len(names):
            raise SpecError(f"two arms have the same name: {names!r}")
        entry = _Entry(policy, memory_bound)
        self._start(
            _core.Advisor(
                dumps(entry.table),
                entry.factory,
                len(names),
                None if horizon is None else _whole("horizon", horizon),
                _whole("seed", seed),
                (float(loss_range[0]), float(loss_range[1])),
            ),
            names,
            entry.label or PolicySpec(entry.table).label,
        )

    def _start(self, core: _core.Advisor, names: list[Any], label: str) -> None:
        self._core, self._names, self._label = core, names, label
        self._lock = threading.Lock()

    def ask(self) -> Decision:
        """The next play to make."""
        with self._lock:
            number, arm, measured = self._core.ask()
        return Decision(number, self._names[arm], "measured" if measured else "warm-up", arm)

    def tell(self, decision: Decision | int, *, loss: float | None = None, reward: float | None = None) -> None:
        """Takes the loss of a decision, or its reward.

        Losses are minimised. A reward stands for the loss as far from one end of the range as the reward is from the other: 1 - reward if
        losses lie in [0, 1], and -reward if they may be anything.
        """
        if (loss is None) == (reward is None):
            raise TypeError("tell needs the loss or the reward of the decision, by name: one of `loss=` and `reward=`")
        if loss is None:
            low, high = self._core.loss_range
            loss = low + high - float(reward if reward is not None else math.nan)
        with self._lock:
            self._core.tell(_number(decision), float(loss))

    def forget(self, decision: Decision | int) -> None:
        """Gives up a loss that will never come; if the policy needs it, one more play takes its place.

        Whether a loss gets lost must have nothing to do with how large it is. If only failures go missing, tell a loss of 1 instead.
        """
        with self._lock:
            self._core.forget(_number(decision))

    def recommend(self) -> Any:
        """The arm to settle on if playing stopped being about learning now."""
        with self._lock:
            return self._names[self._core.recommend()]

    def certificate(self) -> Certificate | None:
        """What the policy can say with confidence about its arms so far; most policies cannot."""
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
        """How often each arm was played."""
        return dict(zip(self._names, self._core.plays))

    @property
    def switches(self) -> int:
        """How often the arm changed from one play to the next."""
        return self._core.switches

    @property
    def decisions(self) -> int:
        """How many decisions were made."""
        return self._core.decisions

    @property
    def outstanding(self) -> list[int]:
        """The decisions whose losses the policy needs before its next run, oldest first."""
        return self._core.outstanding

    @property
    def current_run(self) -> _core.Run | None:
        """The run being played, with the arm's number."""
        return self._core.current_run

    @property
    def loss_range(self) -> tuple[float, float]:
        """The losses declared possible."""
        return self._core.loss_range

    def to_json(self) -> str:
        """Everything, the policy's own generator included: what is read again goes on exactly here."""
        if self._core.own_policy is not None:
            raise SnapshotError(f"{self._label} is a Python object, which JSON cannot hold: pickle the advisor instead")
        if not all(isinstance(name, (str, int, float, bool)) for name in self._names):
            raise SnapshotError("JSON cannot hold the names of the arms: pickle the advisor, or name the arms by strings")
        with self._lock:
            advisor = json.loads(self._core.to_json())
        return json.dumps({"calibandit_python": 1, "arms": self._names, "label": self._label, "advisor": advisor})

    @classmethod
    def from_json(cls, text: str) -> Advisor:
        """The advisor that :meth:`to_json` wrote."""
        try:
            saved = json.loads(text)
            names, label, advisor = saved["arms"], saved["label"], saved["advisor"]
            if saved["calibandit_python"] != 1:
                raise SnapshotError(f"this snapshot has layout {saved['calibandit_python']!r}, but this version reads 1")
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
        """Writes the advisor to a file, whole or not at all."""
        text = self.to_json()
        fresh = os.fspath(path) + ".new"
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Advisor:
        """The advisor that :meth:`save` wrote."""
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
    number = _whole("decision", decision)
    if number < 0:
        raise UnknownName(f"decisions are numbered from 0: there is no decision {number}")
    return number
