"""What goes on: beginnings and ends through :mod:`logging` at INFO, retries at WARNING, doubts as warnings."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["logged", "logger", "warn", "writable"]

logger = logging.getLogger("calibandit")
logger.addHandler(logging.NullHandler())


@contextmanager
def logged(name: str, what: str) -> Iterator[None]:
    """Log the beginning and the end of something."""
    logger.info("%s begins: %s", name, what)
    start = time.perf_counter()
    try:
        yield
    except BaseException as error:
        logger.info("%s ended after %.1f s: %s", name, time.perf_counter() - start, type(error).__name__)
        raise
    logger.info("%s is finished after %.1f s", name, time.perf_counter() - start)


def writable() -> bool:
    """Whether standard error can be written to. Programs without a terminal may have none, or have closed it."""
    return sys.stderr is not None and not getattr(sys.stderr, "closed", False)


def warn(message: str, category: type[Warning], stacklevel: int) -> None:
    """Warn. Unlike :func:`warnings.warn`, it does not raise an exception if standard error is closed."""
    try:
        warnings.warn(message, category, stacklevel=stacklevel + 1)
    except ValueError:
        if writable():
            raise
