"""Independent components, whitening, negentropy; non-negative quadratic programs."""

import numpy as np
from scipy.stats import laplace, uniform

from suffice.decomposition import PCA, FastICA, Whitening
from suffice.decomposition.fast_ica import log_cosh, mean_of_gaussian
from suffice.fitting import nonnegative_quadratic
from suffice.information import negentropy

from ._canon import UpToSign, example


def named(direction):
    """A component of two features, by the coefficient of the second over that of the first."""
    ratio = direction[1] / direction[0]
    assert abs(abs(ratio) - 2.0) < 1e-6
    return f"x1 {'+' if ratio > 0 else '-'} 2*x2"


@example("gong-xu/gx-p2.1")
def _(_given):
    """The uniform density by nodes and weights of Gauss and Legendre, which have its moments."""
    node, weight = np.polynomial.legendre.leggauss(8)
    u, v = (a.ravel() for a in np.meshgrid(node, node))
    weight = 1e12 * np.outer(weight, weight).ravel() / 4.0
    X = np.column_stack([(u + v) / 2.0, (u - v) / 4.0])  # |x1| + 2 |x2| <= 1
    pca = PCA().fit(X, sample_weight=weight)
    ica = FastICA(fun="cube", random_state=0, tol=1e-14).fit(X, sample_weight=weight)
    components = sorted(ica.components_, key=lambda w: -w[0] * w[1])
    along = X @ [1.0, 2.0]
    moments = [np.average(along**p, weights=weight) for p in (2, 4)]
    uniform = np.allclose(moments, [1.0 / 3.0, 1.0 / 5.0])
    squares = pca.transform(X) ** 2
    dependent = np.cov(squares.T, aweights=weight)[0, 1]
    return {
        "principal_axes": UpToSign(pca.components_),
        "principal_variances": pca.explained_variance_,
        "independent_components": [named(w) for w in components],
        "component_law": bool(uniform),
        "pca_components_independent": bool(abs(dependent) < 1e-6),
    }


@example("gong-xu/gx-2.whitening")
def _(given):
    return {"whitener": Whitening.from_covariance(given["covariance"]).whitening_}


@example("gong-xu/gx-2.negentropy")
def _(given):
    laws = {"uniform": uniform(-np.sqrt(3), 2 * np.sqrt(3)), "laplace": laplace(scale=np.sqrt(0.5))}
    out = {"E_G_gauss": [mean_of_gaussian(lambda y, a=a: log_cosh(y, a)) for a in given["a"]]}
    for name, law in laws.items():
        x = np.linspace(law.ppf(1e-15), law.isf(1e-15), 200_001)
        means = [np.trapezoid(law.pdf(x) * log_cosh(x, a), x) for a in given["a"]]
        out[f"E_G_{name}"] = means
        out[f"J_{name}"] = [negentropy(law, alpha=a) for a in given["a"]]
        out[f"exact_negentropy_{name}"] = negentropy(law, "entropy")
    return out


@example("gong-xu/gx-3.nqp")
def _(given):
    A, b, y0 = given["A"], given["b"], given["y0"]
    one = nonnegative_quadratic(A, b, y0, max_iter=1)
    return {"y1": one.model, "y_star": nonnegative_quadratic(A, b, y0).model}
