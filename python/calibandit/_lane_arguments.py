"""The arguments of lane advisors, checked: times, and what becomes of decisions without an outcome."""

from __future__ import annotations

import time
from typing import Any

from ._arguments import LARGEST, number
from ._options import choice
from .errors import SpecError

__all__ = ["UNITS", "UNSTATED", "Unstated", "duration_of", "expiry_of", "time_of"]

#: The compiled part counts milliseconds.
UNITS = 1000


class Unstated:
    """The default of ``after``: None has a meaning of its own."""

    def __repr__(self) -> str:
        return "..."


UNSTATED = Unstated()


def expiry_of(timeout: Any, on_timeout: Any) -> Any:
    """The rule of expiry for the compiled part."""
    if timeout is None:
        if on_timeout is not None:
            raise SpecError("`on_timeout` has no meaning without `timeout`, the seconds after which decisions expire")
        return "never"
    after = duration_of("timeout", timeout)
    if on_timeout is None:
        raise SpecError(
            '`timeout` needs `on_timeout`: "lost" if nothing is known about a play that expires, or the loss that it '
            'gets, such as 1 for "no click"'
        )
    if isinstance(on_timeout, str):
        choice("on_timeout", on_timeout, ("lost",))
        return {"lost": {"after": after}}
    return {"loss": {"after": after, "loss": number("on_timeout", on_timeout)}}


def duration_of(name: str, seconds: Any) -> int:
    given = number(name, seconds)
    if not 1 / UNITS <= given <= LARGEST / UNITS:
        raise SpecError(f"`{name}` is {given:g}: give a number of seconds, at least 0.001")
    return round(given * UNITS)


def time_of(now: Any) -> int:
    given = time.time() if now is None else number("now", now)
    if not 0 <= given <= LARGEST / UNITS:
        raise SpecError(f"the time {given:g} must be a number of seconds that is not negative")
    return round(given * UNITS)
