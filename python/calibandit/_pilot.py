"""Plans of pilots: the plays whose log shows how long arms remember."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import _core, _html
from ._arguments import LARGEST, is_number, listed, number, whole
from ._json import loads
from ._options import choice
from .errors import SpecError

if TYPE_CHECKING:
    import pandas

__all__ = ["PilotPlan", "pilot"]

#: The design of each belief, as the compiled part names it.
_DESIGNS = {"tallying": "tallying", "nothing": "blocks"}


@dataclass(frozen=True, repr=False)
class PilotPlan:
    """The runs of a pilot, in their order. Made by :func:`pilot`.

    Play each arm that many times in a row and log every loss; :func:`diagnose` reads the log.
    """

    believe: Literal["tallying", "nothing"]
    """What the answer assumes."""
    longest: int
    """The longest memory considered possible."""
    sd: float
    """The standard deviation of a single loss that the size assumes."""
    drop: float
    """The smallest warm-up worth finding, or the difference that does not matter."""
    seed: int
    """The seed of the random order."""
    plays_per_arm: int
    """The number of plays of each arm."""
    plays: int
    """The number of plays of all arms."""
    answers: str
    """What the log can answer, and under which assumption."""
    runs: list[tuple[Any, int]]
    """The runs: an arm and a number of plays in a row. Neighbours are of different arms."""

    def to_pandas(self) -> pandas.DataFrame:
        """One row per run, with the columns ``arm`` and ``plays``."""
        import pandas

        return pandas.DataFrame(self.runs, columns=["arm", "plays"])

    def __repr__(self) -> str:
        return f"<PilotPlan of {self.plays} plays in {len(self.runs)} runs, {self.plays_per_arm} of each arm>"

    def _repr_html_(self) -> str:
        shown = self.runs[:10]
        more = [["…", f"{len(self.runs) - len(shown)} more runs"]] if len(shown) < len(self.runs) else []
        return _html.table(repr(self)[1:-1], ["arm", "plays"], [*map(list, shown), *more])


def pilot(
    arms: Sequence[Any] | int,
    longest: int,
    *,
    believe: Literal["tallying", "nothing"] = "tallying",
    sd: float = 0.5,
    drop: float = 0.1,
    seed: int = 1,
) -> PilotPlan:
    """Plan the plays whose log shows how long the arms remember, as ``calibandit pilot`` does.

    Args:
        arms: The names of the arms, or their number.
        longest: The longest memory that you think possible, in plays.
        believe: ``"tallying"``: losses depend on how many of the last plays were of the same arm, and rise or fall with
            that number. ``"nothing"``: only ``longest`` is assumed; the pilot is longer.
        sd: The standard deviation of a single loss. That of losses in [0, 1] is at most 0.5.
        drop: The smallest warm-up worth finding, in units of the loss; with ``believe="nothing"``, the difference from
            the eventual loss that does not matter.
        seed: The seed of the random order.

    >>> import calibandit as cb
    >>> plan = cb.pilot(["slim", "heap"], longest=16, sd=0.1, drop=0.2)
    >>> plan
    <PilotPlan of 400 plays in 51 runs, 200 of each arm>
    >>> plan.runs[:2]
    [('heap', 10), ('slim', 21)]
    """
    names = list(range(whole("arms", arms))) if is_number(arms) else listed("arms", arms, "names")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise SpecError(f"`arms` has {twice[0]!r} twice: each arm needs a name of its own")
    choice("believe", believe, tuple(_DESIGNS))
    longest, seed = whole("longest", longest, low=1, high=2**20), whole("seed", seed, high=LARGEST)
    sd, drop = number("sd", sd), number("drop", drop)
    found = loads(_core.pilot_plan(_DESIGNS[believe], len(names), longest, sd, drop, seed))
    runs = [(names[arm], plays) for arm, plays in found.pop("runs")]
    return PilotPlan(believe, longest, sd, drop, seed, runs=runs, **found)
