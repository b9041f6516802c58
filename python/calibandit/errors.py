"""Exceptions. Each is a :class:`CalibanditError` and also the built-in exception that fits.

>>> import calibandit as cb
>>> try:
...     cb.games.step(arms=0)
... except ValueError as error:
...     print(type(error).__name__, isinstance(error, cb.CalibanditError))
SpecError True

An exception raised inside a policy or a loss curve written by the user is passed on unchanged.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

__all__ = [
    "AlreadySettledError",
    "ArgumentTypeError",
    "CalibanditError",
    "FolderError",
    "GameError",
    "HorizonWarning",
    "InternalError",
    "LaneBusyError",
    "LeftOutWarning",
    "MemoryBoundWarning",
    "MissingFileError",
    "MissingFolderError",
    "PolicyError",
    "ReentrantCallError",
    "SimulationError",
    "SnapshotError",
    "SpecError",
    "TellError",
    "UnknownDecisionError",
    "UnknownNameError",
    "UnreadableFileError",
    "WaitingError",
    "WorkersLostError",
]


class CalibanditError(Exception):
    """The base class of all exceptions of this package."""


class SpecError(CalibanditError, ValueError):
    """An invalid specification of a game, a policy or an experiment, or an invalid value of an argument.

    ``errors`` lists all problems of an experiment with their location, as ``calibandit run`` prints them.
    """

    errors: list[dict[str, Any]]

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.errors = []


class ArgumentTypeError(CalibanditError, TypeError):
    """An argument has the wrong type, for example a text where a number is needed."""


class UnreadableFileError(SpecError, OSError):
    """A file could not be read."""


class MissingFileError(UnreadableFileError, FileNotFoundError):
    """There is no such file."""


class UnknownNameError(CalibanditError, KeyError):
    """An unknown name: of a kind of game or policy, of a column or of an arm."""

    def __str__(self) -> str:
        # KeyError prints the repr of its argument, which would put the message in quotes.
        return str(self.args[0]) if self.args else ""


class GameError(CalibanditError, ValueError):
    """A game could not be played, or a property of it could not be computed."""


class PolicyError(CalibanditError, ValueError):
    """A policy cannot be built for this number of arms and this horizon."""


class SimulationError(CalibanditError, RuntimeError):
    """A policy asked for an invalid run, or a loss curve left [0, 1]."""


class FolderError(CalibanditError, OSError):
    """An output folder, or a file in it, could not be read or written."""


class MissingFolderError(FolderError, FileNotFoundError):
    """There are no results at this path."""


class WaitingError(CalibanditError, RuntimeError):
    """The policy of an advisor needs outstanding losses before its next run. ``outstanding`` lists the decisions."""

    outstanding: list[int]

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.outstanding = []


class LaneBusyError(WaitingError):
    """A lane has as many plays under way as its overlap allows. ``outstanding`` lists those without an outcome."""


class TellError(CalibanditError, ValueError):
    """An advisor rejects a loss: it is not a number, or it is outside the declared range."""


class UnknownDecisionError(TellError, KeyError):
    """There is no decision with this number."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class AlreadySettledError(TellError):
    """A second loss was told for the same decision. The first one counts."""


class SnapshotError(CalibanditError, ValueError):
    """A saved advisor could not be read."""


class ReentrantCallError(CalibanditError, RuntimeError):
    """An advisor or a session was called from inside one of its own calls, for example by its policy."""


class InternalError(CalibanditError, RuntimeError):
    """A bug of this package. Please report it, with the message and the lines that it printed."""


class WorkersLostError(CalibanditError, RuntimeError):
    """Workers died repeatedly. The shards in ``shards`` are not finished; the others are."""

    shards: list[int]

    def __init__(self, message: str, shards: Sequence[int] = ()) -> None:
        super().__init__(message, list(shards))
        self.shards = list(shards)

    def __str__(self) -> str:
        return str(self.args[0])


class MemoryBoundWarning(UserWarning):
    """The memory bound of a policy is below the memory of the game: no guarantee of the policy holds."""


class LeftOutWarning(UserWarning):
    """An arm of a table is not part of the fitted game."""


class HorizonWarning(UserWarning):
    """An advisor is asked beyond the horizon that its policy was told."""


#: Former names and the present ones.
_RENAMED = {
    "AlreadySettled": "AlreadySettledError",
    "UnknownDecision": "UnknownDecisionError",
    "UnknownName": "UnknownNameError",
    "UnreadableFile": "UnreadableFileError",
    "Waiting": "WaitingError",
    "WorkersLost": "WorkersLostError",
}


def _renamed(name: str, module: str) -> Any:
    """The exception that had another name, with a warning at the line that uses it."""
    if name not in _RENAMED:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    warnings.warn(f"{name} is now called {_RENAMED[name]}", DeprecationWarning, stacklevel=3)
    return globals()[_RENAMED[name]]


def __getattr__(name: str) -> Any:
    return _renamed(name, __name__)
