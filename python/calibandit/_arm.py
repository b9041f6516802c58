"""The arms of a game."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Literal, SupportsFloat, Union, cast

from . import _core
from ._arguments import floats, is_number, number, unknown, whole
from ._json import dumps
from ._noise import Bernoulli, NoiseLike, noise
from .errors import ArgumentTypeError, SpecError, UnknownNameError

__all__ = ["Arm", "ArmList", "LossLike"]

LossLike = Union[SupportsFloat, Iterable[SupportsFloat], Callable[[float], SupportsFloat], Mapping[str, Any]]
"""Everything accepted as the expected loss or reward of an arm."""

#: The shapes of a loss curve in experiment files, and the values that may stand beside them.
_SHAPES = (
    *("constant", "by_plays", "linear", "exponential_linear", "needle", "function"),
    *("steps", "power", "ramp", "exponential", "rational", "peak", "table", "by_gap", "by_streak"),
)
_SPECIAL = ("calibrated", "alone")
#: The loss of an arm that has neither `loss` nor `reward`; an object of its own, so that a given 0.5 differs from it.
_USUAL = float("0.5")


@dataclass(frozen=True)
class Arm:
    """One arm of a game. It is checked when it is made.

    Args:
        weights: The weights of the plays in the window, newest first, each in (0, 1]. Their number is the memory of the
            arm.
        memory: Instead of ``weights``: this many weights of 1. With ``"all"`` the arm is rested: its loss depends on
            all of its plays since the beginning.
        loss: The expected loss of a play, which lies in [0, 1]:

            * a number: a constant loss;
            * a sequence: the loss by the number of plays in the window, from 1 to the memory;
            * a function of the tally (the weighted number of plays in the window);
            * a mapping as in experiment files, such as ``{"linear": {"intercept": 0.9, "slope": -0.2}}`` or
              ``{"constant": 0.5, "calibrated": 0.35}``; ``{"function": f, "calibrated": 0.1}`` works too. A rested arm
              has a curve by formula, such as ``{"power": {"limit": 0.1, "scale": 0.8, "exponent": 0.5}}`` or
              ``{"steps": [{"from": 1, "loss": 0.2}, {"from": 100, "loss": 0.7}]}``.
        reward: Instead of ``loss``: the expected reward of a play, in the same forms, within the range ``rewards`` of
            the game. The steps of a curve then have ``reward`` in place of ``loss``. Such an arm is checked with its
            game.
        feedback: The noise of observed losses, or of rewards if the arm has ``reward``: ``Bernoulli()`` (the default),
            ``Normal(sd=...)``, ``Beta(concentration=...)`` or ``NoNoise()``. The forms of experiment files work too:
            ``"bernoulli"``, ``"none"``, ``{"normal": {"sd": 0.1}}``, ``{"beta": {"concentration": 8}}``.
        trend: States that a function is ``"decreasing"`` or ``"increasing"`` in the tally. ``reo`` and ``optimum`` then
            do not have to evaluate every window.
        name: The name in tables, figures and messages. The names of a game differ.

    Numbers and sequences may come from NumPy or pandas.

    >>> Arm(memory=3, loss=[0.9, 0.6, 0.2], name="bob")
    Arm(memory=3, loss=[0.9, 0.6, 0.2], name='bob')
    >>> from calibandit import Beta
    >>> Arm(weights=[1.0, 0.5], loss=lambda tally: 0.9 - 0.4 * tally, feedback=Beta(concentration=8)).feedback
    Beta(concentration=8.0)
    """

    weights: Iterable[SupportsFloat] | None = None
    memory: int | Literal["all"] | None = None
    loss: LossLike | None = _USUAL
    feedback: NoiseLike = field(default_factory=Bernoulli)
    trend: Literal["decreasing", "increasing"] | None = None
    name: str | None = None
    reward: LossLike | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            self._set("weights", floats("weights", self.weights))
        if self.memory is not None and self.memory != "all":
            if isinstance(self.memory, str):
                raise ArgumentTypeError(f"`memory` must be a whole number or 'all', not {self.memory!r}")
            self._set("memory", whole("memory", self.memory))
        if self.reward is None:
            self._set("loss", _curve("loss", self.loss))
        elif self.loss is _USUAL or self.loss is None:
            self._set("loss", None)
            self._set("reward", _curve("reward", self.reward))
        else:
            raise SpecError("an arm has `loss` or `reward`, not both")
        self._set("feedback", noise(self.feedback))
        if self.trend not in (None, "decreasing", "increasing"):
            raise SpecError(f"`trend` is {self.trend!r}: give 'decreasing', 'increasing' or None")
        if self.name is not None and not isinstance(self.name, str):
            raise ArgumentTypeError(f"`name` must be a text, not {self.name!r}")
        if self.reward is None:
            _core.check_arm(self._parts())

    def _set(self, attribute: str, value: Any) -> None:
        object.__setattr__(self, attribute, value)

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in ("weights", "memory") if getattr(self, name) is not None]
        shown.append(f"{self._key}={self._given!r}")
        if self.feedback != Bernoulli():
            shown.append(f"feedback={self.feedback!r}")
        shown += [f"{name}={getattr(self, name)!r}" for name in ("trend", "name") if getattr(self, name) is not None]
        return f"Arm({', '.join(shown)})"

    @property
    def _key(self) -> str:
        return "loss" if self.reward is None else "reward"

    @property
    def _given(self) -> Any:
        return self.loss if self.reward is None else self.reward

    @property
    def function(self) -> Callable[[float], SupportsFloat] | None:
        """The curve of losses or rewards if it is a function, otherwise None."""
        given = self._given
        if callable(given):
            return cast("Callable[[float], SupportsFloat]", given)
        if isinstance(given, Mapping) and "function" in given:
            function: Callable[[float], SupportsFloat] = given["function"]
            return function
        return None

    @property
    def curve(self) -> dict[str, Any]:
        """The curve of losses or rewards as in experiment files. For a function: only the values given beside it."""
        given = self._given
        if isinstance(given, Mapping):
            return {key: value for key, value in given.items() if key != "function"}
        if callable(given):
            return {}
        if isinstance(given, float):
            return {"constant": given}
        return {"by_plays": given}

    @property
    def spec(self) -> dict[str, Any]:
        """The arm as in experiment files. A function has no such form: an arm with one raises :class:`SpecError`."""
        if self.function is not None:
            raise SpecError(f"the {self._key} of the arm is a function, which an experiment file cannot hold")
        feedback = noise(self.feedback).spec
        fields = {"name": self.name, "weights": self.weights, "memory": self.memory, self._key: self.curve}
        return {key: value for key, value in {**fields, "feedback": feedback}.items() if value is not None}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Arm:
        """The arm of a table of an experiment file.

        >>> Arm.from_spec({"memory": 2, "loss": {"constant": 0.5}, "feedback": "none"})
        Arm(memory=2, loss=0.5, feedback=NoNoise())
        """
        if not isinstance(spec, Mapping):
            raise ArgumentTypeError(f"an arm must be a calibandit.Arm or a mapping, not {type(spec).__name__}")
        known = ["weights", "memory", "loss", "feedback", "trend", "name", "reward"]
        for key in spec:
            if key not in known:
                raise UnknownNameError(unknown("key of an arm", key, known))
        fields = dict(spec)
        if fields.get("weights") is not None and all(weight == 1.0 for weight in fields["weights"]):
            fields["memory"] = len(fields.pop("weights"))
        for key in ("loss", "reward"):
            curve = fields.get(key)
            if isinstance(curve, Mapping) and len(curve) == 1 and next(iter(curve)) in ("constant", "by_plays"):
                fields[key] = next(iter(curve.values()))
        return cls(**fields)

    def _parts(self) -> tuple[Any, ...]:
        """The arm as the compiled part takes it."""
        curve, function = self.curve, self.function
        calibrated, alone = None, None
        if function is not None:
            calibrated, alone = curve.get("calibrated"), curve.get("alone")
        loss = dumps(curve) if function is None else function
        feedback = dumps(noise(self.feedback).spec)
        memory = None if self.memory is None else dumps(self.memory)
        is_reward = self.reward is not None
        return (self.name, self.weights, memory, loss, calibrated, alone, self.trend, feedback, is_reward)


def _curve(name: str, given: Any) -> Any:
    """A curve with plain numbers and lists in it."""
    if callable(given):
        return given
    if is_number(given):
        return number(name, given)
    if not isinstance(given, Mapping):
        if isinstance(given, (str, bytes)):
            raise ArgumentTypeError(f"`{name}` must be a number, a sequence of numbers or a function, not {given!r}")
        return floats(name, given)
    for key in given:
        if key not in (*_SHAPES, *_SPECIAL):
            raise UnknownNameError(unknown(f"part of a {name} curve", key, [*_SHAPES, *_SPECIAL]))
    if "function" in given and not callable(given["function"]):
        raise ArgumentTypeError(f"`{name}['function']` must be a function of the tally, not {given['function']!r}")
    beside = [key for key in given if key not in ("function", *_SPECIAL)]
    if "function" in given and beside:
        raise SpecError(f"beside a function, `{name}` may have `calibrated` and `alone`, but not {', '.join(beside)}")
    return {key: _part(f"{name}[{key!r}]", value) for key, value in given.items()}


def _part(name: str, value: Any) -> Any:
    if callable(value):
        return value
    if isinstance(value, Mapping):
        return {key: _field(f"{name}[{key!r}]", one) for key, one in value.items()}
    if isinstance(value, (list, tuple)) and any(isinstance(item, Mapping) for item in value):
        return [_part(f"{name}[{place}]", item) for place, item in enumerate(value)]
    return number(name, value) if is_number(value) else floats(name, value)


def _field(name: str, value: Any) -> Any:
    """A field of a shape. Numbers of plays are whole numbers and stay what they are."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    return number(name, value) if is_number(value) or isinstance(value, (str, bytes)) else floats(name, value)


class ArmList(list[Arm]):
    """The arms of a game. Its use as the number of arms is deprecated: that is ``Game.n_arms``."""

    def __index__(self) -> int:
        warnings.warn("Game.arms is the list of arms; Game.n_arms is their number", DeprecationWarning, stacklevel=2)
        return len(self)

    def __int__(self) -> int:
        return self.__index__()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.__index__() == other
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None
