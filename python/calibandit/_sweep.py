"""Distributed experiments: shards that joblib runs on this machine or on a cluster.

:func:`sweep` splits an experiment into shards and passes them to joblib. ``with joblib.parallel_config("dask")`` or
``"ray"`` sends them to a cluster; otherwise they run in processes on this machine. The results do not depend on it:
they equal those of :func:`calibandit.run`, byte for byte.

Not for policies written in Python (use :func:`calibandit.simulate`), and not for clusters that only run shell commands
(there, use ``calibandit run --shard 3/40`` and ``calibandit merge``).
"""

from __future__ import annotations

import importlib
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._progress import Progress, Watcher, watcher
from ._shards import Store, fingerprint, pack, splits
from .errors import WorkersLostError

if TYPE_CHECKING:
    from . import Result

__all__ = ["sweep"]

#: Default number of consecutive rounds in which workers may die without finishing a shard.
RETRIES = 3


def sweep(
    spec_or_grid: str | os.PathLike[str] | Mapping[str, Any],
    instances: int | None = None,
    *,
    seed: int | None = None,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int = RETRIES,
    timeout: float | None = None,
    progress: Progress = None,
) -> Result:
    """Run an experiment in shards through joblib; the result equals that of :func:`calibandit.run`, byte for byte.

    Args:
        spec_or_grid: an experiment file, or the same as a dictionary. A grid is a ``sweep`` table in it.
        instances: the number of instances, instead of the one in the file.
        seed: the seed, instead of the one in the file.
        shards: the number of shards, each of which uses one thread. Default: the number of the previous call, if
        ``out``
            has shards of this experiment; otherwise four per worker.
        out: the output folder, as :func:`calibandit.run` writes it. Finished shards are kept in it, under ``.shards``,
        and
            are not run again by another call. Without it nothing is kept.
        retries: how many times in a row workers may die without finishing another shard.
        timeout: the number of seconds without a finished shard after which the workers count as dead. For clusters that
            lose machines without noticing; it must be longer than any single shard takes.
        progress: as in :func:`calibandit.run`, counting shards.

    Raises:
        WorkersLostError: if unfinished shards remain after the retries. The finished ones are kept.

    An error inside a shard would occur again in a retry, so it is raised at once.

    >>> import calibandit as cb
    >>> experiment = {
    ...     "name": "how-much-M-costs",
    ...     "horizon": 1_000,
    ...     "game": {"kind": "step", "memory": 3},
    ...     "policy": [{"kind": "calibrated", "memory_bound": 3}],
    ...     "sweep": {"policy.memory_bound": [3, 6]},
    ... }
    >>> parts = cb.sweep(experiment, instances=4, shards=2)
    >>> parts == cb.run(experiment, instances=4)
    True
    """
    if retries < 0:
        raise ValueError(f"retries is {retries}: give 0 or more")
    if shards is not None and shards < 1:
        raise ValueError(f"shards is {shards}: give 1 or more")
    joblib = _joblib()
    from . import __version__, merge, spec

    experiment = spec(spec_or_grid, instances=instances, seed=seed)
    name = fingerprint(experiment, __version__)
    with _folder(out) as folder:
        of = shards or next(iter(splits(folder, name)), None) or _number(experiment, _workers(joblib))
        store = Store(folder, name, of)
        kept = Path(out) if out is not None else None
        rounds = _Rounds(joblib, experiment, __version__, store, retries, timeout, kept)
        with watcher(progress, experiment["name"]) as told:
            rounds.run(told)
        return merge(store.paths(), folder if out is not None else folder / "merged")


def work(spec: Mapping[str, Any], shard: int, of: int, version: str) -> tuple[int, dict[str, bytes] | _Raised]:
    """Run one shard in one thread and return it as bytes. This function runs in the worker."""
    from . import __version__, run

    try:
        if __version__ != version:
            raise RuntimeError(
                f"a worker has calibandit {__version__}, the caller {version}: install the same version everywhere"
            )
        with tempfile.TemporaryDirectory(prefix="calibandit-") as folder:
            run(spec, out=folder, jobs=1, shard=(shard, of), progress=False)
            return shard, pack(Path(folder))
    except Exception as error:
        return shard, _Raised.inside(error)


class _Rounds:
    """Passes unfinished shards to joblib until none is left."""

    #: The function that runs a shard. Tests replace it by one that kills its worker.
    work = staticmethod(work)

    def __init__(
        self,
        joblib: Any,
        spec: Mapping[str, Any],
        version: str,
        store: Store,
        retries: int,
        timeout: float | None,
        out: Path | None,
    ) -> None:
        self.joblib = joblib
        self.spec = spec
        self.version = version
        self.store = store
        self.retries = retries
        self.timeout = timeout
        self.out = out

    def run(self, told: Watcher | None) -> None:
        of = self.store.shards
        finished = set(self.store.finished())
        failures = 0

        def show() -> None:
            if told is not None:
                told(len(finished), of, len(finished) / of)

        show()
        while left := [shard for shard in range(1, of + 1) if shard not in finished]:
            before = len(finished)
            # After a round without a finished shard, run one shard at a time, each in turn, so that a shard that kills
            # its worker does not affect others.
            some = [left[(failures - 1) % len(left)]] if failures else left
            error = self._round(some, finished, show)
            failures = failures + 1 if len(finished) == before else 0
            if failures > self.retries:
                left = [shard for shard in left if shard not in finished]
                raise _lost(left, of, failures, self.out) from error

    def _round(self, left: list[int], finished: set[int], show: Callable[[], None]) -> BaseException | None:
        """Run shards until all are finished or workers die; return the error of the latter."""
        task = self.joblib.delayed(self.work)
        tasks = [task(self.spec, shard, self.store.shards, self.version) for shard in left]
        error: BaseException | None = None
        with _dask_workaround(self.joblib), _ended(_outcomes(self.joblib, tasks, self.timeout)) as outcomes:
            while True:
                try:
                    shard, outcome = next(outcomes)
                except StopIteration:
                    return error
                except Exception as lost:  # Each scheduler has its own exceptions for dead workers.
                    return lost
                if not isinstance(outcome, _Raised):
                    self.store.save(shard, outcome)
                    finished.add(shard)
                    show()
                elif outcome.of_the_machine:
                    error = outcome.error
                else:
                    raise outcome.error


def _lost(shards: Sequence[int], of: int, attempts: int, out: Path | None) -> WorkersLostError:
    named = ", ".join(f"{shard}/{of}" for shard in shards[:20])
    more = f" and {len(shards) - 20} more" if len(shards) > 20 else ""
    advice = (
        f"The finished shards are kept in {out}: call again to continue from there"
        if out is not None
        else "Give `out=` to keep the finished shards for another call"
    )
    return WorkersLostError(
        f"workers died {attempts} times in a row without finishing another shard; not finished: {named}{more}. "
        f"{advice}. Usual reasons are too little memory and machines that were taken away.",
        shards,
    )


def _outcomes(joblib: Any, tasks: list[Any], timeout: float | None) -> Iterator[tuple[int, Any]]:
    """Yield the results of the workers as they arrive."""
    backend, _ = joblib.parallel.get_active_backend()
    # One shard per task: joblib would otherwise send several short ones together, and lose them together. All tasks
    # are submitted at once, so that workers that join later get work.
    how = {"n_jobs": _wanted(joblib), "batch_size": 1, "pre_dispatch": "all", "timeout": timeout}
    if backend.supports_return_generator:
        with _ended(joblib.Parallel(return_as="generator_unordered", **how)(tasks)) as results:
            yield from results
        return
    # On Ray, joblib returns results only when all are finished. Submit a few at a time, so that a worker loses few.
    at_once = _workers(joblib)
    with joblib.Parallel(**how) as parallel:
        for first in range(0, len(tasks), at_once):
            yield from parallel(tasks[first : first + at_once])


class _Raised:
    """The reason why a shard is not finished: an error inside it, or a task that the scheduler gave up."""

    def __init__(self, error: BaseException, *, of_the_machine: bool) -> None:
        self.error = error
        self.of_the_machine = of_the_machine

    @classmethod
    def inside(cls, error: Exception) -> _Raised:
        """Wrap an error inside a shard. A full disk or too little memory is a property of the machine, so a retry may
        work."""
        of_the_machine = isinstance(error, (OSError, MemoryError))
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return cls(error, of_the_machine=of_the_machine)


@contextmanager
def _dask_workaround(joblib: Any) -> Iterator[None]:
    """Work around two problems of joblib's Dask backend.

    joblib expects a callback for failed tasks as well. Its Dask backend does not call it for a task that was cancelled
    or whose workers were killed too often, and joblib then waits forever. With a single core left on the cluster (the
    other workers may just have died), joblib would run everything in the process of the caller.
    """
    backend, _ = joblib.parallel.get_active_backend()
    if type(backend).__name__ != "DaskDistributedBackend":
        yield
        return
    submit, retrieve, cores = backend.submit, backend.retrieve_result_callback, backend.effective_n_jobs

    def submit_and_report(func: Any, callback: Any = None) -> Any:
        def report(future: Any) -> None:
            error = future.exception()
            if error is not None and callback is not None:
                callback(_Raised(error, of_the_machine=True))

        future = submit(func, callback)
        future.add_done_callback(report)
        return future

    def retrieve_or_give_up(out: Any) -> Any:
        # Return the failure as a result, not as an exception, so that the other shards continue.
        return [(0, out)] if isinstance(out, _Raised) else retrieve(out)

    backend.submit, backend.retrieve_result_callback = submit_and_report, retrieve_or_give_up
    backend.effective_n_jobs = lambda n_jobs: max(2, cores(n_jobs))
    try:
        yield
    finally:
        del backend.submit, backend.retrieve_result_callback, backend.effective_n_jobs


@contextmanager
def _ended(results: Any) -> Iterator[Any]:
    """Close joblib's generator at once, also if not all results were consumed.

    The garbage collector would otherwise stop the backend at a later time, possibly during another call.
    """
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib warns about results that were not consumed
            results.close()


def _joblib() -> Any:
    try:
        return importlib.import_module("joblib")
    except ImportError as error:
        raise ImportError("cb.sweep needs joblib: pip install joblib") from error


def _wanted(joblib: Any) -> int | None:
    """The number of jobs for joblib: the one of ``parallel_config`` if given, otherwise all."""
    config = getattr(getattr(joblib.parallel, "_backend", None), "config", None) or {}
    said = isinstance(config.get("n_jobs"), int)
    return None if said else -1


def _workers(joblib: Any) -> int:
    return int(joblib.effective_n_jobs(_wanted(joblib)))


def _number(spec: Mapping[str, Any], workers: int) -> int:
    """Four shards per worker, so that no worker waits long for the last one, but at most one per task.

    >>> _number({"instances": 20, "policy": [{}, {}], "sweep": {"game.arms": [2, 3]}}, 4)
    16
    >>> _number({"instances": 2, "policy": [{}]}, 64)
    2
    """
    pieces = int(spec["instances"]) * len(spec["policy"])
    for values in spec.get("sweep", {}).values():
        pieces *= len(values)
    return max(1, min(4 * workers, pieces))


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    if out is not None:
        yield Path(out)
    else:
        with tempfile.TemporaryDirectory(prefix="calibandit-sweep-") as folder:
            yield Path(folder)
