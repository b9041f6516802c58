"""Messages of the library in the terms of Python.

The library's messages are written for experiment files. What came from Python has no file and no line, and shows
dictionaries and calls instead of TOML and Rust.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from . import errors
from ._json import loads

__all__ = ["exception", "in_python"]

#: What is said of files, and what is said of Python objects.
_PHRASES: list[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]] = [
    (re.compile(r"\{ ([\w-]+) = \.\.\. \}"), r'{"\1": ...}'),
    (re.compile(r"\bRun \{ ([^{}]*) \}"), lambda found: f"Run({found[1].replace(': ', '=')})"),
    (re.compile(r" is missing from the file\b"), " is missing"),
    (re.compile(r"\ba text in quotes\b"), "a text"),
    (re.compile(r"\btrue or false\b"), "True or False"),
    (re.compile(r"\b(must be|or|but is) a table\b"), r"\1 a dictionary"),
    (re.compile(r"write `\[\[[\w.-]+\]\]`, with two brackets, above each table"), "give a list of them"),
    (re.compile(r"write `\[[\w.-]+\]`"), "give it without a list"),
    (re.compile(r"write the values in brackets, with commas between them"), "give a list"),
    (re.compile(r"belongs at the top of the file, before the first table"), "belongs at the top of the experiment"),
    (re.compile(r"`\[+([\w.-]+)\]+`"), r"`\1`"),
    (re.compile(r"one `policy` table per policy"), "a list"),
    (re.compile(r" \(os error \d+\)"), ""),
    (re.compile(r"`--[\w-]+(?: \w+)?` \(Python: (`[^`]+`)\)"), r"\1"),
    (re.compile(r"`--([\w-]+) (\w+)`"), r'`\1="\2"`'),
    (re.compile(r": results could not be told apart"), ": give each a `label` of its own"),
]


def in_python(text: str) -> str:
    """Put a message into the terms of Python.

    >>> in_python("`feedback` must be { normal = ... }; the policy asked for Run { arm: 7, burn_in: 0 }")
    '`feedback` must be {"normal": ...}; the policy asked for Run(arm=7, burn_in=0)'
    """
    for pattern, phrase in _PHRASES:
        text = pattern.sub(phrase, text)
    return text


def exception(kind: str, message: str, findings: str | None) -> BaseException:
    """The exception of a kind. ``findings`` are the errors of an experiment, as JSON."""
    made: BaseException
    if findings is None:
        made = getattr(errors, kind)(in_python(message))
    else:
        found: list[dict[str, Any]] = loads(findings)
        # Text that was read from a file is shown with its lines, as the program shows it.
        told = message if any(_is_of_a_file(finding) for finding in found) else _listed(found)
        made = getattr(errors, kind)(told)
        if isinstance(made, errors.SpecError):
            made.errors = found
    return made


def _is_of_a_file(finding: dict[str, Any]) -> bool:
    return finding["position"] is not None


def _listed(found: list[dict[str, Any]]) -> str:
    if len(found) == 1:
        return _sentence(found[0])
    return "\n".join([f"{len(found)} errors:", *(f"- {_sentence(finding)}" for finding in found)])


def _sentence(finding: dict[str, Any]) -> str:
    text = in_python(finding["message"])
    if finding["kind"] == "unreadable":
        text = f"{finding['file']}: {text}"
    # The message names the last part of the key; the rest says where it is.
    within, _, _ = str(finding["key"]).rpartition(".")
    if within:
        text = f"{within}: {text}"
    if finding["suggestion"] is not None:
        text += f". Did you mean `{finding['suggestion']}`?"
    if finding["help"] is not None:
        text += f" ({in_python(finding['help'])})"
    return text
