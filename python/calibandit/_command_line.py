"""The ``calibandit`` program that comes with the package: the very same as the one of the Rust crate."""

from __future__ import annotations

import sys

from . import _core


def main() -> int:
    """Runs the program with the arguments of this process."""
    return _core.command_line(["calibandit", *sys.argv[1:]])
