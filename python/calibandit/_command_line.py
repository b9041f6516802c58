"""The ``calibandit`` program of the package: the same program as that of the Rust crate."""

from __future__ import annotations

import sys

from . import _core


def main() -> int:
    """Run the program with the arguments of this process."""
    return _core.command_line(["calibandit", *sys.argv[1:]])
