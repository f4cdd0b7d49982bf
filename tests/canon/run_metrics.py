"""Losses, precision and recall, distances, clusterings compared: scikit-learn and SciPy."""

from fractions import Fraction

import numpy as np
from scipy.spatial.distance import cdist, euclidean
from scipy.stats import entropy
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    mean_absolute_error,
    mean_squared_error,
    mutual_info_score,
    normalized_mutual_info_score,
    precision_recall_fscore_support,
    precision_score,
    recall_score,
    silhouette_samples,
    silhouette_score,
    zero_one_loss,
)
from sklearn.metrics.pairwise import cosine_similarity

from ._canon import example
from ._numeric import gradient


def labels(tp, fp, fn, tn=0):
    """True and predicted labels with these counts."""
    return np.repeat([1, 0, 1, 0], [tp, fp, fn, tn]), np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])


@example("li-supervised/li-1-f1")
def _(given):
    y, predicted = labels(given["TP"], given["FP"], given["FN"], given["TN"])
    tn, fp, fn, tp = confusion_matrix(y, predicted).ravel()
    assert {"TP": tp, "FN": fn, "FP": fp, "TN": tn} == given
    return {
        "precision": precision_score(y, predicted),
        "recall": recall_score(y, predicted),
        "f1": f1_score(y, predicted),
        "accuracy": accuracy_score(y, predicted),
        "error_rate": zero_one_loss(y, predicted),
    }


@example("gong-xu/gx-7.table7.2")
def _(given):
    hits = Fraction(given["home_run"]["precision"]).limit_denominator(7)
    found = Fraction(given["home_run"]["recall"]).limit_denominator(7)
    assert hits.numerator == found.numerator
    y, predicted = labels(
        hits.numerator, hits.denominator - hits.numerator, found.denominator - found.numerator
    )
    precision, recall, *_ = precision_recall_fscore_support(y, predicted, average="binary")
    return {"precision_as_fraction": precision, "recall_as_fraction": recall}


@example("gong-xu/gx-9.table9.1")
def _(given):
    return {
        "macro": {
            kind: [np.mean(given[f"{kind}_recall"]), np.mean(given[f"{kind}_precision"])]
            for kind in ("multimedia", "image")
        }
    }


@example("gong-xu/gx-9.table9.2")
def _(given):
    total, correct, wrong, missed, alarm = (
        np.array(given[k]) for k in ("total", "correct", "misclassified", "missed", "false_alarm")
    )
    classes = [labels(*n) for n in zip(correct, wrong + alarm, total - correct, strict=True)]
    scores = [precision_recall_fscore_support(*c, average="binary") for c in classes]
    together = np.concatenate(classes, axis=1)
    micro = precision_recall_fscore_support(*together, average="binary")
    return {
        "sum_total": total.sum(),
        "sum_correct": correct.sum(),
        "sum_missed": missed.sum(),
        "sum_false_alarm": alarm.sum(),
        "detections": together[1].sum(),
        "recall": [s[1] for s in scores],
        "precision": [s[0] for s in scores],
        "micro_recall": micro[1],
        "micro_precision": micro[0],
    }


@example("gong-xu/gx-9.table9.3")
def _(given):
    return {"macro": [np.mean(given["hmm_recall"]), np.mean(given["hmm_precision"])]}


@example("cs181/zero-one-count")
def _(given):
    y, predicted = given["y"], given["pred"]
    return {
        "loss": zero_one_loss(y, predicted, normalize=False),
        "rate": zero_one_loss(y, predicted),
    }


@example("cs181/sam-residual")
def _(given):
    return np.subtract(given["target"], given["prediction"])


def best_constant(loss, strategy, y):
    """A constant prediction, shown to be no worse than its neighbours."""
    c = DummyRegressor(strategy=strategy).fit(np.zeros((len(y), 1)), y).predict([[0]])
    at = [loss(y, np.repeat(c + step, len(y))) for step in (0, -0.01, 0.01)]
    assert at[0] <= min(at)
    return c.item()


@example("cs181/l1-many-solutions")
def _(given):
    y = given["y"]
    loss = [2 * mean_absolute_error(y, [c, c]) for c in np.linspace(-1, 2, 31)]
    return {
        "L1_minimisers": np.allclose(loss[10:21], 1) and min(loss[:10] + loss[21:]) > 1.1,
        "L2_minimiser": best_constant(mean_squared_error, "mean", y),
    }


@example("cs181/l2-outlier")
def _(given):
    return {
        "L1_minimiser": best_constant(mean_absolute_error, "median", given["y"]),
        "L2_minimiser": best_constant(mean_squared_error, "mean", given["y"]),
    }


@example("cs181/ols-gradient-at-zero")
def _(given):
    X, y = np.array(given["X"]), np.array(given["y"])

    def loss(w):
        return len(y) / 2 * mean_squared_error(y, X @ w)

    return {"loss": loss(given["w"]), "gradient": gradient(loss, given["w"])}


@example("stats601-and-slides/erm-finite-class")
def _(given):
    x, y = np.array(given["x"]), np.array(given["y"])
    errors = [zero_one_loss(y, (x >= t).astype(int)) for t in (0.5, 2.5, 3.5)]
    return {"errors": errors, "chosen_first_minimiser": 1 + np.argmin(errors)}


# Distances -------------------------------------------------------------------------------------


@example("cs181/euclidean-distance")
def _(given):
    return euclidean(given["x"], given["x_prime"])


@example("stats601-and-slides/distance-table-real")
def _(given):
    w = np.array([1.0, 2.0, 3.0, 4.0])

    def d(metric, **options):
        return cdist([given["u"]], [given["v"]], metric, **options).item()

    plain = "braycurtis canberra chebyshev cityblock correlation cosine euclidean hamming sqeuclidean"
    return {name: d(name) for name in plain.split()} | {
        "minkowski_p3": d("minkowski", p=3),
        "seuclidean_V_1_2_3_4": d("seuclidean", V=w),
        "mahalanobis_VI_diag_1_2_3_4": d("mahalanobis", VI=np.diag(w)),
        "wminkowski_p2_w_1_2_3_4_old_convention_(sum|w d|^p)^(1/p)": d("minkowski", p=2, w=w**2),
        "minkowski_p2_w_1_2_3_4_current_convention_(sum w|d|^p)^(1/p)": d("minkowski", p=2, w=w),
    }


@example(
    "stats601-and-slides/distance-table-boolean",
    kulsinski="SciPy has dropped this distance",
    sokalmichener="SciPy has dropped this second name of rogerstanimoto",
)
def _(given):
    u, v = np.array([given["u"]], bool), np.array([given["v"]], bool)
    names = "jaccard dice rogerstanimoto russellrao sokalsneath"
    distances = {name: cdist(u, v, name).item() for name in names.split()}
    return distances | {"hamming_matching": cdist(u, v, "hamming").item()}


@example("li-unsupervised/li-17.f1")
def _(given):
    texts = np.array(given["X"]).T
    return {"inner": texts @ texts.T, "cosine": cosine_similarity(texts)}


# Clusterings -----------------------------------------------------------------------------------


@example("stats601-and-slides/silhouette-small")
def _(given):
    X, z, single = given["X"], given["z"], given["z_with_singleton"]
    return {
        "s_euclidean": silhouette_samples(X, z),
        "mean_euclidean": silhouette_score(X, z),
        "mean_squared_euclidean": silhouette_score(X, z, metric="sqeuclidean"),
        "with_singleton_cluster": silhouette_samples(X, single),
        "mean_with_singleton": silhouette_score(X, single),
    }


@example("gong-xu/gx-3.nmi")
def _(given):
    a, b = given["C"], given["C2"]
    return {
        "MI_bits": mutual_info_score(a, b) / np.log(2),
        "H": [entropy(np.bincount(c), base=2) for c in (a, b)],
        "NMI": normalized_mutual_info_score(a, b, average_method="max"),
    }


@example("gong-xu/gx-9.word-mi")
def _(given):
    times = np.rint(100 * np.array(given["joint_w_by_h"])).astype(int).ravel()
    word, highlight = np.repeat([0, 0, 1, 1], times), np.repeat([0, 1, 0, 1], times)
    return {"MI": mutual_info_classif(word[:, None], highlight, discrete_features=True).item()}


# Information -----------------------------------------------------------------------------------


@example("stats601-and-slides/entropy-units")
def _(given):
    p = given["p"]
    return {"bit": entropy(p, base=2), "nat": entropy(p), "dit": entropy(p, base=10)}


@example(
    "stats601-and-slides/entropy-chain-and-mutual-information",
    as_printed_without_weight="what the misprinted formula would give",
)
def _(given):
    joint = np.array(given["joint_rows_x_cols_y"])
    x, y, xy = entropy(joint.sum(axis=1)), entropy(joint.sum(axis=0)), entropy(joint.ravel())
    return {
        "H(X)": x,
        "H(Y)": y,
        "H(X,Y)": xy,
        "H(Y|X)": xy - x,
        "H(X|Y)": xy - y,
        "I": mutual_info_score(None, None, contingency=np.rint(10 * joint)),
    }
