"""Signatures that ``help`` prints with one parameter per line and types without quotes."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, TypeVar

__all__ = ["make_readable", "readable"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: Signatures that are longer than this have one parameter per line, and those lines are wrapped.
_WIDTH = 100


class _LinesSignature(inspect.Signature):
    def __str__(self) -> str:
        lines, keyword_only = [], False
        for parameter in self.parameters.values():
            keyword_only |= parameter.kind is parameter.VAR_POSITIONAL
            if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
                keyword_only = True
                lines.append("*")
            is_any = parameter.kind is parameter.VAR_KEYWORD
            stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**" if is_any else ""
            annotation = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
            default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
            lines.append(f"{stars}{parameter.name}{annotation}{default}")
        wrapped = (_wrapped(f"{line},") for line in lines)
        result = "" if self.return_annotation is self.empty else f" -> {self.return_annotation}"
        return "".join(["(\n", *wrapped, f"){result}"])

    def format(self, **_: Any) -> str:
        """The form that ``help`` asks for from Python 3.13 on."""
        return str(self)


def _wrapped(line: str) -> str:
    indent = " " * 4
    lines = textwrap.wrap(
        line,
        _WIDTH - 10,  # ``help`` indents the methods of a class
        initial_indent=indent,
        subsequent_indent=2 * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "".join(f"{line}\n" for line in lines)


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


def make_readable(objects: Iterable[object]) -> None:
    """Give functions, and methods of classes, readable signatures where theirs are long.

    >>> class Clock:
    ...     def wait(self, seconds: float, *, then: Callable[..., Any] | None = None, again: bool = False) -> None:
    ...         pass
    >>> make_readable([Clock])
    >>> print(inspect.signature(Clock.wait))
    (
        self,
        seconds: float,
        *,
        then: Callable[..., Any] | None = None,
        again: bool = False,
    ) -> None
    """
    for item in objects:
        functions = vars(item).values() if isinstance(item, type) else [item]
        for function in functions:
            function = getattr(function, "__func__", function)  # of a class method
            if isinstance(function, FunctionType) and len(str(inspect.signature(function))) > _WIDTH - 10:
                readable(function)
