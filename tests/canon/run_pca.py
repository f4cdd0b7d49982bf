"""Principal components."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from suffice.decomposition import PCA
from suffice.plot import ScreeDisplay

from ._canon import UpToSign, example, given

FIVE = "cs181/pca-five-points"
SMALL = "stats601-and-slides/pca-eigen-small"


def eigenvalues(pca):
    """Of the covariance with divisor N; scikit-learn's convention has N - 1."""
    return pca.singular_values_**2 / pca.n_samples_


# Li, ch. 16 ------------------------------------------------------------------------------------


@example("li-unsupervised/li-16.1")
def _(given):
    pca = PCA.from_covariance(given["R"])
    kept = PCA.from_covariance(given["R"], n_components=given["cumulative_level"])
    return {
        "eigenvalues": pca.explained_variance_,
        "rates": pca.explained_variance_ratio_,
        "k": kept.n_components_,
        "cumulative_k2": kept.explained_variance_ratio_.sum(),
        "a1": UpToSign(kept.components_[0]),
        "a2": UpToSign(kept.components_[1]),
        "loadings_y1": UpToSign(kept.loadings_[0]),
        "loadings_y2": UpToSign(kept.loadings_[1]),
        "contribution_k2": kept.variable_contributions_,
    }


@example("li-unsupervised/li-16.ex1")
def _(given):
    X = np.array(given["X"], float).T
    Z = StandardScaler().fit_transform(X) * np.sqrt((len(X) - 1) / len(X))

    def analysis(X):
        pca = PCA().fit(X)
        direct = PCA(svd_solver="full").fit(X)
        assert np.allclose(abs(pca.components_), abs(direct.components_))
        assert np.allclose(pca.explained_variance_, direct.explained_variance_)
        scores = pca.transform(X)
        return pca, {
            "eigenvalues": pca.explained_variance_,
            "vectors": UpToSign(pca.components_),
            "rates": pca.explained_variance_ratio_,
            "scores_y1": UpToSign(scores[:, 0]),
            "scores_y2": UpToSign(scores[:, 1]),
            "loadings_y1": UpToSign(pca.loadings_[0]),
            "loadings_y2": UpToSign(pca.loadings_[1]),
        }

    pca, of_covariance = analysis(X)
    standardised, of_correlation = analysis(Z)
    # Li divides the rows by sqrt(n - 1) before the singular value decomposition.
    singular = standardised.singular_values_ / np.sqrt(len(X) - 1)
    return {
        "mean": pca.mean_,
        "S": pca.get_covariance(),
        "R": standardised.get_covariance(),
        "standardized": of_correlation | {"singular_values": singular},
        "covariance": of_covariance,
    }


@example("li-unsupervised/li-16.ex3")
def _(given):
    X = np.array(given["X"], float).T
    Z = StandardScaler().fit_transform(X) * np.sqrt((len(X) - 1) / len(X))
    pca = PCA(given["k"]).fit(Z)
    rest = Z - pca.inverse_transform(pca.transform(Z))
    second = PCA().fit(Z).explained_variance_[1]
    return {
        "min_frobenius_error": np.linalg.norm(rest),
        "formula": np.isclose(np.linalg.norm(rest), np.sqrt((len(X) - 1) * second)),
    }


# CS181 -----------------------------------------------------------------------------------------


@example("cs181/bear-line")
def _(_given):
    weight = np.array([100.0, 200.0, 350.0, 500.0])
    X = np.column_stack([weight, np.full(4, 3.0)])
    pca = PCA(1).fit(X)
    along, height = pca.components_[0]
    slope = height / along
    return {
        "slope_m": slope,
        "bias_b": pca.mean_[1] - slope * pca.mean_[0],
        "height_variance": PCA().fit(X).explained_variance_[1],
        "reconstruction_loss_from_weight_only": pca.reconstruction_error(X),
    }


@example(FIVE)
def _(given):
    X = np.array(given["X"])
    pca, one = PCA().fit(X), PCA(1).fit(X)
    assert PCA(0.9).fit(X).n_components_ == 1
    scores = one.transform(X)
    return {
        "mean": pca.mean_,
        "S": pca.get_covariance() * (len(X) - 1) / len(X),
        "eigenvalues": eigenvalues(pca),
        "w1": UpToSign(one.components_[0]),
        "scores_1": UpToSign(scores[:, 0]),
        "reconstruction_1": one.inverse_transform(scores),
        "reconstruction_loss_1": one.reconstruction_error(X),
        "retained_variance_1": one.explained_variance_ratio_[0],
    }


@example("cs181/reconstruction-loss-identity")
def _(_given):
    X, w = np.array(given(FIVE)["X"]), np.array([0.6, 0.8])
    onto_w = PCA.from_covariance(np.outer(w, w), mean=X.mean(axis=0), n_components=1)
    Y = X - X.mean(axis=0)
    loss = onto_w.reconstruction_error(X)
    assert np.isclose(loss, (Y**2).sum(axis=1).mean() - ((Y @ w) ** 2).mean())
    return {"pca-five-points, w=(0.6,0.8)": loss}


@example("cs181/reconstruction-loss-tail")
def _(_given):
    X = np.random.default_rng(0).normal(size=(30, 5)) @ np.diag([5.0, 4, 3, 2, 1])
    values = eigenvalues(PCA().fit(X))
    loss = [PCA(k).fit(X).reconstruction_error(X) for k in range(6)]
    return np.allclose(loss, [values[k:].sum() for k in range(6)], rtol=0, atol=1e-9)


@example("cs181/pca-svd-eigenvalues")
def _(_given):
    pca = PCA(svd_solver="full").fit(given(FIVE)["X"])
    return {
        "singular_values": pca.singular_values_,
        "eigenvalues_z2_over_N": eigenvalues(pca),
        "eigenvalues_of_XtX": pca.singular_values_**2,
    }


@example("cs181/pca-scores-uncorrelated")
def _(_given):
    scores = PCA().fit_transform(given(FIVE)["X"])
    return {"pca-five-points": np.cov(scores, rowvar=False, bias=True)}


@example("cs181/iris-four-to-three")
def _(_given):
    pca = PCA().fit(load_iris().data)
    assert PCA(0.99).fit(load_iris().data).n_components_ == 3
    return {
        "eigenvalues": eigenvalues(pca),
        "retained_variance": np.cumsum(pca.explained_variance_ratio_),
    }


@example("cs181/retained-variance")
def _(given):
    pca = PCA.from_covariance(np.diag(given["eigenvalues"]))
    return [pca.explained_variance_ratio_[:k].sum() for k in given["kept"]]


@example("cs181/pca-constrained-optimum")
def _(_given):
    X = np.array(given(FIVE)["X"])
    S = np.cov(X, rowvar=False, bias=True)
    for w in PCA().fit(X).components_:
        assert np.allclose(S @ w, (w @ S @ w) * w)
    (largest,) = PCA(n_components=1).fit(X).components_
    return {"pca-five-points max": largest @ S @ largest, "min": eigenvalues(PCA().fit(X))[-1]}


# Gong and Xu, ch. 3 ----------------------------------------------------------------------------


@example("gong-xu/gx-p3.11")
def _(case):
    sizes, dimension = given(f"gong-xu/{case['as']}"), 5000
    assert sizes["dimension"] == dimension

    def accuracy(n, seed):
        truth = np.arange(n) < n // 2
        X = np.random.default_rng(seed).normal(size=(n, dimension))
        X[:, 0] += np.where(truth, 5, -5)
        side = PCA(n_components=1).fit_transform(X)[:, 0] > 0
        return max(np.mean(side == truth), np.mean(side != truth))

    def mean_accuracy(n):
        return np.mean([accuracy(n, seed) for seed in range(sizes["seeds"])])

    return {
        "accuracy_n50_at_least": mean_accuracy(50),
        "accuracy_n100_at_least": mean_accuracy(100),
        "accuracy_n200": mean_accuracy(200),
    }


# STATS 601, ch. 1 ------------------------------------------------------------------------------


@example("stats601-and-slides/scree-order")
def _(_):
    pca = PCA().fit(given(SMALL)["Y"])
    share = ScreeDisplay.from_estimator(pca).explained_variance_ratio
    return {"values": share * pca.explained_variance_.sum()}


@example(SMALL)
def _(given):
    pca = PCA().fit(given["Y"])
    return {
        "S": pca.get_covariance(),
        "eigenvalues": pca.explained_variance_,
        "loadings_columns": UpToSign(pca.components_.T, axis=0),
        "scores": UpToSign(pca.transform(given["Y"]), axis=0),
    }


@example("stats601-and-slides/pca-rotation-invariance")
def _(given):
    scores = PCA(given["p"]).fit_transform(given["Y"])
    # The signs of the rotation's example: the largest loading of each axis is positive.
    rotated = np.cov(scores @ np.array(given["O"]), rowvar=False)
    return {
        "trace_before": np.trace(np.cov(scores, rowvar=False)),
        "trace_after": np.trace(rotated),
        "score_covariance_after_rotation": rotated,
        "per_component_variance_after": np.diag(rotated),
    }


@example("stats601-and-slides/pca-total-variance")
def _(given):
    pca = PCA().fit(given["Y"])
    return {
        "trace": pca.explained_variance_.sum(),
        "proportion": pca.explained_variance_ratio_,
        "cumulative": np.cumsum(pca.explained_variance_ratio_),
    }


@example("stats601-and-slides/pca-population-2x2")
def _(given):
    pca = PCA.from_covariance(given["Sigma"])
    basis = np.array([[1, 1], [1, -1]]) / np.sqrt(2)
    assert np.allclose(abs(pca.components_), abs(basis))
    return {
        "eigenvalues": pca.explained_variance_,
        "u1_up_to_sign": UpToSign(pca.components_[0]),
        "score_mean": UpToSign(pca.transform([given["mu"]]).T).toward([[1], [-1]]).ravel(),
        "score_covariance": pca.components_ @ given["Sigma"] @ pca.components_.T,
        "proportions": pca.explained_variance_ratio_,
    }


@example("stats601-and-slides/pca-least-squares-error")
def _(given):
    Y = given["Y"]
    return {
        "residual_sum_of_squares_by_p": {
            str(p): PCA(p).fit(Y).reconstruction_error(Y) * len(Y) for p in range(4)
        },
        "singular_values": PCA().fit(Y).singular_values_,
    }


@example("stats601-and-slides/pca-svd-eigenvalue-relation")
def _(given):
    Y = np.array(given["Y"])
    pca = PCA(svd_solver="full").fit(Y)
    U, d, _ = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)
    return {
        "d_squared_over_N_minus_1": pca.singular_values_**2 / (len(Y) - 1),
        "eigenvalues_of_S": pca.explained_variance_,
        "max_abs_difference_scores_YV_minus_UD": abs(abs(pca.transform(Y)) - abs(U * d)).max(),
    }


@example("stats601-and-slides/pca-svd-rank-wide")
def _(given):
    singular = PCA(svd_solver="full").fit(given["Y"]).singular_values_
    return {"rank": np.sum(singular > 1e-9), "singular_values": singular}


@example("stats601-and-slides/pca-svd-truncated-eckart-young")
def _(_given):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(20, 6))
    singular = PCA(svd_solver="full").fit(Y).singular_values_

    def loss(p):
        return PCA(p, svd_solver="full").fit(Y).reconstruction_error(Y) * len(Y)

    def loss_of_another(p):
        basis = np.linalg.qr(rng.normal(size=(6, p)))[0]
        centred = Y - Y.mean(axis=0)
        return np.sum((centred - centred @ basis @ basis.T) ** 2)

    return all(
        np.isclose(loss(p), np.sum(singular[p:] ** 2), rtol=0, atol=1e-9)
        and all(loss_of_another(p) > loss(p) for _ in range(20))
        for p in range(1, 6)
    )


@example("stats601-and-slides/pca-sequential-equals-eigen")
def _(_given):
    Y = np.array(given(SMALL)["Y"])
    pca, S = PCA().fit(Y), np.cov(Y, rowvar=False)
    for axis, value in zip(pca.components_, pca.explained_variance_, strict=True):
        u = np.ones(3)
        for _ in range(300):
            u = S @ u
            u /= np.linalg.norm(u)
        if abs(abs(u @ axis) - 1) > 1e-6 or abs(u @ S @ u - value) > 1e-6:
            return False
        S = S - value * np.outer(u, u)
    return True
