"""Small HTML tables for notebooks. Colours are those of the notebook, so they are readable in dark and light ones."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["number", "table"]

_CELL = "padding:2px 10px;border-bottom:1px solid rgba(128,128,128,.35);color:inherit;background:transparent"
_TABLE = "border-collapse:collapse;margin:4px 0;color:inherit;font-variant-numeric:tabular-nums"


def number(value: float) -> str:
    """A number as people read it.

    >>> number(0.30000000000000004), number(1208020.7), number(3)
    ('0.3', '1,208,021', '3')
    """
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table with a caption above it. Numbers are aligned to the right, and every text is escaped."""
    head = "".join(f'<th style="text-align:left;{_CELL}">{html.escape(cell)}</th>' for cell in header)
    body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in rows)
    return (
        f'<table style="{_TABLE}"><caption style="caption-side:top;text-align:left;color:inherit">'
        f"{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cell(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f'<td style="text-align:right;{_CELL}">{number(value)}</td>'
    return f'<td style="text-align:left;{_CELL}">{html.escape(str(value))}</td>'
