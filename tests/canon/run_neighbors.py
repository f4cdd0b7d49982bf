"""Nearest neighbours, and k-d trees with a point at each node."""

import numpy as np
from scipy.optimize import brentq
from scipy.spatial.distance import minkowski

from suffice.neighbors import KDTree, KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

from ._canon import example


@example("li-supervised/li-3.1")
def _(given):
    points = [given["x1"], given["x2"], given["x3"]]
    distances = {p: minkowski_rows(points, p) for p in given["p"]}
    return {
        "d12": {p: d[0] for p, d in distances.items()},
        "d13": {p: d[1] for p, d in distances.items()},
        "nearest": {p: ("x2", "x3")[nearest(points, p)] for p in given["p"]},
        "p_where_equal": brentq(lambda p: np.subtract(*minkowski_rows(points, p)), 1.0, 4.0),
    }


def minkowski_rows(points, p):
    """The distances of the first point from the others."""
    return [minkowski(points[0], other, float(p)) for other in points[1:]]


def nearest(points, p):
    """Which of the other points is nearest to the first."""
    search = NearestNeighbors(n_neighbors=1, p=float(p)).fit(points[1:])
    return search.kneighbors(points[:1])[1].item()


def tree_of(points):
    return KDTree.of(points, leaf_size=1)


@example("li-supervised/li-3.2")
def _(given):
    points = given["points"]

    def node(found):
        if found is None:
            return None
        if "rows" in found:
            return {"point": points[found["rows"][0]]}
        sides = {side: node(found[side]) for side in ("left", "right")}
        return {"point": points[found["row"]], "axis": found["axis"] + 1, "split": found["split"], **sides}

    return {"tree": node(tree_of(points).nodes())}


@example("li-supervised/li-3.3")
def _(given):
    names, points = list(given["points"]), list(given["points"].values())
    tree = tree_of(points)
    root = tree.nodes()
    order = [names[n] for n in tree.visited(given["query"])]
    distance, row = tree.query([given["query"]])
    right = root["right"]  # the side of the query, of which one child is visited
    leaves = [names[right[side]["rows"][0]] for side in ("left", "right")]
    return {
        "root": names[root["row"]],
        "children_of_root": [names[root[side]["row"]] for side in ("left", "right")],
        "first_leaf": order[0],
        "skipped_region": next(name for name in leaves if name not in order),
        "nearest": names[row.item()],
        "distance": distance.item(),
        "evaluation_order": order,
        "never_evaluated": [name for name in names if name not in order],
    }


@example("li-supervised/li-ex-3.2")
def _(given):
    points = given["points"]
    tree = tree_of(points)
    order = [points[n] for n in tree.visited(given["query"])]
    distance, row = tree.query([given["query"]])
    return {
        "nearest": points[row.item()],
        "distance": distance.item(),
        "evaluation_order": order,
        "never_evaluated": [point for point in points if point not in order],
    }


@example("li-supervised/li-ex-3.3")
def _(given):
    distance, row = tree_of(given["points"]).query([given["query"]], k=given["k"])
    return {"nearest": [given["points"][n] for n in row[0]], "distances": distance[0]}


@example("cs181/knn-regression-1d")
def _(given):
    X, y = np.array(given["x"])[:, None], given["y"]
    return [KNeighborsRegressor(K).fit(X, y).predict([[given["query"]]]).item() for K in given["K"]]


@example("cs181/knn-classification-1d")
def _(given):
    X, y = np.array(given["x"])[:, None], given["labels"]
    return [KNeighborsClassifier(K).fit(X, y).predict([[given["query"]]]).item() for K in given["K"]]
