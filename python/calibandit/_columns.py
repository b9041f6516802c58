"""Columns of tables that users bring, as bytes for the compiled module: no Python object per row.

Tables are pandas and polars frames, Arrow tables, mappings of columns, and structured arrays of NumPy.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sized
from typing import TYPE_CHECKING, Any

from ._arguments import listed, outcome, unknown, whole
from .errors import ArgumentTypeError, SpecError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Codes", "columns_of", "is_missing", "losses", "named_columns", "names", "whole_numbers"]

Codes = tuple[list[str], bytes]
"""Names, each once, and the code of the name of each row as 32-bit numbers; -1 is a missing name."""

#: So many rows are Python objects at a time, where there is no other way.
_CHUNK = 1 << 20


def columns_of(data: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    """The named columns of a table, by the argument that names them. Arguments that are None are left out."""
    table, known = _table(data)
    found: dict[str, Any] = {}
    for argument, name in names.items():
        if name is None:
            continue
        if name not in known:
            raise UnknownNameError(f"`{argument}`: {unknown('column', name, [str(column) for column in known])}")
        column = table[name]
        if not isinstance(column, Sized) and not hasattr(column, "__len__"):
            column = listed(str(name), column, "values")
        found[argument] = column
    lengths = {argument: len(column) for argument, column in found.items()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{names[argument]!r} has {length}" for argument, length in lengths.items())
        raise SpecError(f"`data` must have columns of equal length, but {shown} values")
    return found


def named_columns(data: Any) -> list[Any]:
    """The names of the columns of a table."""
    return _table(data)[1]


def _table(data: Any) -> tuple[Any, list[Any]]:
    """A table whose columns can be taken by name, and their names."""
    if isinstance(data, Mapping):
        return data, list(data)
    if hasattr(data, "collect_schema") and hasattr(data, "collect"):
        return _table(data.collect())
    if hasattr(data, "column_names"):
        return data, list(data.column_names)
    if getattr(getattr(data, "dtype", None), "names", None):
        return data, list(data.dtype.names)
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return data, list(data.columns)
    if hasattr(data, "__arrow_c_stream__"):
        return _table(_imported(data))
    raise ArgumentTypeError(
        f"`data` must be a frame, an Arrow table, a mapping of columns or a path, not {type(data).__name__}"
    )


def _imported(data: Any) -> Any:
    """An Arrow stream as a table of pyarrow or polars."""
    try:
        import pyarrow

        return pyarrow.table(data)
    except ImportError:
        pass
    try:
        import polars

        return polars.DataFrame(data)
    except ImportError:
        raise ArgumentTypeError(
            "`data` is an Arrow stream; it is read with pyarrow or polars: install one of them"
        ) from None


def _library(column: Any) -> str:
    return type(column).__module__.partition(".")[0]


def names(column: Any) -> Codes:
    """A column of names as codes. Whole numbers and other values are named by their text.

    >>> import numpy as np
    >>> texts, codes = names(["b", "a", "b", None])
    >>> texts, np.frombuffer(codes, dtype=np.int32).tolist()
    (['b', 'a', 'None'], [0, 1, 0, -1])
    """
    import numpy as np

    library = _library(column)
    if library == "pandas":
        import pandas

        keys, uniques = pandas.factorize(column)
        return [str(one) for one in uniques], np.ascontiguousarray(keys, dtype=np.int32).tobytes()
    if library == "polars":
        import polars

        texts = column.cast(polars.String)
        known = texts.drop_nulls().unique(maintain_order=True)
        places = polars.Series(range(len(known)), dtype=polars.Int32)
        if len(known) == 0:
            return [], np.full(len(column), -1, dtype=np.int32).tobytes()
        keys = texts.replace_strict(known, places, default=-1, return_dtype=polars.Int32)
        return known.to_list(), np.ascontiguousarray(keys.to_numpy(), dtype=np.int32).tobytes()
    if library == "pyarrow":
        encoded = column.dictionary_encode()
        if hasattr(encoded, "combine_chunks"):
            encoded = encoded.unify_dictionaries().combine_chunks()
        chunks = encoded.chunks if hasattr(encoded, "chunks") else [encoded]
        texts_of = [str(one) for one in chunks[0].dictionary.to_pylist()] if chunks else []
        found = [np.asarray(chunk.indices.fill_null(-1), dtype=np.int32) for chunk in chunks]
        return texts_of, np.concatenate([np.empty(0, dtype=np.int32), *found]).tobytes()
    return _hashed(column)


def _hashed(column: Any) -> Codes:
    """Names by their hashes, in one pass without Python code per row."""
    import numpy as np

    table: defaultdict[Any, int] = defaultdict(itertools.count().__next__)
    parts: list[NDArray[np.int32]] = []
    try:
        for start in range(0, len(column), _CHUNK):
            part: Iterable[Any] = column[start : start + _CHUNK]
            part = part.tolist() if hasattr(part, "tolist") else part
            parts.append(np.fromiter(map(table.__getitem__, part), dtype=np.int32))
    except TypeError:
        raise ArgumentTypeError(f"names of arms and units must be texts or numbers, not {type(column)!r}") from None
    keys = np.concatenate([np.empty(0, dtype=np.int32), *parts])
    missing = [code for name, code in table.items() if is_missing(name)]
    if missing:
        keys[np.isin(keys, missing)] = -1
    return [str(name) for name in table], keys.tobytes()


def _array(column: Any) -> NDArray[Any]:
    """A column as an array: of numbers with NaN for missing ones if possible, else of objects."""
    import numpy as np

    if _library(column) == "pandas" and hasattr(column.dtype, "na_value") and hasattr(column, "isna"):
        import pandas

        if pandas.api.types.is_numeric_dtype(column.dtype) and bool(column.isna().any()):
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    made = column.to_numpy() if hasattr(column, "to_numpy") else column
    try:
        return np.asarray(made)
    except ValueError:
        return np.asarray(made, dtype=object)


def losses(name: Any, column: Any) -> NDArray[np.float64]:
    """A column of numbers; missing ones are NaN.

    >>> losses("ms", [1, None, 2.5])
    array([1. , nan, 2.5])
    """
    import numpy as np

    array = _array(column)
    if array.ndim != 1:
        raise ArgumentTypeError(f"{name!r} must be a column of numbers, but has {array.ndim} dimensions")
    if array.dtype.kind in "fiub":
        return np.ascontiguousarray(array, dtype=np.float64)
    values = array.tolist()
    made = (np.nan if is_missing(one) else outcome(f"{name}[{i}]", one) for i, one in enumerate(values))
    return np.fromiter(made, dtype=np.float64, count=len(values))


def whole_numbers(
    name: Any, column: Any, low: int, high: int, rows: NDArray[np.intp] | None = None
) -> NDArray[np.int64]:
    """A column of whole numbers, none of them missing; with ``rows``, other rows may be anything and become 0.

    >>> whole_numbers("order", [3, 4.0], 0, 10)
    array([3, 4])
    """
    import numpy as np

    array = _array(column)
    if rows is not None and len(rows) < len(array):
        made = np.zeros(len(array), dtype=np.int64)
        values = array[rows].tolist()
        made[rows] = [whole(f"{name}[{row}]", one, low, high) for row, one in zip(rows.tolist(), values)]
        return made
    if array.ndim == 1 and array.dtype.kind in "fiu":
        # NaN fails the first comparison, a fraction the second.
        valid = (array >= low) & (array <= high)
        if array.dtype.kind == "f":
            valid &= array == np.floor(array)
        if bool(valid.all()):
            return np.ascontiguousarray(array, dtype=np.int64)
        first = int(np.argmin(valid))
        whole(f"{name}[{first}]", array[first].item(), low, high)
    values = listed(str(name), array, "whole numbers")
    return np.array([whole(f"{name}[{i}]", one, low, high) for i, one in enumerate(values)], dtype=np.int64)


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, NaT, or the one of pandas."""
    # NaN and NaT are the only values that differ from themselves; pandas.NA has no truth value.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
