"""Truncated singular values, latent semantic analysis and non-negative factors."""

import numpy as np
from scipy.linalg import null_space
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import normalize

from suffice.decomposition import NMF, BilinearNMF, TruncatedSVD
from suffice.topics import LatentSemanticAnalysis, RegularizedLSI

from ._canon import UpToSign, example
from ._numeric import stopped

FREE_BASIS = "any orthonormal basis of what A does not reach will do"


def left(svd, A):
    """Left singular vectors, (N, K)."""
    scores = svd.transform(A)
    return np.divide(scores, svd.singular_values_, out=np.zeros_like(scores), where=svd.singular_values_ > 0)


def error(svd, A):
    """The Frobenius norm of what is left of A."""
    return np.sqrt(len(A) * svd.reconstruction_error(A))


def every_algorithm(A, k):
    """The decomposition by sums of X'X, which the others must agree with."""
    svd = TruncatedSVD(k, algorithm="gram").fit(A)
    for algorithm in ("randomized", "arpack"):
        other = TruncatedSVD(k, algorithm=algorithm, random_state=0).fit(A)
        assert np.allclose(other.singular_values_, svd.singular_values_)
    return svd


# Li, ch. 15 ------------------------------------------------------------------------------------


@example("li-unsupervised/li-15.3")
def _(given):
    A = np.array(given["A"], float)
    svd = every_algorithm(A, given["k"])
    return {
        "U_2": UpToSign(left(svd, A), axis=0),
        "Sigma_2": svd.singular_values_,
        "Vt_2": UpToSign(svd.components_),
        "A_2": svd.inverse_transform(svd.transform(A)),
        "error_frobenius": error(svd, A),
    }


@example("li-unsupervised/li-15.5", U=FREE_BASIS, null_basis_At=FREE_BASIS)
def _(given):
    A = np.array(given["A"], float)
    svd = TruncatedSVD(2, algorithm="gram").fit(A)
    beyond = null_space(A.T)
    u1 = left(svd, A)[:, 0]
    assert np.allclose(beyond.T @ u1, 0)
    Sigma = np.zeros(A.shape)
    np.fill_diagonal(Sigma, svd.singular_values_)
    assert np.allclose(np.column_stack([u1, beyond]) @ Sigma @ svd.components_, A)
    return {
        "AtA": svd.statistics_.product,
        "eigenvalues": svd.singular_values_**2,
        "V": UpToSign(svd.components_.T, axis=0),
        "singular_values": svd.singular_values_,
        "Sigma": Sigma,
        "u1": u1,
        "rank": np.sum(svd.singular_values_ > 0),
        "nullity": null_space(A).shape[1],
    }


@example("li-unsupervised/li-15.6")
def _(given):
    A = np.array(given["A"], float)
    svd = every_algorithm(A, given["rank"])
    (u1, u2), (v1, v2) = left(svd, A).T, svd.components_
    outer = sum(s * np.outer(u, v) for s, u, v in zip(svd.singular_values_, (u1, u2), (v1, v2), strict=True))
    return {
        "sigma": svd.singular_values_,
        "u1": UpToSign(u1),
        "u2": UpToSign(u2),
        "v1": UpToSign(v1),
        "v2": UpToSign(v2),
        "A_2": outer,
        "frobenius_A": np.linalg.norm(A),
        "error": error(svd, A),
    }


# Li, ch. 17: words are rows there, and columns here --------------------------------------------


@example("li-unsupervised/li-17.ex1")
def _(given):
    X = np.array(given["X"], float).T
    whole, two, three = (LatentSemanticAnalysis(k, random_state=0).fit(X) for k in (4, 2, 3))
    cosine = three.similarity(X)
    assert np.allclose(two.similarity(X, metric="dot"), two.transform(X) @ two.transform(X).T)
    return {
        "singular_values": whole.singular_values_,
        "k2": {
            "U": UpToSign(two.components_.T, axis=0),
            "Y": UpToSign(two.transform(X).T),
            "cosine": two.similarity(X),
            "error": error(two, X),
        },
        "k3": {"cosine_d1_d2": cosine[0, 1], "cosine_d3_d4": cosine[2, 3], "error": error(three, X)},
    }


@example("li-unsupervised/li-17.2")
def _(given):
    X = np.array(given["X"], float).T
    lsa = LatentSemanticAnalysis(given["k"], random_state=0).fit(X)
    assert np.allclose(cosine_similarity(lsa.transform(X)), lsa.similarity(X))
    return {
        "singular_values": lsa.singular_values_,
        "all_singular_values": LatentSemanticAnalysis(9, random_state=0).fit(X).singular_values_,
        "U3": UpToSign(lsa.components_.T, axis=0),
        "Vt3": UpToSign(left(lsa, X).T),
        "SVt3": UpToSign(lsa.transform(X).T),
        "error_frobenius": error(lsa, X),
    }


@example("li-unsupervised/li-17.nmf-sq")
def _(given):
    X, K = np.array(given["X"], float), given["K"]
    one = by_multiplication(given, 1)
    assert NMF(K, init="custom", solver="mu").fit(X, W=given["W0"], H=given["H0"]).converged_

    def best(k):
        tight = {"init": "random", "tol": 1e-12, "max_iter": 2000}
        return min(2 * stopped(NMF(k, random_state=seed, **tight), X).trace_[-1] for seed in range(4))

    def bound(k):
        return error(TruncatedSVD(k, algorithm="gram").fit(X), X) ** 2

    by_gradient = stopped(NMF(K, init="random", solver="gradient", random_state=0, max_iter=1000, tol=0), X)
    found = {k: best(k) for k in (2, 3)}
    assert by_gradient.reconstruction_err_**2 < found[K] + 1e-4
    return {
        "loss0": np.sum((X - np.array(given["W0"]) @ given["H0"]) ** 2),
        "W1": one.model_.W,
        "loss_after_W1": 2 * one.trace_[0],
        "H1": one.components_,
        **{f"loss{n}": by_multiplication(given, n).reconstruction_err_ ** 2 for n in (1, 2, 10, 200)},
        "best_loss_k2": found[2],
        "best_loss_k3": found[3],
        "svd_bound_k2": bound(2),
        "svd_bound_k3": bound(3),
    }


def by_multiplication(given, n, **options):
    nmf = NMF(given["K"], init="custom", solver="mu", max_iter=n, tol=0.0, **options)
    return stopped(nmf, given["X"], W=given["W0"], H=given["H0"])


@example("li-unsupervised/li-17.ex2")
def _(given):
    X = np.array(given["X"], float)
    divergence = {"beta_loss": "kullback-leibler"}
    one = by_multiplication(given, 1, **divergence)

    def loss(nmf):
        return nmf.reconstruction_err_**2 / 2

    def best(k):
        how = {"init": "random", "solver": "mu", "tol": 0.0, "max_iter": 1000, **divergence}
        return min(loss(stopped(NMF(k, random_state=seed, **how), X)) for seed in range(8))

    B = np.array(given["W0"]) @ given["H0"]
    seen = X > 0
    return {
        "loss0": np.sum(X[seen] * np.log(X[seen] / B[seen])) - X.sum() + B.sum(),
        "W1": one.model_.W,
        "loss_after_W1": one.trace_[0],
        "H1": one.components_,
        **{f"loss{n}": loss(by_multiplication(given, n, **divergence)) for n in (1, 2, 200)},
        "best_loss_k2": best(2),
        "best_loss_k3": best(3),
    }


# Gong and Xu, ch. 2 and 3: data are columns there ----------------------------------------------


@example("gong-xu/gx-2.svd")
def _(given):
    X, k = np.array(given["X_centred_rows"]), given["k"]
    svd = TruncatedSVD(k, random_state=0).fit(X)
    along = svd.transform(X)[:, 0]
    return {
        "singular_values": TruncatedSVD(2, algorithm="gram").fit(X).singular_values_,
        "v1_up_to_sign": UpToSign(svd.components_[0]),
        "residual_sum_of_squares": error(svd, X) ** 2,
        "sum_squares": np.sum(X**2),
        "Xv1_sum_of_squares": np.sum(along**2),
        "Xv1_mean_square": svd.explained_variance_[0],
    }


@example("gong-xu/gx-3.nmf")
def _(given):
    X, U0, V0 = (np.array(given[name], float) for name in ("X", "U0", "V0"))

    def fitted(n):
        nmf = NMF(2, init="custom", solver="mu", max_iter=n, tol=0.0)
        return stopped(nmf, X, W=U0, H=V0.T)

    one, many = fitted(1), fitted(3000)
    U, length = normalize(many.model_.W, axis=0, return_norm=True)
    V = many.components_.T * length
    assert np.allclose(U @ V.T, many.model_.W @ many.components_)
    return {
        "J0": np.sum((X - U0 @ V0.T) ** 2) / 2,
        "U1_row1": one.model_.W[0],
        "J_after_U1": one.trace_[0],
        "V1_row1": one.components_.T[0],
        "J_after_V1": one.reconstruction_err_**2 / 2,
        "J_limit": many.reconstruction_err_**2 / 2,
        "labels": V.argmax(axis=1),
        "U_columns_unit_norm": np.allclose(np.linalg.norm(U, axis=0), 1),
    }


def bilinear(given, n):
    X = np.array(given["X"], float).T
    fitted = stopped(BilinearNMF(2, init="custom", max_iter=n, tol=0.0), X, W=given["W0"], V=given["V0"])
    K = X @ X.T
    by_kernel = BilinearNMF(2, kernel="precomputed", init="custom", max_iter=n, tol=0.0)
    by_kernel = stopped(by_kernel, K, W=given["W0"], V=given["V0"])
    assert np.allclose(by_kernel.embedding_, fitted.embedding_)
    return fitted


def bilinear_loss(given, W, V):
    X = np.array(given["X"], float)
    return np.sum((X - X @ W @ np.transpose(V)) ** 2) / 2


@example("gong-xu/gx-3.binmf", "gong-xu/gx-3.binmf-signed")
def _(given):
    one, many = bilinear(given, 1), bilinear(given, 3000)
    W1, V1 = one.model_.W, one.model_.V
    found = {
        "J0": bilinear_loss(given, given["W0"], given["V0"]),
        "J_after_W1": bilinear_loss(given, W1, given["V0"]),
        "W1_row1": W1[0],
        "J_after_V1": one.trace_[0],
        "V1_row1": V1[0],
        "J_after_3000": many.trace_[-1],
    }
    if "split" in given:
        return found | {"monotone": (np.diff(many.trace_) <= 1e-12).all(), "labels": many.labels_}
    return found | {"V_after_3000_row1_normalised": many.embedding_[0]}


# Slides: topic models --------------------------------------------------------------------------


@example("stats601-and-slides/lsi-truncated-svd")
def _(given):
    X = np.array(given["D_terms_by_docs"]).T
    lsa = {k: LatentSemanticAnalysis(k, random_state=0).fit(X) for k in (1, 2, 3)}
    V = left(lsa[2], X)
    assert np.allclose(V.T @ V, np.eye(2))
    return {
        "singular_values": lsa[3].singular_values_,
        "frobenius_error_K2": error(lsa[2], X),
        "frobenius_error_K1": error(lsa[1], X),
    }


@example("stats601-and-slides/nmf-monotone")
def _(_given):
    X = np.random.default_rng(0).poisson(2.0, size=(40, 12)).astype(float)
    held = []
    for loss in ("frobenius", "kullback-leibler"):
        for seed in range(5):
            nmf = NMF(4, init="random", solver="mu", beta_loss=loss, tol=0.0, random_state=seed, max_iter=100)
            nmf = stopped(nmf, X)
            held.append((np.diff(nmf.trace_) <= 1e-9 * nmf.trace_[0]).all())
            held.append((nmf.model_.W >= 0).all() and (nmf.components_ >= 0).all())
    return all(held)


@example("stats601-and-slides/rlsi-updates")
def _(_given):
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.5, 2.0, size=(4, 15))[rng.integers(4, size=60)]).astype(float)
    lsi = stopped(RegularizedLSI(4, topic_penalty=3.0, document_penalty=2.0, tol=0.0, random_state=0), X)
    U = lsi.components_.T
    V = lsi.transform(X)
    ridge = np.linalg.solve(U.T @ U + 2.0 * np.eye(4), U.T @ X.T).T
    value = np.sum((X - V @ U.T) ** 2) + 3.0 * np.abs(U).sum() + 2.0 * np.sum(V**2)
    falls = (np.diff(lsi.trace_) <= 1e-9 * lsi.trace_[0]).all()
    # Each word by itself: the slopes of the squares balance those of the penalty, or the weight is zero.
    s = lsi.statistics_
    slope = 2.0 * (U @ s.gram - s.cross)
    lasso = np.where(U != 0, np.abs(slope + 3.0 * np.sign(U)), np.maximum(np.abs(slope) - 3.0, 0.0))
    assert np.allclose(V, ridge)
    assert lasso.max() < 1e-6 * np.abs(s.cross).max()
    return bool(falls and value <= lsi.trace_[-1])
