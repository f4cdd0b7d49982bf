"""Bagging and random forests: the variance of a mean, out-of-bag shares, features of a split."""

import numpy as np

from suffice.ensemble import BaggingClassifier, RandomForestClassifier, RandomForestRegressor
from suffice.ensemble.bagging import Bagging
from suffice.linear_model import LinearRegression
from suffice.tree import DecisionTreeRegressor
from suffice.tree.forest import Forest

from ._canon import example


def correlated(rho, sigma2, B, n=200):
    """Columns whose covariance matrix is exactly that of equal variances and correlations."""
    Z = np.random.default_rng(0).normal(size=(n, B))
    Q = np.linalg.qr(Z - Z.mean(axis=0))[0] * np.sqrt(n)
    covariance = sigma2 * (rho + (1.0 - rho) * np.eye(B))
    return Q @ np.linalg.cholesky(covariance).T


def variance_of_mean(X):
    """Of members of which each predicts a column of X."""
    members = tuple(LinearRegression().fit(x[:, None], x) for x in X.T)
    return Bagging(members, np.arange(len(members))[:, None], 0).mean(X).var()


@example("stats601-and-slides/bagging-variance")
def _(given):
    X = correlated(given["rho"], given["sigma2"], given["B"])
    whole, half = variance_of_mean(X), variance_of_mean(X[:, : given["B"] // 2])
    return {"variance": whole, "limit": 2.0 * whole - half}  # the term of 1 / B is twice as large with half


POISSON = "draws are Poisson numbers, whose share of zeros is the limit for all N"


@example("stats601-and-slides/oob-fraction", N10=POISSON, N100=POISSON)
def _(_given):
    draws = BaggingClassifier().fit([[0.0], [1.0]], [0, 1]).draws_
    return {"limit": draws.cumulative[0]}


@example("stats601-and-slides/random-forest-mtry")
def _(_given):
    def considered(p):
        return RandomForestClassifier(1).fit(np.eye(p), np.arange(p) % 2).max_features_

    return {f"p{p}": considered(p) for p in (10, 16, 2)}


@example("cs181/forest-average")
def _(given):
    forest = RandomForestRegressor(3).fit([[0.0]], [0.0])
    trees = [DecisionTreeRegressor().fit([[0.0]], [value]) for value in given["tree_predictions"]]
    forest.model_ = Forest.of([tree.model_ for tree in trees])
    return forest.predict([[0.0]])[0]
