"""Docstrings as Markdown: Sphinx roles become links, examples become code blocks. An extension of griffe."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|mod|data|attr|exc|obj):`(~?)([^`]+)`")
PUBLIC_MODULES = {"games", "policies", "gym"}
URL = re.compile(r"(?<![(<\"'\w])(https://[^\s<>()\"'`]+[\w/])")


class MarkdownDocstrings(griffe.Extension):
    """Converts the docstrings of every object of the package."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Convert them once all names are known."""
        found = list(objects(pkg, pkg.path))
        exported = {str(name) for name in pkg.exports or ()} | PUBLIC_MODULES
        public = {path for path, _ in found if path.split(".")[1:2] and path.split(".")[1] in exported}
        for path, obj in found:
            if obj.docstring is not None:
                obj.docstring.value = to_markdown(obj.docstring.value, public, path)


def objects(parent: griffe.Object, scope: str) -> Iterator[tuple[str, griffe.Object]]:
    """Walk through the objects below one, each with the path that users see: without private modules."""
    yield scope, parent
    for name, member in parent.members.items():
        if isinstance(member, griffe.Object):
            is_private_module = member.is_module and name.startswith("_")
            yield from objects(member, scope if is_private_module else f"{scope}.{name}")


def to_markdown(text: str, public: set[str], scope: str) -> str:
    """Convert the docstring of the object ``scope``; ``public`` has every path that can be linked."""
    lines: list[str] = []
    in_example = False
    for line in ROLE.sub(lambda match: link(match, public, scope), text).splitlines():
        if line.lstrip().startswith(">>>") and not in_example:
            lines += ["", "```pycon"]
            in_example = True
        elif in_example and not line.strip():
            lines.append("```")
            in_example = False
        lines.append(line if in_example else URL.sub(r"<\1>", line))
    if in_example:
        lines.append("```")
    return "\n".join(lines)


def link(match: re.Match[str], public: set[str], scope: str) -> str:
    """Write a role as a link to the innermost name that it can mean, or as code if it means nothing here."""
    short, target = match.groups()
    shown = target.rsplit(".", 1)[-1] if short else target
    inside = target.removeprefix("calibandit.")
    while scope:
        path = f"{scope}.{inside}"
        if path in public:
            # Optional: a member that the pages do not show stays plain text.
            return f'<autoref identifier="{path}" optional><code>{shown}</code></autoref>'
        scope = scope.rpartition(".")[0]
    return f"`{shown}`"
