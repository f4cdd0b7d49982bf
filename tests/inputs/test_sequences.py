"""Input of sequences: every container gives the same blocks, and errors say what is wrong."""

from __future__ import annotations

from functools import wraps
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score

import suffice
from suffice.core.blocks import BLOCK_BYTES, Sequences, power_of_two
from suffice.inputs import open_sequences, read_sequences
from suffice.inputs.parquet import ParquetScan
from suffice.inputs.sequences import Seen
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import GaussianNB
from suffice.sequence import HiddenMarkovModel
from suffice.sequence.base import SequenceEstimator

LENGTHS = (30, 1, 47, 12, 60, 25)
NAMES = ("d", "a", "f", "b", "e", "c")  # which do not stand in alphabetical order
OFFSET = np.concatenate([[0], np.cumsum(LENGTHS)])


def made(seed=0):
    """Steps of a chain of two states, their sequences, and labels."""
    rng = np.random.default_rng(seed)
    state = (rng.random(OFFSET[-1]) < 0.15).cumsum() % 2
    X = rng.normal(size=(len(state), 2)) + 4.0 * state[:, None]
    return X, np.repeat(NAMES, LENGTHS).astype(object), state


def parts(values):
    return [values[a:b] for a, b in pairwise(OFFSET)]


def object_array(items):
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


def table(seed=0):
    X, ids, state = made(seed)
    time = np.concatenate([np.arange(n) for n in LENGTHS])
    weight = np.repeat(np.arange(1.0, 7.0), LENGTHS)
    return pa.table({"t": time, "x0": X[:, 0], "id": ids.tolist(), "x1": X[:, 1], "y": state, "w": weight})


def mixed(seed=3):
    """The table with rows in any order."""
    return table().take(np.random.default_rng(seed).permutation(OFFSET[-1]))


TABLES = {
    "arrow": lambda t: t,
    "arrow in chunks": lambda t: pa.concat_tables([t.slice(0, 33), t.slice(33)]),
    "arrow dictionary": lambda t: t.set_column(2, "id", t["id"].dictionary_encode()),
    "record batch": lambda t: t.combine_chunks().to_batches()[0],
    "pandas": lambda t: t.to_pandas(),
    "pandas categorical": lambda t: t.to_pandas().astype({"id": "category"}),
    "pandas on arrow": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with an index": lambda t: t.to_pandas().set_index(np.arange(1000, 1000 + len(t))[::-1]),
    "polars": lambda t: pl.from_arrow(t),
}


def opened(X, *given, estimator=None, **more):
    """The only block that `open_sequences` makes of this few steps."""
    (block,) = open_sequences(estimator or SequenceEstimator(), X, *given, **more).blocks
    return block


def assert_same(block, expected):
    assert isinstance(block, Sequences)
    np.testing.assert_array_equal(block.offset, expected.offset)
    np.testing.assert_array_equal(block.X, expected.X)
    np.testing.assert_array_equal(block.weight, expected.weight)
    assert (block.y is None) == (expected.y is None)
    if block.y is not None:
        np.testing.assert_array_equal(block.y, expected.y)


def described(source, **more):
    return suffice.sequences(source, sequence="id", order="t", features=["x0", "x1"], **more)


class TestTheSameSequences:
    def test_of_arrays(self):
        X, ids, y = made()
        expected = Sequences(X, OFFSET, y)
        for given in (
            opened(X, y, ids),
            opened(X, y, ids.tolist()),
            opened(pd.DataFrame(X), pd.Series(y), pd.Series(ids)),
            opened(X, parts(y), ids),
            opened(parts(X), parts(y)),
            opened(tuple(parts(X)), tuple(parts(y))),
            opened(object_array(parts(X)), object_array(parts(y))),
            opened([part.tolist() for part in parts(X)], [part.tolist() for part in parts(y)]),
            opened([pd.DataFrame(part) for part in parts(X)], parts(y)),
        ):
            assert_same(given, expected)

    def test_a_sparse_list(self):
        X, _, _ = made()
        found = opened(
            [sp.csr_array(part) for part in parts(X)], estimator=LogisticRegression(), y=parts(made()[2])
        )
        np.testing.assert_array_equal(found.X.toarray(), X)
        np.testing.assert_array_equal(found.offset, OFFSET)

    def test_one_array_is_one_sequence(self):
        X, _, _ = made()
        assert opened(X).offset.tolist() == [0, len(X)]
        assert opened(X.tolist()).offset.tolist() == [0, len(X)]
        assert opened(X[:1]).offset.tolist() == [0, 1]

    def test_equal_lengths_in_a_list_are_sequences_too(self):
        X, y = np.arange(24.0).reshape(3, 4, 2), np.arange(12).reshape(3, 4)
        assert_same(opened(list(X), y), Sequences(X.reshape(12, 2), np.array([0, 4, 8, 12]), y.ravel()))
        assert_same(opened(X.tolist()), Sequences(X.reshape(12, 2), np.array([0, 4, 8, 12])))

    @pytest.mark.parametrize("source", TABLES)
    def test_of_tables(self, source):
        X, _, y = made()
        expected = Sequences(X, OFFSET, y, np.arange(1.0, 7.0))
        assert_same(opened(described(TABLES[source](table()), target="y", weight="w")), expected)
        every = suffice.sequences(TABLES[source](table()), sequence="id", order="t", target="y", weight="w")
        assert_same(opened(every), expected)
        assert_same(opened(described(TABLES[source](table()))), Sequences(X, OFFSET))

    @pytest.mark.parametrize("source", TABLES)
    def test_of_tables_in_any_order(self, source):
        found = opened(described(TABLES[source](mixed()), target="y", weight="w"))
        ids = mixed()["id"].to_pylist()
        appear = [NAMES.index(name) for name in dict.fromkeys(ids)]
        X, _, y = made()
        whole = Sequences(
            np.concatenate([parts(X)[s] for s in appear]),
            np.concatenate([[0], np.cumsum([LENGTHS[s] for s in appear])]),
            np.concatenate([parts(y)[s] for s in appear]),
            np.arange(1.0, 7.0)[appear],
        )
        assert_same(found, whole)

    @pytest.mark.parametrize("source", TABLES)
    def test_where_no_order_is_given_rows_stay(self, source):
        t = table()
        first = suffice.sequences(TABLES[source](t), sequence="id", features=["x0", "x1"])
        assert_same(opened(first), Sequences(made()[0], OFFSET))

    @pytest.mark.parametrize("source", ["arrow", "pandas", "polars"])
    @pytest.mark.parametrize("order", ["strings", "moments", "numbers"])
    def test_any_order_that_can_be_sorted(self, order, source):
        t = mixed()
        time = t["t"].to_numpy()
        column = {
            "strings": pa.array([f"{v:05}" for v in time]),
            "moments": pa.array(np.datetime64("2020-01-01", "ms") + time),
            "numbers": pa.array(time * 0.5),
        }[order]
        changed = TABLES[source](t.set_column(0, "t", column))
        assert_same(opened(described(changed)), opened(described(t)))

    @pytest.mark.parametrize("source", ["arrow", "pandas", "polars"])
    @pytest.mark.parametrize("kind", ["numbers", "days", "flags", "halves"])
    def test_any_id_that_can_be_told_apart(self, kind, source):
        t = table()
        number = np.repeat([-1, -2, 2**61, 1, 0, 3], LENGTHS)
        days = np.datetime64("2020-01-01") + np.arange(6)
        column = {
            "numbers": number,
            "halves": number / 2,
            "days": np.repeat(days, LENGTHS),
            "flags": np.repeat([True, False], [OFFSET[3], OFFSET[-1] - OFFSET[3]]),
        }[kind]
        changed = suffice.sequences(
            TABLES[source](t.set_column(2, "id", pa.array(column))), sequence="id", features=["x0", "x1"]
        )
        offset = np.array([0, OFFSET[3], OFFSET[-1]]) if kind == "flags" else OFFSET
        assert_same(opened(changed), Sequences(made()[0], offset))
        assert_same(opened(made()[0], None, column), Sequences(made()[0], offset))


class TestWeights:
    def test_a_row_or_a_sequence(self):
        X, ids, _ = made()
        weight = np.arange(1.0, 7.0)
        for given in (weight, np.repeat(weight, LENGTHS), weight.tolist()):
            np.testing.assert_array_equal(opened(X, None, ids, given).weight, weight)
            np.testing.assert_array_equal(opened(parts(X), sample_weight=given).weight, weight)
        np.testing.assert_array_equal(opened(X, None, ids, 2.0).weight, np.full(6, 2.0))
        assert opened(X, None, None, np.full(len(X), 3.0)).weight.tolist() == [3.0]

    def test_zero_is_absence(self):
        X, ids, y = made()
        weight = np.array([1.0, 0.0, 2.0, 0.0, 1.0, 1.0])
        keep = [0, 2, 4, 5]
        there, absent = (
            opened(X, y, ids, weight),
            opened([parts(X)[s] for s in keep], [parts(y)[s] for s in keep], None, weight[keep]),
        )
        assert_same(there, absent)
        column = pa.array(np.repeat(weight, LENGTHS))
        for source in TABLES.values():
            changed = described(source(table().set_column(5, "w", column)), weight="w", target="y")
            assert_same(opened(changed), absent)

    def test_that_differ_within_a_sequence_are_refused(self):
        X, ids, _ = made()
        weight = np.ones(len(X))
        weight[3] = 2.0
        with pytest.raises(ValueError, match=r"differs within a sequence.*groups="):
            opened(X, None, ids, weight)
        with pytest.raises(ValueError, match=r"differs within a sequence"):
            opened(X, None, None, weight)
        for source in TABLES.values():
            changed = described(source(table().set_column(5, "w", pa.array(weight))), weight="w")
            with pytest.raises(ValueError, match=r"differs within a sequence"):
                opened(changed)

    def test_of_another_number_are_refused(self):
        X, ids, _ = made()
        with pytest.raises(ValueError, match=r"expected \(6,\), one per sequence, or \(175,\), one per row"):
            opened(X, None, ids, np.ones(7))

    @pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
    def test_bad_ones_are_refused(self, bad):
        X, ids, _ = made()
        with pytest.raises(ValueError, match="sample_weight"):
            opened(X, None, ids, [1.0, bad, 1.0, 1.0, 1.0, 1.0])
        with pytest.raises(ValueError, match="zero for every row"):
            opened(X, None, ids, np.zeros(6))


class TestWhatIsRefused:
    def test_ids_that_come_back(self):
        X = np.zeros((5, 1))
        for ids in ([0, 1, 1, 0, 2], ["a", "b", "b", "a", "c"], [-1, -2, -2, -1, 1]):
            with pytest.raises(
                ValueError, match=rf"rows of sequence {ids[0]!r} are not contiguous: sort the rows"
            ):
                opened(X, None, ids)

    @pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
    def test_rows_without_an_id(self, missing):
        with pytest.raises(ValueError, match=r"groups has missing values"):
            opened(np.zeros((3, 1)), None, np.array(["a", missing, "b"], dtype=object))
        with pytest.raises(ValueError, match=r"groups has missing values"):
            opened(np.zeros((3, 1)), None, [0.0, np.nan, np.nan])

    @pytest.mark.parametrize("source", TABLES)
    @pytest.mark.parametrize("kind", ["strings", "whole", "real", "not a number"])
    def test_rows_of_tables_without_an_id_or_a_place(self, kind, source):
        column = {
            "strings": pa.array(["a", None, "b"]),
            "whole": pa.array([1, None, 2]),
            "real": pa.array([1.0, None, 2.0]),
            "not a number": pa.array([1.0, np.nan, 2.0]),
        }[kind]
        if "dictionary" in source or "categorical" in source:
            column = pa.array(column.to_pylist(), column.type)
        good, x = pa.array([1, 2, 3]), pa.array([1.0, 2.0, 3.0])
        for name in ("id", "t"):
            columns = {"t": good, "x0": x, "id": good, "x1": x} | {name: column}
            what = "name the sequence of every row" if name == "id" else "order every row"
            with pytest.raises(ValueError, match=rf"The column '{name}' has missing values.*{what}"):
                opened(described(TABLES[source](pa.table(columns))))

    def test_groups_of_another_length_or_with_a_list(self):
        X, ids, _ = made()
        with pytest.raises(ValueError, match=r"groups has 174 ids, but X has 175 rows"):
            opened(X, None, ids[1:])
        with pytest.raises(ValueError, match=r"A list of sequences needs no groups"):
            opened(parts(X), None, ids)

    @pytest.mark.parametrize("estimator", [SequenceEstimator(), LogisticRegression()])
    def test_labels_of_other_lengths(self, estimator):
        X, ids, y = made()
        with pytest.raises(ValueError, match=r"X has 6 sequences, but y has 5"):
            opened(parts(X), parts(y)[1:], estimator=estimator)
        with pytest.raises(
            ValueError, match=r"X has 6 sequences, but y has 175: pass one array of labels per sequence"
        ):
            opened(parts(X), y, estimator=estimator)
        with pytest.raises(ValueError, match=r"one label per step"):
            opened(parts(X), parts(y)[::-1], estimator=estimator)
        with pytest.raises(ValueError, match=r"one label per step"):
            opened(parts(X), [0, 1, 0, 1, 0, 1], estimator=estimator)
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
            opened(X, y[1:], ids, estimator=estimator)

    def test_nothing(self):
        for nothing in ([], (), object_array([])):
            with pytest.raises(ValueError, match=r"There are no sequences"):
                opened(nothing)
        for nothing in (np.empty((0, 2)), [np.empty((0, 2))], [np.empty((0, 2)), np.empty((0, 2))]):
            with pytest.raises(ValueError, match=r"0 sample\(s\)"):
                opened(nothing)

    def test_sequences_of_one_axis(self):
        for wrong in (
            [np.arange(3.0), np.arange(4.0)],
            [np.arange(3.0), np.arange(3.0)],
            [[1.0, 2.0, 3.0], [1.0, 2.0]],
            object_array([np.arange(3.0), np.arange(4.0)]),
            [np.zeros((3, 1)), np.arange(4.0)],
        ):
            with pytest.raises(ValueError, match=r"sequence\.reshape\(-1, 1\)"):
                opened(wrong)

    def test_other_shapes(self):
        with pytest.raises(ValueError, match=r"do not have the same features.*\(1,\), \(2,\)"):
            opened([np.zeros((3, 2)), np.zeros((4, 1))])
        with pytest.raises(ValueError, match=r"Found array with dim 3.*pass list\(X\)"):
            opened(np.zeros((2, 3, 4)))
        with pytest.raises(ValueError, match=r"Reshape your data"):
            opened(np.zeros(5))

    def test_what_is_no_number(self):
        X, ids, _ = made()
        for bad in (np.nan, np.inf, -np.inf):
            X[40, 1] = bad
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                opened(X, None, ids)
            with pytest.raises(ValueError, match=r"NaN|infinity"):
                opened(parts(X))
        assert np.isinf(X[40, 1])
        with pytest.raises(ValueError, match=r"infinity"):
            HiddenMarkovModel(2).fit(parts(X))

    @pytest.mark.parametrize("source", TABLES)
    def test_a_table_that_does_not_name_its_sequences(self, source):
        given = TABLES[source](table().select(["id", "x0"]))
        with pytest.raises(ValueError, match=r"suffice\.sequences\(table, sequence="):
            opened(suffice.rows(given, features=["x0"]))
        with pytest.raises(ValueError, match=r"no column \['who'\]; its columns are"):
            opened(suffice.sequences(given, sequence="who"))
        with pytest.raises(ValueError, match=r"no column \['when'\]; its columns are"):
            opened(suffice.sequences(given, sequence="id", order="when"))
        with pytest.raises(ValueError, match=r"are columns of it.*suffice\.sequences"):
            opened(suffice.sequences(given, sequence="id"), None, table()["id"].to_numpy())
        with pytest.raises(ValueError, match=r"requires y.*suffice\.sequences\(table, target="):
            opened(suffice.sequences(given, sequence="id"), estimator=LogisticRegression())


def test_an_empty_sequence_among_others():
    X, _, y = made()
    with_empty = [X[:0], *parts(X), X[:0]]
    block = opened(with_empty, [y[:0], *parts(y), y[:0]])
    assert block.lengths.tolist() == [0, *LENGTHS, 0]
    np.testing.assert_array_equal(block.X, X)


def test_labels_of_which_some_are_known():
    _, _, y = made()
    some = [None if n % 3 else str(v) for n, v in enumerate(y)]
    t = table().set_column(4, "y", pa.array(some))
    for source in TABLES.values():
        assert opened(described(source(t), target="y")).y.tolist() == some
        with pytest.raises(ValueError, match="missing labels"):
            opened(described(source(t), target="y"), estimator=GaussianNB())


def test_ids_are_few_bytes_each():
    """Parts are sorted, hold each id once, and are few."""
    seen, rng = Seen(), np.random.default_rng(0)
    ids = rng.permutation(20_000).tolist()
    for n in range(0, len(ids), 97):
        seen.add(ids[n : n + 97])
    assert sum(map(len, seen.parts)) == len(ids) and len(seen.parts) < 20
    for again in (ids[0], ids[9999], ids[-1]):
        with pytest.raises(ValueError, match=f"sequence {again} are"):
            seen.add([-5, again, -6])


def test_long_data_is_cut_between_sequences():
    X = np.arange(100_500.0).reshape(-1, 1)
    ids = np.arange(len(X)) // 1000
    blocks = open_sequences(SequenceEstimator(), X, None, ids).blocks
    size = power_of_two(BLOCK_BYTES / blocks[0].row_bytes, 256)
    marks = -(-np.arange(0, len(X), size) // 1000) * 1000  # the first sequences that begin at a multiple
    assert len(blocks) > 2
    assert [b.X.shape[0] for b in blocks] == np.diff([*marks, len(X)]).tolist()
    np.testing.assert_array_equal(np.concatenate([b.X for b in blocks]), X)


PARAMS = {"n_components": 2, "random_state": 0, "max_iter": 5, "tol": 0.0}


def learnt(X, *given, **more):
    with pytest.warns(sklearn.exceptions.ConvergenceWarning):
        model = HiddenMarkovModel(**PARAMS).fit(X, *given, **more)
    return model


@pytest.fixture(scope="module")
def expected():
    X, ids, _ = made()
    return learnt(X, groups=ids)


class TestAModel:
    """Hidden Markov models of all kinds of input."""

    def test_is_the_same_to_the_bit(self, expected):
        X, _, _ = made()
        for given in (parts(X), object_array(parts(X)), [p.tolist() for p in parts(X)]):
            found = learnt(given)
            assert found.model_.transition.tobytes() == expected.model_.transition.tobytes()
            assert found.trace_.tobytes() == expected.trace_.tobytes()
        for source in TABLES.values():
            found = learnt(described(source(table())))
            assert found.model_.transition.tobytes() == expected.model_.transition.tobytes()
            assert found.trace_.tobytes() == expected.trace_.tobytes()
            assert found.feature_names_in_.tolist() == ["x0", "x1"]

    def test_does_not_take_them_for_one_sequence(self, expected):
        assert abs(learnt(made()[0]).trace_[-1] - expected.trace_[-1]) > 1e-4

    def test_does_not_mind_the_order_of_sequences(self, expected):
        """Up to rounding and the seeding, of which the same start takes the second away."""
        X, ids, _ = made()
        start = HiddenMarkovModel(**PARAMS).set_params(init_params=expected.model_, max_iter=3)
        with pytest.warns(sklearn.exceptions.ConvergenceWarning):
            here = clone(start).fit(X, groups=ids)
            there = clone(start).fit(described(mixed()))
            back = clone(start).fit(parts(X)[::-1])
        for other in (there, back):
            np.testing.assert_allclose(other.model_.transition, here.model_.transition, rtol=1e-10)
            np.testing.assert_allclose(other.trace_, here.trace_, rtol=1e-10)

    def test_answers_return_in_the_shape_that_came(self, expected):
        X, ids, _ = made()
        flat = expected.predict(X, groups=ids)
        assert flat.shape == (len(X),)
        listed = expected.predict(parts(X))
        assert [len(part) for part in listed] == list(LENGTHS)
        np.testing.assert_array_equal(np.concatenate(listed), flat)
        order = np.random.default_rng(3).permutation(OFFSET[-1])  # as mixed() has it
        every = suffice.sequences(mixed(), sequence="id", order="t", target="y", weight="w")
        np.testing.assert_array_equal(expected.predict(every), flat[order])
        named = learnt(described(table()))
        for source in TABLES.values():
            np.testing.assert_array_equal(named.predict(described(source(table()))), flat)
            np.testing.assert_array_equal(named.predict(described(source(mixed()))), flat[order])
            bare = suffice.sequences(source(mixed().drop_columns(["y", "w"])), sequence="id", order="t")
            np.testing.assert_array_equal(named.predict(bare), flat[order])

    def test_a_single_step_and_one_that_is_not_observed(self, expected):
        X, _, _ = made()
        assert expected.predict(X[:1]).shape == (1,)
        assert expected.predict([X[:1], X[:0], X[:2]])[1].shape == (0,)
        np.testing.assert_allclose(expected.log_likelihood([np.full((4, 2), np.nan)]), [0.0], atol=1e-12)
        nothing = learnt(np.full((20, 2), np.nan))
        assert (
            np.isfinite(nothing.model_.transition).all() and np.isfinite(nothing.model_.emission.mean).all()
        )
        np.testing.assert_allclose(nothing.trace_, 0.0, atol=1e-12)


class TestCrossValidation:
    """Folds that lose the ids are warned of; with ids or lists all is well."""

    def scores(self):
        X, _, _ = made()
        found = []
        for train, test in KFold(3).split(parts(X)):
            model = (
                HiddenMarkovModel(**PARAMS)
                .set_params(tol=1e-2, max_iter=50)
                .fit([parts(X)[s] for s in train])
            )
            found.append(model.score([parts(X)[s] for s in test]))
        return found

    def test_of_one_array_warns(self):
        X, ids, _ = made()
        search = GridSearchCV(
            HiddenMarkovModel(**PARAMS).set_params(tol=1e-2, max_iter=50), {"n_components": [1, 2]}, cv=2
        )
        with pytest.warns(UserWarning, match=r"enable_metadata_routing=True.*groups=ids"):
            search.fit(X)
        with pytest.warns(UserWarning, match=r"one long sequence, without ids"):
            search.set_params(cv=GroupKFold(2)).fit(X, groups=ids)  # which split, and go no further

    def test_of_a_list(self):
        X, _, _ = made()
        found = cross_val_score(
            HiddenMarkovModel(**PARAMS).set_params(tol=1e-2, max_iter=50), parts(X), cv=KFold(3)
        )
        np.testing.assert_allclose(found, self.scores(), rtol=1e-12)

    def test_of_rows_with_routing(self, monkeypatch):
        X, ids, _ = made()
        estimator = HiddenMarkovModel(**PARAMS).set_params(tol=1e-2, max_iter=50)
        given = []

        def noted(name):
            method = getattr(HiddenMarkovModel, name)

            @wraps(method)
            def with_note(self, X, y=None, groups=None, sample_weight=None):
                given.append((name, tuple(dict.fromkeys(groups))))
                return method(self, X, y, groups, sample_weight)

            return with_note

        with sklearn.config_context(enable_metadata_routing=True), monkeypatch.context() as patch:
            for name in ("fit", "score"):
                patch.setattr(HiddenMarkovModel, name, noted(name))
            search = GridSearchCV(estimator, {"n_components": [2]}, cv=GroupKFold(3), refit=False)
            search.fit(X, groups=ids)
        folds = list(GroupKFold(3).split(X, groups=ids))
        assert given == [
            (name, tuple(dict.fromkeys(ids[rows])))
            for fold in folds
            for name, rows in zip(("fit", "score"), fold, strict=True)
        ]
        for split, (train, test) in enumerate(folds):
            model = clone(estimator).fit(X[train], groups=ids[train])
            score = search.cv_results_[f"split{split}_test_score"][0]
            assert score == pytest.approx(model.score(X[test], groups=ids[test]), rel=1e-12)


def test_what_is_elsewhere_is_not_predicted_from():
    scan = ParquetScan(("nowhere",), ("id", "x"))
    model = HiddenMarkovModel(**PARAMS).set_params(tol=1e-1).fit(made()[0])
    with pytest.raises(TypeError, match=r"This method of HiddenMarkovModel takes rows in memory"):
        read_sequences(model, suffice.sequences(scan, sequence="id"))
