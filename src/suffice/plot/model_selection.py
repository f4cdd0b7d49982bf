"""Display of a criterion by the number of components: BIC curves, elbows, validation scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import silhouette_score

from .base import Display, colors, last_step, sampled, shorten, whole_numbers

SIZES = ("n_components", "n_clusters")  # parameters that are searched most often
BEST = {"bic": "min", "aic": "min", "inertia": "elbow", "silhouette": "max", "score": "max"}
SAMPLE = 5000  # rows, at most, for silhouettes


class ModelSelectionDisplay(Display):
    """Criterion by the value of a parameter: BIC or AIC curve, elbow of k-means, scores of a grid search.

    The best value is marked: the smallest BIC or AIC, or the largest score. The inertia of k-means always
    decreases; the mark is then at the elbow, the point with the largest distance from the straight line
    between the ends of the curve, with both axes scaled to the range from 0 to 1. This is a heuristic, and
    depends on the range of the values.

    Parameters
    ----------
    values : list of ndarrays
        Values of the parameter, for each curve.
    criteria : list of ndarrays
        Criteria, for each curve.
    names : list of str
        Names of the curves.
    parameter : str
        Name of the parameter.
    criterion : str
        Name of the criterion.
    best : {'min', 'max', 'elbow'}, default=None
        Which point to mark. If None, none.
    errors : list of ndarrays, default=None
        Standard deviations of the criteria, for each curve.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the plot.
    lines_ : list of matplotlib Line2D
        The curves.
    best_ : matplotlib Line2D
        The mark, if there is one.
    best_value_ : number
        Value of the parameter at the mark; None if there is none.

    See Also
    --------
    suffice.model_selection.GridSearch : Cross-validated scores of all candidates.
    suffice.mixture.GaussianMixture : Has `bic` and `aic`.
    SilhouetteDisplay : Silhouettes of all rows.
    ScreeDisplay : Explained variance by the number of components.

    References
    ----------
    * Schwarz (1978), "Estimating the dimension of a model", The Annals of Statistics 6.
    * Satopää, Albrecht, Irwin and Raghavan (2011), "Finding a 'kneedle' in a haystack", ICDCS Workshops.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.mixture import GaussianMixture
    >>> from suffice.plot import ModelSelectionDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(6, 1, (40, 2))])
    >>> fits = [GaussianMixture(K, random_state=0).fit(X) for K in (1, 2, 3)]
    >>> ModelSelectionDisplay.from_estimators(fits, X).best_value_
    2
    """

    def __init__(
        self,
        values: Any,
        criteria: Any,
        names: Any,
        parameter: str,
        criterion: str,
        best: str | None = None,
        errors: Any = None,
    ) -> None:
        self.values, self.criteria, self.names = values, criteria, names
        self.parameter, self.criterion, self.best, self.errors = parameter, criterion, best, errors

    @classmethod
    def from_estimators(
        cls,
        estimators: Sequence[Any],
        X: Any = None,
        *,
        criterion: str = "auto",
        parameter: str | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw a criterion of fitted estimators.

        Parameters
        ----------
        estimators : list of estimators
            Fitted, with different values of one parameter. If other parameters differ too, such as
            `covariance_type`, there is a curve for each of their values.
        X : array of shape (n_samples, n_features), default=None
            Rows, for all criteria but the inertia. For `bic`, `aic` and `score` they may be wherever the
            estimators can read them.
        criterion : {'auto', 'bic', 'aic', 'inertia', 'silhouette', 'score'}, default='auto'
            The criterion. 'auto' is 'bic' if the estimators have it, else 'inertia'. 'silhouette' is the mean
            silhouette of at most 5000 rows, which must be in memory.
        parameter : str, default=None
            Name of the parameter. If None, `n_components` or `n_clusters`, or the only one that differs.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ModelSelectionDisplay
        """
        if criterion == "auto":
            criterion = "bic" if hasattr(last_step(estimators[0])[0], "bic") else "inertia"
        if criterion not in BEST:
            raise ValueError(f"criterion must be 'auto' or one of {list(BEST)}; got {criterion!r}.")
        if X is None and criterion != "inertia":
            raise ValueError(f"The criterion {criterion!r} needs the rows: pass X.")
        rows = sampled(X, SAMPLE, 0) if criterion == "silhouette" else X
        criteria = [_criterion(criterion, estimator, rows) for estimator in estimators]
        label = criterion.upper() if criterion in ("bic", "aic") else criterion
        params = [estimator.get_params() for estimator in estimators]
        return cls._of(params, criteria, None, parameter, label, BEST[criterion], ax)

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, parameter: str | None = None, ax: Any = None
    ) -> Self:
        """Draw the scores of a grid search, with one standard deviation over the folds.

        Parameters
        ----------
        estimator : GridSearch
            Fitted search of suffice or scikit-learn, with one score.
        parameter : str, default=None
            Name of the parameter. If None, `n_components` or `n_clusters`, or the only one of the grid. There
            is a curve for each value of the other parameters.
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ModelSelectionDisplay
        """
        results = getattr(estimator, "cv_results_", {})
        if "mean_test_score" not in results:
            raise TypeError(
                f"{type(estimator).__name__} has no cv_results_ with mean_test_score: pass a fitted "
                "GridSearch, or fitted estimators to from_estimators."
            )
        parts = (results["params"], results["mean_test_score"], results["std_test_score"])
        return cls._of(*parts, parameter, "mean cross-validated score", "max", ax)

    @classmethod
    def _of(
        cls, params: Any, criteria: Any, errors: Any, parameter: Any, criterion: str, best: str, ax: Any
    ) -> Self:
        """One curve for each value of the other parameters."""
        parameter, others = _differing(params, parameter)
        x, y = np.array([p[parameter] for p in params]), np.asarray(criteria, dtype=float)
        if x.dtype.kind not in "iuf":
            raise ValueError(f"{parameter} has the values {x.tolist()}, expected numbers: pass parameter=.")
        of_curve = [", ".join(str(p.get(name)) for name in others) for p in params]
        curves = []
        for name in dict.fromkeys(of_curve):
            mine = np.flatnonzero(np.array(of_curve) == name)
            curves.append(mine[np.argsort(x[mine], kind="stable")])
        values, heights = ([part[mine] for mine in curves] for part in (x, y))
        spread = None if errors is None else [np.asarray(errors)[mine] for mine in curves]
        names = list(dict.fromkeys(of_curve))
        return cls(values, heights, names, parameter, criterion, best, spread).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. If None, a new figure is created.

        Returns
        -------
        ModelSelectionDisplay
        """
        ax = self._on(ax, figsize=(6.0, 3.8))
        from .drawing import legend_beside

        shades = colors(len(self.values))
        self.lines_ = []
        for n, (x, y, color) in enumerate(zip(self.values, self.criteria, shades, strict=True)):
            name = shorten(self.names[n])
            (line,) = ax.plot(x, y, color=color, lw=1.6, marker="o", ms=4, label=name)
            if self.errors is not None:
                ax.fill_between(x, y - self.errors[n], y + self.errors[n], color=color, alpha=0.15, lw=0)
            self.lines_.append(line)
        marks, self.best_value_ = [], None
        if self.best is not None:
            curve, at = self._best()
            self.best_value_ = self.values[curve][at].item()
            point = (self.values[curve][at], self.criteria[curve][at])
            word = "elbow" if self.best == "elbow" else "best"
            text = f"{word}: {self.best_value_:g}"
            text += f", {self.lines_[curve].get_label()}" if len(self.lines_) > 1 else ""
            ring = {"mfc": "none", "mew": 1.6, "ls": "none", "label": text}
            (self.best_,) = ax.plot(*np.reshape(point, (2, 1)), "o", ms=11, color="0.2", **ring)
            marks.append(self.best_)
        ax.set(xlabel=self.parameter.rpartition("__")[2], ylabel=self.criterion)
        if all(np.equal(np.mod(x, 1), 0).all() for x in self.values):
            whole_numbers(ax.xaxis)
        legend_beside(ax, [*(self.lines_ if len(self.lines_) > 1 else []), *marks])
        ax.spines[["top", "right"]].set_visible(False)
        return self

    def _best(self) -> tuple[int, int]:
        """The curve and the place on it of the point to mark."""
        merit = {"min": lambda x, y: -y, "max": lambda x, y: y, "elbow": _bend}[self.best or "max"]
        merits = [merit(x, y) for x, y in zip(self.values, self.criteria, strict=True)]
        merits = [np.where(np.isfinite(part), part, -np.inf) for part in merits]
        curve = int(np.argmax([part.max() for part in merits]))
        return curve, int(merits[curve].argmax())


def _criterion(criterion: str, estimator: BaseEstimator, X: Any) -> float:
    model, rows = last_step(estimator, X)
    if criterion == "silhouette":
        labels = model.predict(rows)
        return silhouette_score(rows, labels) if len(np.unique(labels)) > 1 else np.nan
    name = "inertia_" if criterion == "inertia" else criterion
    if not hasattr(model, name):
        raise TypeError(
            f"{type(model).__name__} has no {name}: pass another criterion, or fitted estimators."
        )
    return float(model.inertia_ if criterion == "inertia" else getattr(model, criterion)(rows))


def _differing(params: Sequence[dict[str, Any]], parameter: str | None) -> tuple[str, list[str]]:
    """The parameter of the curve, and the others that differ."""
    plain = (str, int, float, np.generic, type(None))
    names = dict.fromkeys(name for p in params for name, value in p.items() if isinstance(value, plain))
    differ = [
        name
        for name in names
        if len({repr(p.get(name)) for p in params}) > 1 and not name.endswith("random_state")
    ]
    if parameter is None:
        sizes = [name for name in differ if name.rpartition("__")[2] in SIZES]
        choice = sizes or differ
        if len(choice) != 1:
            raise ValueError(f"The parameters that differ are {choice}, expected one: pass parameter=.")
        parameter = choice[0]
    if parameter not in names:
        raise ValueError(f"There is no parameter {parameter!r}; those that differ are {differ}.")
    return parameter, [name for name in differ if name != parameter]


def _bend(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Distance of a falling curve below the straight line between its ends, both axes scaled to [0, 1]."""
    across = (x - x[0]) / ((x[-1] - x[0]) or 1.0)
    down = (y[0] - y) / (np.ptp(y) or 1.0)
    return down - across * down[-1]
