"""Arrow tables that other tools read without copying them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from .errors import UnknownNameError

if TYPE_CHECKING:
    import pandas
    import polars
    from numpy.typing import NDArray

__all__ = ["Frame"]


class Frame:
    """An Arrow table (the PyCapsule interface).

    ``pyarrow.table(frame)``, ``polars.DataFrame(frame)`` and DuckDB read it directly. NumPy arrays share its memory and
    are therefore read-only.
    """

    __slots__ = ("_table",)

    _table: _core.Frame | _core.Table

    def __init__(self, table: _core.Frame | _core.Table) -> None:
        self._table = table

    def __arrow_c_schema__(self) -> object:
        return self._table.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self._table.columns())

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, column: str) -> NDArray[Any]:
        return self.to_numpy(column)

    def to_numpy(self, column: str, *, copy: bool = False) -> NDArray[Any]:
        """Return a column as an array.

        Numbers are ``int64`` or ``float64``. Without ``copy`` they share the memory of the table, so the array is
        read-only. Labels become an array of strings. Missing numbers are NaN, missing labels None.
        """
        import numpy as np

        labels = dict(self._table.columns())
        if column not in labels:
            raise UnknownNameError(f"there is no column {column!r}; the columns are {', '.join(labels)}")
        if labels[column]:
            keys, texts = self._table.labels(column)
            return np.array([*texts, None], dtype=object)[np.array(keys, dtype=np.intp)]
        values = np.asarray(self._table.column(column))
        return values.copy() if copy else values

    def to_pandas(self, *, copy: bool = True) -> pandas.DataFrame:
        """Convert to a data frame, with categories for the labels.

        With ``copy=False`` the columns of numbers share the memory of the table: nothing is copied, and they cannot be
        assigned to.
        """
        import numpy as np
        import pandas as pd

        data: dict[str, Any] = {}
        for column, is_label in self._table.columns():
            if is_label:
                keys, labels = self._table.labels(column)
                data[column] = pd.Categorical.from_codes(np.array(keys, dtype=np.int32), categories=labels)
            else:
                data[column] = self.to_numpy(column, copy=copy)
        return pd.DataFrame(data, copy=False)

    def to_polars(self) -> polars.DataFrame:
        """Convert to a polars data frame, through Arrow."""
        import polars as pl

        return pl.DataFrame(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows: {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from . import _html

        columns = [self.to_numpy(column).tolist() for column in self.columns]
        return _html.table(repr(self)[1:-1], self.columns, zip(*columns))
