"""The source of each type of container."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from .arrays import ArraySource, FrameSource
from .sources import Source
from .tables import Table, are_delayed

# The type of a container picks its source. Nothing is imported to ask: a container of a type that was never
# imported cannot have come.
CONTAINERS = {
    ("suffice.inputs.parquet", "ParquetScan"): ("suffice.inputs.parquet", "ParquetSource"),
    ("suffice.inputs.stream", "StreamScan"): ("suffice.inputs.stream", "StreamSource"),
    ("ray.data", "Dataset"): ("suffice.inputs.ray", "RaySource"),
    ("dask.dataframe", "DataFrame"): ("suffice.inputs.dask", "DaskSource"),
    ("dask.array", "Array"): ("suffice.inputs.dask", "DaskArraySource"),
    ("dask.delayed", "Delayed"): ("suffice.inputs.dask", "delayed_source"),  # or a list of them
    ("pyspark.sql", "DataFrame"): ("suffice.inputs.spark", "SparkSource"),  # of Connect too
    ("pyarrow", "Table"): ("suffice.inputs.arrays", "ArrowSource"),
    ("pyarrow", "RecordBatch"): ("suffice.inputs.arrays", "ArrowSource"),
    ("suffice.core.partitions", "Opened"): ("suffice.inputs.sources", "OpenedSource"),
}


def source_of(X: Any) -> Source:
    """The source of the input of `fit`, `score` or `predict`."""
    if isinstance(X, Source):
        return X
    table = X if isinstance(X, Table) else None
    container = X if table is None else table.source
    first = container[0] if are_delayed(container) else container
    for (module, name), (home, source) in CONTAINERS.items():
        if isinstance(first, getattr(sys.modules.get(module), name, ())):
            return getattr(import_module(home), source)(container, table)
    return ArraySource(container, None) if table is None else FrameSource(container, table)
