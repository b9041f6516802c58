"""Progress display: a line in terminals, a bar in notebooks."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Union

Watcher = Callable[[int, int, float], Any]
Progress = Union[bool, None, Watcher]

AFTER = 0.5
"""The number of seconds after which progress is first shown."""


class _Bar:
    """Shows the fraction done and the estimated remaining time."""

    def __init__(self, name: str, show: Callable[[str, float], None]) -> None:
        self.name, self.show, self.start, self.shown = name, show, time.monotonic(), False

    def __call__(self, done: int, pieces: int, part: float) -> None:
        elapsed = time.monotonic() - self.start
        if elapsed < AFTER:
            return
        left = f", {elapsed * (1 - part) / part:.0f} s left" if part > 0 else ""
        self.shown = True
        self.show(f"{self.name}: {done} of {pieces}{left}", part)


def _in_notebook() -> bool:
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _terminal(text: str, part: float) -> None:
    full = round(30 * part)
    sys.stderr.write(f"\r{'█' * full}{'·' * (30 - full)} {part:4.0%}  {text}\x1b[K")
    sys.stderr.flush()


@contextmanager
def watcher(progress: Progress, name: str) -> Iterator[Watcher | None]:
    """Yield the function to call with the progress; remove the display at the end."""
    if callable(progress):
        yield progress
        return
    notebook = _in_notebook()
    terminal = sys.stderr is not None and sys.stderr.isatty()
    if progress is False or (progress is None and not notebook and not terminal):
        yield None
        return
    if not notebook:
        bar = _Bar(name, _terminal)
        try:
            yield bar
        finally:
            if bar.shown:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
        return
    shown: Any = importlib.import_module("IPython.display")
    handle: Any = None

    def show(text: str, part: float) -> None:
        nonlocal handle
        bar = shown.HTML(f"<progress max='1' value='{part:.3f}' style='width:20em'></progress> {text}")
        if handle is None:  # a short computation leaves no trace in the notebook
            handle = shown.display(bar, display_id=True)
        else:
            handle.update(bar)

    try:
        yield _Bar(name, show)
    finally:
        if handle is not None:
            handle.update(shown.HTML(""))
