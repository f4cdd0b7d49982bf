"""The law: summarize(a followed by b) == summarize(a) + summarize(b), for all that is ever summed.

What is summed is not listed here. Every estimator is fitted while its folds are recorded, and each
function that was folded, with what it shared, must keep the law.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.core.blocks import Rows
from suffice.core.statistics import tree_sum
from suffice.core.values import Value
from suffice.decomposition.collapsed_gibbs import Tokens
from suffice.decomposition.robust_pca import SplitRows
from suffice.engines.local import LocalPartitions
from suffice.ensemble.stages import TargetSums
from suffice.families import Labelled, Mixture
from suffice.fitting.shared import Divided
from suffice.linear_model import RidgeCV
from suffice.statistics.histograms import Binned

from .registry import (
    EVERY,
    FAMILIES,
    OF_PLACE,
    Fold,
    K,
    N,
    as_sparse,
    assert_close,
    bits,
    determined,
    each_variant,
    fit,
    folds,
    is_distinct,
    joined,
    learnt,
    numbers,
    of_margins,
    shares,
    starts,
    table,
    with_holes,
)

# A count of rows is no sum of weights; what is kept of each row follows the order of the rows.
NO_WEIGHT = (".rows", ".labels", ".factors", ".texts", ".others", ".fractions", ".copies")
OF_ROWS = (".labels", ".factors")
# Sums of inner products of rows, which have no digits left far from the origin.
OF_PRODUCTS = (
    *("KernelRidge", "KernelRidge(kernel=...)", "KernelPerceptron(kernel=...)"),
    *("NuSVC(kernel=linear)", "NuSVC(nu=0.2,kernel=...)", "NuSVR(kernel=linear,C=0.1)"),
    *("SVC(kernel=linear)", "SVR(kernel=linear,C=0.1)"),
)


def kinds_of_data(variant):
    """The data of a variant, near and far from the origin, in every form that it takes."""
    X, y = variant.data()
    w = weights(len(X))
    if variant.estimator.get_params().get("solver") == "gibbs":  # which refuses fractions
        w = np.ceil(w)
    yield "near", X, y, None, 1e-10
    yield "weights", X, y, w, 1e-10
    if variant.kind in ("classifier", "regressor") and not variant.estimator.get_params().get("priors"):
        yield "other targets", *variant.data(other=True), w, 1e-10
    if variant.support == "real" and variant.name not in OF_PRODUCTS:
        yield "far", *variant.data(shift=1e8), w, 1e-5
    if variant.tags.allow_nan:
        yield "holes", with_holes(X), y, w, 1e-10
    if variant.tags.sparse:
        sparse = as_sparse(X)
        yield "sparse", abs(sparse) if variant.name.startswith("QuantileT") else sparse, y, w, 1e-10


def weights(n, seed=3):
    return np.random.default_rng([seed, n]).uniform(0.2, 3.0, size=n)


@cache
def summed(variant):
    """All that the variant sums: what kind of data, the function with all it shares, and how exact."""
    return [
        (f"{fold.name}, {kind}", fold, rtol)
        for kind, X, y, weight, rtol in kinds_of_data(variant)
        for recorded in folds(variant, X, y, weight)
        for fold in asked_by(recorded)
        if not fold.name.endswith(".svrg_epoch")  # steps one after the other, which say so
        and not fold.name.endswith("_documents")  # lists of documents, and topics that stay with them
        and not isinstance(fold.rows, Tokens | SplitRows)  # sums of a step: test_robust_pca.py has their law
    ]


def asked_by(fold):
    """The fold; or those of the fits that read the rows together, one of each function."""
    if not isinstance(fold.rows, Divided):
        return [fold]
    found = {}
    for call in fold.shared[0].calls:
        rows = fold.rows.chosen(call.parts)
        for step, shared in call.steps:
            rows = step(*shared, rows)
        one = Fold(call.f, call.shared, rows)
        found[one.name] = one
    return list(found.values())


def factors(fold):
    """Numbers by which weights are multiplied. Sums of integers are in units of one if weights are whole."""
    whole = isinstance(fold.rows, Binned) or (fold.rows.weight == np.floor(fold.rows.weight)).all()
    return (3,) if whole and getattr(fold(fold.rows.piece(0, 0, 0)), "any_order", whole) else (3.0, 0.25)


def reweighted(rows, factor):
    """The rows with other weights: those of trees are integers, beside the features."""
    if isinstance(rows, Binned):
        return rows.replace(entry=rows.entry * (factor[:, None] if np.ndim(factor) else factor))
    return rows.replace(weight=rows.weight * factor)


def without_weight(fold):
    """What counts rows, whatever their weights; and errors of rows that are left out with their weights."""
    more = {"_moments_and_rows": (".parts.1",), "LeaveOneOut.summarize": (".squares",)}
    return (*NO_WEIGHT, *more.get(fold.name, ()))


def without_scale(fold):
    """And a value of one row, such as the largest: it is that of repeated rows, but has not their weights."""
    values = {"Largest.loss": ".value", "NextLarger.of": ".number", "StageSums.of": ".largest"}
    return (*without_weight(fold), *([values[fold.name]] if fold.name in values else []))


def in_floats(s):
    """Sums in units of a power of two, which are rounded to whole numbers, as numbers."""
    if not (isinstance(s, TargetSums) or getattr(s, "any_order", False)):
        return s
    arrays = {name: part for name, part in s.fields().items() if isinstance(part, np.ndarray)}
    return s.replace(**{name: part.astype(float) for name, part in arrays.items()})


def cut(rows, at):
    bounds = [0, *sorted(at), len(rows)]
    return [rows.piece(a, b, n) for n, (a, b) in enumerate(pairwise(bounds))]


def assert_same(a, b, rtol, where, **how):
    try:
        assert type(a) is type(b)
        if where.startswith("_slope,"):  # a derivative, of which no digits are left at the minimum
            return np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-13 * N)
        assert_close(a, b, rtol, **how)
    except AssertionError as error:
        error.add_note(where)
        raise


@each_variant(is_distinct, takes=EVERY)
def test_sum_law(variant):
    rng = np.random.default_rng(1)
    for where, fold, rtol in summed(variant):
        n, whole = len(fold.rows), fold(fold.rows)
        for at in ([0, n // 3, n // 3, n // 2, n], rng.integers(n + 1, size=6)):
            parts = [fold(piece) for piece in cut(fold.rows, at)]
            assert_same(tree_sum(parts), whole, rtol, f"{where}, cut at {at}")
        assert_same(fold(fold.rows[rng.permutation(n)]), whole, rtol, f"{where}, shuffled", skip=OF_ROWS)


@each_variant(is_distinct, takes=EVERY)
def test_empty_block_is_neutral(variant):
    for where, fold, _ in summed(variant):
        whole, zero = fold(fold.rows), fold(fold.rows.piece(0, 0, 0))
        assert_same(zero + whole, whole, 1e-15, where)
        assert_same(whole + zero, whole, 1e-15, where)
        assert_same(zero + zero, zero, 1e-15, where)


@each_variant(is_distinct, takes=EVERY)
def test_weights_scale(variant):
    """Statistics times a number are the statistics of weights times that number."""
    for where, fold, rtol in summed(variant):
        rows, whole = fold.rows, fold(fold.rows)
        for factor in factors(fold):
            heavier = fold(reweighted(rows, factor))
            for scaled in (whole * factor, factor * whole):
                assert_same(in_floats(scaled), in_floats(heavier), rtol, where, skip=without_scale(fold))


@each_variant(is_distinct, takes=EVERY)
def test_weight_is_repetition(variant):
    for where, fold, rtol in summed(variant):
        rows = fold.rows
        times = np.random.default_rng(4).integers(1, 4, size=len(rows))
        again = rows[np.repeat(np.arange(len(rows)), times)]
        weighted = fold(reweighted(rows, times))
        assert_same(in_floats(weighted), in_floats(fold(again)), rtol, where, skip=without_weight(fold))


def visits_in_parts(variant):
    """Perceptrons with class weights: a row of weight 2.8 takes steps of 1, 1 and 0.8, two rows of weight 1.4
    take steps of 1, 0.4, 1 and 0.4, and the scores in between differ."""
    return type(variant.estimator).__name__.endswith("Perceptron") and variant.make().class_weight is not None


@each_variant(
    lambda v: is_distinct(v) and not v.by_order and not (v.has("class_weight") and visits_in_parts(v)),
    takes=EVERY,
)
def test_weight_is_repetition_through_fit(variant):
    """In every public attribute: integer weight is repetition, weight zero is absence."""
    X, y = variant.data()
    times = np.random.default_rng(5).integers(0, 4, size=len(X))
    again = np.repeat(np.arange(len(X)), times)
    how, leaves_out = {"max_iter": 20, **determined(variant)}, isinstance(variant.estimator, RidgeCV)
    if leaves_out:  # a row with its weight: of several penalties, another one may have the least errors
        how["alphas"] = [1.0]
    weighted = fit(variant.make(**how), X, y, times.astype(float))
    # Without weights, scikit-learn fits encoders to arrays.
    ones = np.ones(len(again)) if variant.takes == "categories" else None
    repeated = fit(variant.make(**how), X[again], None if y is None else y[again], ones)
    # A gap is the difference of two objectives, of which none of the digits may be left.
    skip = ("labels_", "outliers_", ".W", ".factors", "dual_gap_", *OF_PLACE)
    skip = (*skip, "best_score_", "cv_results_") if leaves_out else skip
    assert_close(weighted, repeated, 1e-7, skip=(*skip, *of_margins(variant)))
    assert_close(numbers(variant, weighted, X), numbers(variant, repeated, X), 1e-7)
    if hasattr(weighted, "score"):
        how = {} if y is None else {"y": y}
        ours = weighted.score(X, **how, sample_weight=times)
        theirs = repeated.score(X[again], **{k: v[again] for k, v in how.items()})
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-12)  # a score of zero is so to rounding


# --- families and the models over them, on their own ---------------------------------------------------


@pytest.mark.parametrize("cls", FAMILIES, ids=lambda c: c.__name__)
def test_sum_law_of_families(cls):
    rng = np.random.default_rng(2)
    for family in starts(cls).values():
        for shift, rtol in ((0.0, 1e-11), (1e8, 1e-5)):
            if shift and family.support != "real":
                continue
            X, _ = table(family.support, shift=shift)
            R = shares(N)
            family = learnt(family, X)
            for Y in (X, with_holes(X)):
                whole = family.summarize(Y, R)
                for at in ([0], [N], rng.integers(N + 1, size=5)):
                    bounds = [0, *sorted(at), N]
                    pairs = pairwise(bounds)
                    parts = [family.summarize(Y[a:b], R[a:b]) for a, b in pairs]
                    assert_close(tree_sum(parts), whole, rtol)
                assert_close(family.summarize(Y, 3.0 * R), 3.0 * whole, rtol)
                order = rng.permutation(N)
                assert_close(family.summarize(Y[order], R[order]), whole, rtol)


@pytest.mark.parametrize("over", [Mixture, Labelled], ids=lambda c: c.__name__)
@pytest.mark.parametrize("cls", FAMILIES, ids=lambda c: c.__name__)
def test_sum_law_of_models_over_families(cls, over):
    for family in starts(cls).values():
        X, group = table(family.support)
        family = learnt(family, X)
        part = np.full(K, 1.0 / K)
        model = Mixture(part, family) if over is Mixture else Labelled(np.arange(K), part, family)
        rows = Rows(with_holes(X), group, weights(N))
        whole = model.summarize(rows)
        parts = [model.summarize(piece) for piece in cut(rows, [0, 17, 17, 200])]
        assert_close(tree_sum(parts), whole, 1e-10)
        assert_close(model.estimate(tree_sum(parts)), model.estimate(whole), 1e-9)
        nobody = rows.replace(weight=np.where(np.arange(N) < 40, rows.weight, 0.0))
        assert_close(model.summarize(nobody), model.summarize(rows[:40]), 1e-10)


# --- the order of sums ---------------------------------------------------------------------------------


def binary(lo, hi):
    """The tree of `tree_sum`, written the other way: by halving at the largest power of two."""
    n = hi - lo
    if n == 1:
        return f"{lo}"
    half = 1 << ((n - 1).bit_length() - 1)
    return f"({binary(lo, lo + half)} {binary(lo + half, hi)})"


@pytest.mark.parametrize("n", [*range(1, 34), 100])
def test_tree_is_fixed_by_position(n):
    assert tree_sum(map(str, range(n)), add=lambda a, b: f"({a} {b})") == binary(0, n)


@given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=70), st.sampled_from([1, 2, 4, 8]))
@settings(max_examples=200, deadline=None)
def test_aligned_runs_change_no_bit(terms, run):
    groups = [terms[n : n + run] for n in range(0, len(terms), run)]
    assert bits(tree_sum(terms)) == bits(tree_sum(map(tree_sum, groups)))


@each_variant(is_distinct, takes=EVERY)
def test_aligned_runs_of_statistics_change_no_bit(variant):
    for _, fold, _ in summed(variant):
        terms = [fold(block) for block in cut(fold.rows, range(0, len(fold.rows), 17))]
        whole = bits(tree_sum(terms))
        for run in (1, 2, 4, 8):
            groups = [tree_sum(terms[n : n + run]) for n in range(0, len(terms), run)]
            assert bits(tree_sum(groups)) == whole, (fold.name, run)


def test_nothing_to_sum():
    with pytest.raises(ValueError, match="nothing to sum"):
        tree_sum([])


def test_sum_law_sees_concatenation():
    """`joined` is `followed by`: the law as it is written."""
    X, _ = table("real")
    a, b = Rows(X[:100], None, weights(100)), Rows(X[100:], None, weights(N - 100))
    model = Mixture(np.full(K, 1.0 / K), learnt(next(iter(starts(FAMILIES[-2]).values())), X))
    assert_close(model.summarize(a) + model.summarize(b), model.summarize(joined(a, b)))


class Total(Value):
    """Whole numbers below nine."""

    any_order = True

    @classmethod
    def of(cls, block, onto=None):
        if (block.X > 8).any():
            raise ArithmeticError("nine")
        total = np.zeros(1, np.int64) if onto is None else onto
        total += int(block.X.sum())
        return total


def test_whole_numbers_are_added_in_one_place():
    """Whatever the blocks; and an error says where it was."""
    rows = Rows(np.arange(10.0)[:, None])
    blocks = tuple(rows[slice(n, n + 2)].replace(index=(n // 2,)) for n in range(0, 10, 2))
    assert (
        LocalPartitions(blocks[:4]).fold(Total.of)
        == LocalPartitions((rows[slice(0, 8)],)).fold(Total.of)
        == 28
    )
    with pytest.raises(ArithmeticError) as caught:
        LocalPartitions(blocks).fold(Total.of)
    assert "In block 4 of the data, while computing Total.of." in caught.value.__notes__
