"""Simulations and experiments."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Union, cast

from . import _core
from ._game import Game, _whole
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
    """Each policy plays ``instances`` instances of the game, ``horizon`` plays each.

    The numbers are those of an experiment file with this ``name`` and ``seed``, bit for bit, on any number of ``jobs`` (threads; 0:
    all cores). The interpreter is free meanwhile. ``checkpoints`` says when the regret is recorded: at so many times evenly
    spaced, at given times, or as in files: ``{"scale": "log", "points": 50}``.

    ``progress`` is None for a bar where somebody looks (a terminal or a notebook), True or False, or a function that is
    called as ``progress(done, pieces, part)``. Ctrl-C works; if ``progress`` raises, the simulation stops and the exception comes out.

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
        when = {"at": [_whole("checkpoints", time) for time in checkpoints]}
    with watcher(progress, name) as told:
        table = _core.simulate(
            played._core,
            [entry.parts() for entry in entries],
            _whole("horizon", horizon),
            _whole("instances", instances),
            _whole("seed", seed),
            name,
            dumps(when),
            _whole("jobs", jobs),
            told,
        )
    return Result(table)


def _source(spec: SpecLike) -> tuple[str | None, str | None]:
    """A path or JSON."""
    if isinstance(spec, Mapping):
        return None, dumps({key: _plain(value) for key, value in spec.items()})
    return os.fspath(spec), None


def _plain(value: Any) -> Any:
    """Games and policies in a table stand for their own tables."""
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
    """Runs an experiment: a file, or a table with the keys of one.

    With ``out``, that folder has afterwards what ``calibandit run --out`` puts there, byte for byte: tables, manifest, figures and the report.
    An interrupted run goes on from there. ``shard=(i, n)`` does only part i of n, counted from 1; :func:`merge` puts the parts together.

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
        return Result(_core.run(path, text, folder, _whole("jobs", jobs), shard, seed, instances, told))


def merge(folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Result:
    """Puts the folders of all shards of a run together: the same results as without sharding, byte for byte."""
    return Result(_core.merge([os.fspath(folder) for folder in folders], os.fspath(out)))


def read(folder: str | os.PathLike[str]) -> Result:
    """The results in a folder that :func:`run` or ``calibandit run`` wrote."""
    return Result(_core.read(os.fspath(folder)))


def check(spec: SpecLike) -> dict[str, Any]:
    """What can be known of an experiment before it is run: the same as ``calibandit check --json``.

    >>> import calibandit as cb
    >>> known = cb.check({"name": "x", "horizon": 100, "game": {"kind": "step"}, "policy": [{"kind": "ucb1"}]})
    >>> known["alpha"], known["optimum"]["exact"]
    (0.0, True)
    """
    known: dict[str, Any] = loads(_core.check_spec(*_source(spec)))
    return known


def spec(experiment: SpecLike, *, seed: int | None = None, instances: int | None = None) -> dict[str, Any]:
    """An experiment as a table, checked and with every default filled in; nothing is run.

    >>> import calibandit as cb
    >>> complete = cb.spec({"name": "x", "horizon": 100, "game": {"kind": "step"}, "policy": [{"kind": "ucb1"}]}, seed=7)
    >>> complete["seed"], complete["instances"], complete["game"]["best_loss"]
    (7, 20, 0.35)
    """
    complete: dict[str, Any] = loads(_core.complete_spec(*_source(experiment)))
    changes = {"seed": seed, "instances": instances}
    changes = {key: value for key, value in changes.items() if value is not None}
    if changes:
        complete = loads(_core.complete_spec(None, dumps({**complete, **changes})))
    return complete
