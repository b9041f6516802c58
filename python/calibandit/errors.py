"""What can go wrong. Everything is a :class:`CalibanditError`, and also the built-in exception that one would expect.

>>> import calibandit as cb
>>> try:
...     cb.games.step(arms=0)
... except ValueError as error:
...     print(type(error).__name__, isinstance(error, cb.CalibanditError))
SpecError True

What is raised inside a policy or a loss curve of yours is not among these: it comes out as it is.
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
    """What all errors of this package have in common."""


class SpecError(CalibanditError, ValueError):
    """A specification that cannot be: a game, a policy, an experiment or an argument.

    ``errors`` has all problems of an experiment with their place, as ``calibandit run`` shows them.
    """

    errors: list[dict[str, Any]]

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.errors = []


class UnreadableFile(SpecError, OSError):
    """A file that cannot be read."""


class UnknownName(CalibanditError, KeyError):
    """A name that nothing has: of a kind of game or policy, of a column, of an arm."""

    def __str__(self) -> str:
        # A KeyError shows its argument in quotes, which suits keys but not sentences.
        return str(self.args[0]) if self.args else ""


class GameError(CalibanditError, ValueError):
    """A game that cannot be played, or about which something cannot be known."""


class PolicyError(CalibanditError, ValueError):
    """A policy that cannot play this game up to this horizon."""


class SimulationError(CalibanditError, RuntimeError):
    """A policy asked for what cannot be played, or a loss curve left [0, 1]."""


class FolderError(CalibanditError, OSError):
    """A folder of results, or a file in it, that cannot be read or written."""


class Waiting(CalibanditError, RuntimeError):
    """An advisor's policy must know outstanding losses before it goes on. ``outstanding`` has the numbers of the decisions."""

    outstanding: list[int]

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.outstanding = []


class TellError(CalibanditError, ValueError):
    """A loss that an advisor does not take: not a number, or outside the range declared."""


class UnknownDecision(TellError, KeyError):
    """A decision that was never made."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class AlreadySettled(TellError):
    """A second loss for the same decision. The first one counts."""


class SnapshotError(CalibanditError, ValueError):
    """What was saved of an advisor cannot be read."""
