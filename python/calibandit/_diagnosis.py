"""What a diagnosis says, as plain Python objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _core
from ._frame import Frame
from ._json import loads

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ArmDiagnosis", "Estimate", "Fatigue", "Note", "Price", "ReoDiagnosis", "Settled", "TallyingDiagnosis"]


class Estimate(NamedTuple):
    """A value with its confidence interval."""

    mean: float
    low: float
    high: float


class Settled(NamedTuple):
    """Bounds on the number of plays in a row after which an arm has settled."""

    lower: int
    """It has not settled before this play."""
    upper: int | None
    """It has settled from this play on; None if the log does not show it."""


class Note(NamedTuple):
    """Something a reader must know."""

    kind: str
    """What it is about, for programs: ``"confounded"``, ``"drift"``, ``"reach"`` and so on."""
    text: str


@dataclass(frozen=True)
class Fatigue:
    """Positions at which an arm is better than eventually."""

    first: int
    last: int
    drop: float
    """By how much the loss is lower there."""
    p: float
    """The p-value, corrected for the number of positions tested."""


@dataclass(frozen=True)
class ArmDiagnosis:
    """What a log says about one arm."""

    name: str
    plays: int
    runs: int
    """Its runs: sequences of plays in a row."""
    sd: float
    """The standard deviation of a loss around its expectation."""
    reach: int
    """The longest memory that the log can speak of for this arm."""
    settled: Settled
    """After how many plays in a row the loss stays within the tolerance of the eventual loss: ``(lower, upper)``."""
    estimate: int | None
    """A point estimate of the same, which is too small as often as too large."""
    stopped: Literal["first", "changes", "too-few-plays"]
    """Why the search for a smaller upper bound ended."""
    eventual: Estimate | None
    """The eventual loss, ``(mean, low, high)``; None if there are too few calibrated plays."""
    fatigue: Fatigue | None
    """Positions where the loss is significantly lower than the eventual loss."""
    curve: Frame
    """The loss by position in a run after a rest (``first`` to ``last``), with its interval; the difference to the
    eventual loss with the bounds of the test; and whether the test showed that the loss is settled from here on."""
    forgetting: Frame
    """The loss of a play after a pause of its arm, by length of the pause (``first`` to ``last``)."""

    @classmethod
    def _of(cls, found: dict[str, Any], core: _core.Diagnosis, place: int) -> ArmDiagnosis:
        settled, eventual, fatigue = found["settled"], found["eventual"], found["fatigue"]
        return cls(
            **{key: found[key] for key in ("name", "plays", "runs", "sd", "reach")},
            settled=Settled(settled["lower"], settled["upper"]),
            estimate=settled["estimate"],
            stopped=settled["stopped"],
            eventual=None if eventual is None else Estimate(**eventual),
            fatigue=None if fatigue is None else Fatigue(**fatigue),
            curve=Frame(core.curve(place)),
            forgetting=Frame(core.forgetting(place)),
        )


@dataclass(frozen=True)
class ReoDiagnosis:
    """Whether playing one arm over and over is optimal."""

    verdict: Literal["holds", "violated", "undecided"]
    alpha: tuple[float, float | None]
    """The interval of alpha over the states that the log visits; the upper end is None if it cannot be bounded."""
    witness: dict[str, Any] | None
    """The state that is better than every eventual loss, if there is one: arm, first and last position, p-value."""
    reason: str | None
    """Why the verdict is not "holds"."""

    @classmethod
    def _of(cls, found: dict[str, Any]) -> ReoDiagnosis:
        low, high = found["alpha"]
        return cls(found["verdict"], (low, high), found["witness"], found["reason"])


@dataclass(frozen=True)
class TallyingDiagnosis:
    """The memories that a tallying model with a monotone loss curve allows."""

    kernel: Any
    """The weights of past plays: ``"unit"`` and others."""
    memory: int
    """The likeliest memory."""
    set: tuple[int, int | None]
    """The least and the largest memory that is not excluded; None if no largest one was found."""
    settled: int | None
    """The largest number of plays in a row after which the loss has settled, over every kind of weights that is not
    excluded; None if it is not bounded."""
    dispersion: float
    """By how much deviances were divided because losses of one run are alike."""
    fit: float | None
    """The p-value of the hypothesis that the model fits; small values speak against tallying."""

    @classmethod
    def _of(cls, found: dict[str, Any]) -> TallyingDiagnosis:
        low, high = found["set"]
        return cls(found["kernel"], found["memory"], (low, high), found["settled"], found["dispersion"], found["fit"])


class Price(Frame):
    """What policies would lose on games fitted to a log: one row per policy and memory bound.

    ``regret`` is the mean of the expected loss of all plays, less that of the best arm played throughout, in the unit
    of the losses; ``stderr`` is its standard error. Plain bandits have no memory bound. Bounds that are at least the
    memory are predicted well; bounds that are too small within a factor of two or three only, because few instances
    that lose everything decide the mean.
    """

    __slots__ = ("_core", "_found")

    def __init__(self, core: _core.Price) -> None:
        super().__init__(core.frame())
        self._core = core
        self._found: dict[str, Any] = loads(core.to_json())

    def __reduce__(self) -> tuple[Any, ...]:
        return Price, (self._core,)

    @property
    def horizon(self) -> int:
        """The number of plays."""
        return int(self._found["horizon"])

    @property
    def memory_bound(self) -> int:
        """The memory bound in the middle of the range."""
        return int(self._found["memory_bound"])

    @property
    def plain_is_fine(self) -> bool:
        """Whether policies without a memory bound lose hardly more."""
        return bool(self._found["plain_is_fine"])

    @property
    def text(self) -> str:
        """What this means, in a sentence."""
        return str(self._found["text"])

    def plot(self, ax: Axes | None = None, *, backend: Literal["matplotlib", "plotly"] = "matplotlib") -> Any:
        """Plot the predicted regret against the memory bound, as in the report, with plain bandits as lines."""
        from ._plot import plot_described

        return plot_described(self._core.plot(), ax, backend)

    def __repr__(self) -> str:
        return f"<Price over {self.horizon:,} plays: {self.text}>"
