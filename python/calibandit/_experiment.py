"""Experiments: a game, policies and numbers, from a file or a dictionary, checked before anything runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Union

from . import _core
from ._arguments import MOST_INSTANCES, counted, whole
from ._game import Game
from ._json import dumps, loads
from ._log import logged, logger, warn
from ._options import SeedLike, choice, path_of, seed_of, threads
from ._policy import Policy, PolicySpec
from ._progress import Progress, watcher
from ._result import Result
from .errors import ArgumentTypeError, MemoryBoundWarning, SpecError

__all__ = ["Experiment", "run"]

Backend = Literal["threads", "joblib"]


class Experiment:
    """An experiment: policies on a game, or on every point of a sweep.

    It is valid: every error of the file or dictionary is found when it is made, with a suggestion. Its parameters are
    those of an experiment file, and games and policies may be objects of this package:

    >>> import calibandit as cb
    >>> experiment = cb.Experiment.from_dict({
    ...     "name": "how-much-M-costs",
    ...     "horizon": 10_000,
    ...     "game": cb.games.step(memory=3),
    ...     "policy": [cb.policies.calibrated(memory_bound=3), cb.policies.thompson()],
    ...     "sweep": {"policy.memory_bound": [3, 12]},
    ... })
    >>> experiment
    <Experiment 'how-much-M-costs': 2 policies, 2 points, 20 instances, horizon 10,000, seed 1>
    >>> result = experiment.run(instances=4)
    >>> sorted(set(result["policy.memory_bound"].tolist()))
    [3, 12]

    Policies and loss curves written in Python cannot be part of one: use :func:`calibandit.simulate`.
    """

    __slots__ = ("_path", "_text")

    _path: str | None
    _text: str

    def __init__(self, table: Mapping[str, Any]) -> None:
        if not isinstance(table, Mapping):
            raise ArgumentTypeError(f"`table` must be a dictionary, not {table!r}; `Experiment.load` reads a file")
        if isinstance(table.get("policy"), (str, Mapping, Policy, PolicySpec)):
            table = {**table, "policy": [table["policy"]]}
        self._path = None
        self._text = _core.complete_spec(None, dumps({key: _plain(key, value) for key, value in table.items()}))

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Experiment:
        """Make an experiment of a dictionary with the keys of an experiment file."""
        return cls(table)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read an experiment file (TOML).

        Raises:
            MissingFileError: if there is no such file.
            SpecError: if the experiment is invalid; the message shows the lines.
        """
        source = path_of("path", path)
        return _remake(source, _core.complete_spec(source, None))

    @property
    def spec(self) -> dict[str, Any]:
        """The experiment as a dictionary with every default filled in.

        >>> import calibandit as cb
        >>> table = {"name": "x", "horizon": 100, "game": {"kind": "step"}, "policy": [{"kind": "ucb1"}]}
        >>> complete = cb.Experiment.from_dict(table).spec
        >>> complete["seed"], complete["instances"], complete["game"]["best_loss"]
        (1, 20, 0.35)
        """
        spec: dict[str, Any] = loads(self._text)
        return spec

    @property
    def name(self) -> str:
        """The name. Random numbers are derived from it and from the seed."""
        return str(self.spec["name"])

    def check(self) -> dict[str, Any]:
        """Analyse the experiment without running it: alpha, best arm, optimum, notes, as ``calibandit check --json``.

        >>> import calibandit as cb
        >>> table = {"name": "x", "horizon": 100, "game": {"kind": "step"}, "policy": [{"kind": "ucb1"}]}
        >>> known = cb.Experiment.from_dict(table).check()
        >>> known["alpha"], known["optimum"]["exact"]
        (0.0, True)
        """
        known: dict[str, Any] = loads(_core.check_spec(None, self._text))
        return known

    def run(
        self,
        *,
        out: str | os.PathLike[str] | None = None,
        force: bool = False,
        seed: SeedLike = None,
        instances: int | None = None,
        n_jobs: int = -1,
        backend: Backend = "threads",
        shard: tuple[int, int] | None = None,
        shards: int | None = None,
        retries: int | None = None,
        timeout: float | None = None,
        progress: Progress = None,
    ) -> Result:
        """Run the experiment.

        Args:
            out: an output folder. It gets the same files, byte for byte, as ``calibandit run --out`` writes: tables,
                manifest, figures and the report. An interrupted run continues from there.
            force: whether results of another experiment in ``out`` are replaced. If not, they are refused.
            seed: another seed than the experiment's: a whole number, a NumPy generator or a seed sequence.
            instances: another number of instances than the experiment's.
            n_jobs: the number of threads or of joblib's workers; -1 for all cores, -2 for all but one. The results do
                not depend on it.
            backend: ``"threads"``, or ``"joblib"`` to split the run into shards that joblib runs in processes on this
                machine, or on a cluster (``with joblib.parallel_config("dask")``). The results are the same.
            shard: ``(i, n)`` to run only part i of n, counted from 1; :meth:`Result.merge` merges the parts.
            shards: with joblib, the number of shards. Default: that of the previous call, if ``out`` has shards of this
                experiment; otherwise four per worker.
            retries: with joblib, how many times in a row workers may die without finishing another shard (default 3).
            timeout: with joblib, the number of seconds without a finished shard after which the workers count as dead.
                For clusters that lose machines without noticing; it must be longer than any single shard takes.
            progress: None for a bar in terminals and notebooks, True, False, or a function that is called as
                ``progress(done, tasks, part)``. An exception in it ends the run, and so does Ctrl-C.

        Raises:
            WorkersLostError: with joblib, if unfinished shards remain after the retries. With ``out``, the finished
                ones are kept there under ``.shards``, and another call runs only the rest.
        """
        choice("backend", backend, ["threads", "joblib"])
        self._warn(3)
        changed = self._with(seed, instances)
        if backend == "joblib":
            if shard is not None:
                raise SpecError('`shard` runs one part and `backend="joblib"` runs all: give one of them')
            from ._joblib import RETRIES, run_shards

            most = RETRIES if retries is None else whole("retries", retries)
            parts = None if shards is None else whole("shards", shards, low=1)
            to = None if out is None else Path(path_of("out", out))
            return run_shards(changed, parts, to, bool(force), most, timeout, n_jobs, progress)
        for name, value in (("shards", shards), ("retries", retries), ("timeout", timeout)):
            if value is not None:
                raise SpecError(f'`{name}` needs `backend="joblib"`')
        given = None if seed is None else int(changed.spec["seed"])
        return changed._run_here(out, force, threads(n_jobs), shard, given, instances, progress)

    def _run_here(
        self,
        out: str | os.PathLike[str] | None,
        force: bool,
        number: int,
        shard: tuple[int, int] | None,
        seed: int | None,
        instances: int | None,
        progress: Progress,
    ) -> Result:
        to = None if out is None else path_of("out", out)
        part = None if shard is None else _shard(shard)
        if to is not None and any(Path(to).glob(".unfinished-*.jsonl")):
            logger.info("%s has an unfinished run: finished tasks of the same experiment are kept", to)
        with logged(self.name, repr(self)), watcher(progress, self.name) as told:
            return Result(_core.run(self._path, self._text, to, bool(force), number, part, seed, instances, told))

    def _with(self, seed: SeedLike, instances: int | None) -> Experiment:
        """The experiment with other numbers."""
        changes: dict[str, int] = {}
        if seed is not None:
            changes["seed"] = seed_of(seed)
        if instances is not None:
            changes["instances"] = whole("instances", instances, low=1, high=MOST_INSTANCES)
        if not changes:
            return self
        return _remake(self._path, _core.complete_spec(None, dumps({**self.spec, **changes})))

    def _warn(self, depth: int) -> None:
        for sentence in _core.memory_warnings(self._text):
            warn(sentence, MemoryBoundWarning, stacklevel=depth)

    def __repr__(self) -> str:
        spec = self.spec
        points = len(self._points())
        swept = f"{points} points, " if points > 1 else ""
        policies = counted(len(spec["policy"]), "policy", "policies")
        instances = counted(spec["instances"], "instance", "instances")
        return (
            f"<Experiment {spec['name']!r}: {policies}, {swept}{instances}, "
            f"horizon {spec['horizon']:,}, seed {spec['seed']}>"
        )

    def _points(self) -> list[str]:
        return _core.point_labels(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self.spec == other.spec

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (_remake, (self._path, self._text))


def _remake(path: str | None, text: str) -> Experiment:
    made = Experiment.__new__(Experiment)
    made._path = path
    made._text = text
    return made


def _shard(shard: Any) -> tuple[int, int]:
    try:
        index, of = shard
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"`shard` must be a pair (i, n), part i of n, not {shard!r}") from None
    part = whole("shard[0]", index, low=1), whole("shard[1]", of, low=1)
    if part[0] > part[1]:
        raise SpecError(f"`shard` is {part}: give a pair (i, n) with i from 1 to n")
    return part


def _plain(key: str, value: Any) -> Any:
    """Replace games and policies in a table by their own tables, and names of kinds too."""
    if isinstance(value, (Game, PolicySpec)):
        if value.spec is None:
            raise SpecError(
                f"`{key}` has a loss curve written in Python, which an experiment cannot store: use calibandit.simulate"
            )
        return value.spec
    if isinstance(value, Policy):
        raise SpecError(f"`{key}` is written in Python, and an experiment cannot store it: use calibandit.simulate")
    if isinstance(value, str) and key in ("game", "policy"):
        return {"kind": value.replace("_", "-")}
    if isinstance(value, (list, tuple)):
        return [_plain(key, item) for item in value]
    return value


ExperimentLike = Union[Experiment, str, "os.PathLike[str]", Mapping[str, Any]]
"""An experiment, the path of a file, or a dictionary with the keys of one."""


def experiment_of(source: ExperimentLike) -> Experiment:
    """The experiment of a file or a dictionary."""
    if isinstance(source, Experiment):
        return source
    return Experiment.from_dict(source) if isinstance(source, Mapping) else Experiment.load(source)


def run(
    experiment: ExperimentLike,
    *,
    out: str | os.PathLike[str] | None = None,
    force: bool = False,
    seed: SeedLike = None,
    instances: int | None = None,
    n_jobs: int = -1,
    shard: tuple[int, int] | None = None,
    progress: Progress = None,
    jobs: int | None = None,
) -> Result:
    """Run an experiment file, or a dictionary with its keys: short for ``Experiment.load(...).run(...)``.

    The arguments are those of :meth:`Experiment.run`; ``jobs`` is the former name of ``n_jobs``, with 0 for all cores.

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
    number = threads(n_jobs, jobs)
    made = experiment_of(experiment)
    made._warn(3)
    changed = made._with(seed, instances)
    given = None if seed is None else int(changed.spec["seed"])
    return changed._run_here(out, force, number, shard, given, instances, progress)
