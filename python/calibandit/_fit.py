"""Warm-up curves fitted to observed losses, and the game that they make."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import _core, _html
from ._arguments import listed, number, whole
from ._columns import Codes, columns_of, losses, named_columns, names, whole_numbers
from ._diagnose import existing, log_columns
from ._game import Game
from ._json import loads
from ._log import warn
from ._options import choice, path_of
from .errors import LeftOutWarning, SpecError

if TYPE_CHECKING:
    import pandas

__all__ = ["FittedArm", "GameFit", "Model", "fit"]

Model = Literal["auto", "exponential-linear", "settling", "plateau"]
"""The model of a warm-up curve; ``"auto"`` takes, for each arm, the one with a level that has the least AIC."""

#: The column of positions, if none is named.
_POSITION = "position"
#: The largest position that the compiled part takes.
_LAST = 2**32 - 1


@dataclass(frozen=True)
class FittedArm:
    """An arm with its curve: at position k of a run, the loss is ``level + beta * exp(-alpha * k) - gamma * k``."""

    name: str
    model: str
    losses: int
    """The number of losses."""
    alpha: float
    beta: float
    gamma: float
    level: float
    sd: float
    """The standard deviation of a loss around the curve."""
    r_squared: float
    """The share of the variance that the curve explains."""
    aic: float
    """Akaike's information criterion: smaller is better. Minus infinity for a curve through all losses."""
    last_position: int
    """The largest observed position."""
    last_loss: float
    """The expected loss there."""
    memory: int
    """The memory in the game: the given one, or the position from which on the curve stays within the tolerance of
    ``last_loss``."""
    still_changes: bool
    """Whether the curve still changes in the second half of the observed positions. Then the memory may be longer."""

    def __call__(self, position: int) -> float:
        """The expected loss at a position of a run, from 1."""
        return self.level + self.beta * math.exp(-self.alpha * position) - self.gamma * position


@dataclass(frozen=True, repr=False)
class GameFit:
    """The fitted arms of a table of losses, and their game. Made by :func:`fit`."""

    arms: tuple[FittedArm, ...]
    """The arms of the game, in the order of the table."""
    left_out: dict[str, str]
    """The arms that are not part of the game, and why."""
    game: Game
    """The game, with the names of the arms. Its memory is the longest one of its arms. Unless it was given, it is an
    estimate from the form of the curves, not a bound: :func:`diagnose` gives one."""
    tolerance: float
    """The difference of losses that does not matter: a curve that changes by less has settled."""

    def to_pandas(self) -> pandas.DataFrame:
        """One row per arm of the game."""
        import pandas

        return pandas.DataFrame([asdict(arm) for arm in self.arms])

    def __repr__(self) -> str:
        missing = f", {len(self.left_out)} left out" if self.left_out else ""
        return f"<GameFit of {len(self.arms)} arms{missing}, memory {self.game.memory}>"

    def _repr_html_(self) -> str:
        header = [field.name for field in fields(FittedArm)]
        rows = [list(asdict(arm).values()) for arm in self.arms]
        return _html.table(repr(self)[1:-1], header, rows)


def fit(
    data: Any,
    *,
    arm: str = "arm",
    loss: str = "loss",
    position: str | None = None,
    order: str | None = None,
    unit: str | None = None,
    starts: Literal["cold", "unknown"] = "cold",
    model: Model = "auto",
    loss_range: tuple[float, float] = (0.0, 1.0),
    memory: int | None = None,
    tolerance: float | None = None,
) -> GameFit:
    """Fit a warm-up curve to the losses of each arm, as ``calibandit fit`` does, and make a game of them.

    Args:
        data: A pandas or polars frame, an Arrow table, a mapping of columns, or the path of a CSV file, of a log also
            of a Parquet file.
        arm: The column with the name of the arm.
        loss: The column with the loss. Rows without one are skipped.
        position: The column with the position in the run: 1 for the first play after another arm, 2 for the next.
            Default: the table is a log with one row per play, and positions are counted in the runs that began after a
            rest. A column that is called ``position`` is taken if there is one and no ``order`` is given.
        order: The column of a log with the order of the plays, as whole numbers; a jump ends a run. Default: the order
            of the rows.
        unit: The column of a log that says which of several things was played, each with a memory of its own.
        starts: Whether every arm is rested when a log, or a unit, begins (``"cold"``), or whether plays before it are
            unknown.
        model: The model of the curves. ``"auto"`` takes, for each arm, the one with a level that has the least AIC.
        loss_range: The losses that become 0 and 1 in the game.
        memory: The memory of the game. Default: where the fitted curves settle.
        tolerance: The largest difference of losses that does not matter: a curve has settled if it changes by less.
            Default: 5 % of the range of the middle 98 % of losses.

    An arm with too few positions, or whose curve leaves [0, 1], is left out with a :class:`LeftOutWarning`.

    >>> import calibandit as cb
    >>> fitted = cb.fit({
    ...     "worker": ["Ada"] * 6 + ["Bo"] * 6,
    ...     "task": [1, 2, 3, 4, 5, 6] * 2,
    ...     "minutes": [9.2, 7.1, 6.8, 6.6, 6.5, 6.5, 12.1, 9.0, 7.4, 6.4, 5.9, 5.6],
    ... }, arm="worker", position="task", loss="minutes", loss_range=(0, 20))
    >>> fitted
    <GameFit of 2 arms, memory 5>
    >>> fitted.game.arm_names, fitted.game.best_arm
    (['Ada', 'Bo'], 1)
    """
    if model not in (*get_args(Model), "lap"):
        raise SpecError(f"`model` is {model!r}: give one of {', '.join(map(repr, get_args(Model)))}")
    ends = listed("loss_range", loss_range)
    if len(ends) != 2:
        raise SpecError(f"`loss_range` must be a pair (low, high), not {loss_range!r}")
    options = (
        model,
        (number("loss_range[0]", ends[0]), number("loss_range[1]", ends[1])),
        None if memory is None else whole("memory", memory, low=1, high=_LAST),
        None if tolerance is None else number("tolerance", tolerance),
    )
    choice("starts", starts, ["cold", "unknown"])
    if position is not None and (order is not None or unit is not None):
        raise SpecError("`position` is for tables of positions, `order` and `unit` are for logs: give one of them")
    if isinstance(data, (str, os.PathLike)):
        path = existing(path_of("data", data))
        if position is None and order is None and unit is None and _has_positions(path):
            position = _POSITION
        text = _core.fit_file(path, arm, loss, position, order, unit, starts, options)
    else:
        if position is None and order is None and unit is None and _POSITION in named_columns(data):
            position = _POSITION
        if position is None:
            text = _core.fit_log(*log_columns(data, arm, loss, order, unit), starts, options)
        else:
            text = _core.fit_positions(*_columns(data, arm, position, loss), options)
    found = loads(text)
    left_out = {one["name"]: one["reason"] for one in found["left_out"]}
    for name, reason in left_out.items():
        warn(f"arm {name!r} is left out of the game: {reason}", LeftOutWarning, stacklevel=2)
    arms = tuple(FittedArm(**{**one, "aic": -math.inf if one["aic"] is None else one["aic"]}) for one in found["arms"])
    return GameFit(arms, left_out, Game.from_spec(found["game"]), found["tolerance"])


def _columns(data: Any, arm: str, position: str, loss: str) -> tuple[Codes, bytes, bytes]:
    """The rows that have a loss, by column."""
    import numpy as np

    found = columns_of(data, {"arm": arm, "position": position, "loss": loss})
    kept = losses(loss, found["loss"])
    texts, codes = names(found["arm"])
    places = np.frombuffer(codes, dtype=np.int32)
    present = ~np.isnan(kept)
    if bool((places[present] < 0).any()):
        first = int(np.argmax(present & (places < 0)))
        raise SpecError(f"`data` has a loss without an arm: {arm}[{first}] is missing")
    positions = np.zeros(len(kept), dtype=np.uint32)
    rows = np.flatnonzero(present)
    positions[rows] = whole_numbers(position, found["position"], 1, _LAST, rows)[rows]
    return (texts, places[present].tobytes()), positions[present].tobytes(), kept[present].tobytes()


def _has_positions(path: str) -> bool:
    """Whether the header of a CSV file has a column of positions."""
    with open(path, "rb") as file:
        header = file.readline(1 << 16)
    cells = header.decode("utf-8", errors="replace").strip("\ufeff\r\n").split(",")
    return not header.startswith(b"PAR1") and _POSITION in [cell.strip().strip('"') for cell in cells]
