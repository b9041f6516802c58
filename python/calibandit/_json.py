"""Specifications as JSON, the form in which they are passed to the compiled module."""

from __future__ import annotations

import json
from typing import Any

from .errors import SpecError


def _plain(value: Any) -> Any:
    """Convert what JSON does not support: NumPy numbers and arrays, and objects with a specification."""
    if hasattr(value, "spec"):
        return value.spec
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    raise TypeError(f"{type(value).__name__} cannot be part of a specification: {value!r}")


def dumps(value: Any) -> str:
    """Serialise a specification. Values that are None are left out, because a file has no such value."""
    try:
        return json.dumps(_without_none(value), default=_plain, allow_nan=False)
    except ValueError as error:
        raise SpecError(f"numbers in a specification must be finite: {error}") from None


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return value


def loads(text: str) -> Any:
    return json.loads(text)
