"""The arguments of advisors, and the parts of their snapshots, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import _core
from ._arguments import LARGEST, is_number, listed, number, outcome, whole
from ._game import Game
from .errors import ArgumentTypeError, SnapshotError, SpecError, UnknownNameError

__all__ = ["arms_of", "loss_ends", "past_losses", "saved_horizon", "saved_label", "saved_names"]


def arms_of(arms: Any) -> tuple[int, list[Any] | None]:
    """The number of arms, and their names: those given, those of a game, or None for the indices."""
    if isinstance(arms, Game):
        return arms.n_arms, list(arms.arm_names) if arms._has_names else None
    if is_number(arms):
        return whole("arms", arms, low=1), None
    names = listed("arms", arms, "names")
    try:
        repeated = _repeated(names)
    except TypeError:
        raise ArgumentTypeError(f"`arms` must contain names, but {names!r} has a value that cannot be one") from None
    if repeated:
        raise SpecError(f"`arms` has the same name twice: {names!r}")
    if not names:
        raise SpecError("`arms` is empty: an advisor needs at least one arm")
    return len(names), names


#: The most arms that an advisor can have.
_MOST_ARMS = 2**24


def past_losses(given: Any, count: int, names: list[Any] | None) -> list[tuple[int, float, float]]:
    """Per arm the number, the sum and the sum of squares of its past losses. Without names, arms are numbers."""
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"`warm_start` must map arms to their past losses, not be {type(given).__name__}")
    # The compiled part refuses more arms.
    arms = names if names is not None else range(min(count, _MOST_ARMS))
    unknown = [arm for arm in given if arm not in arms]
    if unknown:
        known = ", ".join(map(repr, arms)) if len(arms) <= 20 else f"{len(arms)} others"
        raise UnknownNameError(f"`warm_start` has losses of {unknown[0]!r}, which is no arm; the arms are {known}")
    return [_sums(f"warm_start[{arm!r}]", given[arm]) if arm in given else (0, 0.0, 0.0) for arm in arms]


def _sums(argument: str, given: Any) -> tuple[int, float, float]:
    if isinstance(given, _core.Feedback):
        return given.plays, given.sum, given.sum_sq
    losses = [outcome(f"{argument}[{i}]", loss) for i, loss in enumerate(listed(argument, given))]
    return len(losses), sum(losses), sum(loss * loss for loss in losses)


def _repeated(names: list[Any]) -> bool:
    return len(set(names)) != len(names)


def saved_names(names: Any) -> list[Any]:
    if not isinstance(names, list) or not all(isinstance(name, (str, int, float)) for name in names):
        raise SnapshotError(f"`arms` of the snapshot must be a list of names, not {names!r}")
    if _repeated(names):
        raise SnapshotError(f"`arms` of the snapshot has the same name twice: {names!r}")
    return names


def saved_label(label: Any) -> str:
    if not isinstance(label, str):
        raise SnapshotError(f"`label` of the snapshot must be a text, not {label!r}")
    return label


def saved_horizon(horizon: Any) -> int | None:
    if horizon is not None and not (type(horizon) is int and 1 <= horizon <= LARGEST):
        raise SnapshotError(f"`horizon` of the snapshot must be a whole number from 1 to 2**63 - 1, not {horizon!r}")
    return horizon


def loss_ends(given: Any) -> tuple[float, float]:
    ends = listed("loss_range", given)
    if len(ends) != 2:
        raise SpecError(f"`loss_range` must be a pair (low, high), not {given!r}")
    return number("loss_range[0]", ends[0]), number("loss_range[1]", ends[1])
