"""Results: an Arrow table that other tools read without copying it."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._arguments import counted, listed
from ._frame import Frame
from ._json import loads
from ._options import path_of, text
from ._summary import Comparison, Summary
from .errors import ArgumentTypeError, SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Comparison", "Result", "Summary"]


class Result(Frame):
    """The results of experiments: one row per experiment, game, policy, instance and checkpoint.

    ``loss`` is the expected loss of the first ``t`` plays, ``cpr`` their complete policy regret, ``switches`` the
    number of changes of the arm. A sweep adds one column for each swept key, such as ``policy.memory_bound``. Whole
    numbers are signed, so that differences are right. The columns are the same as in ``results.csv``; swept keys come
    last, with missing values where a key is not set.

    >>> import calibandit as cb
    >>> result = cb.simulate(cb.games.step(), ["ucb1", "thompson"], horizon=1000, instances=10, checkpoints=5)
    >>> result
    <Result 'simulation': 2 policies, 10 instances, 5 checkpoints up to t = 1,000; 100 rows>
    >>> result["t"][:5]
    array([ 200,  400,  600,  800, 1000])

    It is an Arrow table (the PyCapsule interface), so ``pyarrow.table(result)``, ``polars.DataFrame(result)`` and
    DuckDB read it directly. NumPy arrays share its memory and are therefore read-only.
    """

    __slots__ = ()

    _table: _core.Table

    def __init__(self, table: _core.Table) -> None:
        super().__init__(table)

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Result:
        """Read the results in an output folder of :meth:`Experiment.run` or ``calibandit run``.

        Raises:
            MissingFolderError: if there are no results at this path.
            FolderError: if the results are incomplete or damaged.
        """
        return cls(_core.read(path_of("folder", folder)))

    @classmethod
    def merge(
        cls, folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], *, force: bool = False
    ) -> Result:
        """Merge the output folders of all shards of a run: the same results as without sharding, byte for byte.

        If ``out`` has results of another experiment, they are replaced only with ``force=True``.
        """
        if isinstance(folders, (str, os.PathLike)):
            raise ArgumentTypeError(f"`folders` must be a list of folders, not {folders!r}")
        parts = [path_of(f"folders[{i}]", folder) for i, folder in enumerate(folders)]
        return cls(_core.merge(parts, path_of("out", out), bool(force)))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV: the same bytes as ``results.csv``."""
        self._table.write_csv(path_of("path", path))

    @property
    def specs(self) -> list[dict[str, Any]]:
        """The specification of each experiment, with the keys of an experiment file and every default filled in.

        A simulation of several games has a dictionary ``games`` instead of ``game``.
        """
        specs: list[dict[str, Any]] = loads(self._table.specs())
        return specs

    @property
    def spec(self) -> dict[str, Any]:
        """The specification, if the results are of one experiment."""
        specs = self.specs
        if len(specs) != 1:
            raise SpecError(f"there are {len(specs)} experiments in these results: use `specs`")
        return specs[0]

    @property
    def experiments(self) -> list[str]:
        """The names of the experiments."""
        return self._table.labels("experiment")[1]

    @property
    def games(self) -> list[str]:
        """The labels of the games; with a sweep, of its points."""
        return self._table.labels("game")[1]

    @property
    def policies(self) -> list[str]:
        """The labels of the policies."""
        return self._table.labels("policy")[1]

    def in_rewards(self) -> Result:
        """Convert results of games that are stated in rewards: ``cpr`` is then the regret in rewards, and the column
        ``reward`` has the expected reward of the first ``t`` plays in place of ``loss``.

        >>> import calibandit as cb
        >>> game = cb.Game(rewards=(0, 20), arms=[cb.Arm(memory=1, reward=15.0), cb.Arm(memory=1, reward=5.0)])
        >>> result = cb.simulate(game, ["ucb1"], horizon=1000, checkpoints=1)
        >>> rewards = result.in_rewards()
        >>> bool(abs(rewards["reward"][0] + rewards["cpr"][0] - 15_000) < 1e-6)
        True
        >>> bool(rewards["cpr"][0] == 20 * result["cpr"][0])
        True

        Raises:
            SpecError: if a game is stated in losses. Which reward a loss stands for is never guessed.
        """
        return Result(self._table.in_rewards())

    def summary(self, *, all_times: bool = False) -> Summary:
        """Summarise the CPR over instances: at the horizon, best policy first; or at every checkpoint.

        At the horizon, policies that share a letter in ``groups`` do not differ significantly, and ``better_than``
        lists those that are worse: by a paired t-test over the instances, corrected by Holm over all pairs of policies
        of the game, at 5 %. :meth:`compare` gives the numbers of a pair.

        >>> import calibandit as cb
        >>> result = cb.simulate(cb.games.step(), ["ucb1", cb.policies.calibrated(memory_bound=3)], horizon=10_000)
        >>> best = result.summary()[0]
        >>> best["policy"], best["better_than"]
        ('calibrated', ['UCB1'])
        """
        return Summary(loads(self._table.summary(all_times)))

    def compare(self, a: str, b: str, game: str | None = None, *, experiment: str | None = None) -> Comparison:
        """Compare the CPR of two policies at the horizon: difference, interval, effect size and p-values.

        ``game`` is the label of a game; it may be left out if there is only one. So may ``experiment``, unless several
        experiments have that game.
        """
        for name, value in (("a", a), ("b", b), ("game", game or ""), ("experiment", experiment or "")):
            text(name, value)
        label, n, numbers, test = self._table.compare(a, b, game, experiment)
        difference, low, high, effect, p, corrected = numbers
        return Comparison(a, b, label, n, difference, (low, high), effect, p, corrected, test)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        x: str | None = None,
        column: Literal["cpr", "loss", "reward", "switches"] = "cpr",
        policies: str | Sequence[str] | None = None,
        log: bool | Literal["x", "y", "xy"] | None = None,
        spread: Literal["stderr", "quantiles", "instances"] | None = "stderr",
        backend: Literal["matplotlib", "plotly"] = "matplotlib",
    ) -> Any:
        """Plot means over instances, with the colours, dashes, markers and bands of the report: one panel per game.

        Args:
            ax: the axes to draw into, if there is one panel (only matplotlib).
            x: ``"t"`` for curves over time, or a swept key for the values at the horizon against it, with one panel per
                combination of the other keys. Default: as in the report.
            column: what is on the vertical axis; ``"reward"`` for results in rewards, see :meth:`in_rewards`.
            policies: the labels of the policies that are shown. Default: all.
            log: the logarithmic axes: ``"x"``, ``"y"``, ``"xy"`` or True for both, False for none. Default: as in the
                report.
            spread: what is around the means: a band of ± 1 standard error, bands of quantiles (10 % to 90 %, and least
                to greatest), thin lines of single instances, or nothing (None).
            backend: ``"matplotlib"`` returns the axes, or an array of them if there are several panels; in a script,
                ``matplotlib.pyplot.show()`` shows the figure. ``"plotly"`` returns the interactive figure of the
                report, which has a method ``show``.
        """
        from ._plot import plot

        chosen = None if policies is None else [policies] if isinstance(policies, str) else listed("policies", policies)
        return plot(self, ax, x, column, chosen, log, spread, backend)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report: one self-contained HTML file with interactive figures and tables."""
        self._table.report(path_of("path", path), None if title is None else text("title", title))

    def __repr__(self) -> str:
        import numpy as np

        t = self["t"]
        times = len(np.unique(t))
        instances = counted(len(np.unique(self["instance"])), "instance", "instances")
        policies = counted(len(self.policies), "policy", "policies")
        games = f"{len(self.games)} games, " if len(self.games) > 1 else ""
        names = ", ".join(repr(name) for name in self.experiments)
        last = f" up to t = {int(t.max()):,}" if len(self) else ""
        return f"<Result {names}: {games}{policies}, {instances}, {times} checkpoints{last}; {len(self):,} rows>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.summary()._repr_html_()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self._table.csv() == other._table.csv()

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (_of_parts, self._table.parts())


def _of_parts(described: str, csv: bytes, in_rewards: bool = False) -> Result:
    return Result(_core.Table.of_parts(described, csv, in_rewards))
