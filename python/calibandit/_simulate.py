"""Simulations and experiments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union, cast

from . import _core
from ._arguments import whole
from ._game import Game
from ._json import dumps, loads
from ._policy import PolicyLike, PolicySpec, _Entry
from ._progress import Progress, watcher
from ._result import Result

__all__ = ["check", "merge", "read", "run", "simulate", "spec"]

SpecLike = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""An experiment: the path of a file, or a table with the keys of one."""


def simulate(
    game: Game | Mapping[str, Any],
    policies: PolicyLike | Sequence[PolicyLike],
    horizon: int,
    instances: int = 20,
    seed: int = 1,
    *,
    name: str = "simulation",
    checkpoints: int | Sequence[int] | Mapping[str, Any] = 200,
    jobs: int = 0,
    progress: Progress = None,
) -> Result:
    """Simulate each policy on ``instances`` instances of the game, with ``horizon`` plays per instance.

    The numbers equal those of an experiment file with this ``name`` and ``seed``, bit for bit, for any number of
    ``jobs`` (threads; 0 for all cores). The interpreter lock is released meanwhile. ``checkpoints`` are the times at
    which the regret is recorded: a number of evenly spaced times, a list of times, or a table as in files: ``{"scale":
    "log", "points": 50}``.

    ``progress`` is None (a progress bar in terminals and notebooks), True, False, or a function that is called as
    ``progress(done, pieces, part)``. Ctrl-C stops the simulation. So does an exception in ``progress``, which is passed
    on.

    >>> import calibandit as cb
    >>> result = cb.simulate(cb.games.step(), [cb.policies.calibrated(memory_bound=3), cb.policies.exp3()], 10_000)
    >>> len(result), result["cpr"].dtype
    (8000, dtype('float64'))
    """
    played = game if isinstance(game, Game) else Game.from_spec(game)
    single = isinstance(policies, (str, Mapping, PolicySpec)) or not isinstance(policies, Sequence)
    given = [cast(PolicyLike, policies)] if single else list(cast("Sequence[PolicyLike]", policies))
    entries = [_Entry(policy) for policy in given]
    if isinstance(checkpoints, int):
        when: Any = {"points": checkpoints}
    elif isinstance(checkpoints, Mapping):
        when = dict(checkpoints)
    else:
        when = {"at": [whole("checkpoints", time) for time in checkpoints]}
    with watcher(progress, name) as told:
        table = _core.simulate(
            played._core,
            [entry.parts() for entry in entries],
            whole("horizon", horizon),
            whole("instances", instances),
            whole("seed", seed),
            name,
            dumps(when),
            whole("jobs", jobs),
            told,
        )
    return Result(table)


def _source(spec: SpecLike) -> tuple[str | None, str | None]:
    """A path or JSON."""
    if isinstance(spec, Mapping):
        return None, dumps({key: _plain(value) for key, value in spec.items()})
    return os.fspath(spec), None


def _plain(value: Any) -> Any:
    """Replace games and policies in a table by their own tables."""
    if isinstance(value, (Game, PolicySpec)):
        return value.spec
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def run(
    spec: SpecLike,
    *,
    out: str | os.PathLike[str] | None = None,
    jobs: int = 0,
    shard: tuple[int, int] | None = None,
    seed: int | None = None,
    instances: int | None = None,
    progress: Progress = None,
) -> Result:
    """Run an experiment, given as a file or as a table with the keys of a file.

    ``out`` is an output folder. It gets the same files, byte for byte, as ``calibandit run --out`` writes: tables,
    manifest, figures and the report. An interrupted run continues from there. ``shard=(i, n)`` runs only part i of n,
    counted from 1;
    :func:`merge` merges the parts.

    >>> import calibandit as cb
    >>> result = cb.run({
    ...     "name": "first",
    ...     "horizon": 10_000,
    ...     "game": {"kind": "step", "memory": 3},
    ...     "policy": [{"kind": "calibrated", "memory_bound": 3}, {"kind": "thompson"}],
    ... })
    >>> result.policies
    ['calibrated', 'Thompson']
    """
    path, text = _source(spec)
    name = spec.get("name", "experiment") if isinstance(spec, Mapping) else os.path.basename(os.fspath(spec))
    with watcher(progress, str(name)) as told:
        folder = None if out is None else os.fspath(out)
        return Result(_core.run(path, text, folder, whole("jobs", jobs), shard, seed, instances, told))


def merge(folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Result:
    """Merge the output folders of all shards of a run: the same results as without sharding, byte for byte."""
    return Result(_core.merge([os.fspath(folder) for folder in folders], os.fspath(out)))


def read(folder: str | os.PathLike[str]) -> Result:
    """Read the results in an output folder of :func:`run` or ``calibandit run``."""
    return Result(_core.read(os.fspath(folder)))


def check(spec: SpecLike) -> dict[str, Any]:
    """Analyse an experiment without running it (alpha, best arm, optimum, warnings): as ``calibandit check --json``.

    >>> import calibandit as cb
    >>> known = cb.check({"name": "x", "horizon": 100, "game": {"kind": "step"}, "policy": [{"kind": "ucb1"}]})
    >>> known["alpha"], known["optimum"]["exact"]
    (0.0, True)
    """
    known: dict[str, Any] = loads(_core.check_spec(*_source(spec)))
    return known


def spec(experiment: SpecLike, *, seed: int | None = None, instances: int | None = None) -> dict[str, Any]:
    """Check an experiment and return it as a table with every default filled in. Nothing is run.

    >>> import calibandit as cb
    >>> experiment = {"name": "x", "horizon": 100, "game": {"kind": "step"}, "policy": [{"kind": "ucb1"}]}
    >>> complete = cb.spec(experiment, seed=7)
    >>> complete["seed"], complete["instances"], complete["game"]["best_loss"]
    (7, 20, 0.35)
    """
    complete: dict[str, Any] = loads(_core.complete_spec(*_source(experiment)))
    changes = {"seed": seed, "instances": instances}
    changes = {key: value for key, value in changes.items() if value is not None}
    if changes:
        complete = loads(_core.complete_spec(None, dumps({**complete, **changes})))
    return complete
