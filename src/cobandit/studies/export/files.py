"""One table of an export as a file: CSV or Parquet, written whole or not at all, and read back as it was."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.files import whole_file
from cobandit.base.parquet import pyarrow_modules
from cobandit.studies.export.columns import TYPES, Column, Table

_ROWS_AT_A_TIME = 50_000
_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How a text starts that a spreadsheet would take for a formula, or that has been guarded against it."""


class CsvFile:
    """RFC 4180: commas, quotes where needed, CR LF; UTF-8; missing values are empty."""

    def __init__(self, file: IO[bytes], columns: tuple[Column, ...]) -> None:
        self._file, self._columns = file, columns
        self.rows = 0
        _write_lines(file, [",".join(_quoted(column.name) for column in columns)])

    def add(self, table: Table) -> None:
        """Add rows."""
        count = len(table[self._columns[0].name])
        self.rows += count
        for start in range(0, count, _ROWS_AT_A_TIME):
            part = slice(start, start + _ROWS_AT_A_TIME)
            cells = (_cells(column, table[column.name][part]) for column in self._columns)
            _write_lines(self._file, map(",".join, zip(*cells, strict=True)))

    def close(self) -> None:
        """Do nothing: the file is complete."""


def write_csv(path: Path, columns: tuple[Column, ...], table: Table) -> None:
    """Write a whole table as a CSV file."""
    with whole_file(path, private=True) as file:
        CsvFile(file, columns).add(table)


def _write_lines(file: IO[bytes], lines: Iterable[str]) -> None:
    file.write(("\r\n".join(lines) + "\r\n").encode("utf-8"))


def _cells(column: Column, values: NDArray[Any]) -> list[str]:
    """Return the values as text for the file; equal values are converted once."""
    if column.type == "text":
        words = {text: _text_cell(column, text) for text in set(values.tolist())}
        return [words[text] for text in values.tolist()]
    if column.type == "time":
        known = ~np.isnat(values)
        cells = np.full(len(values), "", dtype=object)
        cells[known] = [f"{text}Z" for text in np.datetime_as_string(values[known], unit="ms").tolist()]
        return list(cells.tolist())
    if column.type == "flag":
        return ["true" if value else "false" for value in values.tolist()]
    different, places = np.unique(values, return_inverse=True)
    shortest = np.array([_number_cell(value) for value in different.tolist()], dtype=object)
    return list(shortest[places].tolist())


def _number_cell(value: float) -> str:
    if value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else repr(value)


def _text_cell(column: Column, text: str | None) -> str:
    if text is None:
        return ""
    return _quoted(f"'{text}" if column.guarded and _FORMULA.match(text) else text)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text


class ParquetFile:
    """Typed columns, with facts about the export in the metadata."""

    def __init__(self, file: IO[bytes], columns: tuple[Column, ...], about: Mapping[str, Any]) -> None:
        self._arrow, parquet = pyarrow_modules()
        types = {
            "integer": self._arrow.int64(),
            "number": self._arrow.float64(),
            "text": self._arrow.string(),
            "time": self._arrow.timestamp("ms", tz="UTC"),
            "flag": self._arrow.bool_(),
        }
        self._columns = columns
        self._schema = self._arrow.schema([(column.name, types[column.type]) for column in columns])
        self._schema = self._schema.with_metadata({"cobandit": json.dumps(about)})
        self._writer = parquet.ParquetWriter(file, self._schema, compression="zstd")
        self.rows = 0

    def add(self, table: Table) -> None:
        """Add rows."""
        arrays = []
        for column, field in zip(self._columns, self._schema, strict=True):
            values = table[column.name]
            missing = np.isnan(values) if values.dtype.kind == "f" else None
            if column.type == "integer" and missing is not None:
                values = np.where(missing, 0, values).astype(np.int64)
            arrays.append(self._arrow.array(values, type=field.type, mask=missing))
        self.rows += len(table[self._columns[0].name])
        self._writer.write_table(self._arrow.table(arrays, schema=self._schema))

    def close(self) -> None:
        """Write the footer of the file."""
        self._writer.close()


def read_csv(path: Path, columns: tuple[Column, ...]) -> Table:
    """Return a table that `write_csv` wrote."""
    parts: dict[str, list[NDArray[Any]]] = {column.name: [np.zeros(0, dtype=column.dtype)] for column in columns}
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            _check_names(path, columns, next(reader, []))
            memories = [_Memory(path, column) for column in columns]
            while rows := list(islice(reader, _ROWS_AT_A_TIME)):
                if any(len(row) != len(columns) for row in rows):
                    raise InvalidInput(f"{str(path)!r} is damaged: a row has not {len(columns)} values.")
                for memory, cells in zip(memories, zip(*rows, strict=True), strict=True):
                    parts[memory.column.name].append(memory.read(cells))
        except (csv.Error, UnicodeDecodeError) as error:
            raise InvalidInput(f"{str(path)!r} is damaged: {error}.") from error
    return {name: np.concatenate(arrays) for name, arrays in parts.items()}


def _check_names(path: Path, columns: tuple[Column, ...], names: Sequence[str]) -> None:
    needed = [column.name for column in columns]
    if list(names) == needed:
        return
    lost = [name for name in needed if name not in names]
    more = [name for name in names if name not in needed]
    what = f"it lacks {lost[0]!r}" if lost else f"it has {more[0]!r} too" if more else "their order is another"
    raise InvalidInput(f"{str(path)!r} has not the columns of this export: {what}.")


class _Memory(dict[str, Any]):
    """What the cells of one column mean; equal cells are read once, and equal texts are one object."""

    def __init__(self, path: Path, column: Column) -> None:
        super().__init__()
        self.path, self.column = path, column

    def __missing__(self, cell: str) -> Any:
        self[cell] = value = self._value(cell)
        return value

    def read(self, cells: Iterable[str]) -> NDArray[Any]:
        values = [self[cell] for cell in cells]
        if self.column.type == "time":
            self.clear()  # hardly two are equal
        array = np.empty(len(values), dtype=self.column.dtype)
        array[:] = values
        return array

    def _value(self, cell: str) -> Any:
        column = self.column
        with suppress(ValueError, OverflowError):
            if column.type == "text":
                return self._text(cell)
            if cell == "" and column.optional:
                return np.datetime64("NaT", "ms") if column.type == "time" else np.nan
            if column.type == "integer":
                return int(cell)
            if column.type == "number":
                return float(cell)
            if column.type == "time" and cell.endswith("Z"):
                return np.datetime64(cell[:-1], "ms")
            if cell in ("true", "false"):
                return cell == "true"
        kind = TYPES.get(column.type, {"integer": "an integer"}.get(column.type, "a number"))
        raise InvalidInput(f"{str(self.path)!r} holds {short_repr(cell)} in column {column.name!r}; {kind} is needed.")

    def _text(self, cell: str) -> str | None:
        if self.column.guarded and cell.startswith("'") and _FORMULA.match(cell):
            return cell[1:]
        return cell or None


def read_parquet(path: Path, columns: tuple[Column, ...]) -> Table:
    """Return a table that a `ParquetFile` wrote."""
    arrow, parquet = pyarrow_modules()
    try:
        table = parquet.read_table(path)
    except arrow.ArrowException as error:
        raise InvalidInput(f"{str(path)!r} is damaged: it is not a Parquet file.") from error
    _check_names(path, columns, table.column_names)
    try:
        arrays = {}
        for column in columns:
            values = table[column.name].to_numpy()
            arrays[column.name] = np.array(values, dtype=column.dtype)
    except (TypeError, ValueError, arrow.ArrowException) as error:
        raise InvalidInput(f"{str(path)!r} is damaged: the column {column.name!r} has another type.") from error
    return arrays
