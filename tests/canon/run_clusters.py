"""Clusters beyond k-means: medoids, splits, cuts of graphs, fusion, the number of clusters."""

from itertools import pairwise

import numpy as np
from scipy.spatial import distance
from scipy.spatial.distance import cdist
from sklearn.base import clone

from suffice.cluster import (
    AgglomerativeClustering,
    DivisiveClustering,
    FusionClustering,
    KCentroids,
    KernelKMeans,
    KMeans,
    KMedoids,
    SpectralClustering,
    choose_k,
    describe_clusters,
    dissimilarity,
    graph_cut,
    normalized_cut_weights,
    sums_of_squares,
)
from suffice.kernels import RBF, Linear

from ._canon import UpToSign, example
from ._numeric import column, groups
from .run_kmeans import X6


def leaves_of(model, node):
    """The rows under a node of a tree of splits."""
    parent = {child: up for up, *children in model.splits_.tolist() for child in children}

    def above(n):
        while n in parent and n != node:
            n = parent[n]
        return n

    return [i for i, n in enumerate(model.nodes_.tolist()) if above(n) == node]


@example("li-unsupervised/li-14.ex1")
def _(given):
    D = np.array(given["D"], float)
    model = DivisiveClustering(None, metric="precomputed").fit(D)
    splits = []
    for (node, *children), seeds, diameter in zip(
        model.splits_.tolist(), model.seeds_, model.diameters_, strict=True
    ):
        splits.append(
            {
                "parent": [n + 1 for n in leaves_of(model, node)],
                "seeds": seeds + 1,
                "diameter": diameter,
                "children": [[n + 1 for n in leaves_of(model, child)] for child in children],
            }
        )
    return {"splits": splits}


@example("stats601-and-slides/hierarchical-divisive")
def _(given):
    X = np.random.default_rng(0).normal(size=(15, 2))
    fits = [DivisiveClustering(k).fit(X).labels_ for k in range(1, 16)]
    refined = all(len(set(zip(a, b, strict=True))) == len(set(b)) for a, b in pairwise(fits))
    return refined and len(DivisiveClustering(None).fit(X).splits_) == 14 and len(set(fits[-1])) == 15


@example("cs181/kmeans-other-metric")
def _(given):
    X = column(given["cluster"])
    of = {m: KCentroids(1, metric=m, random_state=0).fit(X) for m in ("manhattan", "sqeuclidean")}
    return {
        "L1_centre": of["manhattan"].cluster_centers_.item(),
        "L2_centre": of["sqeuclidean"].cluster_centers_.item(),
    }


@example("cs181/kmeans-loss-by-size")
def _(given):
    found = choose_k(KMeans(n_init=60, random_state=0), X6, given["C"])
    return {
        "optimal_loss": [float(f"{loss:.10g}") for loss in found.inertia_]
    }  # as many digits as are printed


@example("li-unsupervised/li-14.2-k")
def _(given):
    X, names = np.array(given["X"], float).T, np.arange(1, 6)
    k_means = KMeans(n_init=60, random_state=0)
    found = choose_k(k_means, X, given["k_values"], criterion="diameter")
    best = {k: groups(clone(k_means).set_params(n_clusters=k).fit(X).labels_) for k in (2, 3, 4)}
    tree = AgglomerativeClustering(2, linkage="complete").fit(X)
    centers = describe_clusters(X, tree.labels_).centers
    away = _from_centers(X, tree.labels_, centers)
    near = [names[tree.labels_ == k][d == d.min()] for k, d in enumerate(away)]
    return {
        "average_diameter": found.diameter_,
        "best_energy": found.inertia_,
        "best_partitions": {f"k{k}": parts for k, parts in best.items()},
        "hierarchical_start_k2": {
            "classes": groups(tree.labels_),
            "start_of_class1": near[0].item(),
            "start_of_class2": " or ".join(map(str, near[1])) + " (tie)",
        },
    }


def _from_centers(X, labels, centers):
    return [((X[labels == k] - center) ** 2).sum(axis=1).round(12) for k, center in enumerate(centers)]


@example("li-unsupervised/li-14.dist")
def _(given):
    X = np.array(given["X"], float).T
    p, q = (np.array(given[name]) - 1 for name in ("G_p", "G_q"))
    a, b = X[np.array(given["pair"]) - 1]
    labels = np.isin(np.arange(5), q).astype(int)
    of_p = describe_clusters(X[p], np.zeros(3))
    covariance = describe_clusters(X, np.zeros(5)).covariances[0]
    last = {}
    for how in ("single", "complete", "average", "centroid"):
        model = AgglomerativeClustering(2, linkage=how).fit(X)
        assert groups(model.labels_) == groups(labels)
        last[how] = model.distances_[-1]
    return {
        **{name: last[name] for name in ("single", "complete", "average")},
        "center": last["centroid"],
        "euclidean": distance.euclidean(a, b),
        "manhattan": distance.cityblock(a, b),
        "chebyshev": distance.chebyshev(a, b),
        "minkowski_p3": distance.minkowski(a, b, 3),
        "covariance": covariance,
        "mahalanobis": distance.mahalanobis(a, b, np.linalg.inv(covariance)),
        "center_p": of_p.centers[0],
        "diameter_p": of_p.diameters[0],
        "scatter_p": of_p.scatters[0],
        "covariance_p": of_p.covariances[0],
    }


@example("gong-xu/gx-3.criteria")
def _(given):
    A, labels = np.array(given["A"], float), np.array(given["labels"])
    short = {"AW": "average-weight", "RC": "ratio-cut", "NC": "normalized-cut", "MMC": "min-max-cut"}
    found = {name: graph_cut(A, labels, criterion=c) for name, c in short.items()}
    bounds = {}
    for name, criterion in short.items():
        model = SpectralClustering(2, affinity="precomputed", criterion=criterion, random_state=0).fit(A)
        bounds[f"{name}_{'upper' if name == 'AW' else 'lower'}_bound"] = model.bound_
    others = [[(n >> i) & 1 for i in range(6)] for n in range(1, 32)]
    best = all(
        (graph_cut(A, other, criterion=c) - found[name]) * (-1 if name == "AW" else 1) >= -1e-12
        for name, c in short.items()
        for other in others
    )
    degrees = 1.0 / normalized_cut_weights(A)
    return {**found, **bounds, "degrees": degrees, "optimal_for_all_four": best}


@example("cs181/k-medoids-update")
def _(given):
    names = np.array(list("ABCDEF"))
    red, green = (np.isin(names, given["clusters"][c]) for c in ("Red", "Green"))
    sums = cdist(X6[red], X6[red]).sum(axis=1)
    of = {name: KMedoids(1, random_state=0).fit(X6[rows]) for name, rows in (("red", red), ("green", green))}
    assert np.isclose(of["red"].inertia_, sums.min())
    found = names[green][of["green"].medoid_indices_[0]]
    tied = np.ptp(cdist(X6[green], X6[green]).sum(axis=1)) == 0
    return {
        "distance_sums_red": dict(zip(names[red], sums, strict=True)),
        "medoid_red": names[red][of["red"].medoid_indices_[0]],
        "medoid_green": "C or E (tie)" if tied and found in "CE" else found,
    }


@example("gong-xu/gx-3.spectral-nc")
def _(given):
    A = np.array(given["A"], float)
    full = SpectralClustering(given["K"], affinity="precomputed", n_components=6, random_state=0).fit(A)
    model = SpectralClustering(given["K"], affinity="precomputed", random_state=0).fit(A)
    mixed = SpectralClustering(
        given["K"], affinity="precomputed", criterion="min-max-cut", random_state=0
    ).fit(A)
    assert groups(mixed.labels_) == groups(model.labels_)
    labels = np.array([0] * len(A))
    for k, members in enumerate(groups(model.labels_)):
        labels[np.array(members) - 1] = k
    return {
        "eigenvalues_desc": full.eigenvalues_,
        "second_eigenvector_up_to_sign": UpToSign(full.model_.embedding.vectors[:, 1]),
        "labels_up_to_permutation": labels,
        "mmc_rotated_quotients": np.full(2, mixed.eigenvalues_.mean()),
    }


@example("stats601-and-slides/weighted-dissimilarity")
def _(given):
    rows = [np.array([given[x]], dtype=object) for x in ("x_i", "x_j")]
    return {"D": dissimilarity(*rows, kinds=given["d"], weights=given["w"]).item()}


@example("stats601-and-slides/kmeans-sums-of-squares")
def _(given):
    X, z = np.array(given["X"]), given["z"]
    sums, pairs = sums_of_squares(X, z), sums_of_squares(X, z, metric="sqeuclidean")
    return {
        "W_centroid_form": sums.within,
        "W_pairwise_form": pairs.within,
        "B": sums.between,
        "T": sums.total,
        "centroids": KMeans(2, init=X[[0, 3]], n_init=1).fit(X).cluster_centers_,
    }


@example("stats601-and-slides/elbow-monotone")
def _(given):
    X = np.random.default_rng(0).normal(size=(8, 2))[[0, 1, 2, 3, 4, 5, 6, 7, 0, 3]]
    loss = choose_k(KMeans(n_init=100, random_state=0), X, range(1, 9)).inertia_
    return bool((np.diff(loss) <= 1e-9).all() and loss[-1] < 1e-9 < loss[-2])


@example("stats601-and-slides/gap-statistic-rule")
def _(given):
    rng = np.random.default_rng(0)
    planted = np.concatenate([rng.normal(m, 0.5, (40, 2)) for m in ([0, 0], [6, 0], [0, 6], [6, 6])])
    found = choose_k(KMeans(random_state=0, n_init=5), planted, range(1, 8), criterion="gap")
    flat = choose_k(KMeans(random_state=0, n_init=5), rng.random((200, 2)), range(1, 6), criterion="gap")
    rule = found.gap_[:-1] >= found.gap_[1:] - found.gap_std_[1:]
    return found.k_ == 4 == 1 + int(rule.argmax()) and flat.k_ == 1


@example("stats601-and-slides/l0-fusion-three-points")
def _(given):
    X = column(given["x"])
    path = FusionClustering(1.0, penalty="l0").fit(X).path_
    one, two = (FusionClustering(a, penalty="l0").fit(X) for a in (10.0, 2.0))
    assert one.n_clusters_ == 1 and two.n_clusters_ == 2
    pairs = FusionClustering(3.0, penalty="l0").fit(X).objective_ - two.objective_
    below = np.nextafter(path, 0.0)
    counts = [FusionClustering(a, penalty="l0").fit(X).n_clusters_ for a in (*below, *path)]
    assert counts == [3, 2, 2, 1]
    return {
        "separate_while_lambda_below": below[0],
        "two_clusters_while_lambda_below": below[1],
        "objective_one_cluster": one.objective_,
        "objective_two_clusters": f"{two.objective_ - 2.0 * pairs:g} + {pairs:g} lambda",
    }


@example("stats601-and-slides/fusion-two-points")
def _(given):
    X = column(given["x"])

    def centers(alpha, penalty="l2"):
        return FusionClustering(alpha, penalty=penalty).fit(X).centers_.ravel()

    np.testing.assert_allclose(centers(1.0, "l1"), centers(1.0), atol=1e-6)
    merged = FusionClustering(10.0, penalty="l0").fit(X)
    apart = FusionClustering(3.0, penalty="l0").fit(X)
    edge = [np.ptp(centers(a, "l1")) for a in (1.999, 2.0)]
    return {
        "convex_mu_at_0": centers(0.0),
        "convex_mu_at_1": centers(1.0),
        "convex_mu_at_5": centers(5.0),
        "convex_merge_threshold": 2.0 if edge[0] > 0 == edge[1] else None,
        "l0_merge_threshold": merged.path_[0],
        "l0_objective_merged": merged.objective_,
        "l0_objective_separate_at_3": apart.objective_,
    }


@example("stats601-and-slides/convex-clustering-path")
def _(given):
    X = np.random.default_rng(0).normal(size=(12, 2)) + 3.0
    mean = X.mean(axis=0)
    for penalty in ("l1", "l2"):
        path = [FusionClustering(a, penalty=penalty).fit(X).centers_ for a in (0.0, 0.05, 0.2, 10.0)]
        np.testing.assert_allclose([c.mean(axis=0) for c in path], [mean] * 4, atol=1e-9)
        np.testing.assert_allclose(path[0], X, atol=1e-9)
        np.testing.assert_allclose(path[-1], np.tile(mean, (12, 1)), atol=1e-3)
    return True


@example("stats601-and-slides/kernel-kmeans-distance")
def _(given):
    X = np.array(given["X"])

    def distances(kernel):
        model = KernelKMeans(2, kernel=kernel, random_state=0).fit(X)
        assert groups(model.labels_) == groups(given["z"])
        order = [model.labels_[0], model.labels_[-1]]
        phi = model.model_.landmarks.features(X)
        center = model.model_.linear.center[order]
        return ((phi[:, None] - center) ** 2).sum(axis=2), model.inertia_, phi

    linear, _, _ = distances(Linear())
    gaussian, loss, phi = distances(RBF(gamma=1.0 / 8.0))
    return {
        "linear_kernel_distances": linear,
        "gaussian_distances": gaussian,
        "gaussian_objective": loss,
        "gaussian_pair_distance_1_2": ((phi[0] - phi[1]) ** 2).sum(),
    }
