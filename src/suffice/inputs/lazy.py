"""Tables of other libraries, and text files: each pass reads some of their columns as Arrow batches."""

from __future__ import annotations

import io
import json
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from ..core.extras import required
from .conversions import DECIMAL_COMMA
from .files import ENDINGS, Files, more_columns, scan_of
from .tables import brief

BATCH_ROWS = 1 << 14


@dataclass(frozen=True, repr=False)
class Lazy(ABC):
    """A table that opens a stream of Arrow batches when it is called."""

    container: Any
    columns: tuple[str, ...] | None = None  # to read; None for all
    once: ClassVar[bool] = False  # whether it can be read only once, and must be cached

    @property
    @abstractmethod
    def schema(self) -> Any:
        """The Arrow schema of all columns."""

    @abstractmethod
    def __call__(self) -> Any:
        """A fresh stream of the columns."""

    @property
    def names(self) -> list[str]:
        return list(self.columns or self.schema.names)

    def __repr__(self) -> str:
        return type(self.container).__name__


class ArrowDataset(Lazy):
    """A pyarrow Dataset."""

    @property
    def schema(self) -> Any:
        return self.container.schema

    def __call__(self) -> Any:
        return self.container.to_batches(columns=self.names)


class DeltaLake(ArrowDataset):
    """A DeltaTable of deltalake, at its version."""

    def __init__(self, container: Any, columns: tuple[str, ...] | None = None) -> None:
        super().__init__(
            container if hasattr(container, "to_batches") else container.to_pyarrow_dataset(), columns
        )


class OneReader(Lazy):
    """A pyarrow RecordBatchReader."""

    once = True

    @property
    def schema(self) -> Any:
        return self.container.schema

    def __call__(self) -> Iterator[Any]:
        rows = 0
        try:
            for batch in self.container:
                rows += batch.num_rows
                yield batch
        except required("pyarrow", "parquet").ArrowInvalid as error:
            if "closed" not in str(error):
                raise
        finally:
            self.container.close()
        if not rows:
            raise ValueError(
                "The RecordBatchReader has no rows left. It can be read once: pass a new one to each call, "
                "or suffice.scan(lambda: ...) with a function that opens one in each pass."
            )


class PolarsFrame(Lazy):
    """A LazyFrame of polars."""

    @property
    def schema(self) -> Any:
        return self.container.collect_schema().to_frame().to_arrow().schema

    def __call__(self) -> Any:
        return self.container.select(self.names).collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)


class DuckRelation(Lazy):
    """A relation of DuckDB."""

    @property
    def schema(self) -> Any:
        return self.container.limit(0).to_arrow_table().schema

    def __call__(self) -> Any:
        expression = sys.modules["duckdb"].ColumnExpression
        return self.container.select(*map(expression, self.names)).to_arrow_reader(BATCH_ROWS)


class HuggingFace(Lazy):
    """A Dataset of Hugging Face."""

    @property
    def schema(self) -> Any:
        return self.container.features.arrow_schema

    def __call__(self) -> Any:
        return self.container.select_columns(self.names).with_format("arrow").iter(BATCH_ROWS)


class IcebergTable(Lazy):
    """A Table of pyiceberg, at its snapshot."""

    @property
    def schema(self) -> Any:
        return self.container.schema().as_arrow()

    def __call__(self) -> Any:
        return self.container.scan(selected_fields=tuple(self.names)).to_arrow_batch_reader()


class IcebergScan(Lazy):
    """A scan of a Table of pyiceberg, with its own filter."""

    @property
    def schema(self) -> Any:
        return self.container.projection().as_arrow()

    def __call__(self) -> Any:
        return self.container.select(*self.names).to_arrow_batch_reader()


# As in `containers`: nothing is imported to find the type.
KINDS: dict[tuple[str, str], type[Lazy]] = {
    ("pyarrow.dataset", "Dataset"): ArrowDataset,
    ("pyarrow", "RecordBatchReader"): OneReader,
    ("polars", "LazyFrame"): PolarsFrame,
    ("duckdb", "DuckDBPyRelation"): DuckRelation,
    ("datasets", "Dataset"): HuggingFace,
    ("deltalake", "DeltaTable"): DeltaLake,
    ("pyiceberg.table", "Table"): IcebergTable,
    ("pyiceberg.table", "DataScan"): IcebergScan,
}


def lazy_of(container: Any) -> Lazy | None:
    """A container of one of these types as a table that is opened in each pass; None for others."""
    for (module, name), kind in KINDS.items():
        if isinstance(container, getattr(sys.modules.get(module), name, ())):
            required("pyarrow", "parquet")
            return kind(container)
    return None


KINDS_OF_TEXT = {"scan_csv": "CSV with a header", "scan_json": "a JSON object in each line"}
MISSING = re.compile(r"(?i)[-.?*_/\\\s]*|n\.?a\.?|none|nil|missing|unknown|<na>|nat")  # values that say so
HEAD_BYTES = 1 << 16  # of a file, in which most headers lie


@dataclass(frozen=True, repr=False)
class TextFiles(Lazy):
    """Text files of rows, read one after the other. The first file determines the types of all."""

    container: Files
    columns: tuple[str, ...] | None = None
    types: Mapping[str, Any] = field(default_factory=dict, hash=False)  # of the columns of the first file
    strict: bool = False  # whether a column that only a later file has is an error
    function: ClassVar[str]

    @abstractmethod
    def open(self, file: Any, types: Mapping[str, Any], names: Sequence[str] | None) -> Any:
        """A streaming reader of these columns, or of all if None. Types that are not stated are inferred."""

    @abstractmethod
    def check_names(self, path: str, names: Sequence[str]) -> None:
        """Raise if a file lacks one of these columns or has it twice; with `strict`, also if it has
        others."""

    @abstractmethod
    def concerns_all(self, error: Exception) -> bool:
        """Whether an error concerns the whole file, and not the values of one column."""

    @abstractmethod
    def remedy(self, error: Exception, path: str, name: str | None, types: Mapping[str, Any]) -> str:
        """Advice for an error in this column of a file, or in all columns if `name` is None."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({brief(self.container.paths, 1)})"

    @property
    def schema(self) -> Any:
        return required("pyarrow", "parquet").schema(self.types.items())

    def inferred(self, stated: Mapping[str, Any], columns: Sequence[str] | None) -> dict[str, Any]:
        """The types of these columns, or of all: the stated ones, and the others from the first block of
        the first file."""
        path = self.container.paths[0]
        try:
            with self._opened(path) as file:
                schema = self.open(file, stated, None).schema
            names = schema.names
        except Exception as error:
            raise self._explained(error, path, stated, list(stated)) from error
        if absent := [name for name in (*stated, *(columns or ())) if name not in names]:
            raise ValueError(f"{path} has no column {absent}; its columns are {names}.{self._hint(names)}")
        for name in columns or names:
            if names.count(name) > 1:
                raise ValueError(_repeated(path, name, names, self.function))
        types = {**dict(zip(names, schema.types, strict=True)), **stated}
        return types if columns is None else {name: types[name] for name in columns}

    def _hint(self, names: Sequence[str]) -> str:
        """Advice for files whose columns have these names."""
        return ""

    def __call__(self) -> Iterator[Any]:
        types = {name: self.types[name] for name in self.names}
        for path in self.container.paths:
            try:
                self.check_names(path, self.names)
                with self._opened(path) as file:
                    yield from self.open(file, types, self.names)
            except Exception as error:
                raise self._explained(error, path, types, self.names) from error

    def _opened(self, path: str) -> Any:
        fs = required("pyarrow.fs", "parquet")
        return (self.container.filesystem or fs.LocalFileSystem()).open_input_stream(path)

    def _explained(
        self, error: Exception, path: str, types: Mapping[str, Any], names: list[str]
    ) -> Exception:
        """The error with file and column, the first that cannot be read by itself, and what to do."""
        pa = required("pyarrow", "parquet")
        if isinstance(error, FileContents):
            return ValueError(str(error))
        if isinstance(error, OSError) and "zlib" in str(error):
            plain = path.removesuffix(".gz")
            return ValueError(f"{path} is not compressed by gzip, as its name says: rename it to {plain!r}.")
        if not isinstance(error, pa.ArrowInvalid | pa.ArrowKeyError | UnicodeDecodeError):
            error.add_note(f"While reading {path}.")
            return error
        other = scan_of(path)
        if other != self.function:
            call = f": call suffice.{other}({path!r})" if path.endswith(ENDINGS[other]) else ""
            return ValueError(
                f"{path}: {str(error).rstrip('.')}. Expected {KINDS_OF_TEXT[self.function]}{call}."
            )
        if isinstance(error, UnicodeDecodeError) or self.concerns_all(error):
            remedy = self.remedy(error, path, None, types)
            return ValueError(f"{path}: {str(error).rstrip('.')}. {remedy}.")
        lenient = replace(self, strict=False)
        for name in names:
            try:
                with self._opened(path) as file:
                    for _ in lenient.open(file, {k: types[k] for k in [name] if k in types}, [name]):
                        pass
            except (pa.ArrowInvalid, pa.ArrowKeyError) as alone:
                kind = f", read as {types[name]}" if name in types else ""
                reason = re.sub("^In CSV column #[0-9]+: ", "", str(alone)).rstrip(".")
                remedy = self.remedy(alone, path, name, types)
                return ValueError(f"{path}, column {name!r}{kind}: {reason}. {remedy}.")
        return ValueError(f"{path}: {str(error).rstrip('.')}. {self.remedy(error, path, None, types)}.")

    def _call(self, argument: str) -> str:
        return f"{self.function}(..., {argument})"


class FileContents(Exception):
    """The columns of a file are not those of the first."""


def _repeated(path: str, name: str, names: Sequence[str], function: str) -> str:
    others = [other for other in names if names.count(other) == 1]
    return (
        f"{path} has {names.count(name)} columns named {name!r}: give all columns other names, "
        f"{function}(..., column_names=[...]); or read those with a name of their own, "
        f"{function}(..., columns={others})."
    )


def _type_for(value: str | None) -> str:
    """The type of Arrow for a value that is not of the type of its column."""
    try:
        number = float(value or "")
    except ValueError:
        return "string"
    return "int64" if number.is_integer() and abs(number) < 2.0**63 else "float64"


@dataclass(frozen=True, repr=False)
class CsvFiles(TextFiles):
    """CSV files."""

    delimiter: str = ","
    header: bool = True
    column_names: tuple[str, ...] | None = None  # in place of the header
    null_values: tuple[str, ...] = ()
    decimal: str = "."
    quote_char: str | None = '"'
    encoding: str = "utf8"
    function: ClassVar[str] = "scan_csv"

    def open(
        self,
        file: Any,
        types: Mapping[str, Any],
        names: Sequence[str] | None,
        block_size: int | None = None,
    ) -> Any:
        csv = required("pyarrow.csv", "parquet")
        return csv.open_csv(
            file,
            read_options=csv.ReadOptions(
                block_size=block_size,
                column_names=self.column_names,
                skip_rows_after_names=int(self.header and self.column_names is not None),
                autogenerate_column_names=not self.header and self.column_names is None,
                encoding=self.encoding,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.delimiter,
                quote_char=self.quote_char or False,
                newlines_in_values=True,  # or a block may end within a value
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict(types),
                include_columns=names,
                null_values=[*csv.ConvertOptions().null_values, *self.null_values],
                strings_can_be_null=bool(self.null_values),
                decimal_point=self.decimal,
            ),
        )

    def inferred(self, stated: Mapping[str, Any], columns: Sequence[str] | None) -> dict[str, Any]:
        types = super().inferred(stated, columns)
        path, binary = self.container.paths[0], required("pyarrow", "parquet").binary()
        for name, kind in types.items():
            if kind == binary and name not in stated:
                raise ValueError(
                    f"{path}, column {name!r}, is not encoded in UTF-8: {self._in_encoding(path)}."
                )
        if len(types) == 1 and columns is None and self.column_names is None:
            [name] = types
            if (other := self._other_delimiter(name)) and other in self._first_value(path, name):
                raise ValueError(
                    f"{path} has one column, {name!r}. If its values are separated by {other!r}, call "
                    f"{self._call(f'delimiter={other!r}')}; if not, {self._call('column_names=[...]')}."
                )
        return types

    def _first_value(self, path: str, name: str) -> str:
        with self._opened(path) as file:
            batch = next(iter(self.open(file, {name: required("pyarrow", "parquet").string()}, None)))
        return str(batch.column(0)[0]) if batch.num_rows else ""

    def _other_delimiter(self, line: str) -> str | None:
        return next((other for other in ";\t|," if other != self.delimiter and other in line), None)

    def _hint(self, names: Sequence[str]) -> str:
        if self.header and self.column_names is None and all(_type_for(name) != "string" for name in names):
            return f" If the file has no header, call {self._call('header=False')}."
        other = self._other_delimiter(names[0]) if len(names) == 1 else None
        return (
            f" To separate values by {other!r}, call {self._call(f'delimiter={other!r}')}." if other else ""
        )

    def check_names(self, path: str, names: Sequence[str]) -> None:
        if self.column_names is not None or path == self.container.paths[0]:
            return  # as many as there are, or checked before
        known = self._header(path)
        for name in names:
            if name not in known:
                raise FileContents(
                    f"{path} has no column {name!r}; its columns are {known}. Leave the file out, or read "
                    f"columns that all files have, {self._call('columns=[...]')}.{self._hint(known)}"
                )
            if known.count(name) > 1:
                raise FileContents(_repeated(path, name, known, self.function))
        if self.strict and (more := [name for name in known if name not in names]):
            raise FileContents(more_columns(path, more, self.container.paths[0], names, self.function))

    def _header(self, path: str) -> list[str]:
        invalid = required("pyarrow", "parquet").ArrowInvalid
        for size in (HEAD_BYTES, None):
            try:
                with self._opened(path) as file:
                    return self.open(file, {}, None, size).schema.names
            except invalid:
                if size is None:
                    raise
        raise AssertionError

    def concerns_all(self, error: Exception) -> bool:
        return "CSV parse error" in str(error) or "Empty" in str(error)

    def remedy(self, error: Exception, path: str, name: str | None, types: Mapping[str, Any]) -> str:
        said = str(error)
        if isinstance(error, UnicodeDecodeError) or "UTF8" in said or "\x00" in said:
            return f"The file is not encoded in UTF-8: {self._in_encoding(path)}"
        if "Empty" in said:
            return "Leave the file out: pass a list of the others"
        if name is None:
            line = said.partition(": ")[2].partition(": ")[2]
            if self.quote_char and line.count(self.quote_char) % 2:
                return (
                    f"A quote is not closed: close it, or if {self.quote_char} is part of the values, call "
                    f"{self._call('quote_char=None')}"
                )
            if "Expected 1 columns" in said and (other := self._other_delimiter(line)):
                return f"If values are separated by {other!r}, call {self._call(f'delimiter={other!r}')}"
            quote = f"; quote a value that has {self.delimiter!r} in it" if self.quote_char else ""
            return f"Correct the line, or remove it{quote}"
        match = re.search("invalid value '(.*)'", said, re.DOTALL)
        value = match and match[1]
        if value is not None and self.decimal == "." and DECIMAL_COMMA.fullmatch(value):
            call = self._call("decimal=','")
            return f"If numbers have a decimal comma, call {call}"
        other = _type_for(value)
        if other != "string":
            return f"Types follow from the first rows: state another, {self._schema(name, other)}"
        if value is None or str(types.get(name)) == "null":
            return f"Types follow from the first rows: state another, {self._schema(name, 'string')}"
        missing = self._call(f"null_values=[{value!r}]")
        if MISSING.fullmatch(value):
            return f"If this stands for a missing value, call {missing}"
        return (
            f"Correct the value; or take it as missing, {missing}; or read the column as strings, "
            f"{self._schema(name, 'string')}"
        )

    def _schema(self, name: str, kind: str) -> str:
        return self._call(f"schema={{{name!r}: {kind!r}}}")

    def _in_encoding(self, path: str) -> str:
        with self._opened(path) as file:
            start = file.read(2)
        name = "utf-16" if start in (b"\xff\xfe", b"\xfe\xff") else "latin-1"
        return f"state its encoding, e.g. {self._call(f'encoding={name!r}')}"


@dataclass(frozen=True, repr=False)
class JsonFiles(TextFiles):
    """Files with one JSON object in each line."""

    function: ClassVar[str] = "scan_json"

    def open(self, file: Any, types: Mapping[str, Any], names: Sequence[str] | None) -> Any:
        pa, reader = required("pyarrow", "parquet"), required("pyarrow.json", "parquet")
        if not hasattr(reader, "open_json"):
            raise ImportError(
                f'scan_json needs pyarrow 20, and this is {pa.__version__}: pip install -U "pyarrow>=20".'
            )
        unexpected = "infer" if names is None else "error" if self.strict else "ignore"
        options = reader.ParseOptions(
            explicit_schema=pa.schema(types.items()), unexpected_field_behavior=unexpected
        )
        return reader.open_json(file, parse_options=options)

    def check_names(self, path: str, names: Sequence[str]) -> None:
        """Nothing is checked: fields that a line lacks are missing values, and others are noticed by the
        reader."""

    def concerns_all(self, error: Exception) -> bool:
        return "Column(/" not in str(error) and "couldn't parse" not in str(error)

    def remedy(self, error: Exception, path: str, name: str | None, types: Mapping[str, Any]) -> str:
        said = str(error)
        others = self._call(f"columns={[other for other in self.names if other != name]}")
        if "unexpected field" in said:
            field = self._unexpected(path)
            state = self._call(f"schema={{{field!r}: 'float64'}}")
            return (
                f"The field {field!r} is not in the first megabyte of the first file: state its type, e.g. "
                f"{state}; or leave it out, {others}"
            )
        if isinstance(error, UnicodeDecodeError):
            return "The file is not encoded in UTF-8, as JSON is: write it again"
        if "Empty" in said:
            return "Leave the file out: pass a list of the others"
        if name is None or "twice" in said:
            return "Expected a JSON object in each line: correct the line, or remove it"
        if change := re.search("changed from (\\w+) to (\\w+)", said):
            kinds = {"number": "float64", "string": "string", "boolean": "bool"}
            if change[1] != "null" or change[2] not in kinds:
                return f"Write the values of a field in one type; or leave it out, {others}"
            kind = kinds[change[2]]
        else:
            kind = _type_for(said.partition("couldn't parse:")[2]).replace("int64", "float64")
        state = self._call(f"schema={{{name!r}: {kind!r}}}")
        return f"Types follow from the first rows: state another, {state}"

    def _unexpected(self, path: str) -> str | None:
        """The first field of a file that is not among the columns."""
        with self._opened(path) as file:
            lines = io.TextIOWrapper(file, "utf-8")
            fields = (name for line in lines if line.strip() for name in json.loads(line))
            return next((name for name in fields if name not in self.names), None)
