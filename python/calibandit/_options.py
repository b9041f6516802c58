"""Checks of options that simulations and experiments have in common: seeds, threads, choices, paths."""

from __future__ import annotations

import difflib
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

from ._arguments import LARGEST, whole
from .errors import ArgumentTypeError, SpecError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["SeedLike", "choice", "path_of", "seed_of", "text", "threads"]

SeedLike = Union[int, "np.random.Generator", "np.random.SeedSequence", None]
"""A seed: a whole number; None for a fresh one; or a NumPy generator or seed sequence, from which one is drawn."""

#: Drawn seeds have at most this many bits, so that every program that reads JSON keeps them exactly.
SEED_BITS = 53


def seed_of(seed: SeedLike) -> int:
    """The seed as a number. A generator is advanced; a seed sequence gives the same number every time.

    >>> seed_of(7)
    7
    >>> import numpy as np
    >>> seed_of(np.random.SeedSequence(7)) == seed_of(np.random.SeedSequence(7))
    True
    """
    import numpy as np

    if seed is None:
        seed = np.random.SeedSequence()
    if isinstance(seed, np.random.SeedSequence):
        return int(seed.generate_state(1, np.uint64)[0]) >> (64 - SEED_BITS)
    if isinstance(seed, np.random.Generator):
        return int(seed.integers(2**SEED_BITS))
    try:
        return whole("seed", seed)
    except ArgumentTypeError:
        raise ArgumentTypeError(
            f"`seed` must be a whole number, None, a NumPy Generator or a SeedSequence, not {seed!r}"
        ) from None


def threads(n_jobs: int, jobs: int | None = None) -> int:
    """The number of threads for the compiled module, which takes 0 for all cores.

    ``n_jobs`` follows joblib: -1 is all cores, -2 all but one. ``jobs`` is the former name, with 0 for all cores.
    """
    if jobs is not None:
        warnings.warn("`jobs` is now called `n_jobs`, with -1 for all cores", DeprecationWarning, stacklevel=3)
        return whole("jobs", jobs)
    number = whole("n_jobs", n_jobs, low=-LARGEST)
    if number == 0:
        raise SpecError("`n_jobs` must not be 0: give a number of threads, or -1 for all cores")
    if number > 0:
        return number
    return 0 if number == -1 else max(1, _cores() + 1 + number)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """One of the options.

    >>> choice("spread", "stder", ["stderr", "quantiles"])
    Traceback (most recent call last):
    calibandit.errors.SpecError: `spread` must be 'stderr' or 'quantiles', but is 'stder'. Did you mean 'stderr'?
    """
    if any(value is option or value == option for option in options):
        return value
    *most, last = [repr(option) for option in options]
    listed = f"{', '.join(most)} or {last}" if most else last
    near = difflib.get_close_matches(str(value), [option for option in options if isinstance(option, str)], n=1)
    meant = f". Did you mean {near[0]!r}?" if near else ""
    raise SpecError(f"`{name}` must be {listed}, but is {value!r}{meant}")


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ArgumentTypeError(f"`{name}` must be a text, not {value!r}")
    return str(value)


def path_of(name: str, value: Any) -> str:
    """A path as text."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise ArgumentTypeError(f"`{name}` must be a path, not {value!r}") from None
