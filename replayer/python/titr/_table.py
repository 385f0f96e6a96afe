"""Tables of columns."""

from __future__ import annotations

import csv
import importlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Type(NamedTuple):
    """The type of a column."""

    #: As Arrow, pandas and pyarrow call it.
    name: str
    pandas: str
    arrow: str
    #: Reads a cell of a CSV file that is not empty.
    read: Callable[[str], Any]


NUMBER = Type("UInt32", "uint32", "uint32", int)
TAG = Type("Int32", "int32", "int32", int)
SIZE = Type("UInt64", "uint64", "uint64", int)
INTEGER = Type("Int64", "int64", "int64", int)
FLOAT = Type("Float64", "float64", "double", float)
TRUTH = Type("Boolean", "bool", "bool", bool)
TEXT = Type("Utf8", "object", "string", str)
#: One of few different texts.
WORD = Type("Dictionary(Int32, Utf8)", "category", "", str)
NUMBERS = Type("List(UInt32)", "object", "", lambda cell: [int(number) for number in cell.split()])


Types = Mapping[str, Type]

#: The columns of a communication matrix.
MATRIX = {"from": NUMBER, "to": NUMBER, "messages": SIZE, "bytes": SIZE}


class Table:
    """A table.

    Libraries that speak Arrow take it, where pyarrow is installed: `pandas.DataFrame.from_arrow(table)`, `polars.DataFrame(table)`,
    `pyarrow.table(table)`. Without, there are `table.to_pandas()`, `table.to_dict()` and `table["column"]`.
    """

    __module__ = "titr"

    def __init__(self, types: Types, columns: Mapping[str, list[Any]]) -> None:
        self._types, self._columns = types, columns
        self._made: Any = None

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._types)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of columns."""
        return (len(self), len(self._types))

    def to_pandas(self) -> Any:
        """The table as a data frame of pandas, with columns of NumPy's types."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        series = {}
        for name, type in self._types.items():
            values = self._columns[name]
            is_whole = "int" not in type.pandas or None not in values
            series[name] = pandas.Series(values, dtype=type.pandas if is_whole else "float64")
        return pandas.DataFrame(series)

    def to_dict(self) -> dict[str, list[Any]]:
        """The table as a list of Python's values for each column."""
        return {name: self[name] for name in self._types}

    def __getitem__(self, column: str, /) -> list[Any]:
        """A column as a list of Python's values."""
        if column not in self._types:
            raise KeyError(f"there is no column '{column}': there are {', '.join(self._types)}")
        return list(self._columns[column])

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {type.name}" for name, type in self._types.items())
        return f"titr.Table of {len(self)} rows ({columns})"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow's PyCapsule interface: the table as a stream of one batch."""
        return self._batch().__arrow_c_stream__(requested_schema)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Arrow's PyCapsule interface: the table as one batch."""
        return self._batch().__arrow_c_array__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Arrow's PyCapsule interface: the names and types of the columns."""
        return schema(self._types).__arrow_c_schema__()

    def _batch(self) -> Any:
        """The table of pyarrow, which is made once."""
        if self._made is None:
            made = schema(self._types)
            columns = [pyarrow().array(self._columns[field.name], field.type) for field in made]
            self._made = pyarrow().RecordBatch.from_arrays(columns, schema=made)
        return self._made


def pyarrow() -> Any:
    """The library that knows Arrow's memory format."""
    try:
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ImportError("Arrow's interface needs pyarrow: pip install pyarrow") from None


def schema(types: Types) -> Any:
    """The names and types of columns, as pyarrow has them."""
    arrow = pyarrow()
    others = {WORD: arrow.dictionary(arrow.int32(), arrow.string()), NUMBERS: arrow.list_(arrow.uint32())}
    return arrow.schema([(name, others.get(type) or arrow.type_for_alias(type.arrow)) for name, type in types.items()])


def of_rows(types: Types, rows: Sequence[Sequence[Any]]) -> Table:
    """The table of rows that have a value for each column."""
    columns = map(list, zip(*rows)) if rows else ([] for _ in types)
    return Table(types, dict(zip(types, columns)))


def of_objects(types: Types, objects: Sequence[Mapping[str, Any]]) -> Table:
    """The table of JSON's objects, in which what is absent is None."""
    return Table(types, {name: [one.get(name) for one in objects] for name in types})


def of_csv(types: Types, lines: Iterable[str] | None, size: int | None = None) -> Iterator[Table]:
    """Tables with these columns of a CSV file, with at most `size` rows each."""
    rows = csv.reader(lines or [])
    header = next(rows, [])
    while some := list(itertools.islice(rows, size)):
        cells = dict(zip(header, zip(*some)))
        yield Table(types, {name: [type.read(cell) if cell else None for cell in cells[name]] for name, type in types.items()})
