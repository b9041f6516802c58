"""Simulations: policies on games, without an experiment file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Union, cast

from . import _core
from ._arguments import MOST_INSTANCES, MOST_PLAYS, counted, is_number, listed, whole
from ._game import Game
from ._game import game as named_game
from ._json import dumps, loads
from ._log import logged, warn
from ._options import SeedLike, seed_of, text, threads
from ._policy import Policy, PolicyLike, PolicySpec, _Entry
from ._progress import Progress, Watcher, watcher
from ._result import Result
from .errors import ArgumentTypeError, MemoryBoundWarning, SpecError

__all__ = ["GameLike", "simulate"]

GameLike = Union[Game, str, Mapping[str, Any]]
"""A game: a :class:`Game`, the name of a kind, or a table with the keys of an experiment file."""


def simulate(
    game: GameLike | Mapping[str, GameLike] | Sequence[GameLike],
    policies: PolicyLike | Sequence[PolicyLike],
    horizon: int,
    instances: int = 20,
    seed: SeedLike = 1,
    *,
    name: str = "simulation",
    checkpoints: int | Sequence[int] | Mapping[str, Any] = 200,
    live: Mapping[str, Any] | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
    jobs: int | None = None,
) -> Result:
    """Simulate each policy on ``instances`` instances of the game, with ``horizon`` plays per instance.

    Args:
        game: a game, or several: a dictionary of labels and games, or a list of games, which then have their titles as
            labels. Every game has the numbers that it has alone.
        policies: one policy or several.
        horizon: the number of plays of an instance.
        instances: the number of instances. All policies play the same ones.
        seed: a whole number; None for a fresh seed, which is in ``result.spec["seed"]``; or a NumPy generator or seed
            sequence.
        name: the name of the experiment. Random numbers are derived from it and from the seed.
        checkpoints: the times at which the regret is recorded: a number of evenly spaced times, a list of times, or a
            table as in files: ``{"scale": "log", "points": 50}``.
        live: live use, a table as ``[live]`` in files: ``{"lanes": 100, "delay": 20, "delay_law": "geometric"}``. The
            horizon then counts the plays of all lanes, and delays are in steps, in which each lane makes one play.
        n_jobs: the number of threads; -1 for all cores, -2 for all but one. Results do not depend on it.
        progress: None for a bar in terminals and notebooks, True, False, or a function that is called as
            ``progress(done, tasks, part)``. An exception in it ends the simulation, and so does Ctrl-C.
        jobs: the former name of ``n_jobs``, with 0 for all cores.

    The numbers equal those of an experiment file with this ``name`` and ``seed``, bit for bit. The interpreter lock is
    released meanwhile. A policy whose memory bound is below the memory of the game causes a
    :class:`MemoryBoundWarning`.

    >>> import calibandit as cb
    >>> result = cb.simulate(cb.games.step(), [cb.policies.calibrated(memory_bound=3), cb.policies.exp3()], 10_000)
    >>> len(result), result["cpr"].dtype
    (8000, dtype('float64'))
    >>> both = cb.simulate({"short": cb.games.step(memory=2), "long": cb.games.step(memory=8)}, "ucb1", 1000)
    >>> both.games
    ['short', 'long']
    >>> lanes = cb.simulate("step", cb.policies.calibrated(memory_bound=3), 10_000, live={"lanes": 10, "delay": 5})
    >>> lanes.spec["live"]["lanes"]
    10
    """
    text("name", name)
    games = _games(game)
    given = [_Entry(policy) for policy in _policies(policies)]
    number_of_instances = whole("instances", instances, low=1, high=MOST_INSTANCES)
    tasks = len(given) * number_of_instances
    drawn = seed_of(seed)
    number = threads(n_jobs, jobs)
    plays = whole("horizon", horizon, low=1, high=MOST_PLAYS)
    when = dumps(_times(checkpoints, plays))
    lanes = None if live is None else dumps(_table("live", live))
    size = [
        counted(len(given), "policy", "policies"),
        counted(len(games), "game", "games"),
        counted(number_of_instances, "instance", "instances"),
    ]
    told = f"{', '.join(size)}, horizon {horizon}, seed {drawn}"
    tables: list[_core.Table] = []
    with logged(name, told), watcher(progress, name) as watch:
        for i, (_, one) in enumerate(games):
            table = _core.simulate(
                one._core,
                [entry.parts() for entry in given],
                plays,
                number_of_instances,
                drawn,
                name,
                when,
                lanes,
                number,
                _part(watch, i, len(games), tasks),
                _warn,
            )
            tables.append(table)
    labels = [label for label, _ in games]
    if labels == [None]:
        return Result(tables[0])
    return Result(_core.Table.join(tables, [cast(str, label) for label in labels]))


def _games(game: Any) -> list[tuple[str | None, Game]]:
    """The games with their labels; a single game has none."""
    if isinstance(game, (Game, str)) or (isinstance(game, Mapping) and isinstance(game.get("kind"), str)):
        return [(None, _game("game", game))]
    if isinstance(game, Mapping):
        named = [(str(label), _game(f"game[{label!r}]", one)) for label, one in game.items()]
    elif isinstance(game, Sequence):
        several = [_game(f"game[{i}]", one) for i, one in enumerate(game)]
        named = [(one.title, one) for one in several]
    else:
        raise ArgumentTypeError(
            f"`game` must be a calibandit.Game, the name of a kind of game, or several of them, not {game!r}"
        )
    if not named:
        raise SpecError("`game` must have at least one game")
    labels = [label for label, _ in named]
    for label in labels:
        if labels.count(label) > 1:
            raise SpecError(f"two games have the label {label!r}: give `game` as a dictionary of labels and games")
    return [*named]


def _game(name: str, game: Any) -> Game:
    if isinstance(game, Game):
        return game
    if isinstance(game, str):
        return named_game(game)
    if isinstance(game, Mapping):
        return Game.from_spec(game)
    raise ArgumentTypeError(f"`{name}` must be a calibandit.Game or the name of a kind of game, not {game!r}")


def _policies(policies: Any) -> list[PolicyLike]:
    if isinstance(policies, (str, Mapping, PolicySpec, Policy)) or callable(policies):
        return [policies]
    if isinstance(policies, Iterable):
        return listed("policies", policies, of="policies")
    return [policies]


def _times(checkpoints: Any, horizon: int) -> dict[str, Any]:
    if isinstance(checkpoints, Mapping):
        # An experiment with these checkpoints finds their mistakes.
        any_other = {"name": "checkpoints", "game": {"kind": "step"}, "policy": [{"kind": "ucb1"}]}
        checked = _core.complete_spec(None, dumps({**any_other, "horizon": horizon, "checkpoints": dict(checkpoints)}))
        return cast("dict[str, Any]", loads(checked)["checkpoints"])
    if is_number(checkpoints):
        return {"points": whole("checkpoints", checkpoints, low=1)}
    times = listed("checkpoints", checkpoints, of="times")
    return {"at": [whole(f"checkpoints[{i}]", time, low=1) for i, time in enumerate(times)]}


def _table(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise ArgumentTypeError(f"`{name}` must be a table of keys and values, not {given!r}")
    return dict(given)


def _part(watch: Watcher | None, i: int, of: int, tasks: int) -> Callable[[int, int, float], Any] | None:
    """The progress of one of several games as part of the whole."""
    if watch is None or of == 1:
        return watch
    return lambda done, _, part: watch(i * tasks + done, of * tasks, (i + part) / of)


def _warn(sentence: str) -> None:
    # This function, `simulate`, and then the line of the user.
    warn(sentence, MemoryBoundWarning, stacklevel=3)
