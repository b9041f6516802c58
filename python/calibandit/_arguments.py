"""Checks of arguments that several functions take. Numbers of NumPy and pandas are accepted everywhere."""

from __future__ import annotations

import difflib
import numbers
import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from .errors import ArgumentTypeError, SpecError

#: The largest whole number that the compiled part takes.
LARGEST = 2**63 - 1
#: The most instances and plays of an experiment.
MOST_INSTANCES = 10**6
MOST_PLAYS = 2**53


def whole(name: str, value: Any, low: int = 0, high: int = LARGEST) -> int:
    """An integer in a range; a float such as 1e6 is accepted if it is integral.

    >>> whole("horizon", 1e6)
    1000000
    """
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral) and float(value).is_integer():
        value = int(float(value))
    # `True` is the integer 1 in Python, but nobody means one play by `horizon=True`.
    if is_bool(value):
        raise ArgumentTypeError(f"`{name}` must be a whole number, not {value!r}")
    try:
        made = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"`{name}` must be a whole number, not {value!r}") from None
    if not low <= made <= high:
        shown = {LARGEST: "2**63 - 1", MOST_PLAYS: "2**53"}.get(high, str(high))
        raise SpecError(f"`{name}` is {made}: give a whole number from {low} to {shown}")
    return made


def counted(number: int, one: str, many: str) -> str:
    """A number with its noun.

    >>> counted(1, "policy", "policies"), counted(20, "policy", "policies")
    ('1 policy', '20 policies')
    """
    return f"{number} {one if number == 1 else many}"


def number(name: str, value: Any) -> float:
    """A float, made from any real number.

    >>> number("tolerance", 1)
    1.0
    """
    if isinstance(value, (str, bytes)) or is_bool(value):
        raise ArgumentTypeError(f"`{name}` must be a number, not {value!r}")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"`{name}` must be a number, not {value!r}") from None


def outcome(name: str, value: Any) -> float:
    """An observed loss or reward. Unlike a setting, it may be a truth value: ``reward=clicked``.

    >>> outcome("reward", True)
    1.0
    """
    return float(bool(value)) if is_bool(value) else number(name, value)


def is_bool(value: Any) -> bool:
    """Whether a value is one truth value of Python or NumPy."""
    if isinstance(value, bool):
        return True
    return getattr(value, "shape", None) == () and getattr(getattr(value, "dtype", None), "kind", None) == "b"


def is_number(value: Any) -> bool:
    """Whether a value is one number: also a NumPy scalar, or an array without dimensions."""
    return isinstance(value, numbers.Real) or getattr(value, "shape", None) == ()


def listed(name: str, values: Any, of: str = "numbers") -> list[Any]:
    """A list made from any sequence: a list, a tuple, a NumPy array, a pandas Series or Index."""
    if hasattr(values, "tolist") and not is_number(values):
        made = values.tolist()
        return made if isinstance(made, list) else list(values)
    if isinstance(values, (str, bytes, Mapping, Set)) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"`{name}` must be a sequence of {of}, not {values!r}")
    return list(values)


def floats(name: str, values: Any) -> list[float]:
    """A list of floats, made from any sequence of numbers."""
    return [number(f"{name}[{i}]", value) for i, value in enumerate(listed(name, values))]


def unknown(what: str, name: Any, known: Sequence[str]) -> str:
    """The message about an unknown name, with the name that was probably meant."""
    near = difflib.get_close_matches(str(name).replace("_", "-"), known, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"there is no {what} {name!r}.{meant} Known: {', '.join(known)}."
