"""Signatures that ``help`` prints with one parameter per line and types without quotes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["readable"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _LinesSignature(inspect.Signature):
    def __str__(self) -> str:
        lines, keyword_only = [], False
        for parameter in self.parameters.values():
            if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
                keyword_only = True
                lines.append("*")
            default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
            lines.append(f"{parameter.name}: {parameter.annotation}{default}")
        return "".join(["(\n", *(f"    {line},\n" for line in lines), f") -> {self.return_annotation}"])

    def format(self, **_: Any) -> str:
        """The form that ``help`` asks for from Python 3.13 on."""
        return str(self)


def readable(function: _Function) -> _Function:
    """Give a function a signature that is readable in ``help``.

    >>> @readable
    ... def wait(*, seconds: float = 1.5) -> None:
    ...     pass
    >>> print(inspect.signature(wait))
    (
        *,
        seconds: float = 1.5,
    ) -> None
    """
    plain = inspect.signature(function)
    signature = _LinesSignature(list(plain.parameters.values()), return_annotation=plain.return_annotation)
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
