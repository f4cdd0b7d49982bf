"""Hierarchical clustering by SciPy."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.special import stirling2

from ._canon import AnyOrder, example, given
from ._numeric import groups

LINKAGE = {"min": "single", "max": "complete", "average": "average", "centroid": "centroid"}


def column(values):
    return np.array(values, float)[:, None]


def members(Z):
    """The rows in each cluster: first the rows themselves, then the merges in their order."""
    clusters = [[n] for n in range(len(Z) + 1)]
    for left, right in Z[:, :2].astype(int):
        clusters.append(sorted(clusters[left] + clusters[right]))
    return clusters


def merges(Z, names):
    joined = ["".join(names[n] for n in rows) for rows in members(Z)]
    return [AnyOrder([joined[left], joined[right]]) for left, right in Z[:, :2].astype(int)]


@example("li-unsupervised/li-14.1")
def _(given):
    D = np.array(given["D"])
    Z = linkage(squareform(D), given["linkage"])
    clusters = members(Z)

    def distance(a, b):
        return D[np.ix_(clusters[a - 1], clusters[b - 1])].min()

    def distances(*pairs):
        return {f"D{a}{b}": distance(a, b) for a, b in pairs}

    return {
        "merges": [
            {
                "join": [f"G{int(n) + 1}" for n in sorted(row[:2])],
                "new": f"G{len(D) + step + 1}",
                "height": row[2],
                "members": np.array(clusters[len(D) + step]) + 1,
            }
            for step, row in enumerate(Z)
        ],
        "distances_after_merge1": distances((6, 1), (6, 2), (6, 4), (1, 2), (1, 4), (2, 4)),
        "distances_after_merge2": distances((7, 2), (7, 4), (2, 4)),
    }


@example("li-unsupervised/li-14.1-linkages")
def _(given):
    def of(method):
        Z = linkage(squareform(np.array(given["D"])), method)
        return {"heights": Z[:, 2], "two_classes": groups(fcluster(Z, 2, "maxclust"))}

    return {method: of(method) for method in ("complete", "average")}


@example("li-unsupervised/li-14.ex3")
def _(given):
    return {"S": [stirling2(n, k, exact=True) for n, k in given["pairs"]]}


@example("cs181/hac-number-line")
def _(given):
    Z = linkage(column(list(given["points"].values())), LINKAGE[given["linkage"]])
    return {"merges": merges(Z, list(given["points"])), "heights": Z[:, 2]}


@example("cs181/hac-number-line-all-linkages")
def _(given):
    return {name: linkage(column(given["points"]), LINKAGE[name])[:, 2] for name in LINKAGE}


@example("cs181/linkage-definitions")
def _(given):
    points = column(given["C"] + given["C_prime"])
    return {name: linkage(points, LINKAGE[name])[-1, 2] for name in LINKAGE}


@example("cs181/dendrogram-cut")
def _(case):
    points = given(f"cs181/{case['case']}")["points"]
    Z = linkage(column(list(points.values())), "single")

    def cut(height):
        return groups(fcluster(Z, height, "distance"))

    def named(height):
        return [[list(points)[n - 1] for n in cluster] for cluster in cut(height)]

    return {
        "clusters": [len(cut(height)) for height in case["cut_height"]],
        "labels_at_1.5": named(1.5),
        "labels_at_3": named(3),
    }


@example("cs181/dendrogram-figure")
def _(given):
    Z = linkage(given["condensed_distances_A_to_F"], LINKAGE[given["linkage"]])
    return {"heights": Z[:, 2], "merges": merges(Z, "ABCDEF")}


@example("cs181/linkage-changes-clustering")
def _(given):
    def renamed(labels):
        order = list(dict.fromkeys(labels.tolist()))
        return [1 + order.index(label) for label in labels]

    return {
        name: renamed(fcluster(linkage(column(given["points"]), LINKAGE[name]), 2, "maxclust"))
        for name in ("min", "max")
    }


@example("cs181/centroid-inversion")
def _(given):
    return {"heights": linkage(given["points"], "centroid")[:, 2]}


@example("stats601-and-slides/hierarchical-small")
def _(given):
    methods = ("single", "complete", "average", "centroid", "ward")
    return {method: linkage(column(given["x"]), method)[:, 2] for method in methods}
