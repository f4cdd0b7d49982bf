"""The nearest rows of queries: by comparison with all rows, and by a k-d tree.

A distance is a sum over features, one after the other, of squares (p = 2), of absolute differences (p = 1) or
of powers, or the largest difference (p = inf). No sum is reordered, so that a distance has the same bits in
every loop of this module. Candidates have keys (distance, row): of rows at the same distance, earlier rows
are nearer. A row of weight w is a candidate ceil(w) times: each counts one, and the last one the rest.
"""

from __future__ import annotations

import numpy as np

from .compiled import MOST_VISITS, compiled

TILE = 256  # rows whose distances from a query are computed together
RUN = 64  # rows that are compared with a limit at once, in lanes: the tiles are multiples of it

jit = compiled()


@jit
def term(difference, p):
    """What one feature adds to a distance."""
    if p == 2.0:
        return difference * difference
    if p == 1.0 or p == np.inf:
        return abs(difference)
    return abs(difference) ** p


@jit
def distances(points, start, n, query, p, out):
    """out[i] = the distance, before the root, of points[:, start + i] from the query, for n points."""
    stop, D = start + n, len(query)
    out[:n] = 0.0
    if p == 2.0:
        for d in range(0, D - D % 4, 4):  # four features at a time touch `out` less often
            x0, x1 = points[d][start:stop], points[d + 1][start:stop]
            x2, x3 = points[d + 2][start:stop], points[d + 3][start:stop]
            q0, q1, q2, q3 = query[d], query[d + 1], query[d + 2], query[d + 3]
            for i in range(n):
                y0, y1, y2, y3 = x0[i] - q0, x1[i] - q1, x2[i] - q2, x3[i] - q3
                out[i] = (((out[i] + y0 * y0) + y1 * y1) + y2 * y2) + y3 * y3
        for d in range(D - D % 4, D):
            x, q = points[d][start:stop], query[d]
            for i in range(n):
                out[i] += (x[i] - q) * (x[i] - q)
        return
    for d in range(D):
        x, q = points[d][start:stop], query[d]
        if p == 1.0:
            for i in range(n):
                out[i] += abs(x[i] - q)
        elif p == np.inf:
            for i in range(n):
                out[i] = max(out[i], abs(x[i] - q))
        else:
            for i in range(n):
                out[i] += abs(x[i] - q) ** p


@jit
def insert(distance, row, weight, best, rows, votes):
    """Insert a row, as often as its weight says, among the nearest ones, which are in order."""
    last = len(best) - 1
    while weight > 0.0 and (distance < best[last] or (distance == best[last] and row < rows[last])):
        at = last
        while at > 0 and (distance < best[at - 1] or (distance == best[at - 1] and row < rows[at - 1])):
            best[at], rows[at], votes[at] = best[at - 1], rows[at - 1], votes[at - 1]
            at -= 1
        best[at], rows[at], votes[at] = distance, row, min(weight, 1.0)
        weight -= 1.0


@jit
def nearest_of_all(X, first, weight, queries, p, best, rows, votes):
    """Compare queries with all rows, of which the first has the number `first`.

    The nearest so far are (Q, K), in order, filled up with infinite distances.
    """
    N, D = X.shape
    tile, distance = np.empty((D, TILE)), np.empty(TILE)
    for start in range(0, N, TILE):
        n = min(TILE, N - start)
        for i in range(n):
            for d in range(D):
                tile[d, i] = X[start + i, d]
        for q in range(len(queries)):
            distances(tile, 0, n, queries[q], p, distance)
            distance[n:] = np.inf
            for r in range(TILE // RUN):
                limit, far = best[q, -1], np.int64(0)
                for i in range(RUN):
                    far += np.int64(distance[r * RUN + i] > limit)
                if far < RUN:
                    for i in range(r * RUN, min(r * RUN + RUN, n)):
                        if distance[i] < best[q, -1]:
                            at = start + i
                            insert(distance[i], first + at, weight[at], best[q], rows[q], votes[q])


@nearest_of_all.small_exact
def _(X, first, weight, queries, p, best, rows, votes):
    if p not in (1.0, 2.0, np.inf):  # whose powers may have other bits
        return NotImplemented
    K, copies = best.shape[1], np.ceil(weight).astype(np.int64)
    row = np.repeat(np.arange(len(X)), copies)
    number = np.arange(len(row)) - np.repeat(np.cumsum(copies) - copies, copies)
    vote = np.minimum(weight[row] - number, 1.0)
    for q in range(0, len(queries), RUN):
        part = slice(q, q + RUN)
        distance = distances_of(X, queries[part], p)[:, row]
        found = (
            np.concatenate([best[part], distance], axis=1),
            np.concatenate([rows[part], np.broadcast_to(first + row, distance.shape)], axis=1),
            np.concatenate([votes[part], np.broadcast_to(vote, distance.shape)], axis=1),
        )
        nearest = np.argsort(found[0], axis=1, kind="stable")[:, :K]
        for out, values in zip((best, rows, votes), found, strict=True):
            out[part] = np.take_along_axis(values, nearest, axis=1)
    return None


def distances_of(X, queries, p):
    """Distances, before the root, of all queries from all rows, (Q, N): in NumPy, with the same bits."""
    out = np.zeros((len(queries), len(X)))
    for d in range(X.shape[1]):
        y = np.abs(X[:, d] - queries[:, d, None])
        if p == np.inf:
            np.maximum(out, y, out=out)
        else:
            out += y if p == 1.0 else y * y if p == 2.0 else y**p
    return out


@jit
def nearest_of_products(products, half, X, first, weight, queries, norm, slack, best, rows, votes):
    """Compare queries with rows by their inner products, which are near enough to leave most rows out, and
    the others by their differences: Euclidean distances.

    `products` are those of centred queries and rows, `half` are halves of the squared norms of centred rows,
    both filled up to a multiple of RUN, `norm` are the squared norms of centred queries, and `slack` bounds
    the error of squared distances that follow from them.
    """
    n, D = X.shape
    for q in range(len(queries)):
        product = products[q]
        limit = 0.5 * (best[q, -1] + slack[q] - norm[q])
        for r in range(len(half) // RUN):
            far = np.int64(0)
            for i in range(RUN):
                far += np.int64(half[r * RUN + i] - product[r * RUN + i] > limit)
            if far == RUN:
                continue
            for i in range(r * RUN, min(r * RUN + RUN, n)):
                if half[i] - product[i] > limit:
                    continue
                distance = 0.0
                for d in range(D):
                    y = X[i, d] - queries[q, d]
                    distance += y * y
                if distance < best[q, -1]:
                    insert(distance, first + i, weight[i], best[q], rows[q], votes[q])
                    limit = 0.5 * (best[q, -1] + slack[q] - norm[q])


@jit
def build_tree(X, leaf_size):
    """A k-d tree: the order of its points, and the axis at which each divides; -1 in a leaf.

    The node of the points from lo to hi is the one in the middle, (lo + hi) // 2, the upper median along the
    axis of the widest spread: those before it are not larger, and those after it are not smaller.
    """
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


@build_tree.small_exact
def _(X, leaf_size):
    return build_tree.python(X, leaf_size) if len(X) <= MOST_VISITS else NotImplemented


@jit
def nearest_in_tree(points, order, axis, leaf_size, weight, queries, p, best, rows, votes, visited):
    """Search a k-d tree, depth first. Returns how many points were visited of the last query.

    `points` are (D, N) in the order of the tree. A node is visited after the child on the side of the query,
    and before the other child, which is left out if its cell is farther than the nearest so far.
    `visited`, if it is not empty, takes the places of the points that were visited, in order.
    """
    D, N = points.shape
    stack = np.empty((256, 4), np.int64)  # (lo, hi, node, axis); if lo < 0, the offset to restore
    kept = np.empty((256, 2))  # of the cell: its distance and the offset along the axis
    offset, distance, count = np.empty(D), np.empty(max(leaf_size, 1)), 0
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
                n = hi - lo
                distances(points, lo, n, query, p, distance)
                for i in range(n):
                    if distance[i] <= best[q, -1]:
                        insert(distance[i], order[lo + i], weight[lo + i], best[q], rows[q], votes[q])
                    if len(visited):
                        visited[count + i] = lo + i
                count += n
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


@nearest_in_tree.small_exact
def _(points, order, axis, leaf_size, weight, queries, p, *found):
    if points.shape[1] * len(queries) > MOST_VISITS or p not in (1.0, 2.0, np.inf):
        return NotImplemented
    return nearest_in_tree.python(points, order, axis, leaf_size, weight, queries, p, *found)
