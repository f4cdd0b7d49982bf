"""The loops of native/boosting.hpp in NumPy."""

import numpy as np

from suffice.loops.boosting import WEIGHT_IS_COLUMN, WEIGHT_IS_CURVATURE, value_of
from suffice.loops.trees import MISSING_LEFT, NO_SPLIT, NONE_MISSING, mixed


def add_entries(codes, rows, entry, hist):
    np.add.at(hist, (np.arange(codes.shape[1]), codes[rows].astype(np.int64)), entry[:, None])


def pack(g, h, gradient_unit, curvature_unit, lane, out):
    curvature = np.rint(h * curvature_unit).astype(np.int64) if len(h) else int(curvature_unit)
    out[:, 0] = (np.rint(g * gradient_unit).astype(np.int64) << lane) + curvature


def add_to_rows(rows, start, stop, value, k, score):
    for a, b, v in zip(start, stop, value, strict=True):
        score[rows[a:b], k] += v


def find_newton_split(hist, total, features, allowed, rules, limits, root, codes, rows):
    n_bins, categorical = features
    mode, least_h, _, smoothing, penalty = rules
    _, _, least_w, *_, cst = limits
    *_, low, high = root
    D, most = len(n_bins), int(n_bins.max(initial=0))
    if mode not in (WEIGHT_IS_CURVATURE, WEIGHT_IS_COLUMN):
        weight = np.zeros((D, hist.shape[1], 1), np.int64)
        np.add.at(weight, (np.arange(D), codes[rows].astype(np.int64)), 1)
        hist, mode = np.concatenate([hist, weight], axis=2), WEIGHT_IS_COLUMN
    part, places, d = hist[:, :most], {}, np.arange(D)
    for f in np.flatnonzero(categorical):
        n = n_bins[f]
        share = hist[f, :n, 1] / (hist[f, :n, 0] + smoothing)
        places[f] = np.argsort(share, kind="stable")
        part = part.copy() if len(places) == 1 else part
        part[f, :n] = hist[f, places[f]]
    missing = hist[d, n_bins]
    has_missing = missing[:, :2].any(axis=1)
    sides, last = np.cumsum(part, axis=1)[:, None], np.where(has_missing, n_bins, n_bins - 1)[:, None]
    if has_missing.any():  # (D, 2, B, C): missing on the right, the left
        sides = np.concatenate([sides, sides + missing[:, None, None]], axis=1)
        last = np.concatenate([last, np.where(has_missing, n_bins - 1, 0)[:, None]], axis=1)
    h, w = sides[..., 0], sides[..., 0 if mode == WEIGHT_IS_CURVATURE else 2]
    valid = (np.arange(most) < last[..., None]) & allowed[:, None, None]
    valid &= (h >= least_h) & (total[0] - h >= least_h) & (w >= least_w) & (total[2] - w >= least_w)
    feature, side, j = np.nonzero(valid)
    if not len(feature):
        return 0.0, NO_SPLIT, 0, NONE_MISSING, np.empty(0, np.int64)
    h, g = sides[feature, side, j, :2].T.astype(np.float64)
    total_h, total_g = float(total[0]), float(total[1])
    other_h, other_g = total_h - h, total_g - g
    cross = g * other_h - other_g * h
    x = cross * cross / (h * other_h * total_h)
    if penalty != 0.0 or low != -np.inf or high != np.inf or cst.any():
        parent = -value_of(total_g, total_h, penalty, low, high) * total_g
        a, b = (
            np.minimum(np.maximum(-s / (t + penalty), low), high) for s, t in ((g, h), (other_g, other_h))
        )
        bounded = np.where((b - a) * cst[feature] < 0.0, -1.0, -(a * g) - b * other_g - parent)
        plain = penalty == 0.0 and low == -np.inf and high == np.inf
        x = np.where(plain & (cst[feature] == 0), x, bounded)
    best = x.argmax()
    if not x[best] > 0.0:
        return 0.0, NO_SPLIT, 0, NONE_MISSING, np.empty(0, np.int64)
    f, first = feature[best], j[best]
    left = places[f][: first + 1].copy() if categorical[f] else np.empty(0, np.int64)
    return x[best], f, first, side[best] if has_missing[f] else NONE_MISSING, left


def grow_newton(codes, columns, rows, entry, lane, features, groups, rules, limits, threads, least_shared):
    n_bins, categorical = features
    mode, least_h, _, _, penalty = rules
    max_depth, least_split, least_w, _, max_features, max_leaves, _, key, cst = limits
    D, counted = codes.shape[1], mode not in (WEIGHT_IS_CURVATURE, WEIGHT_IS_COLUMN)
    apart = np.concatenate([entry & ((1 << lane) - 1), entry >> lane], axis=1) if lane else entry
    nodes, open_nodes = [], []

    def described(own, **more):
        part = apart[own]
        sums = part.sum(axis=0)
        weight = len(own) if counted else sums[0 if mode == WEIGHT_IS_CURVATURE else 2]
        node = {"own": own, "sums": np.array([*sums[:2], weight]), "children": (-1, -1), **more}
        node["split"] = best = 0.0, NO_SPLIT, 0, NONE_MISSING, np.empty(0, np.int64)
        if (
            node["depth"] < max_depth
            and weight >= max(2 * least_w, least_split)
            and sums[0] >= 2 * least_h
            and len(nodes) + 3 < 2 * (max_leaves or np.inf)
        ):
            hist = np.zeros((D, 256, apart.shape[1]), np.int64)
            add_entries(codes, rows[own], part, hist)
            root = 0, 0, *node["bounds"]
            of_node = node["sums"], features, candidates(node), rules, limits, root
            best = find_newton_split(hist, *of_node, codes, rows[own])
        nodes.append(node)
        if best[1] != NO_SPLIT:
            node["split"] = best
            open_nodes.append((-best[0], node["key"], len(nodes) - 1))

    def candidates(node):
        allowed = np.ones(D, bool)
        if len(groups):
            allowed = groups[groups[:, node["path"]].all(axis=1)].any(axis=0)
        if max_features < D:
            with np.errstate(over="ignore"):
                draw = mixed(np.uint64(node["key"]) + np.arange(D, dtype=np.uint64))
            found = np.flatnonzero(allowed)
            found = found[np.argsort(draw[found])][: -(-max_features * len(found) // D)]
            allowed = np.isin(np.arange(D), found)
        return allowed

    def go_left(node):
        _, d, edge, side, left = node["split"]
        goes = np.isin(np.arange(256), left) if categorical[d] else np.arange(256) <= edge
        goes[n_bins[d]] = side == MISSING_LEFT
        return goes[codes[rows[node["own"]], d]]

    described(np.arange(len(rows)), depth=0, key=key, bounds=(-np.inf, np.inf), path=[])
    for _ in range((max_leaves or len(rows) + 1) - 1):
        if not open_nodes:
            break
        t = min(open_nodes)[2]
        open_nodes.remove(min(open_nodes))
        node, left = nodes[t], go_left(nodes[t])
        d, bounds = node["split"][1], [node["bounds"], node["bounds"]]
        sides = [node["own"][left], node["own"][~left]]
        if cst[d]:
            between = 0.5 * sum(
                value_of(float(g), float(h), penalty, *node["bounds"])
                for h, g in (apart[own].sum(axis=0)[:2] for own in sides)
            )
            bounds = [(node["bounds"][0], between), (between, node["bounds"][1])][:: cst[d]]
        node["children"] = len(nodes), len(nodes) + 1
        for s, own in enumerate(sides):
            with np.errstate(over="ignore"):
                child = int(mixed(np.uint64(node["key"] ^ (s + 1))))
            path = [*node["path"], d]
            described(own, depth=node["depth"] + 1, key=child, bounds=bounds[s], path=path)
    leaves, order = [], [0]
    while order:
        node = nodes[order.pop()]
        if node["children"][0] < 0:
            node["split"] = (node["split"][0], NO_SPLIT, *node["split"][2:])
            leaves.append(node["own"])
        else:
            order += node["children"][::-1]
    gain, feature, edge, side, left = zip(*(node["split"] for node in nodes), strict=True)
    sizes = np.array([len(x) for x in left])
    own, stop = np.concatenate(leaves), np.cumsum(sizes)
    place = np.argsort(own)
    start = [int(place[node["own"]].min(initial=len(own))) for node in nodes]
    span = [(a, a + len(node["own"])) for a, node in zip(start, nodes, strict=True)]
    return (
        np.array(feature), np.array([node["children"] for node in nodes]),
        np.array(edge)[:, None] + np.arange(2), np.array(side), np.array([node["sums"] for node in nodes]),
        np.zeros(len(nodes), bool), np.array(gain), np.array([node["key"] for node in nodes], np.uint64),
        np.array([node["bounds"] for node in nodes]), stop - sizes, stop, np.concatenate(left),
        np.array(span), rows[own],
    )  # fmt: skip
