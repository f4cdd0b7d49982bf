"""The scikit-learn face that all estimators share: storage, progress, checkpoints."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning

from .answers import ANSWERS, anywhere
from .door import open_rows
from .loop import Progress, one_task
from .model import Model
from .partitions import Partitions
from .storage import StorageError, import_everything, load_value, save_value
from .values import Value


class Estimator(CallbackSupportMixin, BaseEstimator):
    """Base of all estimators: `save`, and the list by which `load` knows them."""

    known: ClassVar[dict[str, type]] = {}
    bounds: ClassVar[dict[str, float]] = {}  # the least values of parameters that are numbers
    takes: ClassVar[str] = "rows"  # what an example is: the block that the estimator is fitted to

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Estimator.known[f"{cls.__module__}.{cls.__qualname__}"] = cls
        for name in ANSWERS.keys() & vars(cls).keys():
            setattr(cls, name, anywhere(vars(cls)[name]))
        if "fit" in vars(cls):
            setattr(cls, "fit", _naming(vars(cls)["fit"]))  # noqa: B010

    def save(self, path: Any) -> None:
        """Write the estimator, its parameters and what it learnt, to one file.

        Read it with `suffice.load`. The file holds JSON and arrays, and no code.
        """
        save_value(_Stored.of(self), path)


def _naming(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit whose errors, where they name a block of the data, name the estimator too."""

    @wraps(fit)
    def named(self: Any, *args: Any, **more: Any) -> Any:
        try:
            return fit(self, *args, **more)
        except Exception as error:
            notes, note = getattr(error, "__notes__", ()), f"In the fit of {type(self).__name__}."
            if notes and note not in notes:
                error.add_note(note)
            raise

    return named


@dataclass(frozen=True)
class _Stored(Value):
    """An estimator as it is stored."""

    estimator: str
    version: str
    params: dict[str, Any]
    fitted: dict[str, Any]

    @classmethod
    def of(cls, estimator: Estimator) -> _Stored:
        import suffice

        name = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
        params = estimator.get_params(deep=False)
        fitted = {k: v for k, v in vars(estimator).items() if k not in params and not k.startswith("_skl_")}
        params = {k: cls.of(v) if isinstance(v, Estimator) else v for k, v in params.items()}
        return cls(name, suffice.__version__, params, fitted)

    def estimator_of(self, path: Any) -> Any:
        """The estimator; those in its parameters are stored in the same way."""
        if self.estimator not in Estimator.known:
            import_everything()
        if self.estimator not in Estimator.known:
            raise StorageError(f"{path} holds a {self.estimator}, which this version does not have.")
        cls: Any = Estimator.known[self.estimator]
        if strange := set(self.params) - set(cls._get_param_names()):
            raise StorageError(f"{path}: {cls.__name__} has no parameters {sorted(strange)} in this version.")
        params = {k: v.estimator_of(path) if isinstance(v, _Stored) else v for k, v in self.params.items()}
        estimator = cls(**params)
        estimator.__dict__.update(self.fitted)
        return estimator


def load(path: Any) -> Any:
    """Read an estimator written by `save`.

    Nothing in the file is run: it names classes of suffice and holds their numbers. A file that was
    damaged or changed is refused.

    Examples
    --------
    >>> import tempfile, suffice
    >>> from suffice.decomposition import PCA
    >>> file = tempfile.mkdtemp() + "/pca.suffice"
    >>> PCA(1).fit([[0.0, 1.0], [2.0, 3.0]]).save(file)
    >>> suffice.load(file)
    PCA(n_components=1)
    """
    stored = load_value(path)
    if not isinstance(stored, _Stored):
        raise StorageError(f"{path} holds a {type(stored).__name__}, not an estimator.")
    return stored.estimator_of(path)


def must_have_rows(weight: Any) -> None:
    """Refuse to learn from nothing: `weight` is that of all rows."""
    if not np.any(weight):
        raise ValueError("There are no rows to fit, or the weights of all rows are zero.")


class Iterative(Estimator):
    """Estimators fitted by a loop: what they publish of it."""

    def _fitted(self, model: Any) -> dict[str, Any]:
        """The fitted attributes that scikit-learn's users know, from the model."""
        raise NotImplementedError

    def _publish(self, progress: Progress) -> Self:
        self.__dict__.update(self._fitted(progress.model))
        self.model_ = progress.model
        self.statistics_ = progress.statistics
        self.trace_ = np.array(progress.trace)
        self.n_iter_: Any = progress.n_iter
        self.converged_ = progress.converged
        self.stopped_because_ = progress.stopped_because
        if not progress.converged and progress.stopped_because != "callback":
            warnings.warn(
                f"{type(self).__name__} did not converge: it stopped after {progress.n_iter} "
                f"iterations because of {progress.stopped_because}. Raise max_iter or tol, and look "
                "at trace_.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return self


class OnePass(Estimator):
    """Estimators whose model follows from one sum: `fit` folds once, `partial_fit` adds."""

    def _block_rows(self, block: Any) -> float | None:
        """How many rows a block in memory should have; None if that follows their size."""
        return None

    def _start(self, data: Partitions, classes: Any = None) -> Model:
        """The model that knows what to sum."""
        raise NotImplementedError

    def _fitted(self, model: Any, s: Any) -> dict[str, Any]:
        """The fitted attributes that scikit-learn's users know, from the model and the sum."""
        raise NotImplementedError

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows: one pass over the data.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows. See `suffice.rows` for tables that hold their target and weight.
        y : array, optional
            Targets.
        sample_weight : array, optional
            Weights of the rows: two is the row twice, zero is its absence.

        Returns
        -------
        self
        """
        with one_task(self):
            self._open(X, y, sample_weight)
        return self

    def _open(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> None:
        data = open_rows(self, X, y, sample_weight, block_rows=self._block_rows)
        start = self._start(data, classes)
        self._publish(start, self._summary(start, data))

    def _summary(self, start: Any, data: Partitions) -> Any:
        """The sum over the data."""
        return data.fold(type(start).summarize, start)

    def _publish(self, start: Any, s: Any) -> Self:
        must_have_rows(s.weight)
        model = start.estimate(s)
        return self._set(model, s, self._fitted(model, s))  # which may refuse: then nothing is set

    def _set(self, model: Any, s: Any, fitted: dict[str, Any]) -> Self:
        self.model_, self.statistics_ = model, s
        self.__dict__.update(fitted)
        return self

    def _add(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """`partial_fit`: the sum so far plus the sum over these rows."""
        if not hasattr(self, "statistics_"):
            self._open(X, y, sample_weight, classes)
            return self
        data = open_rows(self, X, y, sample_weight, reset=False, block_rows=self._block_rows)
        known: Any = getattr(self.model_, "classes", None)
        if classes is not None and not np.array_equal(np.unique(classes), known):
            raise ValueError(f"classes={classes!r} are not the classes of the first call: {known.tolist()}.")
        start = self._start(data, known)
        return self._publish(start, self.statistics_ + self._summary(start, data))
