"""What goes on, through :mod:`logging`: beginnings and ends at INFO, retries at WARNING."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["logged", "logger"]

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
