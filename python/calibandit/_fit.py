"""Warm-up curves fitted to observed losses, and the game that they make."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from . import _core, _html
from ._arguments import listed, number, unknown, whole
from ._game import Game
from ._json import loads
from ._log import warn
from .errors import ArgumentTypeError, LeftOutWarning, MissingFileError, SpecError, UnknownNameError

if TYPE_CHECKING:
    import pandas

__all__ = ["FittedArm", "GameFit", "Model", "fit"]

Model = Literal["auto", "exponential-linear", "settling", "plateau"]
"""The model of a warm-up curve; ``"auto"`` takes the one with the least AIC for each arm."""

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
    """The game, with the names of the arms. Its memory is the last position that all of them were observed at; that is
    no estimate of the number of plays after which losses stop changing."""

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
    position: str = "position",
    loss: str = "loss",
    model: Model = "auto",
    loss_range: tuple[float, float] = (0.0, 1.0),
) -> GameFit:
    """Fit a warm-up curve to the losses of each arm, as ``calibandit fit`` does, and make a game of them.

    Args:
        data: A pandas or polars frame, a mapping of columns, or the path of a CSV file.
        arm: The column with the name of the arm.
        position: The column with the position in the run: 1 for the first play after another arm, 2 for the next.
        loss: The column with the loss. Rows without one are skipped.
        model: The model of the curves.
        loss_range: The losses that become 0 and 1 in the game.

    An arm with too few positions, or whose curve leaves [0, 1], is left out with a :class:`LeftOutWarning`.

    >>> import calibandit as cb
    >>> fitted = cb.fit({
    ...     "worker": ["Ada"] * 6 + ["Bo"] * 6,
    ...     "task": [1, 2, 3, 4, 5, 6] * 2,
    ...     "minutes": [9.2, 7.1, 6.8, 6.6, 6.5, 6.5, 12.1, 9.0, 7.4, 6.4, 5.9, 5.6],
    ... }, arm="worker", position="task", loss="minutes", loss_range=(0, 20))
    >>> fitted
    <GameFit of 2 arms, memory 6>
    >>> fitted.game.arm_names, fitted.game.best_arm
    (['Ada', 'Bo'], 1)
    """
    if model not in (*get_args(Model), "lap"):
        raise SpecError(f"`model` is {model!r}: give one of {', '.join(map(repr, get_args(Model)))}")
    ends = listed("loss_range", loss_range)
    if len(ends) != 2:
        raise SpecError(f"`loss_range` must be a pair (low, high), not {loss_range!r}")
    range_ = (number("loss_range[0]", ends[0]), number("loss_range[1]", ends[1]))
    if isinstance(data, (str, os.PathLike)):
        path = os.fspath(data)
        if not os.path.exists(path):
            raise MissingFileError(f"{path}: there is no such file; give the path of a CSV file with a header")
        text = _core.fit_file(path, arm, position, loss, model, range_)
    else:
        text = _core.fit_rows(*_columns(data, arm, position, loss), model, range_)
    found = loads(text)
    left_out = {one["name"]: one["reason"] for one in found["left_out"]}
    for name, reason in left_out.items():
        warn(f"arm {name!r} is left out of the game: {reason}", LeftOutWarning, stacklevel=2)
    arms = tuple(FittedArm(**{**one, "aic": -math.inf if one["aic"] is None else one["aic"]}) for one in found["arms"])
    return GameFit(arms, left_out, Game.from_spec(found["game"]))


def _columns(data: Any, arm: str, position: str, loss: str) -> tuple[list[str], list[int], list[float]]:
    """The rows that have a loss, by column."""
    arms, positions, losses = (_column(data, name) for name in (arm, position, loss))
    if not len(arms) == len(positions) == len(losses):
        raise SpecError(
            f"`data` must have columns of equal length, but {arm!r} has {len(arms)} values, {position!r} "
            f"{len(positions)} and {loss!r} {len(losses)}"
        )
    kept = [i for i, one in enumerate(losses) if not _is_missing(one)]
    for i in kept:
        if _is_missing(arms[i]):
            raise SpecError(f"`data` has a loss without an arm: {arm}[{i}] is missing")
    return (
        [str(arms[i]) for i in kept],
        [whole(f"{position}[{i}]", positions[i], low=1, high=_LAST) for i in kept],
        [number(f"{loss}[{i}]", losses[i]) for i in kept],
    )


def _column(data: Any, name: str) -> list[Any]:
    if isinstance(data, Mapping):
        known = list(data)
    elif hasattr(data, "columns") and hasattr(data, "__getitem__"):
        known = list(data.columns)
    else:
        raise ArgumentTypeError(f"`data` must be a frame, a mapping of columns or a path, not {type(data).__name__}")
    if name not in known:
        raise UnknownNameError(unknown("column", name, [str(column) for column in known]))
    column = data[name]
    return column.to_list() if hasattr(column, "to_list") else listed(name, column, "values")


def _is_missing(value: Any) -> bool:
    # NaN and NaT are the only values that differ from themselves; pandas.NA has no truth value.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
