"""What :class:`~calibandit.Game` computes exactly: repeated exposure optimality, and the optimum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, repeat

from . import _html

__all__ = ["BestSequence", "Optimum", "Reo"]


@dataclass(frozen=True)
class Reo:
    """Repeated exposure optimality (REO): how far playing the best arm repeatedly is from optimal."""

    alpha: float
    """The smallest alpha for which the game satisfies alpha-REO. With 0, playing the best arm repeatedly is optimal."""
    best_arm: int
    """The arm with the least eventual loss."""
    arm: int
    """The arm with the least loss of all arms in all windows."""
    window: tuple[bool, ...]
    """The window in which it has this loss, newest play first; empty if the arm is rested."""
    plays: int | None = None
    """The number of plays at which a rested arm has this loss."""
    names: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The names of all arms of the game."""

    def _repr_html_(self) -> str:
        window = " ".join("■" if played else "□" for played in self.window)
        rows = [
            ("alpha", self.alpha),
            ("best arm", _name(self.names, self.best_arm)),
            ("arm with the least loss", _name(self.names, self.arm)),
            ("its window, newest play first", window) if self.plays is None else ("its number of plays", self.plays),
        ]
        return _html.table("Repeated exposure optimality", ("", ""), rows)


@dataclass(frozen=True, repr=False)
class BestSequence:
    """An optimal sequence of plays: ``prefix``, then ``cycle`` repeated ``repeats`` times, then ``tail``.

    In a rested game the order of plays does not matter: ``blocks`` has the number of plays of each arm, and the other
    parts are empty.

    Iterating over it yields the index of each arm, :meth:`named` its name.

    >>> BestSequence((1, 1), (1, 0), 49, (), names=("ann", "bob"))
    <BestSequence of 100 plays: 2 * bob, then 49 * (bob, ann)>
    """

    prefix: tuple[int, ...]
    cycle: tuple[int, ...]
    repeats: int
    tail: tuple[int, ...]
    names: tuple[str, ...] = field(default=(), compare=False)
    """The names of all arms of the game."""
    blocks: tuple[tuple[int, int], ...] = ()
    """The arms of a rested game with their numbers of plays."""

    def __len__(self) -> int:
        in_blocks = sum(plays for _, plays in self.blocks)
        return in_blocks + len(self.prefix) + len(self.cycle) * self.repeats + len(self.tail)

    def __iter__(self) -> Iterator[int]:
        for arm, plays in self.blocks:
            yield from repeat(arm, plays)
        yield from self.prefix
        for _ in range(self.repeats):
            yield from self.cycle
        yield from self.tail

    def named(self) -> Iterator[str]:
        """Yield the name of each play's arm, or its index as text if it has no name."""
        return (_name(self.names, arm) for arm in self)

    def __str__(self) -> str:
        if self.blocks:
            return self._counted(self.blocks, ", ") + ", in any order"
        if len(set(self.cycle)) == 1:
            # The same arm before, in and after the cycle is one run.
            cycle = [(self.cycle[0], len(self.cycle) * self.repeats)]
            return self._counted([*_runs(self.prefix), *cycle, *_runs(self.tail)], ", then ")
        cycle_of_several = f"{self.repeats:,} * ({self._counted(_runs(self.cycle), ', ')})" if self.repeats else ""
        parts = [self._counted(_runs(self.prefix), ", then "), cycle_of_several]
        return ", then ".join(part for part in [*parts, self._counted(_runs(self.tail), ", then ")] if part)

    def _counted(self, runs: Sequence[tuple[int, int]], separator: str) -> str:
        """Runs with their numbers of plays, at most the first twelve."""
        merged = [(arm, sum(plays for _, plays in same)) for arm, same in groupby(runs, key=lambda run: run[0])]
        names = [(_name(self.names, arm), plays) for arm, plays in merged[:12] if plays]
        shown = [name if plays == 1 else f"{plays:,} * {name}" for name, plays in names]
        return separator.join([*shown, "..."] if len(merged) > 12 else shown)

    def __repr__(self) -> str:
        return f"<BestSequence of {len(self):,} plays: {self}>"


@dataclass(frozen=True)
class Optimum:
    """The least expected loss of any sequence of plays."""

    horizon: int
    loss: float
    """The loss of ``sequence``: the optimum, if it is ``exact``."""
    excess: float
    """``loss`` minus ``horizon`` times the least eventual loss."""
    lower: float
    """A lower bound on the loss of every sequence; equal to ``loss`` if it is ``exact``."""
    exact: bool
    sequence: BestSequence

    def _repr_html_(self) -> str:
        rows = [
            ("loss", self.loss),
            ("exact", "yes" if self.exact else f"no, at least {_html.number(self.lower)}"),
            ("above the least eventual loss at every play", self.excess),
            ("best sequence", str(self.sequence)),
        ]
        return _html.table(f"Optimum over {self.horizon:,} plays", ("", ""), rows)


def _runs(arms: Sequence[int]) -> list[tuple[int, int]]:
    return [(arm, len(list(plays))) for arm, plays in groupby(arms)]


def _name(names: Sequence[str], arm: int) -> str:
    return names[arm] if arm < len(names) else str(arm)
