"""Independent components."""

import numpy as np

from suffice.decomposition import PCA, FastICA, Whitening

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
