"""Games."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat

from . import _core, _html
from ._arguments import floats, listed, unknown, whole
from ._arm import Arm, ArmList
from ._core import Game as CoreGame
from ._core import Session
from ._json import dumps, loads
from ._log import warn
from ._noise import noise
from ._optimum import BestSequence, Optimum, Reo
from ._options import SeedLike, seed_of
from .errors import ArgumentTypeError, GameError, MemoryBoundWarning, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Game", "game"]

#: The name of the experiment of :func:`simulate`, whose first instance the properties of a game describe.
_NAME = "simulation"
#: The most arms in the HTML table of a game.
_SHOWN_ARMS = 40


class Game:
    """A game, or a specification from which instances of a game are drawn.

    Define one arm by arm, with a ``title`` for tables and figures if you like, or use one of :mod:`calibandit.games`:

    >>> import calibandit as cb
    >>> workers = cb.Game(title="two workers", arms=[
    ...     cb.Arm(memory=3, loss=0.5, name="ann"),
    ...     cb.Arm(memory=3, loss=lambda tally: 1.2 - 0.3 * tally, name="bob"),
    ... ])
    >>> [round(loss, 2) for loss in workers.play(["bob", "bob", "bob", "ann", "bob"]).tolist()]
    [0.9, 0.6, 0.3, 0.5, 0.6]
    >>> workers.best_arm, round(workers.optimum(100).loss, 2)
    (1, 30.9)
    >>> workers.optimum(100).sequence
    <BestSequence of 100 plays: 100 * bob>

    A game may be stated in rewards: with their range, and arms that have ``reward``. Policies still see losses, the
    reward ``r`` being the loss ``(high - r) / (high - low)``; :meth:`Result.in_rewards` converts the results back:

    >>> shops = cb.Game(rewards=(0, 20), arms=[cb.Arm(memory=2, reward=[4, 15]), cb.Arm(memory=2, reward=10)])
    >>> shops.play([0, 0, 1]).tolist()
    [0.8, 0.25, 0.5]

    Named games draw the index of their best arm in each instance. ``arms``, ``reo``, ``optimum``, ``play`` and the
    properties then describe the first instance that :func:`simulate` plays; :meth:`draw` returns any other:

    >>> cb.games.step(arms=5, memory=3).draw(seed=1, instance=7).best_arm in range(5)
    True
    """

    _core: CoreGame
    _made_from: tuple[Any, ...]

    def __init__(
        self,
        arms: Iterable[Arm],
        title: str | None = None,
        rewards: tuple[SupportsFloat, SupportsFloat] | None = None,
    ) -> None:
        given = listed("arms", arms, "calibandit.Arm objects")
        for i, arm in enumerate(given):
            if not isinstance(arm, Arm):
                raise ArgumentTypeError(f"`arms[{i}]` must be a calibandit.Arm, not {type(arm).__name__}")
        if title is not None and not isinstance(title, str):
            raise ArgumentTypeError(f"`title` must be a text, not {title!r}")
        range_ = None if rewards is None else _range(rewards)
        if any(arm.function is not None for arm in given):
            self._core = _core.Game.from_arms([arm._parts() for arm in given], title, range_)
        else:
            table = {"kind": "custom", "title": title, "rewards": range_, "arm": [arm.spec for arm in given]}
            self._core = _core.Game.from_spec(dumps(table))
        self._made_from = ("arms", given, title, range_)

    @classmethod
    def _of(cls, core: CoreGame, *made_from: Any) -> Game:
        made = cls.__new__(cls)
        made._core = core
        made._made_from = made_from
        return made

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Game:
        """The game of a ``[game]`` table. Arms of a custom game may also be :class:`Arm` objects.

        >>> Game.from_spec({"kind": "step", "arms": 5, "memory": 3})
        Game.from_spec({'kind': 'step', 'arms': 5, 'memory': 3, 'usual_loss': 0.5, 'best_loss': 0.35, 'feedback':
        'bernoulli'})
        """
        if not isinstance(spec, Mapping):
            raise ArgumentTypeError(f"a specification must be a mapping such as {{'kind': 'step'}}, not {spec!r}")
        kind = spec.get("kind")
        kinds = [known["name"] for known in loads(_core.game_kinds())]
        if kind not in kinds:
            raise UnknownNameError(unknown("game", kind, kinds))
        table = {key: value for key, value in spec.items() if value is not None}
        if "feedback" in table:
            table["feedback"] = noise(table["feedback"]).spec
        if kind == "custom" and "arm" in table:
            table["arm"] = listed("arm", table["arm"], "calibandit.Arm objects or mappings")
            if any(_is_python(arm) for arm in table["arm"]):
                return _of_objects(table)
        return cls._of(_core.Game.from_spec(dumps(table)), "spec", table)

    def draw(self, seed: SeedLike = 1, instance: int = 0, experiment: str = _NAME) -> Game:
        """Draw the game of one instance: the one that ``simulate(..., seed=seed, name=experiment)`` plays."""
        drawn, instance = seed_of(seed), whole("instance", instance)
        core = self._core.draw(drawn, experiment, instance)
        return Game._of(core, "draw", self, drawn, instance, experiment)

    def session(self, seed: SeedLike = 1, instance: int = 0, experiment: str = _NAME) -> Session:
        """Play the game one play at a time, with noise: :meth:`Session.step` returns the observed and the expected
        loss.

        >>> session = Game(arms=[Arm(memory=2, loss=[0.9, 0.2], name="bob"), Arm(memory=2)]).session(seed=7)
        >>> [session.step("bob")[1] for _ in range(3)]
        [0.9, 0.2, 0.2]
        """
        return self._core.session(seed_of(seed), experiment, whole("instance", instance))

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
    def arms(self) -> ArmList:
        """The arms. For a named game: those of the first instance that :func:`simulate` plays.

        >>> import calibandit as cb
        >>> cb.games.step(arms=2, memory=3, best_arm=1).arms
        [Arm(memory=3, loss=0.5), Arm(memory=3, loss={'constant': 0.5, 'calibrated': 0.35})]
        """
        how, what, *_ = self._made_from
        if how == "arms":
            return ArmList(what)
        if how == "draw" and what.spec is None:
            # A game with functions is the same in every instance.
            arms: ArmList = what.arms
            return arms
        drawn = self._core.draw(1, _NAME, 0).spec()
        if drawn is None:
            raise GameError("the arms of this game have no form in Python")
        return ArmList(Arm.from_spec(arm) for arm in loads(drawn)["arm"])

    @property
    def n_arms(self) -> int:
        """The number of arms, K."""
        return self._core.facts()[0]

    @property
    def arm_names(self) -> list[str]:
        """The name of each arm, or its index as text if it has none."""
        names = self._core.facts()[4]
        return [str(arm) if name is None else name for arm, name in enumerate(names)]

    @property
    def _has_names(self) -> bool:
        return any(name is not None for name in self._core.facts()[4])

    @property
    def memory(self) -> int | Literal["all"]:
        """How far back plays matter, m; ``"all"`` if the game is rested."""
        memory = self._core.facts()[1]
        return "all" if memory is None else memory

    @property
    def best_arm(self) -> int:
        """The index of the arm with the least eventual loss."""
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
        alpha, best_arm, arm, window, plays = self._core.reo()
        return Reo(alpha, best_arm, arm, tuple(window), plays, tuple(self.arm_names))

    def optimum(self, horizon: int) -> Optimum:
        """Compute the least expected loss of all sequences of plays, exactly and at any horizon.

        If the game is too large for that, ``exact`` is False and the optimum lies between ``lower`` and ``loss``.

        >>> import calibandit as cb
        >>> cb.games.step(arms=5, memory=3).optimum(10**12).loss
        350000000000.3
        """
        horizon = whole("horizon", horizon, low=1)
        loss, excess, lower, exact, blocks, prefix, cycle, repeats, tail = self._core.optimum(horizon)
        names = tuple(self.arm_names)
        sequence = BestSequence(tuple(prefix), tuple(cycle), repeats, tuple(tail), names, tuple(blocks))
        return Optimum(horizon, loss, excess, lower, exact, sequence)

    def play(self, sequence: Iterable[int | str]) -> NDArray[np.float64]:
        """Compute the expected losses of a sequence of plays, from the beginning of the game.

        The plays are indices of arms or their names.
        """
        import numpy as np

        plays = listed("sequence", sequence, "arms")
        names = {name: arm for arm, name in enumerate(self._core.facts()[4]) if name is not None}
        return np.asarray(self._core.play([_index(f"sequence[{i}]", arm, names) for i, arm in enumerate(plays)]))

    def __repr__(self) -> str:
        how, what, *more = self._made_from
        if how == "spec":
            return f"Game.from_spec({self.spec!r})"
        if how == "arms":
            named = zip(("title", "rewards"), more)
            rest = "".join(f", {name}={value!r}" for name, value in named if value is not None)
            return f"Game(arms={what!r}{rest})"
        return f"<Game drawn from {what!r}, seed={more[0]}, instance={more[1]}>"

    def _repr_html_(self) -> str:
        _, _, best, losses, _ = self._core.facts()
        names = self.arm_names
        rows = [
            (
                names[i] + (" (best)" if i == best else ""),
                str(arm.memory) if arm.memory is not None else f"weights {_short(arm.weights)}",
                _short(arm._given) if arm.reward is None else f"reward {_short(arm._given)}",
                repr(arm.feedback),
                losses[i],
            )
            for i, arm in enumerate(self.arms[:_SHOWN_ARMS])
        ]
        caption = f"{self.title}: {len(names)} arms, memory {self.memory}"
        if len(names) > _SHOWN_ARMS:
            caption += f"; the first {_SHOWN_ARMS}"
        return _html.table(caption, ("arm", "memory", "expected loss", "feedback", "eventual loss"), rows)

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
        return Game(what, *rest)
    if how == "spec":
        return Game.from_spec(what)
    drawn: Game = what.draw(*rest)
    return drawn


def _is_python(arm: Any) -> bool:
    """Whether an arm is an object of Python, or has a function that a file cannot hold."""
    if isinstance(arm, Arm) or not isinstance(arm, Mapping):
        return True
    loss = arm.get("loss")
    return callable(loss) or (isinstance(loss, Mapping) and "function" in loss)


def _of_objects(table: dict[str, Any]) -> Game:
    """A custom game whose arms are objects, some of them perhaps with functions."""
    for key in table:
        if key not in ("kind", "title", "rewards", "arm"):
            raise UnknownNameError(unknown("parameter of a custom game", key, ["title", "rewards", "arm"]))
    arms = [arm if isinstance(arm, Arm) else Arm.from_spec(arm) for arm in table["arm"]]
    return Game(arms, table.get("title"), table.get("rewards"))


def _range(rewards: Any) -> tuple[float, float]:
    """The range of rewards as two numbers."""
    ends = floats("rewards", rewards)
    if len(ends) != 2:
        raise ArgumentTypeError(f"`rewards` must be two numbers, the least and the largest reward, not {rewards!r}")
    return ends[0], ends[1]


def _index(argument: str, arm: Any, names: Mapping[str, int]) -> int:
    """The index of an arm that is given by its index or its name."""
    if not isinstance(arm, str):
        return whole(argument, arm)
    if arm not in names:
        raise UnknownNameError(unknown("arm", arm, list(names)))
    return names[arm]


def _short(value: Any) -> str:
    """A loss or weights in a few words."""
    if callable(value):
        return f"function {getattr(value, '__name__', type(value).__name__)}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_short(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        shown = ", ".join(_html.number(one) for one in value[:8])
        return shown + (", …" if len(value) > 8 else "")
    return _html.number(value) if isinstance(value, float) else str(value)


def game(kind: str, **parameters: Any) -> Game:
    """Build a game by the name of its kind: the same as the function of :mod:`calibandit.games`.

    >>> game("step", arms=5, memory=3) == game("step")
    True
    """
    if not isinstance(kind, str):
        raise ArgumentTypeError(f"`kind` must be the name of a kind of game, such as 'step', not {kind!r}")
    return Game.from_spec({"kind": kind.replace("_", "-"), **parameters})


def warn_short_bound(label: str, memory_bound: int | None, played: Game, stacklevel: int) -> None:
    """Warn if the memory bound of a policy is below the memory of the game."""
    memory = played.memory
    if memory_bound is None:
        return
    if memory == "all":
        warn(
            f"{label} is meant for arms with a finite memory, but the game is rested (memory 'all'): no guarantee "
            "holds, because an arm is never calibrated",
            MemoryBoundWarning,
            stacklevel=stacklevel + 1,
        )
    elif memory_bound < memory:
        warn(
            f"{label} is told memory_bound={memory_bound}, but the memory of the game is {memory}: no guarantee "
            "holds, because its burn-in may end before the arm is calibrated",
            MemoryBoundWarning,
            stacklevel=stacklevel + 1,
        )
