"""Blocks and threads: the same blocks give the same bits, other blocks give the same numbers to rounding."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sklearn.base import clone

import suffice
from suffice.core.blocks import Rows
from suffice.core.threads import n_threads
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.engines import local
from suffice.engines.local import LocalPartitions
from suffice.estimator.base import OnePass
from suffice.statistics import moments

from .registry import (
    EVERY,
    OF_PLACE,
    VARIANTS,
    N,
    answers,
    assert_close,
    bits,
    cut_at,
    determined,
    each_variant,
    fit,
    fitted,
    in_one_call,
    is_default,
    is_distinct,
    numbers,
    of_margins,
    some_weight,
    table,
    with_holes,
)

BLOCKS = (40, 1, 64, 7)  # sizes: no power of two, and one of several pieces
# Of an iteration that ends where the path of rounding ends.
PATH = 1e-6


FEW = 12  # iterations


def some(variant):
    return variant.make(max_iter=FEW, **determined(variant))


@pytest.fixture
def late_first_block(monkeypatch):
    """The first block arrives last: whoever adds by arrival adds in another order."""
    plain = local.fold_blocks

    def slow(f, shared, run, *args, **kwargs):
        if n_threads() > 1 and run[0].index[0] % 4 == 0:
            time.sleep(0.002)
        return plain(f, shared, run, *args, **kwargs)

    monkeypatch.setattr(local, "fold_blocks", slow)


@each_variant(is_distinct, takes=EVERY)
def test_threads_change_no_bit(variant, late_first_block):
    """In all that is public after a fit: parameters, statistics, model, trace."""
    X, y = variant.data()
    weight = some_weight(variant, len(X))
    found = []
    for n in (1, 2):
        with cut_at(*BLOCKS), suffice.threads(n):
            model = fit(some(variant), X, y, weight)
            found.append((bits(model), bits(answers(model, X))))
    assert found[0] == found[1]


@each_variant(is_default, takes=EVERY)
def test_fit_twice_gives_the_same_bits(variant):
    """Each estimator: with its options, test_storage.py fits clones to the same bits."""
    assert bits(fit(some(variant), *variant.data())) == bits(fitted(variant, FEW))


@each_variant(lambda v: is_distinct(v) and v.exact != "approximate", takes=EVERY)
def test_boundaries_change_only_rounding(variant):
    X, y = variant.data()
    whole = fitted(variant, FEW)
    for sizes in (BLOCKS, (N - 1, 1)):
        with cut_at(*sizes):
            parts = fit(some(variant), X, y)
        assert_close(parts, whole, PATH, skip=of_margins(variant))
        assert_close(numbers(variant, parts, X), numbers(variant, whole, X), PATH)


@each_variant(lambda v: is_distinct(v) and v.tags.allow_nan, takes=EVERY)
def test_boundaries_change_only_rounding_with_holes(variant):
    X, y = variant.data()
    X = with_holes(X)
    whole = fit(some(variant), X, y)
    with cut_at(*BLOCKS):
        assert_close(fit(some(variant), X, y), whole, PATH)


@each_variant(lambda v: is_distinct(v) and not v.by_order, takes=EVERY)
def test_order_of_rows_changes_only_rounding(variant):
    X, y = variant.data()
    order = np.random.default_rng(9).permutation(N)
    whole = fitted(variant, FEW)
    shuffled = fit(some(variant), X[order], None if y is None else y[order])
    by_row = ("labels_", "cv_results_")
    assert_close(shuffled, whole, PATH, skip=(*by_row, "outliers_", ".W", ".factors", *OF_PLACE))
    assert_close(numbers(variant, shuffled, X), numbers(variant, whole, X), PATH)
    for name in by_row:
        if hasattr(whole, name):
            assert_close(getattr(shuffled, name), getattr(whole, name)[order], PATH)


@each_variant(lambda v: is_distinct(v) and v.exact == "bit", takes=("rows", "sequences", "documents"))
def test_what_is_exact_to_the_bit_has_the_same_bits_from_other_blocks_and_orders(variant):
    X, y = variant.data()
    weight = np.random.default_rng(8).integers(0, 3, size=len(X))
    order = np.random.default_rng(9).permutation(len(X))
    whole = fit(variant.make(), X, y, weight)
    with cut_at(*BLOCKS):
        other = fit(variant.make(), X[order], None if y is None else y[order], weight[order])
    for name in OF_PLACE:
        vars(other).pop(name, None), vars(whole).pop(name, None)
    assert bits(other) == bits(whole)


@each_variant(lambda v: is_distinct(v) and v.exact in ("order", "approximate"))
def test_what_depends_on_the_order_is_declared_so_for_a_reason(variant):
    """So that no exact method is declared to be less."""
    X, y = variant.data()
    order = np.random.default_rng(9).permutation(N)
    whole = fitted(variant, FEW)
    with cut_at(*BLOCKS):
        other = fit(some(variant), X[order], None if y is None else y[order])
    with pytest.raises(AssertionError):
        assert_close(other, whole, PATH)


@each_variant(lambda v: hasattr(v.estimator, "partial_fit") and in_one_call(v), takes=("rows",))
def test_partial_fit_refuses_what_needs_all_rows(variant):
    X, y = variant.data()
    classes = {"classes": np.unique(y)} if variant.kind == "classifier" else {}
    model = variant.make()
    with pytest.raises((ValueError, AttributeError), match="partial_fit"):
        model.partial_fit(X, y, **classes)
    assert not hasattr(model, "model_")


def adds(variant):
    return hasattr(variant.estimator, "partial_fit") and not in_one_call(variant)


@each_variant(lambda v: is_distinct(v) and isinstance(v.estimator, OnePass) and adds(v), takes=("rows",))
def test_partial_fit_is_addition(variant):
    """Rows in three calls are the rows in one; a second round of calls is the weight two."""
    X, y = variant.data()
    w = np.random.default_rng(8).gamma(2.0, size=N)
    for weight in (None, w):
        whole, parts = fit(variant.make(), X, y, weight), variant.make()
        how = {} if variant.kind != "classifier" else {"classes": np.unique(y)}
        for rows in (slice(0, 60), slice(60, 61), slice(61, N)):
            given = {} if weight is None else {"sample_weight": weight[rows]}
            parts.partial_fit(X[rows], None if y is None else y[rows], **how, **given)
            how = {}
        assert_close(parts, whole, 1e-8)
        assert_close(answers(parts, X), answers(whole, X), 1e-8)
        parts.partial_fit(X, y, sample_weight=weight)
        twice = fit(variant.make(), X, y, np.full(N, 2.0) if weight is None else 2.0 * weight)
        assert_close(parts, twice, 1e-8)


@each_variant(lambda v: is_default(v) and adds(v), takes=("rows",))
def test_partial_fit_that_fails_adds_nothing(variant):
    X, y = variant.data()
    model = variant.make()
    model.partial_fit(X, y, **({"classes": np.unique(y)} if variant.kind == "classifier" else {}))
    before = bits(model)
    broken = (
        dict(X=X[:, :-1], y=y),
        dict(X=np.full_like(X, np.inf), y=y),
        dict(X=X, y=None if y is None else y[1:]),
    )
    for given in broken[: 2 if y is None else 3]:
        with pytest.raises(ValueError):
            model.partial_fit(**given)
        assert bits(model) == before


def test_a_class_that_is_named_and_rare_adds_nothing_until_it_can_be_used():
    X, _ = table("real")
    model = QuadraticDiscriminantAnalysis()
    with pytest.raises(ValueError, match="only 0 sample"):
        model.partial_fit(X[:30], ["a"] * 30, classes=["a", "b"])
    assert not hasattr(model, "statistics_")


@pytest.mark.parametrize("solver", ["svd", "lsqr"])
def test_a_class_that_is_named_is_not_predicted_until_it_is_seen(solver):
    X, group = table("real")
    model = LinearDiscriminantAnalysis(solver=solver)
    model.partial_fit(X[group < 2], group[group < 2], classes=[0, 1, 2])
    assert set(model.predict(X)) == {0, 1}
    model.partial_fit(X[group == 2], group[group == 2])
    assert_close(model, LinearDiscriminantAnalysis(solver=solver).fit(X, group))


def test_auto_shrinkage_refuses_partial_fit():
    variants = [v for v in VARIANTS if v.estimator.get_params().get("shrinkage") == "auto"]
    for variant in variants:
        X, y = variant.data()
        with pytest.raises(ValueError, match="reads the data twice"):
            variant.make().partial_fit(X, y)


@each_variant(lambda v: is_default(v) and adds(v) and v.kind == "classifier", takes=("rows",))
def test_partial_fit_refuses_a_class_that_was_not_named(variant):
    X, y = variant.data()
    model = variant.make(priors=None)
    with pytest.raises(ValueError, match=r"classes must be passed on the first call to partial_fit\."):
        model.partial_fit(X, y)
    known = y[y != "oak"]
    model.partial_fit(X[y != "oak"], known, classes=np.unique(known))
    with pytest.raises(ValueError, match="classes="):
        model.partial_fit(X, y)


# --- the local engine by itself ------------------------------------------------------------------------


def summed(rows):
    return moments(rows.X, rows.weight)


def doubled(rows):
    return rows.replace(X=rows.X * 2.0)


def test_map_then_fold_is_fold_of_both():
    X = np.random.default_rng(0).normal(size=(5000, 3))
    data = LocalPartitions(tuple(Rows(X[n : n + 700], index=(n // 700,)) for n in range(0, 5000, 700)))
    both = data.fold(lambda rows: summed(doubled(rows)))
    assert bits(data.map(doubled).fold(summed)) == bits(both)


def test_boundaries_depend_on_the_data_alone():
    X = np.zeros((300_000, 4))
    cuts = []
    for n in (1, 2, 5):
        with suffice.threads(n):
            cuts.append([len(b) for b in suffice.partition(X).blocks])
    assert cuts[0] == cuts[1] == cuts[2]
    assert sum(cuts[0]) == len(X)
    assert len(cuts[0]) > 1


@pytest.mark.parametrize("rows", [1, 1000, 200_000])
def test_a_block_of_one_piece_is_summarized_once(rows):
    """The summary of no rows, which tells the size of pieces, takes as long as that of few rows."""
    sizes = []

    def total(block):
        sizes.append(len(block))
        return block.X.sum(axis=0)

    data = LocalPartitions((Rows(np.ones((rows, 2))),))
    with suffice.threads(1):
        assert data.fold(total).tolist() == [rows, rows]
    assert sum(sizes) == rows
    assert sizes == [rows] if rows < 10_000 else len(sizes) > 2


def test_pieces_cover_the_block_once():
    X = np.arange(100_000.0).reshape(-1, 2)
    for size in (0, 100, 10_000_000):
        pieces = list(Rows(X, index=(3,)).pieces(size))
        assert np.array_equal(np.concatenate([p.X for p in pieces]), X)
        assert [p.index for p in pieces] == [(3, n) for n in range(len(pieces))]


@pytest.mark.parametrize("rows", [1, 60_000, 70_000, 140_000])
def test_no_small_piece_has_a_large_statistic(rows):
    """Each is summed into a statistic of its own, of a megabyte here: a rest of some rows would have one."""
    sizes = [len(p) for p in Rows(np.zeros((rows, 8))).pieces(1 << 20)]
    assert sum(sizes) == rows
    assert len(sizes) == max(1, rows // 65536)
    assert max(sizes) - min(sizes) <= 1


def test_an_error_names_its_block():
    def fails(rows):
        if len(rows) and rows.index[0] == 2:
            raise ZeroDivisionError("here")
        return summed(rows)

    data = LocalPartitions(tuple(Rows(np.zeros((5, 2)), index=(n,)) for n in range(4)))
    for n in (1, 2):
        with suffice.threads(n), pytest.raises(ZeroDivisionError) as caught:
            data.fold(fails)
        assert "block 2" in "".join(caught.value.__notes__)


def test_empty_blocks_are_no_blocks():
    X = np.random.default_rng(0).normal(size=(20, 2))
    sizes = [(0, 0), (0, 9), (9, 9), (9, 20), (20, 20)]
    data = LocalPartitions(tuple(Rows(X[a:b], index=(n,)) for n, (a, b) in enumerate(sizes)))
    assert_close(data.fold(summed), summed(Rows(X, weight=np.ones(20))))


@each_variant(is_distinct)
def test_fit_leaves_its_input_alone(variant):
    X, y = variant.data()
    w = some_weight(variant, N)
    before = bits([X, y, w])
    model = variant.make()
    params = repr(clone(model).get_params())
    answers(fit(model, X, y, w), X)
    assert bits([X, y, w]) == before
    assert repr(model.get_params()) == params
