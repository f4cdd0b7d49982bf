"""Splitting data and choosing by cross-validation: scikit-learn around our estimators."""

from collections import Counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import Perceptron
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    LeaveOneOut,
    train_test_split,
    validation_curve,
)
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.svm import SVC

from suffice.linear_model import LinearRegression, Ridge

from ._canon import example


@example("cs181/hold-out-size")
def _(given):
    rows = range(given["N"])
    return [len(train_test_split(rows, test_size=f)[1]) for f in given["fraction"]]


@example("cs181/k-fold-partition")
def _(given):
    folds = list(KFold(given["K"]).split(np.zeros(given["N"])))
    times = Counter(n for _, validation in folds for n in validation)
    (train,), (validation,) = ({len(fold[side]) for fold in folds} for side in (0, 1))
    (each,) = set(times.values())
    return {"fold_size": validation, "training_size": train, "times_each_point_validates": each}


@example("cs181/one-vs-one-count")
def _(given):
    def machines(K):
        return OneVsOneClassifier(Perceptron()).fit(np.eye(K), np.arange(K)).estimators_

    return [len(machines(K)) for K in given["K"]]


@example("cs181/nested-polynomials")
def _(given):
    x, y = np.array(given["x"], float)[:, None], np.array(given["y"], float)
    model = make_pipeline(PolynomialFeatures(), LinearRegression(fit_intercept=False))

    def error(cv):
        _, validation = validation_curve(
            model,
            x,
            y,
            param_name="polynomialfeatures__degree",
            param_range=given["degrees"],
            cv=cv,
            scoring="neg_mean_squared_error",
        )
        return -validation.mean(axis=1)

    everything = np.arange(len(y))
    left_out = error(LeaveOneOut())
    return {
        "training_sse": len(y) * error([(everything, everything)]),
        "leave_one_out_mse": left_out,
        "best_degree": given["degrees"][np.argmin(left_out)],
    }


@example("cs181/cross-validated-ridge")
def _(given):
    search = GridSearchCV(
        Ridge(fit_intercept=False),
        {"alpha": given["lambdas"]},
        cv=KFold(given["K"]),
        scoring="neg_mean_squared_error",
    ).fit(given["X"], given["y"])
    error = -search.cv_results_["mean_test_score"]
    return {
        "cv_error": dict(zip(map(str, given["lambdas"]), error, strict=True)),
        "best_lambda": search.best_params_["alpha"],
    }


@example("gong-xu/gx-p10.9")
def _(_given):
    X, y = load_digits(return_X_y=True)
    grids = {
        "linear": {"C": [0.001, 0.1]},
        "rbf": {"C": [1, 10], "gamma": [0.001, 0.01]},
    }

    def search(kernel, seed):
        train, test = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=seed)
        best = GridSearchCV(SVC(kernel=kernel), grids[kernel], cv=5).fit(X[train], y[train])
        return best.best_params_, best.best_score_, best.score(X[test], y[test])

    linear, rbf = ([search(kernel, seed) for seed in range(3)] for kernel in ("linear", "rbf"))
    return {
        "linear": {
            "C_libsvm": linear[0][0]["C"],
            "cv": np.mean([cv for _, cv, _ in linear]),
            "test": np.mean([test for *_, test in linear]),
        },
        "rbf": {
            "C_libsvm": all(1 <= best["C"] <= 10 for best, *_ in rbf),
            "gamma": rbf[0][0]["gamma"],
            "cv": np.mean([cv for _, cv, _ in rbf]),
            "test_range": np.sort([test for *_, test in rbf])[[0, -1]],
        },
    }
