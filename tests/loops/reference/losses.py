"""The loops of native/losses.hpp in NumPy."""

import numpy as np

LARGEST = 2.0**62  # of an integer whose product with a whole weight is exact


def squared_error(y, f, value, g):
    g[:] = f - y
    value[:] = 0.5 * (g * g)


def log_loss(y, f, class_weight, value, g, h):
    w, e = class_weight[y], np.exp(-np.abs(f))
    likely = 1.0 / (1.0 + e)
    value[:] = w * (np.log1p(e) + np.where(y == 0, np.maximum(f, 0.0), np.maximum(-f, 0.0)))
    g[:] = np.where(y == 0, w, -w) * np.where((f >= 0) == (y == 0), likely, e * likely)
    h[:] = w * (e * likely * likely)


def on_grid(x, unit, most):
    return np.clip(np.nan_to_num(np.rint(x * unit), nan=most), -most, most)


def weighted(w, x):
    whole = np.floor(w)
    exact = whole.astype(np.int64) * on_grid(x, 1.0, LARGEST).astype(np.int64)
    return exact + np.rint((w - whole) * x).astype(np.int64)


def add_stage(
    value, g, h, weight, group, loss_unit, most, weight_unit, curvature_unit, losses, weights, curvature,
    largest,
):  # fmt: skip
    w = weight if len(weight) else np.ones(len(value))
    group = group if len(weight) else np.zeros(len(value), np.int64)
    np.add.at(losses, group, weighted(w, on_grid(value, loss_unit, most)))
    np.add.at(weights, group, weighted(w, np.full(len(w), weight_unit)))
    seen = group < 2
    for i, x in enumerate((np.abs(g), h) if len(largest) else ()):
        part = largest[: x.shape[1], i]
        np.maximum(part, x[seen].max(axis=0, initial=0.0), out=part)
    for j in range(h.shape[1] if curvature_unit > 0.0 else 0):
        curvature[j] += weighted(w, on_grid(h[:, j], curvature_unit, LARGEST))[seen].sum()
