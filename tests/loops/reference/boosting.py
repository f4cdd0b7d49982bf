"""The loops of native/boosting.hpp in NumPy."""

import numpy as np

from suffice.loops.boosting import WEIGHT_IS_COLUMN, WEIGHT_IS_CURVATURE, value_of
from suffice.loops.trees import NO_SPLIT, NONE_MISSING


def add_lanes(codes, rows, entry, lane, hist):
    apart = np.concatenate([entry & ((1 << lane) - 1), entry >> lane], axis=1)
    add_entries(codes, rows, apart, hist)


def add_entries(codes, rows, entry, hist):
    np.add.at(hist, (np.arange(codes.shape[1]), codes[rows].astype(np.int64)), entry[:, None])


def divide(column, goes_left, rows, entry, spare_rows, spare_entry):
    n_left, n_right = 0, 0
    for r, e in zip(rows.copy(), entry.copy(), strict=True):
        rows[n_left], entry[n_left] = r, e
        spare_rows[n_right], spare_entry[n_right] = r, e
        n_left += goes_left[column[r]]
        n_right += not goes_left[column[r]]
    return n_left


def pack(g, h, gradient_unit, curvature_unit, lane, out):
    curvature = np.rint(h * curvature_unit).astype(np.int64) if len(h) else int(curvature_unit)
    out[:, 0] = (np.rint(g * gradient_unit).astype(np.int64) << lane) + curvature


def add_to_rows(rows, start, stop, value, k, score):
    for a, b, v in zip(start, stop, value, strict=True):
        score[rows[a:b], k] += v


def find_newton_split(
    hist, n_bins, categorical, cst, features, total, mode, least_h, least_w, most_h, smoothing, penalty, low,
    high, codes, rows,
):  # fmt: skip
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
    valid = (np.arange(most) < last[..., None]) & features[:, None, None]
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
