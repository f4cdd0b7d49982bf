"""The source of each type of container."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..core.extras import required
from .arrays import ArraySource, FrameSource
from .files import scan_of
from .lazy import KINDS
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
    ("suffice.inputs.shared", "SharedBatches"): ("suffice.inputs.shared", "SharedSource"),
    **dict.fromkeys(KINDS, ("suffice.inputs.stream", "lazy_source")),
    ("suffice.core.partitions", "Opened"): ("suffice.inputs.sources", "OpenedSource"),
}
EXTRAS = {"ray": "ray", "dask": "dask", "spark": "spark"}  # that install what these modules import


def source_of(X: Any) -> Source:
    """The source of the input of `fit`, `score` or `predict`."""
    # First, since one row should be answered fast, and one sentence.
    if isinstance(X, np.ndarray | sp.csr_array | sp.csr_matrix) or (
        isinstance(X, list) and X and isinstance(X[0], list | dict)
    ):
        return ArraySource(X, None)
    if isinstance(X, Source):
        return X
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        raise TypeError(f"Expected rows, got the path {path!r}: pass suffice.{scan_of(path)}({path!r}).")
    table = X if isinstance(X, Table) else None
    container = X if table is None else table.source
    first = container[0] if are_delayed(container) else container
    for (module, name), (home, source) in CONTAINERS.items():
        if isinstance(first, getattr(sys.modules.get(module), name, ())):
            engine = home.rpartition(".")[2]
            return getattr(required(home, EXTRAS.get(engine, "parquet")), source)(container, table)
    return ArraySource(container, None) if table is None else FrameSource(container, table)
