"""The noise of the feedback: how observed losses are distributed around expected losses."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Union

from ._arguments import number
from .errors import ArgumentTypeError, SpecError

__all__ = ["Bernoulli", "Beta", "NoNoise", "Noise", "NoiseLike", "Normal", "noise"]


@dataclass(frozen=True)
class Bernoulli:
    """An observed loss is 1 with the expected loss as probability, otherwise 0."""

    @property
    def spec(self) -> str:
        """The noise as in experiment files."""
        return "bernoulli"


@dataclass(frozen=True)
class Normal:
    """Observed losses are normal around the expected loss. They are not clipped, so they may leave [0, 1].

    >>> Normal(sd=0.1)
    Normal(sd=0.1)
    """

    sd: float
    """The standard deviation, a positive number."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sd", _positive("sd", self.sd))

    @property
    def spec(self) -> dict[str, dict[str, float]]:
        """The noise as in experiment files."""
        return {"normal": {"sd": self.sd}}


@dataclass(frozen=True)
class Beta:
    """Observed losses have a beta distribution with the expected loss as its mean.

    >>> Beta(concentration=8)
    Beta(concentration=8.0)
    """

    concentration: float
    """The sum of the two shape parameters, a positive number: the larger it is, the smaller the variance."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "concentration", _positive("concentration", self.concentration))

    @property
    def spec(self) -> dict[str, dict[str, float]]:
        """The noise as in experiment files."""
        return {"beta": {"concentration": self.concentration}}


@dataclass(frozen=True)
class NoNoise:
    """The observed loss is the expected loss."""

    spec: ClassVar[str] = "none"


Noise = Union[Bernoulli, Normal, Beta, NoNoise]
"""The noise of the feedback: :class:`Bernoulli`, :class:`Normal`, :class:`Beta` or :class:`NoNoise`."""

NoiseLike = Union[Noise, Literal["bernoulli", "none"], Mapping[str, Mapping[str, float]]]
"""Everything accepted as noise: an object, or its form in experiment files, such as ``{"normal": {"sd": 0.1}}``."""

_CHOICES = "Bernoulli(), Normal(sd=...), Beta(concentration=...) or NoNoise()"
#: The classes whose noise has a parameter, by the name that files use.
_WITH_PARAMETER: dict[str, tuple[type[Normal] | type[Beta], str]] = {
    "normal": (Normal, "sd"),
    "beta": (Beta, "concentration"),
}


def noise(given: Any, argument: str = "feedback") -> Noise:
    """The noise that an argument stands for.

    >>> noise("bernoulli"), noise({"beta": {"concentration": 20}})
    (Bernoulli(), Beta(concentration=20.0))
    """
    if isinstance(given, (Bernoulli, Normal, Beta, NoNoise)):
        return given
    if isinstance(given, type) and given in (Bernoulli, NoNoise):
        made: Noise = given()
        return made
    if isinstance(given, str):
        return _named(given, argument)
    if isinstance(given, Mapping):
        return _of_table(given, argument)
    raise ArgumentTypeError(f"`{argument}` must be {_CHOICES}, not {given!r}")


def _named(name: str, argument: str) -> Noise:
    if name == "bernoulli":
        return Bernoulli()
    if name == "none":
        return NoNoise()
    if name in _WITH_PARAMETER:
        kind, parameter = _WITH_PARAMETER[name]
        raise SpecError(f"`{argument}` is {name!r}, which needs a parameter: give {kind.__name__}({parameter}=...)")
    near = difflib.get_close_matches(name, ["bernoulli", "none", *_WITH_PARAMETER], n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise SpecError(f"`{argument}` is {name!r}: give {_CHOICES}.{meant}")


def _of_table(table: Mapping[Any, Any], argument: str) -> Noise:
    if len(table) == 1:
        ((name, parameters),) = table.items()
        if name in _WITH_PARAMETER:
            kind, parameter = _WITH_PARAMETER[name]
            if isinstance(parameters, Mapping) and set(parameters) == {parameter}:
                return kind(parameters[parameter])
            raise SpecError(f"`{argument}` is {dict(table)!r}: give {kind.__name__}({parameter}=...)")
    raise SpecError(f"`{argument}` is {dict(table)!r}: give {_CHOICES}")


def _positive(name: str, value: Any) -> float:
    made = number(name, value)
    if not (made > 0 and math.isfinite(made)):
        raise SpecError(f"`{name}` must be a positive number, not {value!r}")
    return made
