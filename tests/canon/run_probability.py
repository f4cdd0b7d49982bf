"""Distributions and link functions: SciPy and NumPy."""

import numpy as np
from scipy import stats
from scipy.special import expit, softmax
from sklearn.preprocessing import LabelBinarizer, StandardScaler

from ._canon import example
from ._numeric import gradient


@example("cs181/relu-values")
def _(given):
    return np.maximum(0, given["z"])


@example("cs181/sigmoid-values")
def _(given):
    return {"sigma": expit(given["z"]), "derivative": [gradient(expit, z) for z in given["z"]]}


@example("cs181/softmax-example")
def _(given):
    p = softmax(given["z"])
    return {"softmax": p, "class": 1 + np.argmax(p)}


@example("cs181/softmax-jacobian")
def _(given):
    return [gradient(lambda z, k=k: softmax(z)[k], given["z"]) for k in range(3)]


@example("cs181/softmax-shift-and-sigmoid")
def _(_given):
    z = np.array([2.0, 0.0])
    assert np.allclose(softmax(z + 5), softmax(z), rtol=1e-12)
    assert np.isclose(softmax(z)[0], expit(z[0] - z[1]), rtol=1e-12)
    return {"softmax([2,0])[0]": softmax(z)[0]}


@example("cs181/one-hot-four")
def _(given):
    return LabelBinarizer().fit(range(1, given["K"] + 1)).transform(given["class"])


@example("cs181/standardize")
def _(given):
    x = np.array(given["x"], float)[:, None]
    return {"divisor_N": StandardScaler().fit_transform(x).ravel()}


@example("cs181/dirichlet-sample-simplex")
def _(_given):
    sample = stats.dirichlet([0.5, 1.0, 3.0]).rvs(1000, random_state=0)
    assert sample.min() >= 0
    total = sample.sum(axis=1)
    assert np.allclose(total, total[0], rtol=1e-12)
    return {"sum": total[0]}


@example("gong-xu/gx-2.kurtosis")
def _(given):
    laws = {
        "uniform": stats.uniform(-(3**0.5), 2 * 3**0.5),
        "laplace": stats.laplace(scale=0.5**0.5),
        "two-point +-1": stats.bernoulli(0.5),
        "gaussian": stats.norm(),
    }
    return {"kurt": [laws[name].stats("k") for name in given["unit_variance_laws"]]}


@example("stats601-and-slides/bayes-posterior-two-classes")
def _(given):
    log_joint = np.log(given["likelihood"]) + np.log(given["prior"])
    return {"posterior": softmax(log_joint), "evidence": np.exp(log_joint).sum()}


@example("gong-xu/gx-p2.4")
def _(given):
    apart = 2 * stats.multivariate_normal([0.0], [[1.0]]).entropy()
    pairs = [stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]]) for rho in given["rho"]]
    return {"mutual_information_nats": [apart - pair.entropy() for pair in pairs]}
