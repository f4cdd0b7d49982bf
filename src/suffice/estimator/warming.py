"""Compile the inner loops ahead of the first fit."""

from __future__ import annotations

import inspect
import logging
import pkgutil
import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import get_tags

from ..core.randomness import Purpose, generator
from ..core.small import always_compiled
from .answers import ANSWERS
from .base import Estimator

log = logging.getLogger("suffice")


def warm_up() -> None:
    """Compile the inner loops of all estimators, so that no later fit waits for the compiler.

    Fits of small data need no compiler. Others compile the loops that they use and store the machine code in
    ``NUMBA_CACHE_DIR``, beside the package, or in the user's cache folder. This function fills that folder:
    it fits every estimator, with its default parameters, to a few rows, dense and sparse. That takes
    one or two minutes, or seconds if the folder is filled already. Call it, or run ``python -m suffice
    warm-up``, when the image of a container is built. The logger "suffice" reports each compilation at level
    INFO.

    Examples
    --------
    >>> import suffice
    >>> suffice.warm_up()  # doctest: +SKIP
    """
    for cls in public_estimators():
        for X, y in examples(cls()):
            with warnings.catch_warnings(), always_compiled():
                warnings.simplefilter("ignore")
                log.info("Warming up %s.", cls.__name__)
                estimator = made(cls).fit(X, y)
                for name in sorted(set(ANSWERS) & set(dir(estimator))):
                    if estimator.takes != "edges":
                        getattr(estimator, name)(X)


def made(cls: type[Estimator]) -> Estimator:
    """The estimator by default, with a number of components if it would take that from labels."""
    estimator = cls()
    if estimator.takes == "sequences" and estimator.get_params(deep=False).get("n_components", 2) is None:
        estimator.set_params(n_components=2)
    return estimator


def public_estimators() -> list[type[Estimator]]:
    """The estimators that the modules of suffice offer."""
    package = import_module(__package__.partition(".")[0])
    found = set()
    for module in pkgutil.iter_modules(package.__path__):
        for name in getattr(getattr(package, module.name, None), "__all__", ()):
            cls = getattr(getattr(package, module.name), name)
            if inspect.isclass(cls) and issubclass(cls, Estimator) and cls.__module__ != Estimator.__module__:
                found.add(cls)
    return sorted(found, key=lambda cls: cls.__name__)


def examples(estimator: Estimator) -> Iterator[tuple[Any, Any]]:
    """Data that the estimator takes: few rows of small counts, which are numbers, categories and words."""
    rng = generator(Purpose.PROBES)
    tags = get_tags(estimator)
    X = rng.poisson(2.0, size=(60, 4)).astype(np.float64)
    noise = rng.normal(size=len(X))
    if estimator.takes == "edges":
        yield (rng.integers(0, 20, 60), rng.integers(0, 20, 60)), None
    elif estimator.takes == "documents":
        yield np.array([" ".join("abcd"[int(x)] * 3 for x in row if x < 4) for row in X], dtype=object), None
    elif estimator.takes == "times":
        yield X.astype("datetime64[D]"), None
    elif estimator.takes == "curve":
        yield X[:, :1] + noise[:, None], noise
    elif estimator.takes == "sequences":
        labels = (X[:, 0] + 3 * X[:, 1]).astype(int) % 3
        parts = np.split(np.arange(60), 10)
        if tags.estimator_type != "classifier":
            yield [X[n] for n in parts], None
        elif getattr(estimator, "labels", "steps") == "sequences":
            yield [X[n] for n in parts], np.arange(10) % 2
        else:
            yield [X[n] for n in parts], [labels[n] for n in parts]
    else:
        for y in _targets(tags, X, noise):
            yield X, y
            if tags.input_tags.sparse:
                yield sp.csr_array(X), y


def _targets(tags: Any, X: np.ndarray, noise: np.ndarray) -> list[Any]:
    if tags.estimator_type == "regressor":
        return [X @ [1.0, -1.0, 0.5, 0.0] + noise]
    if tags.estimator_type != "classifier" and not tags.target_tags.required:
        return [None]
    two = X[:, 0] + noise > 2.0
    several = tags.classifier_tags is not None and tags.classifier_tags.multi_class
    return [two.astype(int), two + (X[:, 1] > 2)] if several else [two.astype(int)]
