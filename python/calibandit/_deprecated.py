"""Former functions of the package, which are now methods of :class:`Experiment` and :class:`Result`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from ._experiment import ExperimentLike, experiment_of
from ._progress import Progress
from ._result import Result

__all__ = ["check", "merge", "read", "spec", "sweep"]


def _warn(former: str, present: str) -> None:
    warnings.warn(f"calibandit.{former} is now {present}", DeprecationWarning, stacklevel=3)


def read(folder: str | os.PathLike[str]) -> Result:
    """Read an output folder: now :meth:`Result.load`."""
    _warn("read", "Result.load")
    return Result.load(folder)


def merge(folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str]) -> Result:
    """Merge the folders of shards: now :meth:`Result.merge`."""
    _warn("merge", "Result.merge")
    return Result.merge(folders, out)


def check(spec: ExperimentLike) -> dict[str, Any]:
    """Analyse an experiment: now :meth:`Experiment.check`."""
    _warn("check", "Experiment.check")
    return experiment_of(spec).check()


def spec(experiment: ExperimentLike, *, seed: int | None = None, instances: int | None = None) -> dict[str, Any]:
    """Fill in the defaults of an experiment: now :attr:`Experiment.spec`."""
    _warn("spec", "Experiment.spec")
    return experiment_of(experiment)._with(seed, instances).spec


def sweep(
    spec_or_grid: ExperimentLike,
    instances: int | None = None,
    *,
    seed: int | None = None,
    shards: int | None = None,
    out: str | os.PathLike[str] | None = None,
    retries: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
) -> Result:
    """Run an experiment in shards: now :meth:`Experiment.run` with ``backend="joblib"``."""
    _warn("sweep", 'Experiment.run(backend="joblib")')
    return experiment_of(spec_or_grid).run(
        backend="joblib",
        instances=instances,
        seed=seed,
        shards=shards,
        out=out,
        retries=retries,
        timeout=timeout,
        progress=progress,
    )
