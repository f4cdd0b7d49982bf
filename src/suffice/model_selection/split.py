"""Training and test rows, drawn by a hash of each row where the data is not in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.utils import _safe_indexing

from ..core.arguments import MaybeArray, Seed
from ..core.randomness import Purpose
from ..estimator.parameters import seed_of
from ..inputs import Table, source_of
from ..inputs.arrays import MemoryTableSource
from ..inputs.conversions import check_names
from ..inputs.selection import Division, Selection
from ..inputs.shared import UNCHECKED, ArrowColumns
from ..inputs.sources import TableSource


def train_test_split(
    *arrays: Any,
    test_size: Any = None,
    train_size: Any = None,
    random_state: Seed = None,
    shuffle: bool = True,
    stratify: Any = None,
    groups: Any = None,
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
    stratify : str or array-like, default=None
        The column of a table whose values have the same shares in both parts, to within a few rows. The table
        is read once or twice to count them: see the notes of
        :func:`~suffice.model_selection.cross_validate`. For arrays, the labels. If None, the shares agree to
        within chance.
    groups : str or array-like, default=None
        The column of a table whose values are groups: all rows of a group are in one part, which is drawn by
        a hash of its value. `test_size` is then the share of the groups. For arrays, the groups.

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
    options = {"test_size": test_size, "train_size": train_size, "shuffle": shuffle, "stratify": stratify}
    options["groups"] = groups
    source = source_of(arrays[0]) if len(arrays) == 1 else None
    if stratify is not None and groups is not None:
        raise ValueError("Parts are stratified, or of groups: pass stratify or groups, not both.")
    if isinstance(source, MemoryTableSource):
        rows = np.arange(len(source.column(source.names()[0])))
        for name, values in (("stratify", stratify), ("groups", groups)):
            if isinstance(values, str):
                check_names(source.names(), [values])
                options[name] = np.asarray(source.column(values))
        parts = _split_arrays(rows, random_state=random_state, **options)
        taken = [source.take(np.asarray(part)).container for part in parts]
        return taken if source.table is None else [replace(source.table, source=part) for part in taken]
    if not isinstance(source, TableSource):
        return _split_arrays(*arrays, random_state=random_state, **options)
    if not shuffle:
        raise ValueError(
            "The rows of a table that is not in memory are drawn by a hash of their values: leave shuffle "
            "out."
        )
    for name, column in (("stratify", stratify), ("groups", groups)):
        if column is not None and not isinstance(column, str):
            raise TypeError(
                f"{name} of a table that is not in memory is the name of a column; got "
                f"{type(column).__name__}."
            )
    test, train = _shares(test_size, train_size)
    table = source.table or Table(source.container)
    if table.selection is not None:
        raise ValueError("This table is a part of another: split that one into more parts.")
    if table.sequence is not None and stratify is not None:
        raise ValueError("The parts of sequences are drawn by their ids: leave stratify out.")
    columns = (table.sequence,) if table.sequence else tuple(sorted(table.columns(source.names()).names()))
    columns = columns if groups is None else (groups,)
    shares = (test,) if test + train > 1.0 - 1e-12 else (test, 1.0 - train)
    division = Division(columns, Purpose.SPLIT, (seed_of(random_state),), shares, stratify)
    check_names(source.names(), division.names)
    if stratify is not None:
        read: Any = ArrowColumns(division.names)
        division = division.counted(source.partitions(read, UNCHECKED))
    return [replace(table, selection=Selection(division, part)) for part in (len(shares), 0)]


def _split_arrays(*arrays: Any, groups: MaybeArray, random_state: Seed, **how: Any) -> list[Any]:
    """The parts as of scikit-learn, which splits groups by another class."""
    if groups is None:
        return model_selection.train_test_split(*arrays, random_state=random_state, **how)
    sizes = {name: how[name] for name in ("test_size", "train_size")}
    if sizes["test_size"] is None and sizes["train_size"] is None:
        sizes["test_size"] = 0.25
    splitter = model_selection.GroupShuffleSplit(1, random_state=random_state, **sizes)
    parts = next(splitter.split(arrays[0], groups=groups))
    return [_safe_indexing(array, part) for array in arrays for part in parts]


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
