"""Results: an Arrow table that other tools read without copying it."""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _core
from ._json import loads
from .errors import UnknownNameError

if TYPE_CHECKING:
    import pandas
    import polars
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

__all__ = ["Result", "Summary"]

COLUMNS = ("experiment", "game", "policy", "instance", "t", "loss", "cpr", "switches")
LABELS = COLUMNS[:3]


class Result:
    """The results of experiments: one row per experiment, game, policy, instance and checkpoint.

    ``loss`` is the expected loss of the first ``t`` plays, ``cpr`` their complete policy regret, ``switches`` the
    number of changes of the arm.

    >>> import calibandit as cb
    >>> result = cb.simulate(cb.games.step(), ["ucb1", "thompson"], horizon=1000, instances=10, checkpoints=5)
    >>> result
    <Result 'simulation': 2 policies, 10 instances, 5 checkpoints up to t = 1,000; 100 rows>
    >>> result["t"][:5]
    array([ 200,  400,  600,  800, 1000], dtype=uint64)

    It is an Arrow table (the PyCapsule interface), so ``pyarrow.table(result)``, ``polars.DataFrame(result)`` and
    DuckDB read it directly. NumPy arrays share its memory and are therefore read-only.
    """

    __slots__ = ("_table",)

    def __init__(self, table: _core.Table) -> None:
        self._table = table

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns, the same as in ``results.csv``."""
        return COLUMNS

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.to_numpy(column)

    def to_numpy(self, column: str) -> NDArray[Any]:
        """Return a column. Numbers share the memory of the table; labels become an array of strings."""
        import numpy as np

        if column in LABELS:
            keys, labels = self._table.labels(column)
            return np.array(labels, dtype=object)[np.array(keys, dtype=np.intp)]
        if column not in COLUMNS:
            raise UnknownNameError(f"there is no column {column!r}; the columns are {', '.join(COLUMNS)}")
        return np.asarray(self._table.column(column))

    def to_pandas(self) -> pandas.DataFrame:
        """Convert to a data frame, with categories for the labels. Numbers are not copied."""
        import numpy as np
        import pandas as pd

        data: dict[str, Any] = {}
        for column in COLUMNS:
            if column in LABELS:
                keys, labels = self._table.labels(column)
                data[column] = pd.Categorical.from_codes(np.array(keys, dtype=np.int32), categories=labels)
            else:
                data[column] = self.to_numpy(column)
        return pd.DataFrame(data, copy=False)

    def to_polars(self) -> polars.DataFrame:
        """Convert to a polars data frame, through Arrow."""
        import polars as pl

        return pl.DataFrame(self)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV: the same bytes as ``results.csv``."""
        self._table.write_csv(os.fspath(path))

    @property
    def specs(self) -> list[dict[str, Any]]:
        """The specification of each experiment, with the keys of an experiment file and every default filled in."""
        specs: list[dict[str, Any]] = loads(self._table.specs())
        return specs

    @property
    def spec(self) -> dict[str, Any]:
        """The specification, if the results are of one experiment."""
        specs = self.specs
        if len(specs) != 1:
            raise ValueError(f"there are {len(specs)} experiments in these results: use `specs`")
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

    def summary(self, *, all_times: bool = False) -> Summary:
        """Summarise the CPR over instances: at the horizon, with paired tests, best policy first; or at every
        checkpoint.

        >>> import calibandit as cb
        >>> result = cb.simulate(cb.games.step(), ["ucb1", cb.policies.calibrated(memory_bound=3)], horizon=10_000)
        >>> best = result.summary()[0]
        >>> best["policy"], best["better_than"]
        ('calibrated', ['UCB1'])
        """
        return Summary(loads(self._table.summary(all_times)))

    def plot(self, ax: Axes | None = None, *, column: str = "cpr", band: bool = True) -> Axes:
        """Plot the mean over instances against time with matplotlib, with a band from the 10 % to the 90 % quantile."""
        from ._plot import plot

        return plot(self, ax, column, band)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Write a report: one self-contained HTML file with interactive figures and tables."""
        self._table.report(os.fspath(path), title)

    def __repr__(self) -> str:
        import numpy as np

        t = self["t"]
        times = len(np.unique(t))
        instances = len(np.unique(self["instance"]))
        games = f"{len(self.games)} games, " if len(self.games) > 1 else ""
        names = ", ".join(repr(name) for name in self.experiments)
        last = f" up to t = {int(t.max()):,}" if len(self) else ""
        return (
            f"<Result {names}: {games}{len(self.policies)} policies, {instances} instances, "
            f"{times} checkpoints{last}; {len(self):,} rows>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self)[1:-1])}</p>{self.summary()._repr_html_()}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Result) and self._table.csv() == other._table.csv()

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return (_of_parts, self._table.parts())


def _of_parts(described: str, csv: bytes) -> Result:
    return Result(_core.Table.of_parts(described, csv))


class Summary(list[dict[str, Any]]):
    """The rows of a summary: a list of dictionaries that is printed as a table. ``pandas.DataFrame(summary)`` works."""

    SHOWN = ("game", "policy", "t", "instances", "mean", "stderr", "median", "p99", "max", "switches", "groups")

    def __init__(self, rows: Iterable[dict[str, Any]]) -> None:
        super().__init__(rows)

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        shown = [key for key in self.SHOWN if self and key in self[0]]
        if len({row.get("game") for row in self}) < 2:
            shown = [key for key in shown if key != "game"]
        return shown, [[_cell(row[key]) for key in shown] for row in self]

    def __repr__(self) -> str:
        header, rows = self._cells()
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        left = {"game", "policy", "groups"}
        lines = []
        for row in [header, *rows]:
            cells = [c.ljust(w) if h in left else c.rjust(w) for h, c, w in zip(header, row, widths)]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        header, rows = self._cells()
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in header)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)
