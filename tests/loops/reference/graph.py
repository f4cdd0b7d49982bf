"""The loops of native/graph.hpp in NumPy."""

import numpy as np


def count(node, first, shift, out):
    np.add.at(out, (node - first) >> shift, 1)


def spread(source, target, weight, first, shift, at, to_source, to_target, to_weight):
    bucket = ((target - first) >> shift).astype(np.intp)
    order, count = np.argsort(bucket, kind="stable"), np.bincount(bucket, minlength=len(at))
    p = np.arange(len(order)) + np.repeat(at - (np.cumsum(count) - count), count)
    to_source[p], to_target[p] = source[order], target[order]
    if len(weight):
        to_weight[p] = weight[order]
    at += count


def place(source, target, weight, first, begin, offset, to_source, to_weight):
    order = np.argsort(target, kind="stable")
    offset[1:] = begin + np.cumsum(np.bincount((target - first).astype(np.intp), minlength=len(offset) - 1))
    to_source[begin : begin + len(order)] = source[order]
    if len(weight):
        to_weight[begin : begin + len(order)] = weight[order]


def renumber(number, node):
    node[:] = number[node]


def mass(indptr, source, sent, first, end, out):
    weighted_mass(indptr, source, np.ones(len(source)), sent, first, end, out)


def weighted_mass(indptr, source, weight, sent, first, end, out):
    part = slice(indptr[first], indptr[end])
    target = np.repeat(np.arange(end - first), np.diff(indptr[first : end + 1]))
    out[first:end] = np.bincount(target, weight[part] * sent[source[part]], end - first)


def depths(order, before, length, out):
    for n in order[1:]:
        out[n] = out[before[n]] + length[n]
