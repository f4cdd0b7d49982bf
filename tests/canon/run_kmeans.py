"""k-means: steps, starts, seeding."""

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from suffice.cluster import KMeans
from suffice.families import Mixture, SphericalGaussian

from ._canon import example, given
from ._numeric import column, groups, stopped


def at(centers):
    """k-means with these centres: fitted to nothing but them."""
    return KMeans(len(centers), init=np.array(centers, float), n_init=1).fit(np.array(centers, float))


def after(n, X, centers, **options):
    """k-means after n updates of the centres."""
    if n == 0:
        return at(centers)
    model = KMeans(len(centers), init=np.array(centers, float), n_init=1, max_iter=n, tol=0)
    return stopped(model, np.array(X, float), **options)


# Li, ch. 13 and 14 -----------------------------------------------------------------------------


@example("li-unsupervised/li-13.t1")
def _(given):
    X, names = np.array(given["X"], float).T, np.array(given["samples"])
    pairs = [(i, j) for i in range(len(X)) for j in range(i)]
    fits = [after(100, X, X[list(pair)]) for pair in pairs]
    assert all(groups(f.labels_) == groups(fits[0].labels_) for f in fits)
    order = list(dict.fromkeys(fits[0].labels_.tolist()))
    return {
        "classes": [list(names[np.array(g) - 1]) for g in groups(fits[0].labels_)],
        "centers": fits[0].cluster_centers_[order],
        "energy": fits[0].inertia_,
    }


@example("li-unsupervised/li-14.2", "li-unsupervised/li-14.2-init")
def _(given):
    X, start = np.array(given["X"], float).T, given["init_centers"]
    first, last = after(1, X, start), after(100, X, start)
    found = {
        "partition1": groups(at(start).predict(X)),
        "centers1": first.cluster_centers_,
        "partition_final": groups(last.labels_),
        "energy": last.inertia_,
    }
    if start[1] == [0, 0]:
        squares = at(start).transform(X) ** 2
        found["sqdist_to_centers"] = {f"x{n + 1}": squares[n] for n in (2, 3, 4)}
    return found


# CS181, example 6.1 ----------------------------------------------------------------------------

POINTS = given("cs181/lloyd-converged")["points"]
X6 = np.array(list(POINTS.values()))
START = given("cs181/lloyd-converged")["initial_centres"]
COLOURS = np.array(["Red", "Green"])


def table(model, X=X6):
    return {"distance_red": model.transform(X)[:, 0], "distance_green": model.transform(X)[:, 1]}


@example("cs181/lloyd-first-assignment")
def _(given):
    X = np.array(list(given["points"].values()))
    model = at([given["points"][name] for name in given["centres"].values()])
    return table(model, X) | {"assignment": COLOURS[model.predict(X)], "loss": -model.score(X)}


@example("cs181/lloyd-first-update")
def _(given):
    model = after(1, X6, START)
    assert list(COLOURS[at(START).predict(X6)]) == given["assignment"]
    red, green = model.cluster_centers_
    return table(model) | {
        "Red": red,
        "Green": green,
        "next_assignment": COLOURS[model.predict(X6)],
        "loss_after_reassignment": -model.score(X6),
    }


@example("cs181/lloyd-converged")
def _(given):
    centers = given["initial_centres"]
    model = after(100, X6, centers)
    updates = 1
    while not np.allclose(after(updates, X6, centers).cluster_centers_, model.cluster_centers_):
        updates += 1
    red, green = model.cluster_centers_
    return table(model) | {
        "centres": {"Red": red, "Green": green},
        "assignment": COLOURS[model.labels_],
        "loss": model.inertia_,
        "centre_updates": updates,
    }


@example("cs181/lloyd-monotone")
def _(_given):
    losses, model = {}, at(START)
    for n in (1, 2):
        labels = model.predict(X6)
        losses[f"after_assign_{n}"] = -model.score(X6)
        model = after(n, X6, START)
        losses[f"after_update_{n}"] = np.sum((X6 - model.cluster_centers_[labels]) ** 2)
    assert np.all(np.diff(list(losses.values())) <= 0)
    return losses


@example("cs181/kmeans-2-global")
def _(given):
    many = KMeans(given["C"], n_init=50, random_state=0).fit(X6)
    return {"global_optimum": many.inertia_, "lloyd_from_B_F": after(100, X6, START).inertia_}


@example("cs181/kmeans-bad-start")
def _(given):
    X = np.array(given["points"], float)
    stuck = after(100, X, given["initial_centres"])
    return {
        "loss_reached": stuck.inertia_,
        "centres": stuck.cluster_centers_,
        "global_loss": KMeans(2, n_init=20, random_state=0).fit(X).inertia_,
    }


@example("cs181/cluster-one-hot")
def _(given):
    labels = after(100, X6, START).labels_
    assert list(labels) == given["labels"]
    nearest = after(100, X6, START).transform(X6).argmin(axis=1)
    assert list(nearest) == given["labels"]
    return OneHotEncoder(sparse_output=False).fit_transform(column(labels))


# Seeding ---------------------------------------------------------------------------------------


def draw(X, chosen):
    """Squared distances to the nearest centre so far, and the chances of the next."""
    squares = at(chosen).transform(np.array(X, float)).min(axis=1) ** 2
    return squares, squares / squares.sum()


@example("cs181/kmeanspp-probabilities")
def _(given):
    squares, chance = draw(X6, [POINTS[name] for name in given["chosen"]])
    return {"squared_distances": squares, "probabilities": chance}


@example("cs181/kmeanspp-probabilities-second")
def _(given):
    squares, chance = draw(X6, [POINTS[name] for name in given["chosen"]])
    return {"squared_distances_to_nearest": squares, "probabilities": chance}


@example("stats601-and-slides/kmeans-plus-plus-probabilities")
def _(given):
    _, chance = draw(column(given["x"]), [[given["first_centre"]]])
    return {"probability_of_second_centre": chance}


# STATS 601, ch. 6 ------------------------------------------------------------------------------


@example("stats601-and-slides/kmeans-trace")
def _(given):
    X, start, rounds = np.array(given["X"]), given["initial_centroids"], []
    model = at(start)
    for n in (1, 2, 3):
        labels = model.predict(X)
        model = after(n, X, start)
        wss = np.sum((X - model.cluster_centers_[labels]) ** 2)
        rounds.append({"labels": labels, "centroids": model.cluster_centers_, "wss": wss})
    return {"iterations": rounds}


@example("stats601-and-slides/kmeans-restarts")
def _(_given):
    X = np.random.default_rng(0).normal(size=(12, 2))
    total = np.sum((X - X.mean(axis=0)) ** 2)

    def inertia(k, seed):
        return KMeans(k, n_init=1, random_state=seed).fit(X).inertia_

    best = np.minimum.accumulate([inertia(4, seed) for seed in range(10)])
    return bool(
        np.all(np.diff(best) <= 0)
        and KMeans(4, n_init=10, random_state=0).fit(X).inertia_ <= best[0] + 1e-9
        and np.isclose(inertia(len(X), 0), 0, atol=1e-9)
        and np.isclose(inertia(1, 0), total, atol=1e-9)
    )


# Gong and Xu, ch. 3 ----------------------------------------------------------------------------


@example("gong-xu/gx-3.kmeans-aw")
def _(given):
    X, labels = np.array(given["X"], float), np.array(given["labels"])
    clusters = [X[labels == k] for k in np.unique(labels)]
    return {
        "F_KM": sum(KMeans(1, n_init=1).fit(C).inertia_ for C in clusters),
        "sum_squares": np.sum(X**2),
        "F_AW": sum(np.sum(C @ C.T) / len(C) for C in clusters),
    }


@example("gong-xu/gx-p3.6")
def _(given):
    A = np.array(given["A"], float)
    d, N = A.sum(axis=1), len(A)
    # Rows whose inner products are the kernel plus c on the diagonal, rescaled: c (N - K) more.
    c = 2.0
    values, vectors = np.linalg.eigh((A + c * np.diag(d)) / np.outer(d, d))
    assert values.min() > -1e-12
    X = vectors * np.sqrt(np.maximum(values, 0))

    def weighted(labels):
        parts = [labels == k for k in np.unique(labels)]
        inertia = [KMeans(1, n_init=1).fit(X[p], sample_weight=d[p]).inertia_ for p in parts]
        cut = [A[p][:, ~p].sum() / d[p].sum() for p in parts]
        return sum(inertia) - c * (N - len(parts)), sum(cut)

    J, NC = np.transpose([weighted(np.array(labels)) for labels in given["labelings"]])
    return {"J": J, "NC": NC, "identity": np.allclose(J, NC - 2 + np.sum(np.diag(A) / d))}


@example("gong-xu/gx-p3.10")
def _(given):
    def run(n, seed):
        rng = np.random.default_rng(seed)
        truth = np.arange(n) < n // 2
        X = rng.standard_normal((n, given["dimension"]), dtype=np.float32)
        X[:, 0] += np.where(truth, 5, -5)
        part = rng.permutation(n) < n // 2
        start = np.stack([X[part].mean(axis=0), X[~part].mean(axis=0)])
        model = stopped(KMeans(2, init=start, n_init=1, max_iter=50), X)
        side = model.labels_ == 0
        moved = np.any(side != part)
        return max(np.mean(side == truth), np.mean(side != truth)), moved

    runs = {n: [run(n, seed) for seed in range(given["seeds"])] for n in given["n_total"]}
    return {
        "mean_accuracy_approx": [np.mean([a for a, _ in runs[n]]) for n in runs],
        "iterations_moved_for_n<=200": sum(moved for n in runs if n <= 200 for _, moved in runs[n]),
    }


@example("cs181/hard-em-is-kmeans")
def _(_given):
    X, centers = X6, np.array(START, float)
    for n in (1, 2, 3):
        round_ones = SphericalGaussian(centers, np.ones(2))
        soft = Mixture(np.full(2, 0.5), round_ones).predict_proba(X)
        hard = np.eye(2)[soft.argmax(axis=1)]
        centers = round_ones.estimate(round_ones.summarize(X, hard)).mean
        same_labels = soft.argmax(axis=1) == after(n - 1, X, START).predict(X)
        same_centers = abs(centers - after(n, X, START).cluster_centers_) <= 1e-10
        if not (same_labels.all() and same_centers.all()):
            return False
    return True
