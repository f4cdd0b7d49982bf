"""The loops of native/neighbors.hpp in NumPy and in Python."""

import numpy as np


def distances_of(X, queries, p):
    out = np.zeros((len(queries), len(X)))
    for d in range(X.shape[1]):
        y = np.abs(X[:, d] - queries[:, d, None])
        if p == np.inf:
            np.maximum(out, y, out=out)
        else:
            out += y if p == 1.0 else y * y if p == 2.0 else y**p
    return out


def nearest_of_all(X, first, weight, queries, p, best, rows, votes):
    K, copies = best.shape[1], np.ceil(weight).astype(np.int64)
    row = np.repeat(np.arange(len(X)), copies)
    number = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    vote = np.minimum(weight[row] - number, 1.0)
    distance = distances_of(X, queries, p)[:, row]
    found = (
        np.concatenate([best, distance], axis=1),
        np.concatenate([rows, np.broadcast_to(first + row, distance.shape)], axis=1),
        np.concatenate([votes, np.broadcast_to(vote, distance.shape)], axis=1),
    )
    nearest = np.argsort(found[0], axis=1, kind="stable")[:, :K]
    for out, values in zip((best, rows, votes), found, strict=True):
        out[:] = np.take_along_axis(values, nearest, axis=1)


def nearest_of_products(products, half, X, first, weight, queries, norm, slack, best, rows, votes):
    nearest_of_all(X, first, weight, queries, 2.0, best, rows, votes)


def build_tree(X, leaf_size):
    N, D = X.shape
    order, axis = np.arange(N), np.full(N, -1)
    stack = np.empty((128, 2), np.int64)
    stack[0, 0], stack[0, 1] = 0, N
    depth = 1
    while depth:
        depth -= 1
        lo, hi = stack[depth, 0], stack[depth, 1]
        if hi - lo <= leaf_size:
            continue
        widest, at = -1.0, 0
        for d in range(D):
            low, high = X[order[lo], d], X[order[lo], d]
            for i in range(lo, hi):
                x = X[order[i], d]
                low, high = min(low, x), max(high, x)
            if high - low > widest:
                widest, at = high - low, d
        mid = (lo + hi) // 2
        left, right = lo, hi - 1
        while left < right:  # quickselect
            pivot = X[order[(left + right) // 2], at]
            i, j = left, right
            while i <= j:
                while X[order[i], at] < pivot:
                    i += 1
                while X[order[j], at] > pivot:
                    j -= 1
                if i <= j:
                    order[i], order[j] = order[j], order[i]
                    i, j = i + 1, j - 1
            if mid <= j:
                right = j
            elif mid >= i:
                left = i
            else:
                break
        axis[mid] = at
        stack[depth, 0], stack[depth, 1] = lo, mid
        stack[depth + 1, 0], stack[depth + 1, 1] = mid + 1, hi
        depth += 2
    return order, axis


def term(difference, p):
    if p == 2.0:
        return difference * difference
    if p == 1.0 or p == np.inf:
        return abs(difference)
    return abs(difference) ** p


def insert(distance, row, weight, best, rows, votes):
    last = len(best) - 1
    while weight > 0.0 and (distance < best[last] or (distance == best[last] and row < rows[last])):
        at = last
        while at > 0 and (distance < best[at - 1] or (distance == best[at - 1] and row < rows[at - 1])):
            best[at], rows[at], votes[at] = best[at - 1], rows[at - 1], votes[at - 1]
            at -= 1
        best[at], rows[at], votes[at] = distance, row, min(weight, 1.0)
        weight -= 1.0


def nearest_in_tree(points, order, axis, leaf_size, weight, queries, p, best, rows, votes, visited):
    D, N = points.shape
    stack = np.empty((256, 4), np.int64)  # (lo, hi, node, axis); if lo < 0, the offset to restore
    kept = np.empty((256, 2))  # of the cell: its distance and the offset along the axis
    offset, count = np.empty(D), 0
    for q in range(len(queries)):
        query = queries[q]
        offset[:] = 0.0
        lo, hi, bound, depth, count = 0, N, 0.0, 0, 0
        while True:
            while hi - lo > leaf_size:
                mid = (lo + hi) // 2
                d = axis[mid]
                stack[depth, 2], stack[depth, 3], kept[depth, 0] = mid, d, bound
                if query[d] < points[d, mid]:
                    stack[depth, 0], stack[depth, 1] = mid + 1, hi
                    hi = mid
                else:
                    stack[depth, 0], stack[depth, 1] = lo, mid
                    lo = mid + 1
                depth += 1
            if hi > lo:
                distance = distances_of(points[:, lo:hi].T, query[None], p)[0]
                for i in range(hi - lo):
                    if distance[i] <= best[q, -1]:
                        insert(distance[i], order[lo + i], weight[lo + i], best[q], rows[q], votes[q])
                    if len(visited):
                        visited[count + i] = lo + i
                count += hi - lo
            found = False
            while depth and not found:
                depth -= 1
                if stack[depth, 0] < 0:
                    offset[stack[depth, 3]] = kept[depth, 1]
                    continue
                lo, hi, mid, d, bound = (
                    stack[depth, 0],
                    stack[depth, 1],
                    stack[depth, 2],
                    stack[depth, 3],
                    kept[depth, 0],
                )
                total = 0.0
                for e in range(D):
                    y = term(points[e, mid] - query[e], p)
                    total = max(total, y) if p == np.inf else total + y
                if total <= best[q, -1]:
                    insert(total, order[mid], weight[mid], best[q], rows[q], votes[q])
                if len(visited):
                    visited[count] = mid
                count += 1
                if lo < hi:
                    beyond = term(points[d, mid] - query[d], p)
                    bound = max(bound, beyond) if p == np.inf else bound + (beyond - offset[d])
                    if bound * (1.0 - 1e-12) <= best[q, -1]:  # its rounding error is less
                        stack[depth, 0], stack[depth, 3], kept[depth, 1] = -1, d, offset[d]
                        offset[d] = beyond
                        depth += 1
                        found = True
            if not found:
                break
    return count
