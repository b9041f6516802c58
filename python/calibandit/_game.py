"""Games and their arms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Union

from . import _core
from ._arguments import unknown, whole
from ._core import Game as CoreGame
from ._core import Session
from ._json import dumps, loads
from .errors import UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Arm", "BestSequence", "Game", "Noise", "Optimum", "Reo", "game"]

Noise = Union[str, Mapping[str, Mapping[str, float]]]
"""The noise of the feedback: ``"bernoulli"``, ``"none"``, ``{"normal": {"sd": 0.1}}`` or ``{"beta": {"concentration":
20}}``."""

LossLike = Union[float, Sequence[float], Callable[[float], float], Mapping[str, Any]]


@dataclass(frozen=True)
class Arm:
    """One arm of a game.

    ``weights`` are the weights of the plays in the window, newest first, each in (0, 1]; their number is the memory of
    the arm. ``memory`` is short for that many weights of 1. ``loss`` is the expected loss of a play:

    * a number: a constant loss;
    * a list: the loss by the number of plays in the window, from 1 to the memory;
    * a function of the tally (the weighted number of plays in the window);
    * a table as in experiment files, such as ``{"linear": {"intercept": 0.9, "slope": -0.2}}`` or
      ``{"constant": 0.5, "calibrated": 0.35}``; ``{"function": f, "calibrated": 0.1}`` works too.

    ``trend`` states that a function is ``"decreasing"`` or ``"increasing"`` in the tally. ``reo`` and ``optimum`` then
    do not have to evaluate every window.

    >>> Arm(memory=3, loss=[0.9, 0.6, 0.2])
    Arm(memory=3, loss=[0.9, 0.6, 0.2])
    """

    weights: Sequence[float] | None = None
    memory: int | None = None
    loss: LossLike = 0.5
    feedback: Noise = "bernoulli"
    trend: Literal["decreasing", "increasing"] | None = field(default=None)

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in ("weights", "memory") if getattr(self, name) is not None]
        shown.append(f"loss={self.loss!r}")
        if self.feedback != "bernoulli":
            shown.append(f"feedback={self.feedback!r}")
        if self.trend is not None:
            shown.append(f"trend={self.trend!r}")
        return f"Arm({', '.join(shown)})"

    @property
    def function(self) -> Callable[[float], float] | None:
        """The loss curve if it is a function, otherwise None."""
        if callable(self.loss):
            return self.loss
        if isinstance(self.loss, Mapping) and "function" in self.loss:
            function: Callable[[float], float] = self.loss["function"]
            return function
        return None

    @property
    def curve(self) -> dict[str, Any]:
        """The loss curve as in experiment files. For a function: only the values given beside it."""
        if isinstance(self.loss, Mapping):
            return {key: value for key, value in self.loss.items() if key != "function"}
        if callable(self.loss):
            return {}
        if isinstance(self.loss, (int, float)):
            return {"constant": float(self.loss)}
        return {"by_plays": [float(loss) for loss in self.loss]}

    @property
    def spec(self) -> dict[str, Any]:
        """The arm as in experiment files."""
        weights = None if self.weights is None else [float(weight) for weight in self.weights]
        return {"weights": weights, "memory": self.memory, "loss": self.curve, "feedback": self.feedback}


@dataclass(frozen=True)
class Reo:
    """Repeated exposure optimality (REO): how far playing the best arm repeatedly is from optimal."""

    alpha: float
    """The smallest alpha for which the game satisfies alpha-REO. With 0, playing the best arm repeatedly is optimal."""
    best_arm: int
    """The arm with the least eventual loss."""
    arm: int
    """The arm with the least loss of all arms in all windows."""
    window: tuple[bool, ...]
    """The window in which it has this loss, newest play first."""


@dataclass(frozen=True)
class BestSequence:
    """An optimal sequence of plays: ``prefix``, then ``cycle`` repeated ``repeats`` times, then ``tail``. Iterable."""

    prefix: tuple[int, ...]
    cycle: tuple[int, ...]
    repeats: int
    tail: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prefix) + len(self.cycle) * self.repeats + len(self.tail)

    def __iter__(self) -> Iterator[int]:
        yield from self.prefix
        for _ in range(self.repeats):
            yield from self.cycle
        yield from self.tail


@dataclass(frozen=True)
class Optimum:
    """The least expected loss of any sequence of plays."""

    horizon: int
    loss: float
    """The loss of ``sequence``: the optimum, if it is ``exact``."""
    excess: float
    """``loss`` minus ``horizon`` times the least eventual loss."""
    lower: float
    """A lower bound on the loss of every sequence; equal to ``loss`` if it is ``exact``."""
    exact: bool
    sequence: BestSequence


class Game:
    """A game, or a specification from which instances of a game are drawn.

    Define one arm by arm, or use one of :mod:`calibandit.games`:

    >>> import calibandit as cb
    >>> workers = cb.Game(arms=[
    ...     cb.Arm(memory=3, loss=0.5),
    ...     cb.Arm(memory=3, loss=lambda tally: 1.2 - 0.3 * tally),
    ... ])
    >>> [round(loss, 2) for loss in workers.play([1, 1, 1, 0, 1]).tolist()]
    [0.9, 0.6, 0.3, 0.5, 0.6]
    >>> workers.best_arm, round(workers.optimum(100).loss, 2)
    (1, 30.9)

    Named games draw the index of their best arm in each instance. ``reo``, ``optimum``, ``play`` and the properties
    then describe the first instance that :func:`simulate` plays; :meth:`draw` returns any other:

    >>> cb.games.step(arms=5, memory=3).draw(seed=1, instance=7).best_arm in range(5)
    True
    """

    _core: CoreGame
    _made_from: tuple[Any, ...]

    def __init__(self, arms: Sequence[Arm]) -> None:
        arms = list(arms)
        for arm in arms:
            if not isinstance(arm, Arm):
                raise TypeError(f"`arms` must contain calibandit.Arm objects, not {type(arm).__name__}")
        if any(arm.function is not None for arm in arms):
            self._core = _core.Game.from_arms([_parts(arm) for arm in arms])
        else:
            self._core = _core.Game.from_spec(dumps({"kind": "custom", "arm": [_present(arm.spec) for arm in arms]}))
        self._made_from = ("arms", arms)

    @classmethod
    def _of(cls, core: CoreGame, *made_from: Any) -> Game:
        made = cls.__new__(cls)
        made._core = core
        made._made_from = made_from
        return made

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Game:
        """The game of a ``[game]`` table.

        >>> Game.from_spec({"kind": "step", "arms": 5, "memory": 3})
        Game.from_spec({'kind': 'step', 'arms': 5, 'memory': 3, 'usual_loss': 0.5, 'best_loss': 0.35, 'feedback':
        'bernoulli'})
        """
        kind = spec.get("kind")
        kinds = [known["name"] for known in loads(_core.game_kinds())]
        if kind not in kinds:
            raise UnknownNameError(unknown("game", kind, kinds))
        return cls._of(_core.Game.from_spec(dumps(dict(spec))), "spec", dict(spec))

    def draw(self, seed: int = 1, instance: int = 0, experiment: str = "simulation") -> Game:
        """Draw the game of one instance: the one that ``simulate(..., seed=seed, name=experiment)`` plays."""
        core = self._core.draw(seed, experiment, instance)
        return Game._of(core, "draw", self, seed, instance, experiment)

    def session(self, seed: int = 1, instance: int = 0, experiment: str = "simulation") -> Session:
        """Play the game one play at a time, with noise: :meth:`Session.step` returns the observed and the expected
        loss.

        >>> session = Game(arms=[Arm(memory=2, loss=[0.9, 0.2]), Arm(memory=2, loss=0.5)]).session(seed=7)
        >>> [session.step(0)[1] for _ in range(3)]
        [0.9, 0.2, 0.2]
        """
        return self._core.session(seed, experiment, instance)

    @property
    def spec(self) -> dict[str, Any] | None:
        """The ``[game]`` table of an experiment file; None if a loss curve is a function."""
        text = self._core.spec()
        if text is None:
            return None
        spec: dict[str, Any] = loads(text)
        return spec

    @property
    def title(self) -> str:
        """Its label in tables and figures."""
        return self._core.title

    @property
    def arms(self) -> int:
        """The number of arms, K."""
        return self._core.facts()[0]

    @property
    def memory(self) -> int:
        """How far back plays matter, m."""
        return self._core.facts()[1]

    @property
    def best_arm(self) -> int:
        """The arm with the least eventual loss."""
        return self._core.facts()[2]

    @property
    def eventual_losses(self) -> NDArray[np.float64]:
        """The expected loss of each arm once it is calibrated."""
        import numpy as np

        return np.array(self._core.facts()[3])

    def reo(self) -> Reo:
        """Compute the smallest alpha for which the game satisfies alpha-REO, by its definition.

        >>> import calibandit as cb
        >>> cb.games.step().reo().alpha
        0.0
        """
        alpha, best_arm, arm, window = self._core.reo()
        return Reo(alpha, best_arm, arm, tuple(window))

    def optimum(self, horizon: int) -> Optimum:
        """Compute the least expected loss of all sequences of plays, exactly and at any horizon.

        If the game is too large for that, ``exact`` is False and the optimum lies between ``lower`` and ``loss``.

        >>> import calibandit as cb
        >>> cb.games.step(arms=5, memory=3).optimum(10**12).loss
        350000000000.3
        """
        horizon = whole("horizon", horizon)
        loss, excess, lower, exact, prefix, cycle, repeats, tail = self._core.optimum(horizon)
        sequence = BestSequence(tuple(prefix), tuple(cycle), repeats, tuple(tail))
        return Optimum(horizon, loss, excess, lower, exact, sequence)

    def play(self, sequence: Sequence[int]) -> NDArray[np.float64]:
        """Compute the expected losses of a sequence of plays, from the beginning of the game."""
        import numpy as np

        return np.asarray(self._core.play([int(arm) for arm in sequence]))

    def __repr__(self) -> str:
        spec = self.spec
        if self._made_from[0] == "spec" and spec is not None:
            return f"Game.from_spec({spec!r})"
        if self._made_from[0] == "arms":
            return f"Game(arms={self._made_from[1]!r})"
        return f"<Game drawn from {self._made_from[1]!r}, seed={self._made_from[2]}, instance={self._made_from[3]}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        spec = self.spec
        return self is other or (spec is not None and spec == other.spec)

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remake, self._made_from)


def _remake(how: str, what: Any, *rest: Any) -> Game:
    if how == "arms":
        return Game(what)
    if how == "spec":
        return Game.from_spec(what)
    drawn: Game = what.draw(*rest)
    return drawn


def _parts(arm: Arm) -> tuple[Any, ...]:
    weights = None if arm.weights is None else [float(weight) for weight in arm.weights]
    function = arm.function
    if function is None:
        return (weights, arm.memory, dumps(arm.curve), None, None, None, dumps(arm.feedback))
    special = dict(arm.curve)
    calibrated, alone = special.pop("calibrated", None), special.pop("alone", None)
    if special:
        raise UnknownNameError(
            f"beside a function, only `calibrated` and `alone` are allowed, not {', '.join(special)}"
        )
    return (weights, arm.memory, function, calibrated, alone, arm.trend, dumps(arm.feedback))


def _present(spec: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if value is not None}


def game(kind: str, **parameters: Any) -> Game:
    """Build a game by the name of its kind: the same as the function of :mod:`calibandit.games`.

    >>> game("step", arms=5, memory=3) == game("step")
    True
    """
    return Game.from_spec({"kind": kind.replace("_", "-"), **{k: v for k, v in parameters.items() if v is not None}})
