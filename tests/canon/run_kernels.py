"""Kernels; kernel principal components and multidimensional scaling by scikit-learn."""

from itertools import combinations
from math import factorial

import numpy as np
from scipy.special import expit
from sklearn.cluster import SpectralCoclustering
from sklearn.manifold import ClassicalMDS, smacof
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import KernelCenterer, PolynomialFeatures

from suffice.decomposition import KernelPCA
from suffice.kernel_ridge import KernelRidge
from suffice.kernels import (
    RBF,
    Centered,
    Exponential,
    KernelExpansion,
    Linear,
    Polynomial,
    is_positive_definite,
    string_kernel,
)
from suffice.linear_model import KernelLogisticRegression, Ridge
from suffice.svm import KernelMachine

from ._canon import AnyOrder, UpToSign, example, given
from ._numeric import groups


def polynomial(x, z, degree=2, coef0=1.0):
    return Polynomial(degree, gamma=1, coef0=coef0)([x], [z]).item()


def quadratic_features(x):
    """phi with phi(x) phi(z) = (1 + x z)^2, for two coordinates."""
    a, b = x
    return np.array([1, 2**0.5 * a, 2**0.5 * b, a * a, b * b, 2**0.5 * a * b])


def n_monomials(n_features, degree):
    return PolynomialFeatures(degree).fit(np.zeros((1, n_features))).n_output_features_


@example("li-supervised/li-7.3")
def _(given):
    x, z = given["x"], given["z"]
    maps = {
        "a": lambda u, v: np.array([u * u, 2**0.5 * u * v, v * v]),
        "b": lambda u, v: np.array([u * u - v * v, 2 * u * v, u * u + v * v]) / 2**0.5,
        "c": lambda u, v: np.array([u * u, u * v, u * v, v * v]),
    }
    features = {f"phi_{m}_{n}": maps[m](*p) for m in maps for n, p in (("x", x), ("z", z))}
    products = [features[f"phi_{m}_x"] @ features[f"phi_{m}_z"] for m in maps]
    assert np.allclose(products, products[0])
    kernel = polynomial(x, z, degree=given["p"], coef0=0)
    return {"K": kernel, "all_inner_products": products[0]} | features


@example("cs181/polynomial-kernel-map")
def _(given):
    x, z = given["x"], given["z"]
    return {
        "kernel": polynomial(x, z, given["q"]),
        "phi_x": quadratic_features(x),
        "phi_z": quadratic_features(z),
        "inner_product": quadratic_features(x) @ quadratic_features(z),
    }


@example("stats601-and-slides/poly2-feature-map")
def _(given):
    x, z = given["y1"], given["y2"]
    return {
        "k": polynomial(x, z, given["d"], given["offset"]),
        "phi_y1": quadratic_features(x),
        "phi_y2": quadratic_features(z),
        "inner_product": quadratic_features(x) @ quadratic_features(z),
    }


@example("gong-xu/gx-10.map")
def _(given):
    x, z = given["x"], given["z"]
    return {"K": polynomial(x, z, given["degree"]), "phi_x": quadratic_features(x)}


@example("cs181/polynomial-kernel-dimension")
def _(given):
    return [n_monomials(d, q) for d, q in zip(given["D"], given["q"], strict=True)]


@example("gong-xu/gx-p10.1")
def _(given):
    dim = [n_monomials(d, n) for d, n in given["d_n"]]
    formula = [np.prod([(d + k) / k for k in range(1, n + 1)]) for d, n in given["d_n"]]
    return {"dim": dim, "formula": np.allclose(dim, formula, rtol=1e-12)}


@example("stats601-and-slides/polynomial-kernel-maps")
def _(given):
    x, z, n = given["x"], given["z"], given["n"]
    return {
        "(x.z)^2": polynomial(x, z, coef0=0),
        "(x.z+c)^2": polynomial(x, z, coef0=given["c"]),
        "listed_coordinates_n3": n * n + n + 1,
        "distinct_dimension_binom_n_plus_d_d": n_monomials(n, given["d"]),
    }


@example("cs181/gaussian-kernel-series")
def _(given):
    x, z, sigma = given["x"], given["z"], given["sigma"]
    series = sum((x * z / sigma**2) ** k / factorial(k) for k in range(20))
    return {
        "kernel": RBF(1 / (2 * sigma**2))([[x]], [[z]]).item(),
        "series_20_terms": np.exp(-(x * x + z * z) / (2 * sigma**2)) * series,
    }


@example("stats601-and-slides/gaussian-kernel-conventions")
def _(given):
    x, z = [[0.0]], [[given["squared_distance"] ** 0.5]]
    return {
        "slides_exp(-d2/(2s2))": RBF(1 / (2 * given["sigma2"]))(x, z).item(),
        "notes_exp(-d2/s2)": RBF(1 / given["sigma2"])(x, z).item(),
    }


@example("stats601-and-slides/linear-kernel-feature")
def _(given):
    return {
        "k_x(y)": Linear()([given["x"]], [given["y"]]).item(),
        "feature_map_of_x": Linear()([given["x"]], np.eye(2))[0],
    }


@example("stats601-and-slides/kernel-centering-small")
def _(given):
    x, new = np.array(given["x"], float)[:, None], [[given["new_x"]]]
    kernel = Centered(RBF(1 / 4), x)
    return {
        "centred": kernel(x),
        "row_sums": kernel(x).sum(axis=1),
        "centred_new_row": kernel(new, x)[0],
    }


@example("li-supervised/li-7-string")
def _(given):
    s, t, n, u, decay = (given[k] for k in ("s", "t", "n", "u", "lam"))

    def of_u(string):
        """The feature of u in a string: u itself has no other subsequence of its length."""
        return string_kernel(string, u, n, decay) / decay**n

    subsequences = [{"".join(part) for part in combinations(string, n)} for string in (s, t)]
    return {
        "phi_s_u": np.isclose(of_u(s), decay**3),
        "phi_t_u": np.isclose(of_u(t), 2 * decay**5),
        "phi_s_u_value": of_u(s),
        "phi_t_u_value": of_u(t),
        "common_subsequences": AnyOrder(subsequences[0] & subsequences[1]),
        "k_st": string_kernel(s, t, n, decay),
        "k_ss": string_kernel(s, s, n, decay),
        "k_tt": string_kernel(t, t, n, decay),
        "normalised": string_kernel(s, t, n, decay, normalize=True),
    }


@example("li-supervised/li-ex-7.4")
def _(given):
    kernel = Polynomial(given["p"], gamma=1, coef0=0)
    gram = kernel(given["X"])
    found = is_positive_definite(kernel, given["X"])
    assert found
    return {
        "gram": gram,
        "rank": np.linalg.matrix_rank(gram),
        "smallest_eigenvalue_not_below": found.least_eigenvalue,
    }


@example("cs181/kernel-composition-psd")
def _(given):
    k1, k2 = Linear(), Polynomial(2, gamma=1)
    kernels = {"2K": 2 * k1, "exp K": Exponential(k1), "K1+K2": k1 + k2, "K1*K2": k1 * k2, "-K": -1 * k1}
    return {name: bool(is_positive_definite(k, given["points"])) for name, k in kernels.items()}


@example("cs181/invalid-gram")
def _(given):
    found = is_positive_definite(given["K"])
    assert found.symmetric
    eigenvalues = [found.least_eigenvalue, np.trace(given["K"]) - found.least_eigenvalue]
    return {"eigenvalues": eigenvalues, "valid": found.positive_definite}


@example("stats601-and-slides/kernel-validity")
def _(given):
    found = is_positive_definite(RBF(1 / given["gaussian_sigma2"]), given["Y"])
    negative = -1.0 * np.square(np.subtract.outer(np.ravel(given["Y"]), np.ravel(given["Y"])))
    refuted = is_positive_definite(negative)
    assert found
    assert not refuted
    eigenvalues = np.linalg.eigvalsh(negative)
    assert np.isclose(refuted.least_eigenvalue, eigenvalues[0])
    return {
        "gaussian_min_eigenvalue": found.least_eigenvalue,
        "negative_squared_distance_eigenvalues": eigenvalues,
    }


@example("stats601-and-slides/rkhs-reproducing")
def _(given):
    f = KernelExpansion(RBF(1 / 4), np.array(given["nodes"]), np.array(given["alpha"]))
    return {
        "f_at_nodes": f(given["nodes"]),
        "squared_norm": f.norm**2,
        "f_at_3": f([[3.0]])[0],
    }


# Kernel ridge regression -----------------------------------------------------------------------


@example("stats601-and-slides/kernel-ridge-linear-is-ridge")
def _(given):
    X, y = np.array(given["X"]), np.array(given["y"])
    model = KernelRidge(given["lambda"], kernel=given["kernel"]).fit(X, y)
    ridge = Ridge(given["lambda"], fit_intercept=False).fit(X, y)
    assert np.allclose(model.dual_coef_ @ X, ridge.coef_)
    return {"alpha": model.dual_coef_, "prediction_at_1_1": model.predict([[1.0, 1.0]])[0]}


@example("stats601-and-slides/kernel-ridge-gaussian-small")
def _(given):
    X, y = np.array(given["X"]), np.array(given["y"])
    model = KernelRidge(given["lambda"], kernel="rbf", gamma=1 / given["sigma2"]).fit(X, y)
    all_rows = KernelRidge(given["lambda"], kernel=RBF(1 / given["sigma2"]), landmarks=4).fit(X, y)
    assert np.allclose(all_rows.predict(X), model.predict(X), rtol=1e-10)
    return {
        "alpha": model.dual_coef_,
        "prediction_at_3": model.predict([[3.0]])[0],
        "fitted": model.predict(X),
    }


# Kernel logistic regression ---------------------------------------------------------------------


@example("stats601-and-slides/kernel-logistic-small")
def _(given):
    X, y, C = np.array(given["x"])[:, None], np.array(given["y"]), 1.0 / given["lambda"]
    how = {"kernel": RBF(1 / 4), "fit_intercept": False, "tol": 1e-10}
    model = KernelLogisticRegression(C, **how).fit(X, y)
    all_rows = KernelLogisticRegression(C, landmarks=6, **how).fit(X, y)
    mu = model.predict_proba(X)[:, 1]
    assert np.allclose(all_rows.predict_proba(X)[:, 1], mu, rtol=1e-8)
    return {
        "alpha": model.dual_coef_[0],
        "fitted_probability": mu,
        "lambda_alpha_equals_y_minus_mu": np.allclose(model.dual_coef_[0], C * (y - mu), atol=1e-7),
    }


@example("stats601-and-slides/multinomial-kernel-optimality")
def _(given):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    how = {"kernel": RBF(1.0), "fit_intercept": False, "tol": 1e-10}
    model = KernelLogisticRegression(2.0, **how).fit(X, y)
    residual = (y[:, None] == model.classes_) - model.predict_proba(X)
    assert np.allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-5)
    return np.allclose(0.5 * model.dual_coef_, residual.T, atol=1e-5)


@example("stats601-and-slides/representer-squared-norm")
def _(given):
    """The weight C of a loss beside half the squared norm is one over twice lambda."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.sin(X[:, 0]) + X[:, 1]
    shared = {"kernel": RBF(1.0), "fit_intercept": False, "tol": 1e-11}
    lam = 0.3
    squares = KernelMachine("squared", C=0.5 / lam, **shared).fit(X, y)
    logistic = KernelMachine("logistic", C=0.5 / lam, **shared).fit(X, y > 0)
    mu = expit(logistic.decision_function(X))
    return np.allclose(squares.predict(X) - y + lam * squares.dual_coef_, 0.0, atol=1e-6) and np.allclose(
        mu - (y > 0) + 2 * lam * logistic.dual_coef_, 0.0, atol=1e-6
    )


# Kernel principal components -------------------------------------------------------------------


@example("gong-xu/gx-2.kpca")
def _(given):
    X = np.array(given["X_rows"], float)
    values = KernelPCA(len(X), kernel=given["kernel"]).fit(X).eigenvalues_
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    return {
        "eigenvalues_centred_gram": values,
        "equals": np.allclose(values[: len(singular)], singular**2),
    }


@example(
    "stats601-and-slides/kernel-pca-gaussian-small",
    printed_step_e_would_give="what the misprinted step would give",
)
def _(given):
    kpca = KernelPCA(3, kernel="rbf", gamma=1 / given["sigma2"]).fit(given["Y"])
    return {
        "eigenvalues_of_centred_K": kpca.eigenvalues_,
        "eigenvectors": UpToSign(kpca.eigenvectors_[:, :2], axis=0),
        "training_scores": UpToSign(kpca.transform(given["Y"])[:, :2], axis=0),
        "new_point_scores": kpca.transform([[given["new_point"]]])[0, :2],
    }


@example("stats601-and-slides/kernel-pca-linear-is-pca")
def _(case):
    small = given("stats601-and-slides/pca-eigen-small")
    assert small["Y"] == case["Y"]
    Y = np.array(case["Y"])
    kpca = KernelPCA(3, kernel="linear").fit(Y)
    axes = np.linalg.svd(Y - Y.mean(axis=0))[2]
    new = np.vstack([Y, [[1.0, -2.0, 0.5], [0.0, 0.0, 7.0]]])
    return np.allclose(abs(kpca.transform(new)), abs((new - Y.mean(axis=0)) @ axes.T), atol=1e-6)


@example("stats601-and-slides/kernel-pca-train-projection")
def _(_given):
    Y = np.random.default_rng(0).normal(size=(12, 3))
    machines = [KernelPCA(3, kernel=k).fit(Y) for k in ("linear", "rbf", "poly", "cosine")]
    return all(
        np.allclose(m.transform(Y), m.eigenvectors_ * np.sqrt(m.eigenvalues_), atol=1e-8) for m in machines
    )


@example("stats601-and-slides/kernel-pca-feature-covariance")
def _(given):
    Y = np.array(given["Y"])
    kpca = KernelPCA(5, kernel="poly", degree=2, gamma=1, coef0=1).fit(Y)
    covariance = np.cov([quadratic_features(y) for y in Y], rowvar=False, bias=True)
    return {
        "eigenvalues_K_over_N": kpca.eigenvalues_ / len(Y),
        "eigenvalues_feature_covariance": np.linalg.eigvalsh(covariance)[:0:-1],
    }


# Multidimensional scaling ----------------------------------------------------------------------


@example("stats601-and-slides/mds-equals-pca-scores")
def _(given):
    mds = ClassicalMDS(given["p"]).fit(given["Y"])
    return {
        "gram_eigenvalues": mds.eigenvalues_,
        "coordinates_up_to_column_sign": UpToSign(mds.embedding_, axis=0),
    }


@example("stats601-and-slides/mds-eckart-young")
def _(given):
    Z = ClassicalMDS(3).fit_transform(given["Y"])
    gram = Z @ Z.T
    return {
        "squared_frobenius_error_by_p": {
            str(p): np.sum((gram - Z[:, :p] @ Z[:, :p].T) ** 2) for p in range(4)
        }
    }


def double_centred(D):
    return KernelCenterer().fit_transform(-(np.array(D) ** 2) / 2)


@example("stats601-and-slides/double-centering")
def _(given):
    Y = np.array(given["Y"])
    gram = double_centred(pairwise_distances(Y))
    Z = ClassicalMDS(3, metric="precomputed").fit_transform(pairwise_distances(Y))
    centred = Y - Y.mean(axis=0)
    return {
        "gram_first_row": (Z @ Z.T)[0],
        "max_abs_difference": abs(gram - centred @ centred.T).max(),
    }


@example("stats601-and-slides/mds-right-triangle")
def _(given):
    Z = ClassicalMDS(given["p"], metric="precomputed").fit_transform(np.array(given["D"]))
    K = double_centred(given["D"])
    return {
        "K": K,
        "eigenvalues": np.linalg.eigvalsh(K)[::-1],
        "recovered_distances": pairwise_distances(Z),
    }


@example("stats601-and-slides/mds-non-euclidean")
def _(given):
    K = double_centred(given["D_star_graph_path_lengths"])
    return {"eigenvalues": np.linalg.eigvalsh(K)[::-1]}


@example("stats601-and-slides/mds-stress-monotone")
def _(_given):
    rng = np.random.default_rng(0)
    Y, start = rng.normal(size=(10, 3)), rng.normal(size=(10, 2))
    D = pairwise_distances(Y)

    def stress(init, n):
        return smacof(
            D, n_components=init.shape[1], init=init, n_init=1, max_iter=n, eps=0,
            normalized_stress=False,
        )[1]  # fmt: skip

    trace = np.array([stress(start, n) for n in range(1, 30)])
    exact = ClassicalMDS(3, metric="precomputed").fit_transform(D)
    return bool(np.all(np.diff(trace) <= 1e-8) and stress(exact, 2) < 1e-8)


# Both sides of a table -------------------------------------------------------------------------


@example("gong-xu/gx-p3.9")
def _(given):
    X = np.array(given["X_words_by_docs"], float)
    words, docs = X.sum(axis=1), X.sum(axis=0)
    U, s, Vt = np.linalg.svd(X / np.sqrt(np.outer(words, docs)))
    model = SpectralCoclustering(2, random_state=0).fit(X)
    return {
        "singular_values": s,
        "word_scores_up_to_sign": UpToSign(U[:, 1] / np.sqrt(words)),
        "doc_scores_up_to_sign": UpToSign(Vt[1] / np.sqrt(docs)),
        "word_groups": groups(model.row_labels_),
        "doc_groups": groups(model.column_labels_),
    }
