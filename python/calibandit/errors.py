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

from typing import Any

__all__ = [
    "AlreadySettled",
    "CalibanditError",
    "FolderError",
    "GameError",
    "PolicyError",
    "SimulationError",
    "SnapshotError",
    "SpecError",
    "TellError",
    "UnknownDecision",
    "UnknownName",
    "UnreadableFile",
    "Waiting",
]


class CalibanditError(Exception):
    """The base class of all exceptions of this package."""


class SpecError(CalibanditError, ValueError):
    """An invalid specification of a game, a policy or an experiment, or an invalid argument.

    ``errors`` lists all problems of an experiment with their location, as ``calibandit run`` prints them.
    """

    errors: list[dict[str, Any]]

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.errors = []


class UnreadableFile(SpecError, OSError):
    """A file could not be read."""


class UnknownName(CalibanditError, KeyError):
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


class Waiting(CalibanditError, RuntimeError):
    """The policy of an advisor needs outstanding losses before its next run. ``outstanding`` lists the decisions."""

    outstanding: list[int]

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.outstanding = []


class TellError(CalibanditError, ValueError):
    """An advisor rejects a loss: it is not a number, or it is outside the declared range."""


class UnknownDecision(TellError, KeyError):
    """There is no decision with this number."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class AlreadySettled(TellError):
    """A second loss was told for the same decision. The first one counts."""


class SnapshotError(CalibanditError, ValueError):
    """A saved advisor could not be read."""
