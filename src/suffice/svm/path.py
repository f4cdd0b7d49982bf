"""Support vector classification for several C."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from ..core.arguments import MaybeArray
from ..inputs import open_rows
from .svc import SVC


def svc_path(
    X: Any, y: MaybeArray = None, *, Cs: Any = 10, sample_weight: MaybeArray = None, **params: Any
) -> list[SVC]:
    """Support vector classifiers for several C, from one cache of kernel columns.

    Each dual starts from the solution for the next smaller C, scaled, and the columns of the kernel matrix
    that it needs are often in the cache.

    Parameters
    ----------
    X : array, CSR matrix, table, Parquet scan or distributed data set
        The rows. To name the columns of target and weights in a table, see `suffice.rows`.
    y : array of shape (n_samples,), optional
        Labels. Leave out if a column of the table holds them.
    Cs : int or array of floats, default=10
        The values of C, or their number: then they are from 1e-4 to 1e4, in equal ratios.
    sample_weight : array, optional
        Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.
    **params : dict
        Parameters of :class:`SVC`, other than `C`, `slack_budget`, `checkpoint` and `probability`.

    Returns
    -------
    models : list of SVC
        The fitted classifiers, in the order of `Cs`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.svm import svc_path
    >>> X, y = load_iris(return_X_y=True)
    >>> for model in svc_path(X, y, Cs=[0.1, 10.0]):
    ...     print(model.C, len(model.support_), round(model.score(X, y), 2))
    0.1 125 0.94
    10.0 27 0.99
    """
    numbered = isinstance(Cs, Integral) and int(Cs) > 0
    values = np.logspace(-4, 4, Cs) if numbered else np.array(Cs, np.float64, ndmin=1)
    if not len(values) or not (np.isfinite(values) & (values > 0)).all():
        raise ValueError(f"Cs must be positive and finite; got {values.tolist()}: for C=inf, use SVC.")
    if refused := {"C", "slack_budget", "checkpoint", "probability"} & params.keys():
        raise ValueError(f"svc_path takes Cs, and does not take {', '.join(sorted(refused))}: use SVC.")
    models = [SVC(C=float(C), **params) for C in values]
    order, first = np.argsort(values), models[0]
    task = first._task(open_rows(first, X, y, sample_weight))
    results: list[list[Any]] = [[] for _ in models]
    for problem in task.problems:
        columns = first._columns(task.kernel, task.block.X, problem.rows)
        start, last = np.zeros(len(problem.rows)), 1.0
        for k in order:
            scaled = start * (values[k] / last)
            result = models[k]._with_C(values[k], columns, problem.y, problem.weight, scaled, None)
            start, last = result.beta, values[k]
            results[k].append(result)
    names = "n_features_in_", "feature_names_in_"
    shared = {name: value for name, value in vars(first).items() if name in names}
    for model, solutions in zip(models, results, strict=True):
        for name, value in shared.items():
            setattr(model, name, value)
        model._publish(model._finished(task, solutions))
    return models
