"""Progress display with tqdm, in terminals and notebooks."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Union

from ._log import writable

Watcher = Callable[[int, int, float], Any]
Progress = Union[bool, None, Watcher]
"""None: a bar in terminals and notebooks; True; False; or a function of the numbers of finished and of all tasks, and
of the share of the work that is done."""

#: The number of seconds after which the bar appears.
AFTER = 0.5
#: tqdm begins the postfix with a comma.
_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}{postfix}]"


def _in_notebook() -> bool:
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _bar(name: str) -> Any:
    with warnings.catch_warnings():
        # Without ipywidgets, tqdm warns and shows a bar of text, which is what one wants then.
        warnings.simplefilter("ignore")
        from tqdm.auto import tqdm
    # It counts per cent of the estimated work, so that the remaining time is right if tasks differ in length.
    return tqdm(total=100, desc=name, bar_format=_FORMAT, leave=False, delay=AFTER, disable=False)


@contextlib.contextmanager
def watcher(progress: Progress, name: str) -> Iterator[Watcher | None]:
    """Yield the function to call with the progress; remove the display at the end."""
    if callable(progress):
        yield progress
        return
    # A display that cannot be written to must not end the work.
    bar = None
    if progress is not False and (_in_notebook() or (writable() and (progress is True or sys.stderr.isatty()))):
        with contextlib.suppress(OSError, ValueError):
            bar = _bar(name)
    if bar is None:
        yield None
        return

    def show(done: int, tasks: int, part: float) -> None:
        with contextlib.suppress(OSError, ValueError):
            bar.set_postfix_str(f"{done} of {tasks} tasks", refresh=False)
            # Differences would add up to more than 100 by rounding, which tqdm warns about.
            bar.n = 100 * min(part, 1.0)
            bar.update(0)

    try:
        yield show
    finally:
        with contextlib.suppress(OSError, ValueError):
            bar.close()
