"""Specifications as JSON, which is how they go to the compiled part."""

from __future__ import annotations

import json
from typing import Any

from .errors import SpecError


def _plain(value: Any) -> Any:
    """What JSON does not know: NumPy's numbers and arrays, and whatever has a specification."""
    if hasattr(value, "spec"):
        return value.spec
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__fspath__"):
        return value.__fspath__()
    raise TypeError(f"{type(value).__name__} cannot be part of a specification: {value!r}")


def dumps(value: Any) -> str:
    """A specification as JSON. What is None is left out, as a file would."""
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
