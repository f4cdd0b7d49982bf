"""Losses of gradient boosting with their derivatives, and what a stage sums of them. Rows are visited once.

Exponentials and logarithms are arguments, which NumPy computes: so both forms of a loop have the same bits.
"""

from __future__ import annotations

import numpy as np

from .compiled import compiled

jit = compiled()

LARGEST = 2.0**62  # of a number whose product with a whole weight is exact


@jit
def squared_error(y, f, value, g):
    """The loss (y - f)^2 / 2 of rows, and its gradient f - y."""
    for i in range(len(y)):
        r = f[i] - y[i]
        value[i] = 0.5 * (r * r)
        g[i] = r


@squared_error.small_exact
def _(y, f, value, g):
    g[:] = f - y
    value[:] = 0.5 * (g * g)


@jit
def log_loss(y, f, e, log_1p_e, class_weight, value, g, h):
    """The loss log(1 + exp(f)) - y f of classes 0 and 1, times the weight of the class; its gradient and its
    curvature. `e` is exp(-|f|), so that neither p nor 1 - p is rounded where it is near 0."""
    for i in range(len(y)):
        w, first = class_weight[y[i]], y[i] == 0
        likely = 1.0 / (1.0 + e[i])
        p = likely if (f[i] >= 0.0) == first else e[i] * likely
        value[i] = w * (log_1p_e[i] + max(f[i], 0.0) - y[i] * f[i])
        g[i] = (w if first else -w) * p
        h[i] = w * (e[i] * likely * likely)


@log_loss.small_exact
def _(y, f, e, log_1p_e, class_weight, value, g, h):
    w, likely = class_weight[y], 1.0 / (1.0 + e)
    value[:] = w * (log_1p_e + np.maximum(f, 0.0) - y * f)
    g[:] = np.where(y == 0, w, -w) * np.where((f >= 0) == (y == 0), likely, e * likely)
    h[:] = w * (e * likely * likely)


@jit
def weighted(weight, x):
    """A weight times a whole number, rounded; exact for a whole weight: see `tree.targets`."""
    whole = np.floor(weight)
    exact = np.int64(whole) * np.int64(min(max(x, -LARGEST), LARGEST))
    return exact + np.int64(np.rint((weight - whole) * x))


@jit
def on_grid(x, unit, most):
    """A number as an integer of a unit, at most `most`, also where it is not a number."""
    x = np.rint(x * unit)
    return min(max(x, -most), most) if x == x else most


@jit
def add_stage(
    value, g, h, weight, group, loss_unit, most, weight_unit, curvature_unit, losses, weights, curvature,
    largest,
):  # fmt: skip
    """Add rows to what a stage sums: losses and weights of three groups, (3,) each; of all rows but those of
    the last group, the sum of the curvatures (K,), and the largest derivatives (K, 2).

    Parameters
    ----------
    h : (N, K), or empty without a curvature.
    weight, group : (N,), or both empty if all rows have weight one and are of the first group.
    loss_unit, weight_unit, curvature_unit : integers of a unit.
    most : the largest integer of a loss.
    largest : (K, 2), or empty if they are known.
    """
    N, plain, total = len(value), len(weight) == 0, np.int64(0)
    if plain:
        for i in range(N):
            total += np.int64(on_grid(value[i], loss_unit, most))
        losses[0] += total
        weights[0] += N * np.int64(weight_unit)
    else:
        for i in range(N):
            losses[group[i]] += weighted(weight[i], on_grid(value[i], loss_unit, most))
            weights[group[i]] += weighted(weight[i], weight_unit)
    for j in range(len(largest)):
        for i in range(N):
            x = abs(g[i, j])
            if (x > largest[j, 0] or x != x) and (plain or group[i] < 2):
                largest[j, 0] = x
        for i in range(N if h.shape[1] else 0):
            x = h[i, j]
            if (x > largest[j, 1] or x != x) and (plain or group[i] < 2):
                largest[j, 1] = x
    for j in range(h.shape[1] if curvature_unit > 0.0 else 0):
        total = np.int64(0)
        for i in range(N):
            x = np.rint(h[i, j] * curvature_unit)
            if plain:
                total += np.int64(x)
            elif group[i] < 2:
                total += weighted(weight[i], x)
        curvature[j] += total


@add_stage.small_exact
def _(
    value, g, h, weight, group, loss_unit, most, weight_unit, curvature_unit, losses, weights, curvature,
    largest,
):  # fmt: skip
    def weighted(x):
        whole = np.floor(w)
        exact = whole.astype(np.int64) * np.clip(x, -LARGEST, LARGEST).astype(np.int64)
        return exact + np.rint((w - whole) * x).astype(np.int64)

    w = weight if len(weight) else np.ones(len(value))
    group = group if len(weight) else np.zeros(len(value), np.int64)
    x = np.clip(np.nan_to_num(np.rint(value * loss_unit), nan=most), -most, most)
    np.add.at(losses, group, weighted(x))
    np.add.at(weights, group, weighted(np.full(len(w), weight_unit)))
    seen = group < 2
    for i, x in enumerate((np.abs(g), h) if len(largest) else ()):
        part = largest[: x.shape[1], i]
        np.maximum(part, x[seen].max(axis=0, initial=0.0), out=part)
    for j in range(h.shape[1] if curvature_unit > 0.0 else 0):
        curvature[j] += weighted(np.rint(h[:, j] * curvature_unit))[seen].sum()
