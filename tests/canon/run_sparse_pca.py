"""Sparse principal components, and those of binary columns."""

import numpy as np

from suffice.decomposition import PCA, BinaryPCA, SparsePCA
from suffice.decomposition.binary_pca import BinaryFactors

from ._canon import UpToSign, example


def scotlass(S, t, K=1):
    return SparsePCA.from_covariance(S, n_components=K, criterion="scotlass", max_l1_norm=t)


@example("stats601-and-slides/scotlass-2d-closed-form")
def _(given):
    S = np.array(given["S"])
    u = scotlass(S, given["t"]).components_[0]
    free = scotlass(S, np.sqrt(2)).components_[0]
    return {"u": UpToSign(u), "objective": u @ S @ u, "unconstrained_l1_norm": np.abs(free).sum()}


@example("stats601-and-slides/scotlass-limits")
def _(_given):
    A = np.random.default_rng(0).normal(size=(20, 4)) * [1.0, 3.0, 2.0, 1.0]
    S = np.cov(A.T)
    pca = PCA.from_covariance(S).components_
    all_of_them = np.allclose(scotlass(S, 2.0, 4).components_, pca, atol=1e-6)
    one = np.array_equal(scotlass(S, 1.0).components_[0], np.eye(4)[S.diagonal().argmax()])
    try:
        scotlass(S, 0.9)
    except ValueError as error:
        return all_of_them and one and "at least 1" in str(error)
    return False


@example("stats601-and-slides/sparse-loading-illustration")
def _(given):
    """Printed loadings, of which only the second is about of length 1, as those of a fit are."""
    norms = {f"{of}_{which}": np.linalg.norm(given[which], order)
             for which in ("first", "second") for of, order in (("norm2", 2), ("l1", 1))}  # fmt: skip
    fitted = scotlass(np.diag([3.0, 2.0, 1.0]) + 0.5, norms["l1_second"]).components_[0]
    assert np.isclose(np.linalg.norm(fitted), 1.0) and np.abs(fitted).sum() <= norms["l1_second"] + 1e-8
    return norms


@example("stats601-and-slides/sparse-pca-elastic-lambda0")
def _(given):
    Y = np.array(given["Y"])
    how = {"alpha": given["lambda"] / 2, "ridge_alpha": given["alpha"], "criterion": "elastic-net"}
    model = SparsePCA(given["p"], **how).fit(Y).model_
    length = np.linalg.norm(model.V, axis=1)
    return {
        "shrink_factors": length,
        "Theta": UpToSign(model.reconstruction.T, axis=0),
        "U": UpToSign(model.V.T, axis=0),
    }


@example("stats601-and-slides/sparse-pca-elastic-descent")
def _(_given):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(60, 5))
    how = {"criterion": "elastic-net", "ridge_alpha": 0.5, "tol": 1e-12}
    error = SparsePCA(2, alpha=4.0, **how).fit(Y).error_
    G = 59 * np.cov(Y.T)
    largest = np.abs(PCA(2).fit(Y).components_ @ G).max()
    none, some = (SparsePCA(2, alpha=a * largest, **how).fit(Y).model_.V.any() for a in (1.0, 0.999))
    return bool((np.diff(error) <= 1e-10 * error[:-1]).all()) and len(error) > 2 and some and not none


@example("stats601-and-slides/binary-pca-marginal-quadrature")
def _(given):
    model = BinaryFactors.of(given["a"], np.array(given["b"])[:, None], n_nodes=61)
    rows = np.array([[1.0, np.nan], [np.nan, 1.0], [1.0, 1.0]])
    first, second, both = np.exp(model.log_density(rows))
    return {
        "P(Y1=1)": first,
        "P(Y2=1)": second,
        "P(Y1=1,Y2=1)": both,
        "covariance": both - first * second,
        "E[X|1,1]": model.scores(rows[2:])[0, 0],
        "n_parameters_q10_p2": BinaryFactors.of(np.zeros(10), np.zeros((10, 2))).coefficients.size,
    }


@example("stats601-and-slides/binary-pca-no-loadings")
def _(_given):
    Y = (np.random.default_rng(0).random((200, 4)) < [0.2, 0.5, 0.6, 0.9]).astype(float)
    model, mean = BinaryPCA(0, alpha=0.0).fit(Y), Y.mean(axis=0)
    logit = np.log(mean / (1.0 - mean))
    independent = (Y * np.log(mean) + (1.0 - Y) * np.log1p(-mean)).sum(axis=1)
    return np.allclose(model.intercept_, logit, atol=1e-6) and np.allclose(
        model.score_samples(Y), independent
    )
