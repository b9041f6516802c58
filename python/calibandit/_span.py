"""Parameters of games that are a number or a range."""

from __future__ import annotations

from typing import Union

__all__ = ["Span"]

Span = Union[float, tuple[float, float]]
"""A number, or a range to draw it from."""
