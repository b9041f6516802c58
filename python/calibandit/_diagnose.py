"""What a log of plays says about memory: which M, and whether repeated exposure is optimal."""

from __future__ import annotations

import html
import os
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from . import _core, _html
from ._arguments import number, whole
from ._columns import Codes, columns_of, losses, names, whole_numbers
from ._diagnosis import ArmDiagnosis, Note, Price, ReoDiagnosis, TallyingDiagnosis
from ._game import Game
from ._json import loads
from ._options import SeedLike, choice, path_of, seed_of, text
from ._pilot import PilotPlan, pilot
from ._wording import in_python
from .errors import GameError, MissingFileError, SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Diagnosis", "diagnose"]

#: The longest memory that the compiled part takes.
_LONGEST = 2**32 - 1
#: The most games that are drawn at once.
_MOST_GAMES = 10**6


class Diagnosis:
    """What a log of plays says about the memory of its arms. Made by :func:`diagnose`.

    It has the same content as ``diagnosis.json`` of ``calibandit diagnose``; :meth:`to_dict` returns that.
    """

    __slots__ = ("_core", "_found", "_log", "_tolerance_given", "arms", "notes", "reo", "tallying")

    arms: MappingProxyType[str, ArmDiagnosis]
    """The arms by name, in order of first appearance."""
    reo: ReoDiagnosis
    """Whether repeated exposure is optimal."""
    tallying: TallyingDiagnosis | None
    """The memories that a tallying model allows; None where the log does not support such a model."""
    notes: list[Note]
    """What else a reader must know, most important first."""

    def __init__(self, core: _core.Diagnosis, log: str, tolerance_given: bool) -> None:
        found: dict[str, Any] = loads(core.to_json())
        self._core, self._log, self._tolerance_given = core, log, tolerance_given
        self._found = found
        arms = (ArmDiagnosis._of(arm, core, place) for place, arm in enumerate(found["arms"]))
        self.arms = MappingProxyType({arm.name: arm for arm in arms})
        self.reo = ReoDiagnosis._of(found["reo"])
        self.tallying = None if found["tallying"] is None else TallyingDiagnosis._of(found["tallying"])
        self.notes = [Note(note["kind"], in_python(note["text"])) for note in found["notes"]]

    @property
    def memory_bound(self) -> int | None:
        """The memory bound M to give to a policy; None if the log does not support one: see :attr:`why`."""
        bound: int | None = self._found["memory_bound"]
        return bound

    @property
    def why(self) -> Literal["settled", "no-longest", "reach", "changes", "too-few-plays"]:
        """Why there is, or is not, a memory bound.

        ``"settled"``: every arm is shown to settle, and the log reaches as far as ``longest``. ``"no-longest"``: say
        how long a memory is possible; :attr:`conditional_bound` holds if it is at most :attr:`reach`. ``"reach"``: the
        log does not reach as far as ``longest``. ``"changes"``: some arm still changes just below the reach.
        ``"too-few-plays"``: some arm has too few plays for a decision.
        """
        why: Literal["settled", "no-longest", "reach", "changes", "too-few-plays"] = self._found["why"]
        return why

    @property
    def conditional_bound(self) -> int | None:
        """The bound that holds if no arm remembers more than :attr:`reach` plays; None if there is none even then."""
        bound: int | None = self._found["conditional_bound"]
        return bound

    @property
    def reach(self) -> int:
        """The longest memory that the log can speak of. It depends on which arms were played when, and on the noise."""
        return int(self._found["reach"])

    @property
    def longest(self) -> int | None:
        """The longest memory that is considered possible."""
        longest: int | None = self._found["longest"]
        return longest

    @property
    def tolerance(self) -> float:
        """The largest difference of losses that does not matter."""
        return float(self._found["tolerance"])

    @property
    def confidence(self) -> float:
        """The confidence of every statement."""
        return float(self._found["confidence"])

    @property
    def plays(self) -> int:
        """The number of plays in the log."""
        return int(self._found["plays"])

    @property
    def missing(self) -> int:
        """The number of plays without a loss."""
        return int(self._found["missing"])

    @property
    def units(self) -> int:
        """The number of units: sequences of plays with a memory of their own."""
        return int(self._found["units"])

    @property
    def loss_range(self) -> tuple[float, float]:
        """The losses of the log that are 0 and 1 in the fitted games."""
        return self._core.loss_range()

    def game(self) -> Game:
        """The game of the fitted curves, with the names of the arms. Losses are scaled by :attr:`loss_range`.

        Raises:
            GameError: if the log has too few plays of an arm for a curve.
        """
        return Game.from_spec(loads(self._core.game()))

    def games(self, n: int = 20, seed: SeedLike = 1) -> list[Game]:
        """Games drawn from the uncertainty of the fitted one."""
        drawn = self._core.games(whole("n", n, low=1, high=_MOST_GAMES), seed_of(seed))
        return [Game.from_spec(loads(one)) for one in drawn]

    def price(
        self, horizon: int = 100_000, *, games: int = 40, seed: SeedLike = 1, memory_bound: int | None = None
    ) -> Price:
        """Predict what policies would lose, with memory bounds on both sides of the recommended one.

        Args:
            horizon: The number of plays.
            games: The number of games, drawn from the uncertainty of the fitted one.
            seed: The seed.
            memory_bound: The memory bound in the middle of the range. Default: the one of the diagnosis.

        Raises:
            GameError: if the log has too few plays of an arm for a curve.
        """
        bound = None if memory_bound is None else whole("memory_bound", memory_bound, low=1, high=_LONGEST)
        drawn = whole("games", games, low=1, high=_MOST_GAMES)
        return Price(self._core.price(whole("horizon", horizon, low=1), drawn, seed_of(seed), bound))

    def pilot(
        self, longest: int | None = None, *, believe: Literal["tallying", "nothing"] = "tallying", seed: int = 1
    ) -> PilotPlan:
        """Plan the pilot that would answer what this log cannot: see :func:`pilot`.

        The noise and the differences that matter are those of this diagnosis: a warm-up is worth finding from twice the
        tolerance on.

        Args:
            longest: The longest memory that you consider possible. Default: what the diagnosis was told.
            believe: ``"tallying"``: losses depend on how many of the last plays were of the same arm, and rise or fall
                with that number. ``"nothing"``: only ``longest`` is assumed; the pilot is longer.
            seed: The seed of the random order.
        """
        longest = self.longest if longest is None else longest
        if longest is None:
            raise SpecError("give `longest`: the longest memory that you consider possible, in plays")
        sd = max(arm.sd for arm in self.arms.values())
        drop = 2 * self.tolerance if believe == "tallying" else self.tolerance
        return pilot(list(self.arms), longest, believe=believe, sd=max(sd, drop * 1e-6), drop=drop, seed=seed)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        price: Price | None = None,
        backend: Literal["matplotlib", "plotly"] = "matplotlib",
    ) -> Any:
        """Plot what the report shows: warm-up, forgetting, what is still to change, and a price if it is given.

        Args:
            ax: The axes to draw into, if there is one panel (only matplotlib).
            price: What :meth:`price` returned.
            backend: ``"matplotlib"`` returns the axes; ``"plotly"`` returns an interactive figure.
        """
        from ._plot import plot_described

        return plot_described(self._core.plot(None if price is None else price._core), ax, backend)

    def report(self, path: str | os.PathLike[str], *, price: Price | None = None) -> None:
        """Write a report: one self-contained HTML file with interactive figures and tables.

        ``price`` is what :meth:`price` returned. Default: the price over 100,000 plays, if the log has enough plays for
        a fitted game.
        """
        if price is None:
            with suppress(GameError):
                price = self.price()
        core = None if price is None else price._core
        self._core.report(path_of("path", path), self._log, self._tolerance_given, core)

    def to_dict(self) -> dict[str, Any]:
        """The content of ``diagnosis.json``."""
        found: dict[str, Any] = loads(self.to_json())
        return found

    def to_json(self) -> str:
        """The text of ``diagnosis.json``."""
        return self._core.to_json()

    def __reduce__(self) -> tuple[Any, ...]:
        return Diagnosis, (self._core, self._log, self._tolerance_given)

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.plays:,} plays of {len(self.arms)} arms: {self._answer()}>"

    def _answer(self) -> str:
        percent = f"{100 * self.confidence:g} %"
        if self.memory_bound is not None:
            return f"M = {self.memory_bound} if no arm remembers more than {self.longest} plays, with {percent}"
        if self.why == "no-longest":
            return f"M is at most {self.conditional_bound} if no arm remembers more than {self.reach} plays"
        return {
            "reach": f"no M, because the log speaks of memories up to {self.reach} plays only",
            "changes": f"no M, because an arm still changes after {self.reach} plays in a row",
        }.get(self.why, "no M, because there are too few plays")

    def _repr_html_(self) -> str:
        header = ["arm", "plays", "runs", "settles between", "eventual loss", "reach", "search ended"]
        rows = []
        for arm in self.arms.values():
            upper = "?" if arm.settled.upper is None else arm.settled.upper
            eventual = "?"
            if arm.eventual is not None:
                mean, low, high = (_html.number(value) for value in arm.eventual)
                eventual = f"{mean} ({low} to {high})"
            settled = f"{arm.settled.lower} and {upper}"
            rows.append([arm.name, arm.plays, arm.runs, settled, eventual, arm.reach, arm.stopped.replace("-", " ")])
        least_alpha, most_alpha = self.reo.alpha
        end = "?" if most_alpha is None else _html.number(most_alpha)
        alpha = f"alpha between {_html.number(least_alpha)} and {end}"
        said = [f"Repeated exposure: {self.reo.verdict}, {alpha}."]
        if self.tallying is not None:
            least, largest = self.tallying.set
            upper = "more" if largest is None else largest
            said.append(f"Tallying: memory {self.tallying.memory}, from {least} to {upper}, {self.tallying.kernel}.")
        said.extend(note.text for note in self.notes)
        items = "".join(f"<li>{html.escape(one)}</li>" for one in said)
        return f"{_html.table(repr(self)[1:-1], header, rows)}<ul>{items}</ul>"


def diagnose(
    data: Any,
    *,
    arm: str = "arm",
    loss: str = "loss",
    order: str | None = None,
    unit: str | None = None,
    longest: int | None = None,
    tolerance: float | None = None,
    confidence: float = 0.95,
    starts: Literal["cold", "unknown"] = "cold",
    drifting: bool = False,
) -> Diagnosis:
    """Find out from a log of plays which memory bound M is enough, as ``calibandit diagnose`` does.

    Args:
        data: A pandas or polars frame, an Arrow table, a mapping of columns, a structured array, or the path of a CSV
            or Parquet file: one row per play.
        arm: The column with the name of the arm.
        loss: The column with the loss: smaller is better. A play without a loss counts as a play.
        order: The column with the order of the plays, as whole numbers; a jump ends a run. Default: the order of the
            rows.
        unit: The column that says which of several things was played, each with a memory of its own.
        longest: The longest memory that you consider possible, in plays. Without it no M is recommended, because no
            log can tell how long a memory is possible.
        tolerance: The largest difference of losses that does not matter. Default: 5 % of the range of the middle 98 %
            of losses.
        confidence: The confidence of every statement.
        starts: Whether every arm is rested when the log, or a unit, begins (``"cold"``), or whether plays before it are
            unknown.
        drifting: Whether to remove changes of the losses with time that all arms share.

    Two layouts of a cache, in turn for 40 queries each; the second needs five queries to warm up:

    >>> import calibandit as cb
    >>> import numpy as np
    >>> query = np.arange(40_000)
    >>> slim = query // 40 % 2
    >>> cold = slim * (query % 40 < 5)
    >>> noise = np.random.default_rng(1).uniform(-0.1, 0.1, 40_000)
    >>> log = {"layout": np.where(slim, "slim", "plain"), "ms": 1.0 - 0.3 * slim + 0.5 * cold + noise}
    >>> found = cb.diagnose(log, arm="layout", loss="ms", longest=20)
    >>> found
    <Diagnosis of 40,000 plays of 2 arms: M = 6 if no arm remembers more than 20 plays, with 95 %>
    >>> found.reo.verdict, found.arms["slim"].settled.upper, round(found.arms["slim"].eventual.mean, 2)
    ('holds', 6, 0.7)
    """
    options = (
        None if longest is None else whole("longest", longest, low=1, high=_LONGEST),
        None if tolerance is None else number("tolerance", tolerance),
        number("confidence", confidence),
        choice("starts", starts, ["cold", "unknown"]),
        bool(drifting),
    )
    if isinstance(data, (str, os.PathLike)):
        path = existing(path_of("data", data))
        for argument, name in (("arm", arm), ("loss", loss), ("order", order), ("unit", unit)):
            if name is not None:
                text(argument, name)
        core = _core.diagnose_file(path, arm, loss, order, unit, options)
        return Diagnosis(core, os.path.basename(path), tolerance is not None)
    core = _core.diagnose_columns(*log_columns(data, arm, loss, order, unit), options)
    return Diagnosis(core, "a table", tolerance is not None)


def existing(path: str) -> str:
    """The path of a log that exists."""
    if not os.path.exists(path):
        raise MissingFileError(f"{path}: there is no such file; give the path of a CSV or Parquet file")
    return path


def log_columns(
    data: Any, arm: Any, loss: Any, order: Any, unit: Any
) -> tuple[Codes, bytes, bytes | None, Codes | None]:
    """The columns of a log for the compiled module."""
    found = columns_of(data, {"arm": arm, "loss": loss, "order": order, "unit": unit})
    return (
        names(found["arm"]),
        losses(loss, found["loss"]).tobytes(),
        whole_numbers(order, found["order"], -(2**63), 2**63 - 1).tobytes() if "order" in found else None,
        names(found["unit"]) if "unit" in found else None,
    )
