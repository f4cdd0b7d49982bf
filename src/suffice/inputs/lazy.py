"""Tables of other libraries, and text files: each pass reads some of their columns as Arrow batches."""

from __future__ import annotations

import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..core.extras import required
from .files import ENDINGS, Files, scan_of
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


@dataclass(frozen=True, repr=False)
class TextFiles(Lazy):
    """Text files of rows, read one after the other. The types of the first are those of all."""

    container: Files
    columns: tuple[str, ...] | None = None
    types: Mapping[str, Any] = field(default_factory=dict, hash=False)  # of the columns of the first file
    function: ClassVar[str]

    @abstractmethod
    def open(self, file: Any, types: Mapping[str, Any], names: Sequence[str] | None) -> Any:
        """A streaming reader of these columns, of all if None; those without a type are inferred."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({brief(self.container.paths, 1)})"

    @property
    def schema(self) -> Any:
        return required("pyarrow", "parquet").schema(self.types.items())

    def inferred(self, stated: Mapping[str, Any]) -> dict[str, Any]:
        """The types of all columns, from those that were stated and the first block of the first file."""
        path = self.container.paths[0]
        with self._opened(path) as file:
            try:
                schema = self.open(file, stated, None).schema
            except Exception as error:
                raise self._explained(error, path, stated, list(stated)) from error
        types = {**dict(zip(schema.names, schema.types, strict=True)), **stated}
        if absent := [name for name in stated if name not in schema.names]:
            raise ValueError(f"{path} has no column {absent}; its columns are {schema.names}.")
        return types

    def __call__(self) -> Iterator[Any]:
        types = {name: self.types[name] for name in self.names}
        for path in self.container.paths:
            with self._opened(path) as file:
                try:
                    yield from self.open(file, types, self.names)
                except Exception as error:
                    raise self._explained(error, path, types, self.names) from error

    def _opened(self, path: str) -> Any:
        fs = required("pyarrow.fs", "parquet")
        return (self.container.filesystem or fs.LocalFileSystem()).open_input_stream(path)

    def _explained(
        self, error: Exception, path: str, types: Mapping[str, Any], names: list[str]
    ) -> Exception:
        """The error with file and column: the first that cannot be read by itself."""
        pa = required("pyarrow", "parquet")
        if not isinstance(error, pa.ArrowInvalid | pa.ArrowKeyError):
            error.add_note(f"While reading {path}.")
            return error
        for name in names:
            try:
                with self._opened(path) as file:
                    for _ in self.open(file, {k: types[k] for k in [name] if k in types}, [name]):
                        pass
            except (pa.ArrowInvalid, pa.ArrowKeyError) as alone:
                kind = f", read as {types[name]}" if name in types else ""
                reason = re.sub("^In CSV column #[0-9]+: ", "", str(alone)).rstrip(".")
                return ValueError(
                    f"{path}, column {name!r}{kind}: {reason}. Types follow from the first rows: state "
                    f"another, {self.function}(..., schema={{{name!r}: 'string'}})."
                )
        other = scan_of(path)
        call = f": call suffice.{other}({path!r})" if path.endswith(ENDINGS[other]) else ""
        remedy = "." if other == self.function else f". Expected {KINDS_OF_TEXT[self.function]}{call}."
        return ValueError(f"{path}: {str(error).rstrip('.')}{remedy}")


@dataclass(frozen=True, repr=False)
class CsvFiles(TextFiles):
    """CSV files with a header."""

    delimiter: str = ","
    function: ClassVar[str] = "scan_csv"

    def open(self, file: Any, types: Mapping[str, Any], names: Sequence[str] | None) -> Any:
        csv = required("pyarrow.csv", "parquet")
        return csv.open_csv(
            file,
            parse_options=csv.ParseOptions(delimiter=self.delimiter),
            convert_options=csv.ConvertOptions(column_types=dict(types), include_columns=names),
        )


@dataclass(frozen=True, repr=False)
class JsonFiles(TextFiles):
    """Files with one JSON object in each line."""

    function: ClassVar[str] = "scan_json"

    def open(self, file: Any, types: Mapping[str, Any], names: Sequence[str] | None) -> Any:
        pa, json = required("pyarrow", "parquet"), required("pyarrow.json", "parquet")
        if not hasattr(json, "open_json"):
            raise ImportError(
                f'scan_json needs pyarrow 20, and this is {pa.__version__}: pip install -U "pyarrow>=20".'
            )
        how = "infer" if names is None else "ignore"
        options = json.ParseOptions(explicit_schema=pa.schema(types.items()), unexpected_field_behavior=how)
        return json.open_json(file, parse_options=options)
