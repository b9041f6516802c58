"""The compiled module and the life of the interpreter: which builds it supports, and what happens at the end."""

from __future__ import annotations

import atexit
import sys

from . import _core

__all__: list[str] = []

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    raise ImportError(
        "calibandit needs the interpreter lock (GIL): start this free-threaded Python without PYTHON_GIL=0 and without "
        "-X gil=0"
    )

# Threads that compute must not be killed with compiled code on their stacks.
atexit.register(_core.close)
