"""Singular values, subspaces, matrix calculus and duality: NumPy and SciPy."""

import numpy as np
from scipy.linalg import eigvals, null_space, orth
from scipy.optimize import check_grad, minimize
from sklearn.preprocessing import add_dummy_feature

from ._canon import UpToSign, example
from ._numeric import gradient

FREE_BASIS = "any orthonormal basis of what A does not reach will do"


@example("li-unsupervised/li-15.1", U=FREE_BASIS, U_alternative=FREE_BASIS)
def _(given):
    A = np.array(given["A"])
    U, s, Vt = np.linalg.svd(A)
    Sigma = np.zeros(A.shape)
    np.fill_diagonal(Sigma, s)
    assert np.allclose(U @ Sigma @ Vt, A)
    return {"singular_values": s, "Sigma_shape": Sigma.shape, "Vt": UpToSign(Vt)}


@example("li-unsupervised/li-15.2")
def _(given):
    U, s, Vt = np.linalg.svd(given["A"], full_matrices=False)
    r = np.linalg.matrix_rank(given["A"])
    return {
        "rank": r,
        "U_r": UpToSign(U[:, :r], axis=0),
        "Sigma_r": s[:r],
        "Vt_r": UpToSign(Vt[:r]),
    }


@example("li-unsupervised/li-15.4")
def _(given):
    A = np.array(given["A"])
    U, s, Vt = np.linalg.svd(A)
    sign = np.sign(np.diag(U))
    U, Vt = U * sign, Vt * sign[:, None]
    return {
        "U": U,
        "singular_values": s,
        "singular_values_exact": np.allclose(2 * s**2, 15 + np.array([1, -1]) * 221**0.5),
        "Vt": Vt,
        "Vt_e1": Vt[:, 0],
        "Vt_e2": Vt[:, 1],
        "SVt_e1": s * Vt[:, 0],
        "SVt_e2": s * Vt[:, 1],
        "A_e1": U @ (s * Vt[:, 0]),
        "A_e2": U @ (s * Vt[:, 1]),
    }


@example("li-unsupervised/li-15.ex1")
def _(given):
    A = np.array(given["A"])
    U, s, Vt = np.linalg.svd(A)
    return {
        "eigenvalues_AtA": np.linalg.eigvalsh(A.T @ A)[::-1],
        "singular_values": s,
        "U": UpToSign(U, axis=0),
        "V_columns": UpToSign(Vt),
    }


@example("li-unsupervised/li-15.ex2")
def _(given):
    U, s, Vt = np.linalg.svd(given["A"])
    return {
        "singular_values": s,
        "singular_values_exact": np.allclose(s**2, 15 + np.array([1, -1]) * 221**0.5),
        "U_left2": UpToSign(U[:, :2], axis=0),
        "Vt": UpToSign(Vt),
        "term1": s[0] * np.outer(U[:, 0], Vt[0]),
        "term2": s[1] * np.outer(U[:, 1], Vt[1]),
    }


@example("li-unsupervised/li-15.ex4")
def _(given):
    U, s, Vt = np.linalg.svd(given["A"])
    return {
        "rank": np.linalg.matrix_rank(given["A"]),
        "left": s[0] * U[:, 0] * Vt[0, 0],
        "right": Vt[0] / Vt[0, 0],
        "sigma": s[0],
    }


@example("li-unsupervised/li-21.ex4")
def _(given):
    return {"eigenvalue_moduli": np.sort(abs(eigvals(given["M"])))[::-1]}


@example("li-unsupervised/li-D.1")
def _(given):
    A = np.array(given["A"])
    return {
        "rank": orth(A).shape[1],
        "nullity": null_space(A).shape[1],
        "R_A": UpToSign(orth(A).T),
        "R_At": UpToSign(orth(A.T).T),
        "N_A": UpToSign(null_space(A).T),
        "N_At_dim": null_space(A.T).shape[1],
    }


@example("cs181/pseudo-inverse-tall")
def _(given):
    return np.linalg.pinv(given["X"])


@example("cs181/h-norm-penalty")
def _(given):
    return [given["lambda"] / 2 * np.linalg.norm(given["w"], h) ** h for h in given["h"]]


@example("cs181/sam-bias-trick")
def _(given):
    return add_dummy_feature([given["x"]])[0]


# Matrix calculus -------------------------------------------------------------------------------


@example("stats601-and-slides/matrix-gradient-example")
def _(given):
    def f(A):
        return 1.5 * A[0, 0] + 5 * A[0, 1] ** 2 + A[1, 0] * A[1, 1]

    return {"gradient": gradient(f, given["A"])}


@example("stats601-and-slides/trace-identities")
def _(_given):
    A, B, C = np.random.default_rng(0).normal(size=(3, 3, 3))
    trace = np.trace

    def is_gradient(f, slope):
        return check_grad(lambda a: f(a.reshape(3, 3)), lambda _: slope.ravel(), A.ravel()) < 1e-6

    return (
        np.isclose(trace(A @ B), trace(B @ A))
        and np.allclose(trace(A @ B @ C), [trace(C @ A @ B), trace(B @ C @ A)])
        and is_gradient(lambda a: trace(a @ B), B.T)
        and is_gradient(lambda a: trace(a @ B @ a.T @ C), C @ A @ B + C.T @ A @ B.T)
    )


@example("cs181/matrix-derivative-identities")
def _(given):
    Z, a, b = (np.array(given[k]) for k in "Zab")
    return {
        "d(a^T Z^-1 b)/dZ": gradient(lambda z: a @ np.linalg.inv(z) @ b, Z),
        "d ln|det Z|/dZ": gradient(lambda z: np.linalg.slogdet(z)[1], Z),
    }


# Duality ---------------------------------------------------------------------------------------


def least_norm(n):
    """Minimise |x|^2 where n coordinates sum to at least 1: optimum, multiplier, dual function."""
    start = np.arange(n, 0, -1.0)
    best = minimize(
        lambda x: x @ x,
        start,
        jac=lambda x: 2 * x,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        options={"ftol": 1e-15},
    )

    def dual(a):
        return minimize(lambda x: x @ x + a * (1 - x.sum()), start, jac=lambda x: 2 * x - a).fun

    return best, best.multipliers.item(), dual


@example("li-unsupervised/li-C.1")
def _(_given):
    best, alpha, dual = least_norm(2)
    return {
        "dual_function": all(np.isclose(dual(a), a - a * a / 2) for a in (0.0, 0.3, 1.0, 2.0)),
        "alpha": alpha,
        "x": best.x,
        "p_star": best.fun,
        "d_star": dual(alpha),
        "gap": best.fun - dual(alpha),
        "weak_duality_at_alpha_0_5": dual(0.5),
    }


@example("cs181/lagrangian-inequality")
def _(_given):
    best, alpha, _ = least_norm(1)
    return {"x": best.x[0], "alpha": alpha, "alpha_times_g": alpha * (1 - best.x[0])}


@example("stats601-and-slides/duality-toy")
def _(_given):
    best, multiplier, dual = least_norm(1)
    return {
        "primal_value": best.fun,
        "dual_value": dual(multiplier),
        "x_star": best.x[0],
        "lambda_star": multiplier,
        "dual_function_at_1": dual(1.0),
    }
