"""Training and test rows, drawn by a hash of each row where the data is not in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.utils import check_random_state

from ..inputs import Table, source_of
from ..inputs.arrays import MemoryTableSource
from ..inputs.selection import Selection
from ..inputs.sources import TableSource


def train_test_split(
    *arrays: Any,
    test_size: Any = None,
    train_size: Any = None,
    random_state: Any = None,
    shuffle: bool = True,
    stratify: Any = None,
) -> list[Any]:
    """Split arrays or a table into random training and test rows.

    Arrays, DataFrames and tables in memory are split as by scikit-learn. Of a scan, or a distributed data
    set, the rows are drawn when they are read: each by a hash of its values. So a row is in the same part
    whatever the order of the rows, the blocks and the engine, and no rows are copied.

    Parameters
    ----------
    *arrays : arrays of the same length; or one table, scan or distributed data set
        The data to split.
    test_size : float or int, default=None
        Share of the test rows, or for data in memory their number. If None, what `train_size` leaves, or
        0.25.
    train_size : float or int, default=None
        Share or number of the training rows. If None, what `test_size` leaves.
    random_state : int, RandomState or None, default=None
        Seed.
    shuffle : bool, default=True
        Whether to shuffle rows in memory first.
    stratify : array-like, default=None
        Labels whose shares both parts are to have, for rows in memory. The rows of a scan are drawn one by
        one, so that these shares agree to within chance.

    Returns
    -------
    list
        Training and test part of each input. Of a table that is not in memory, two descriptions.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, suffice
    >>> from suffice.linear_model import LinearRegression
    >>> from suffice.model_selection import train_test_split
    >>> x = np.random.default_rng(0).normal(size=1000)
    >>> scan = suffice.scan(lambda: [pa.record_batch({"x": x, "y": 2 * x})])
    >>> train, test = train_test_split(suffice.rows(scan, target="y"), test_size=0.2, random_state=0)
    >>> LinearRegression().fit(train).score(test)
    1.0
    """
    how = {"test_size": test_size, "train_size": train_size, "shuffle": shuffle, "stratify": stratify}
    source = source_of(arrays[0]) if len(arrays) == 1 else None
    if isinstance(source, MemoryTableSource):
        rows = np.arange(len(source.column(source.names()[0])))
        parts = model_selection.train_test_split(rows, random_state=random_state, **how)
        taken = [source.take(np.asarray(part)).container for part in parts]
        return taken if source.table is None else [replace(source.table, source=part) for part in taken]
    if not isinstance(source, TableSource):
        return model_selection.train_test_split(*arrays, random_state=random_state, **how)
    if stratify is not None or not shuffle:
        raise ValueError(
            "The rows of a table that is not in memory are drawn by a hash of their values: leave stratify "
            "and shuffle out. Both parts have the same shares of the classes, to within chance."
        )
    test, train = _shares(test_size, train_size)
    table = source.table or Table(source.container)
    columns = (table.sequence,) if table.sequence else tuple(sorted(table.columns(source.names()).names()))
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

    def part(low: float, high: float) -> Table:
        if table.selection is None:
            return replace(table, selection=Selection(columns, seed, ((low, high),)))
        raise ValueError("This table is a part of another: split that one into more parts.")

    return [part(1.0 - train, 1.0), part(0.0, test)]


def _shares(test_size: Any, train_size: Any) -> tuple[float, float]:
    """The shares of test and training rows."""
    for name, size in (("test_size", test_size), ("train_size", train_size)):
        if size is not None and not (isinstance(size, float) and 0.0 < size < 1.0):
            raise ValueError(
                f"{name}={size!r} must be a fraction between 0 and 1 for a table that is not in memory, "
                "of which the number of rows is not known."
            )
    if test_size is None:
        test_size = 0.25 if train_size is None else 1.0 - train_size
    train_size = 1.0 - test_size if train_size is None else train_size
    if test_size + train_size > 1.0 + 1e-12:
        raise ValueError(f"The sum of test_size and train_size = {test_size + train_size} must be at most 1.")
    return float(test_size), float(train_size)
