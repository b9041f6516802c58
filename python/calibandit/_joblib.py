"""Distributed experiments: shards that joblib runs on this machine or on a cluster.

``Experiment.run(backend="joblib")`` splits an experiment into shards and passes them to joblib. ``with
joblib.parallel_config("dask")`` or ``"ray"`` sends them to a cluster; otherwise they run in processes on this machine.
The results do not depend on it: they equal those of a run in threads, byte for byte.

Not for policies written in Python (use :func:`calibandit.simulate`), and not for clusters that only run shell commands
(there, use ``calibandit run --shard 3/40`` and ``calibandit merge``).
"""

from __future__ import annotations

import importlib
import pickle
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._arguments import LARGEST, whole
from ._log import logged, logger
from ._progress import Progress, Watcher, watcher
from ._result import Result
from ._shards import Store, fingerprint, pack, splits
from .errors import SpecError, WorkersLostError

if TYPE_CHECKING:
    from ._experiment import Experiment

__all__ = ["RETRIES", "run_shards"]

#: Default number of consecutive rounds in which workers may die without finishing a shard.
RETRIES = 3


def run_shards(
    experiment: Experiment,
    shards: int | None,
    out: Path | None,
    force: bool,
    retries: int,
    timeout: float | None,
    n_jobs: int,
    progress: Progress,
) -> Result:
    """Run an experiment in shards through joblib. The arguments are those of :meth:`Experiment.run`.

    An error inside a shard would occur again in a retry, so it is raised at once.

    >>> import calibandit as cb
    >>> experiment = cb.Experiment.from_dict({
    ...     "name": "how-much-M-costs",
    ...     "horizon": 1_000,
    ...     "game": {"kind": "step", "memory": 3},
    ...     "policy": [{"kind": "calibrated", "memory_bound": 3}],
    ...     "sweep": {"policy.memory_bound": [3, 6]},
    ... })
    >>> parts = experiment.run(backend="joblib", instances=4, shards=2)
    >>> parts == experiment.run(instances=4)
    True
    """
    joblib = _joblib()
    from . import __version__

    spec = experiment.spec
    name = fingerprint(spec, __version__)
    wanted = _wanted(joblib, n_jobs)
    with _folder(out) as folder:
        of = shards or next(iter(splits(folder, name)), None) or _number(spec, _workers(joblib, wanted))
        store = Store(folder, name, of)
        rounds = _Rounds(joblib, spec, __version__, store, retries, timeout, wanted, out)
        with logged(spec["name"], f"{of} shards through joblib"), watcher(progress, spec["name"]) as told:
            rounds.run(told)
        return Result.merge(store.paths(), folder if out is not None else folder / "merged", force=force)


def work(spec: Mapping[str, Any], shard: int, of: int, version: str) -> tuple[int, dict[str, bytes] | _Raised]:
    """Run one shard in one thread and return it as bytes. This function runs in the worker."""
    from . import Experiment, MemoryBoundWarning, __version__

    try:
        if __version__ != version:
            raise RuntimeError(
                f"a worker has calibandit {__version__}, the caller {version}: install the same version everywhere"
            )
        with tempfile.TemporaryDirectory(prefix="calibandit-") as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", MemoryBoundWarning)  # the caller has warned
            Experiment.from_dict(spec).run(out=folder, n_jobs=1, shard=(shard, of), progress=False)
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
        wanted: int | None,
        out: Path | None,
    ) -> None:
        self.joblib = joblib
        self.spec = spec
        self.version = version
        self.store = store
        self.retries = retries
        self.timeout = timeout
        self.wanted = wanted
        self.out = out

    def run(self, told: Watcher | None) -> None:
        of = self.store.shards
        finished = set(self.store.finished())
        failures = 0
        if finished:
            logger.info("%d of %d shards were finished before", len(finished), of)

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
            if error is not None:
                logger.warning("workers died (%s); %d of %d shards are finished", error, len(finished), of)
            if failures > self.retries:
                left = [shard for shard in left if shard not in finished]
                raise _lost(left, of, failures, self.out) from error

    def _round(self, left: list[int], finished: set[int], show: Callable[[], None]) -> BaseException | None:
        """Run shards until all are finished or workers die; return the error of the latter."""
        task = self.joblib.delayed(self.work)
        tasks = [task(self.spec, shard, self.store.shards, self.version) for shard in left]
        error: BaseException | None = None
        with _dask_workaround(self.joblib), _ended(self._outcomes(tasks)) as outcomes:
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

    def _outcomes(self, tasks: list[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the results of the workers as they arrive."""
        joblib = self.joblib
        backend, _ = joblib.parallel.get_active_backend()
        # One shard per task: joblib would otherwise send several short ones together, and lose them together. All tasks
        # are submitted at once, so that workers that join later get work.
        how = {"n_jobs": self.wanted, "batch_size": 1, "pre_dispatch": "all", "timeout": self.timeout}
        if backend.supports_return_generator:
            with _ended(joblib.Parallel(return_as="generator_unordered", **how)(tasks)) as results:
                yield from results
            return
        # On Ray, joblib returns results only when all are finished. Submit a few at a time, so that a worker loses few.
        at_once = _workers(joblib, self.wanted)
        with joblib.Parallel(**how) as parallel:
            for first in range(0, len(tasks), at_once):
                yield from parallel(tasks[first : first + at_once])


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
        raise ImportError('`backend="joblib"` needs joblib: pip install joblib') from error


def _wanted(joblib: Any, n_jobs: int) -> int | None:
    """The number of jobs for joblib: the given one; otherwise that of ``parallel_config``, or all."""
    number = whole("n_jobs", n_jobs, low=-LARGEST)
    if number == 0:
        raise SpecError("`n_jobs` must not be 0: give a number of workers, or -1 for all cores")
    if number != -1:
        return number
    config = getattr(getattr(joblib.parallel, "_backend", None), "config", None) or {}
    return None if isinstance(config.get("n_jobs"), int) else -1


def _workers(joblib: Any, wanted: int | None) -> int:
    return int(joblib.effective_n_jobs(wanted))


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
def _folder(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
    else:
        with tempfile.TemporaryDirectory(prefix="calibandit-shards-") as folder:
            yield Path(folder)
