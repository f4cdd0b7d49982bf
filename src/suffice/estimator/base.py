"""Base classes of all estimators: storage, progress, checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import getattr_static, unwrap
from typing import Annotated, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from ..core.arguments import MaybeArray
from ..core.blas import one_blas_thread
from ..core.callbacks import CallbackSupportMixin, with_callbacks
from ..core.callers import warn
from ..core.loop import Progress, one_task
from ..core.model import Model
from ..core.partitions import Partitions
from ..core.progress import shown
from ..fitting.solvers import SOLVERS
from ..inputs import open_rows, source_of
from ..inputs.readers import Reader, Transformed
from .answers import ANSWERS, as_float32, is_float32, nameless
from .guarantees import Exempt, Guarantee
from .keywords import advised
from .parameters import USUAL, check_parameters
from .storing import Storable

COURSE = ("trace_", "n_iter_", "converged_", "stopped_because_")  # fitted attributes of iterations
FITS = {"fit", "partial_fit", "fit_transform", "fit_predict"}
COMPUTATIONS = {*FITS, *ANSWERS, "decode", "inverse_transform", "sample", "score"}


class Derived:
    """A fitted attribute that is computed from the others when it is first read, since that takes long."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        self.compute = compute

    def __set_name__(self, cls: type, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, cls: type) -> Any:
        if estimator is None or "model_" not in vars(estimator):  # before the fit it does not exist
            raise AttributeError(f"{cls.__name__!r} object has no attribute {self.name!r}")
        with one_blas_thread:
            value = vars(estimator)[self.name] = self.compute(estimator)
        return value


@dataclass(frozen=True)
class OwnRows:
    """The arguments of a fit to rows in memory."""

    X: Any
    y: Any
    unweighted: bool  # else the fit has left out the rows of weight zero

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any) -> OwnRows | None:
        """The arguments of a fit; None if the rows are not in memory."""
        source = source_of(X)
        return cls(X, y, sample_weight is None and not source.weighted) if source.in_memory else None


class Estimator(Storable, CallbackSupportMixin, BaseEstimator):
    """Base class of all estimators, with `save`."""

    n_features_in_: int  # the letter D of declared shapes, which `load` checks (see `core.shapes`)
    feature_names_in_: Annotated[np.ndarray, "strings (D,) or None"]  # only if the features have names
    _parameter_constraints: ClassVar[dict[str, Any]] = {}  # allowed values by parameter
    has_target: ClassVar[bool] = False  # whether `fit` reads targets
    takes: ClassVar[str] = "rows"  # the type of the blocks: "rows", "sequences", ...
    iterates: ClassVar[bool] = False  # whether a fit makes many passes, so that it pays to cache the rows
    reports_tasks: ClassVar[bool] = False  # whether a fit reports its tasks to callbacks; else it is one task
    # Fitted attributes and row-wise methods that are float32 if X is float32. Sums are float64 nevertheless.
    preserves_dtype: ClassVar[tuple[str, ...]] = ()
    exempt: ClassVar[tuple[Exempt, ...]] = ()  # laws that fits do not keep, declared by each class for itself
    # Parameters for which one fit serves several values, each with a function that chooses the value of that
    # fit (see `_with_values`).
    one_fit: ClassVar[dict[str, Callable[[list[Any]], Any]]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in COMPUTATIONS & vars(cls).keys():
            method = vars(cls)[name]
            if callable(method):
                setattr(cls, name, _entered(name, method))
            elif name in FITS and hasattr(method, "fn"):  # of scikit-learn's `available_if`
                method.fn = _entered(name, method.fn)
        declared = cls._parameter_constraints
        if usual := {name for name in cls._get_param_names() if name in USUAL and name not in declared}:
            cls._parameter_constraints = {**declared, **{name: USUAL[name] for name in sorted(usual)}}
        inherited = getattr(cls.__init__, "__module__", "").startswith("sklearn.")
        if "__init__" in vars(cls) or (inherited and not hasattr(cls.__init__, "__wrapped__")):
            cls.__init__ = advised(cls.__init__)  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.transformer_tags is not None and "transform" in self.preserves_dtype:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __sklearn_clone__(self) -> Self:
        clone = super().__sklearn_clone__()
        clone._skl_is_clone = True  # such as the clones of cross-validation: see `inputs.arrays.LOST_GROUPS`
        return clone

    def _row_transformer(self) -> tuple[Any, int]:
        """Return the object whose `transform_rows` transforms blocks, and its number of output features."""
        return nameless(self), len(self.get_feature_names_out())

    def _transformed_reader(self, reader: Reader) -> Reader:
        """Return the reader of transformed rows."""
        return Transformed(reader, *self._row_transformer())

    def transform_rows(self, X: Any) -> Any:
        """Transform the rows of a block."""
        if not X.shape[0]:  # the result for one row has the type and the number of columns
            row = np.ones((1, X.shape[1]), X.dtype)
            return self.transform(sp.csr_array(row) if sp.issparse(X) else row)[:0]
        return self.transform(X)

    def _with_values(self, values: dict[str, Any]) -> Self:
        """Return the estimator that a fit with other values of the parameters in `one_fit` would give."""
        out = copy(self).set_params(**values)
        out._shorten()
        return out

    def _continues_fit(self) -> bool:
        """Whether `fit` continues the previous fit, by `warm_start`. The features are then compared."""
        return False

    def _check_same_targets(self, classes: Any, n_targets: int = 1) -> None:
        """Raise if a fit that continues the previous one has other classes, or another number of targets."""
        if not self._continues_fit():
            return
        advice = "Pass the same, or call set_params(warm_start=False) for a new fit."
        before = getattr(self, "n_outputs_", n_targets)
        if before != n_targets:
            raise ValueError(
                "warm_start can only be used where `y` has as many targets as in the previous call to fit. "
                f"Previously got {before}, `y` has {n_targets}. {advice}"
            )
        pairs = [] if classes is None else zip(*map(_as_list, (self.classes_, classes)), strict=True)
        for earlier, now in pairs:
            if not np.array_equal(earlier, now):
                raise ValueError(
                    "warm_start can only be used where `y` has the same classes as in the previous call to "
                    f"fit. Previously got {_shortened(earlier)}, `y` has {_shortened(now)}. {advice}"
                )

    @property
    def rows_elsewhere(self) -> bool:
        """Whether a row-wise method makes a pass over the rows of the fit, which are not in memory."""
        return False

    def _shorten(self) -> None:
        """Reduce a fit that serves several values of the parameters in `one_fit` to its current values."""
        raise NotImplementedError

    def fit(self, X: Any, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : array, optional
            Targets or labels, of a classifier or regressor. Leave out if a column of the table holds them.
        sample_weight : array, optional
            Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

        Returns
        -------
        self
        """
        return self._fit_to(X, y, sample_weight)

    def _fit_to(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, **more: Any) -> Self:
        """Check the options, open the data, solve, and set the fitted attributes.

        `fit` calls it. Additional arguments, which only some estimators have, are passed to `_solve`.
        """
        self._check_options()
        data = self._opened(X, y, sample_weight)
        with nullcontext() if self.reports_tasks else one_task(self):
            progress = self._solve(data, **more)
            self._publish(progress)
            self._finish(progress, data)
            self._label(OwnRows.of(X, y, sample_weight), data)
        return self

    def _check_options(self) -> None:
        """Raise for parameter values that exclude each other, before the data is read."""

    def _opened(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, reset: bool = True) -> Partitions:
        """Return the checked data to fit. Without `reset`, its features must be those of the last fit."""
        targets = y if self.has_target else None
        return open_rows(self, X, targets, sample_weight, reset=reset, block_rows=self._block_rows)

    def _block_rows(self, block: Any) -> float | None:
        """Return the number of rows of blocks, for data in memory; None is the default, which is by bytes."""
        return None

    def _solve(self, data: Partitions) -> Progress:
        """Fit the data: return the model, its statistics, and the course of the iterations."""
        raise NotImplementedError

    def _finish(self, progress: Progress, data: Partitions) -> None:
        """Called after the fitted attributes are set, e.g. for another pass over the rows or a warning."""

    def _label(self, rows: OwnRows | None, data: Partitions) -> None:
        """Set the results for the rows of the fit, such as the labels of a clustering. Called last.

        `rows` is None if they are not in memory.
        """

    def _fitted(self, progress: Progress) -> dict[str, Any]:
        """Return the fitted attributes that follow from the model and the statistics, except `model_`."""
        return {}

    def _publish(self, progress: Progress) -> Self:
        """Set the fitted attributes: those of the progress, and those of `_fitted`.

        Fields of the progress whose names end with an underscore become attributes, unless they are None.
        """
        parts = {"model_": progress.model, "statistics_": progress.statistics}
        fitted = {name: part for name, part in parts.items() if part is not None}
        if progress.stopped_because:  # only loops set it
            course = np.array(progress.trace), progress.n_iter, progress.converged, progress.stopped_because
            fitted |= dict(zip(COURSE, course, strict=True))
        found = {k: v for k, v in vars(progress).items() if k.endswith("_") and v is not None}
        fitted |= {**self._fitted(progress), **found}  # if `_fitted` raises, nothing is set
        for name in [name for name in vars(self) if self._is_outdated(name)]:
            del self.__dict__[name]
        self.__dict__.update(fitted)
        ended = progress.stopped_because in ("", "tolerance", "callback", "partial_fit")
        if not ended and (message := self._unconverged(progress)):
            warn(message, ConvergenceWarning)
        return self

    def _is_outdated(self, name: str) -> bool:
        """Whether an attribute of the previous fit must be removed.

        `n_iter_` stays after `partial_fit`, as in scikit-learn.
        """
        derived = isinstance(getattr_static(type(self), name, None), Derived)
        return derived or name in {*COURSE, "statistics_", "labels_"} - {"n_iter_"}

    def _unconverged(self, progress: Progress) -> str:
        """Return the text of the warning for a fit that did not converge; "" for none."""
        return ""

    def _guarantee(self) -> Guarantee:
        """Return what a fit with these parameters guarantees: by default, what its solver declares."""
        solver = SOLVERS.get(getattr(self, "solver", ""))
        if solver is None:
            return Guarantee()
        exact = "approximate" if solver.approximate else "order" if solver.ordered else "rounding"
        return Guarantee(exact, solver.gathers)


# The estimator whose methods are running, and the names of these methods.
_running: ContextVar[tuple[Any, frozenset[str]]] = ContextVar("running", default=(None, frozenset()))


def _as_list(classes: Any) -> list[np.ndarray]:
    """Return a list with the classes of each target."""
    return classes if isinstance(classes, list) else [classes]


def _shortened(classes: np.ndarray) -> str:
    """Format classes for a message; of many, only the first ten."""
    first = classes[:10].tolist()
    return f"{first}" if len(classes) <= len(first) else f"{len(classes)} classes, {first} ..."


def _entered(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method with one BLAS thread, the progress display, advice in errors and, for a fit, its checks.

    If the method calls the same method of its base class, that one runs without the wrappers.
    """
    wrapped = one_blas_thread(shown(advised(_checked(name, method) if name in FITS else method)))

    @wraps(method)
    def once(self: Any, *args: Any, **more: Any) -> Any:
        estimator, names = _running.get()
        names = names if estimator is self else frozenset()
        if name in names:
            return method(self, *args, **more)
        token = _running.set((self, names | {name}))
        try:
            return wrapped(self, *args, **more)
        finally:
            _running.reset(token)

    return once


def _checked(name: str, fit: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a fit: check the parameters first, and name the estimator in errors that name a block."""
    watched = with_callbacks(fit)

    @wraps(fit)
    def checked(self: Any, *args: Any, **more: Any) -> Any:
        outermost = _running.get()[1] & FITS == {name}  # `fit_transform` calls `fit`
        try:
            if outermost:
                check_parameters(self)
            with _anew(self) if outermost and name != "partial_fit" else nullcontext():
                answer = watched(self, *args, **more)
            if self.preserves_dtype and is_float32(args[0] if args else more.get("X")):
                for part in self.preserves_dtype:
                    if part in vars(self):
                        setattr(self, part, as_float32(vars(self)[part]))
                if name == "fit_transform" and isinstance(answer, np.ndarray):
                    answer = as_float32(answer)
            return answer
        except Exception as error:
            notes, note = getattr(error, "__notes__", ()), f"In the fit of {type(self).__name__}."
            if notes and note not in notes:
                error.add_note(note)
            raise

    return checked


@contextmanager
def _anew(estimator: BaseEstimator) -> Iterator[None]:
    """Context manager: remove the fitted attributes of an earlier fit, and restore them if this fit fails.

    A fit with `warm_start` keeps them.
    """
    if getattr(estimator, "warm_start", False):
        yield
        return
    earlier = {name: vars(estimator).pop(name) for name in _fitted_names(estimator)}
    try:
        yield
    except BaseException:
        for name in _fitted_names(estimator):
            del vars(estimator)[name]
        vars(estimator).update(earlier)
        raise


def _fitted_names(estimator: BaseEstimator) -> list[str]:
    """Return the names of the fitted attributes, by the convention of scikit-learn."""
    return [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]


Estimator.fit = _entered("fit", Estimator.fit)  # type: ignore[method-assign]


def reads_partitions(estimator: BaseEstimator) -> bool:
    """Whether `fit` takes partitions. The `fit` of a subclass outside of suffice may only take arrays."""
    fit = getattr(estimator, "fit", None)
    return isinstance(estimator, Estimator) and unwrap(fit).__module__.startswith("suffice.")  # type: ignore[arg-type]


def reader(name: str) -> Any:
    """Return an estimator with this name, whose tags accept dense finite numbers, to check the input of a
    function."""
    return type(name, (BaseEstimator,), {})()


def must_have_rows(weight: Any) -> None:
    """Raise if the total weight of the rows is zero."""
    if not np.any(weight):
        raise ValueError("There are no rows to fit, or the weights of all rows are zero.")


def must_be_same_classes(classes: MaybeArray, known: Any) -> None:
    """Raise if a later call to `partial_fit` names other classes."""
    if classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(
            f"classes={classes!r} is not the same as on last call to partial_fit, was: {known.tolist()}."
        )


# What to do about a fit that did not converge, by the reason why it stopped.
ADVICE = {
    "line search": "No step lowers the objective by more than its rounding error, yet the gradient is larger "
    "than tol: standardize the features, try another solver, or raise tol.",
    "divergence": "The loss is far larger than before the first step: standardize the features, or lower "
    "eta0.",
    "separable classes": "The features separate the classes of all rows, so that without a penalty the "
    "likelihood has no maximum and coefficients grow without bound: set a finite C.",
}


class Iterative(Estimator):
    """Base class of estimators fitted by iterations."""

    trace_: np.ndarray
    n_iter_: Any
    converged_: bool
    stopped_because_: str
    iterates: ClassVar[bool] = True
    reports_tasks: ClassVar[bool] = True  # each iteration is a task

    # Advice if max_iter is reached; where scikit-learn warns, its words.
    max_iter_advice: ClassVar[str] = "Raise max_iter or tol, and look at trace_."

    def _unconverged(self, progress: Progress) -> str:
        return (
            f"{type(self).__name__} did not converge: it stopped after {progress.n_iter} "
            f"iterations because of {progress.stopped_because}. "
            f"{ADVICE.get(progress.stopped_because, self.max_iter_advice.format(progress.n_iter))}"
        )


class OnePass(Estimator):
    """Base class of estimators fitted by one sum: `fit` folds once, `partial_fit` adds."""

    def _start(self, data: Partitions, classes: MaybeArray = None) -> Model:
        """Return the initial model, whose `summarize` is folded."""
        raise NotImplementedError

    def _solve(self, data: Partitions, classes: MaybeArray = None) -> Progress:
        start = self._start(data, classes)
        return self._estimated(start, self._summary(start, data))

    def _summary(self, start: Model, data: Partitions) -> Any:
        """Return the sum over the data."""
        return data.fold(type(start).summarize, start)

    def _estimated(self, start: Any, s: Any) -> Progress:
        """Return the model estimated from the sum."""
        must_have_rows(s.weight)
        return Progress(start.estimate(s), statistics=s)

    def _add(self, X: Any, y: MaybeArray, sample_weight: MaybeArray, classes: MaybeArray = None) -> Self:
        """Add the sum over these rows to the sum so far, and estimate again. `partial_fit` calls it."""
        if not hasattr(self, "statistics_"):
            return self._publish(self._solve(self._opened(X, y, sample_weight), classes))
        data = self._opened(X, y, sample_weight, reset=False)
        known: Any = getattr(self.model_, "classes", None)
        must_be_same_classes(classes, known)
        start = self._start(data, known)
        return self._publish(self._estimated(start, self.statistics_ + self._summary(start, data)))


class Updatable(OnePass):
    """Base class of estimators fitted by one sum, to which later rows are added."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Update the model with more rows. The result equals one `fit` to all rows.

        Parameters
        ----------
        X : array, table, Parquet scan or distributed data set
            The rows. To name the columns of target and weights in a table, see `suffice.rows`.
        y : None
            Ignored.
        sample_weight : array, optional
            Per-sample weights. A weight of 2 is equivalent to repeating the sample; 0 drops it.

        Returns
        -------
        self
        """
        return self._add(X, y, sample_weight)
