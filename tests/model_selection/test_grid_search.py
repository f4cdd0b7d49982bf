"""A search shares its passes, and each of its fits has the bits that it would have alone."""

from __future__ import annotations

import threading
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning, NotFittedError
from sklearn.model_selection import ParameterGrid
from sklearn.utils.estimator_checks import parametrize_with_checks

import suffice
from suffice.cluster import KMeans
from suffice.core import blocks
from suffice.core.blocks import Rows, Sequences
from suffice.core.randomness import Purpose
from suffice.core.threads import n_threads
from suffice.decomposition import PCA
from suffice.fitting import shared
from suffice.fitting.shared import Failure, Sharing, divide
from suffice.inputs import Check, open_rows
from suffice.linear_model import LogisticRegression, Ridge
from suffice.mixture import GaussianMixture
from suffice.model_selection import GridSearch
from suffice.naive_bayes import MixedNB
from suffice.sequence import (
    ConditionalRandomField,
    HiddenMarkovModel,
    SequenceClassifier,
    StructuredPerceptron,
)

pytestmark = pytest.mark.timeout(120)  # nothing hangs

ROWS, GROUP = 900, 150  # rows of a table, and of a row group: a block
RNG = np.random.default_rng(4)
STATE = (RNG.random(ROWS) < 0.2).cumsum() % 2
X = RNG.normal(size=(ROWS, 3)) + 1.5 * STATE[:, None] * [1.0, -1.0, 0.3]
TABLE = pa.table(
    {
        **{name: X[:, j] for j, name in enumerate("abc")},
        "label": np.array(["low", "high"])[STATE],
        "number": X.sum(axis=1) + RNG.normal(size=ROWS),
        "w": RNG.gamma(2.0, size=ROWS),
    }
)
OF_ROWS = {
    "logistic": (LogisticRegression(), {"C": [1e-3, 1.0, 100.0]}, "label"),
    "newton": (LogisticRegression(solver="newton"), {"C": [1e-3, 1.0]}, "label"),
    "mixture": (GaussianMixture(random_state=0), {"n_components": [1, 2]}, None),
    "ridge": (Ridge(), {"alpha": [0.1, 1e3], "fit_intercept": [True, False]}, "number"),
    "k-means": (KMeans(2, random_state=0), {"init": ["k-means++", "k-means||"]}, None),
    "bayes": (MixedNB(), {"kinds": ["gaussian"]}, "label"),
    "pca": (PCA(), {"n_components": [1, 2]}, None),
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Pieces of a few rows, as many as the size of the statistic says."""
    monkeypatch.setattr(blocks, "PIECE_BYTES", 1 << 11)


def parts_of(block, random_state, cv):
    """The fold of each example: how it is drawn is tried below."""
    seed = int(np.random.RandomState(random_state).randint(np.iinfo(np.int32).max))
    return divide(cv, Purpose.FOLDS, (seed, 0), block).part


def written(tables, path):
    """Tables as row groups of one file, each of which is a block."""
    with pq.ParquetWriter(path, TABLE.schema) as file:
        for table in tables:
            file.write_table(table)
    return suffice.scan_parquet(path)


def described(scan, target, weight=None):
    return suffice.rows(scan, features=list("abc"), target=target, weight=weight)


@pytest.mark.parametrize(
    ("name", "weight"), [*((name, None) for name in OF_ROWS), ("logistic", "w"), ("k-means", "w")]
)
def test_scores_are_those_of_lone_fits_to_the_bit(name, weight, tmp_path):
    estimator, grid, target = OF_ROWS[name]
    groups = [TABLE.slice(start, GROUP) for start in range(0, ROWS, GROUP)]
    data = described(written(groups, tmp_path / "all.parquet"), target, weight)
    search = GridSearch(estimator, grid, cv=3, random_state=7).fit(data)

    numbers = TABLE.select(list("abc")).to_pandas().to_numpy()
    y = None if target is None else TABLE[target].to_numpy()
    part = parts_of(Rows(numbers, y), 7, 3)
    scores = np.empty((len(search.cv_results_["params"]), 3))
    for fold in range(3):
        kept = [(group, part[n * GROUP :][:GROUP] == fold) for n, group in enumerate(groups)]
        train = written([g.filter(~held) for g, held in kept], tmp_path / f"train-{fold}.parquet")
        test = written([g.filter(held) for g, held in kept], tmp_path / f"test-{fold}.parquet")
        for n, params in enumerate(ParameterGrid(grid)):
            alone = clone(estimator).set_params(**params).fit(described(train, target, weight))
            scores[n, fold] = alone.score(described(test, target, weight))
    found = np.stack([search.cv_results_[f"split{fold}_test_score"] for fold in range(3)], axis=1)
    assert found.tobytes() == scores.tobytes()

    assert search.best_params_ == list(ParameterGrid(grid))[scores.mean(axis=1).argmax()]
    assert search.best_score_ == scores.mean(axis=1).max()
    lone = clone(estimator).set_params(**search.best_params_).fit(data)
    for key, value in vars(lone).items():
        if isinstance(value, np.ndarray) and value.dtype != object:
            assert getattr(search.best_estimator_, key).tobytes() == value.tobytes(), key
    assert search.feature_names_in_.tolist() == search.best_estimator_.feature_names_in_.tolist() == [*"abc"]


OF_SEQUENCES = {
    "hidden Markov": (HiddenMarkovModel(random_state=0), {"n_components": [1, 2]}, False),
    "random field": (ConditionalRandomField(), {"C": [0.01, 1.0]}, True),
    "classifier": (
        SequenceClassifier(HiddenMarkovModel(2, random_state=0)),
        {"estimator__n_components": [1, 2]},
        True,
    ),
}


@pytest.mark.parametrize(
    "name",
    ["hidden Markov", *(pytest.param(n, marks=pytest.mark.slow) for n in ("random field", "classifier"))],
)
def test_sequences_stay_whole(name):
    estimator, grid, labelled = OF_SEQUENCES[name]
    ends = np.cumsum(np.arange(60) % 7 + 12)
    ends = [0, *ends[ends < ROWS]]
    sequences = [X[a:b] for a, b in pairwise(ends)]
    y = [np.array(["lo", "hi"])[STATE[a:b]] for a, b in pairwise(ends)] if labelled else None
    if name == "classifier":
        y = [labels[0] for labels in y]
    search = GridSearch(estimator, grid, cv=3, random_state=1).fit(sequences, y)

    steps = None
    if labelled:
        steps = np.concatenate([np.broadcast_to(a, len(b)) for a, b in zip(y, sequences, strict=True)])
    part = parts_of(Sequences(np.concatenate(sequences), np.array(ends), steps), 1, 3)
    assert np.bincount(part).min() > 5
    for fold in range(3):
        kept, held = (np.flatnonzero(part != fold), np.flatnonzero(part == fold))
        take = lambda values, which: None if values is None else [values[i] for i in which]  # noqa: E731
        for n, params in enumerate(ParameterGrid(grid)):
            alone = clone(estimator).set_params(**params).fit(take(sequences, kept), take(y, kept))
            score = alone.score(take(sequences, held), take(y, held))
            found = search.cv_results_[f"split{fold}_test_score"][n]
            if labelled:  # a share, which is divided by another hand
                assert found == pytest.approx(score, abs=1e-15)
            else:
                assert found == score
    rows, groups = np.concatenate(sequences), np.repeat(np.arange(len(sequences)), np.diff(ends))
    flat = y if name == "classifier" or y is None else np.concatenate(y)
    again = GridSearch(estimator, grid, cv=3, random_state=1).fit(rows, flat, groups=groups)
    assert (again.cv_results_["mean_test_score"] == search.cv_results_["mean_test_score"]).all()
    if hasattr(search, "predict"):
        assert len(search.predict(rows, groups=groups)) in (len(rows), len(sequences))


class Source:
    """Batches of the table, and how often they were asked for."""

    def __init__(self, at=None):
        self.reads, self.at = 0, at

    def __call__(self):
        self.reads += 1
        yield from TABLE.to_batches(GROUP)[:3]
        if self.at and self.at[0] == self.reads:
            raise self.at[1]
        yield from TABLE.to_batches(GROUP)[3:]

    def scan(self, target):
        return described(suffice.scan(self, columns=TABLE.column_names, cache=None), target)


def alone(estimator, target):
    source = Source()
    estimator.fit(source.scan(target))
    return source.reads


@pytest.mark.parametrize("name", ["logistic", "newton", "mixture", "ridge"])
def test_passes_are_those_of_the_longest_fit(name):
    estimator, grid, target = OF_ROWS[name]
    source = Source()
    search = GridSearch(estimator, grid, cv=4, refit=False, random_state=0).fit(source.scan(target))
    assert search.n_passes_ == source.reads

    lengths = []
    for n, params in enumerate(ParameterGrid(grid)):
        for fold in range(4):
            sharing = opened(source.scan(target), estimator, cv=4)
            trial = clone(estimator).set_params(**params)
            score = trial.fit(sharing.view(*({0, 1, 2, 3} - {fold}))).score(sharing.view(fold))
            assert score == search.cv_results_[f"split{fold}_test_score"][n]
            lengths.append(sharing.n_passes)
    assert search.n_passes_ == max(lengths) < sum(lengths) / 2
    if name == "ridge":
        assert search.n_passes_ == 2  # all fits, then all scores

    source = Source()
    refitted = GridSearch(estimator, grid, cv=4, random_state=0).fit(source.scan(target))
    last = alone(clone(estimator).set_params(**refitted.best_params_), target)
    assert refitted.n_passes_ == source.reads == search.n_passes_ + last


def opened(data, estimator, y=None, cv=3, seed=None):
    """What GridSearch opens."""
    base = clone(estimator)
    partitions = open_rows(base, data, y)
    features = tuple(base.feature_names_in_) if hasattr(base, "feature_names_in_") else base.n_features_in_
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max)) if seed is None else seed
    return Sharing(
        partitions, cv, (divide, (cv, Purpose.FOLDS, (seed, 0))), features=features, check=Check.of(base)
    )


def test_as_a_loop_by_hand():
    grid = {"C": [1e-3, 1e-2, 1.0, 100.0]}
    search = GridSearch(LogisticRegression(), grid, random_state=0).fit(X, STATE)
    part = parts_of(Rows(X, STATE), 0, 5)
    scores = [
        [
            LogisticRegression(C=C).fit(X[part != f], STATE[part != f]).score(X[part == f], STATE[part == f])
            for f in range(5)
        ]
        for C in grid["C"]
    ]
    mean = np.mean(scores, axis=1)
    assert np.array_equal(search.cv_results_["mean_test_score"], mean)
    assert np.array_equal(search.cv_results_["std_test_score"], np.std(scores, axis=1))
    assert search.best_index_ == mean.argmax() and search.best_params_ == {"C": grid["C"][mean.argmax()]}
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1
    assert search.cv_results_["param_C"].tolist() == grid["C"]
    assert search.n_splits_ == 5


# --- folds ---------------------------------------------------------------------------------------------


def test_folds_depend_on_the_examples_alone():
    order = np.random.default_rng(0).permutation(ROWS)
    label = np.array(["lo", "hi"])[STATE]
    part = parts_of(Rows(X, label), 0, 5)
    assert np.bincount(part, minlength=5).min() > 0.7 * ROWS / 5
    assert (parts_of(Rows(X[order], label[order]), 0, 5) == part[order]).all()
    assert (parts_of(Rows(X[100:200], label[100:200]), 0, 5) == part[100:200]).all()
    assert (parts_of(Rows(X, label.astype(object)), 0, 5) == part).all()
    assert (parts_of(Rows(X, label), 1, 5) != part).mean() > 0.6
    small = X.astype(np.float32)
    assert (parts_of(Rows(small), 0, 5) == parts_of(Rows(small.astype(np.float64)), 0, 5)).all()
    thin = np.where(np.abs(X) < 1.0, 0.0, X)
    assert (parts_of(Rows(sp.csr_array(thin)), 0, 5) == parts_of(Rows(thin), 0, 5)).all()
    words = np.column_stack([label, X[:, 0]]).astype(object)
    assert (parts_of(Rows(words[order]), 0, 5) == parts_of(Rows(words), 0, 5)[order]).all()


def test_folds_of_sequences_depend_on_the_sequences_alone():
    offset = np.array([0, 5, 5, 9, 40, 41, 60])
    part = parts_of(Sequences(X[:60], offset), 0, 100)
    later = parts_of(Sequences(X[9:60], offset[3:] - 9), 0, 100)
    assert (later == part[3:]).all()
    assert len(set(part)) > 4
    turned = np.concatenate([X[:5][::-1], X[5:60]])
    assert (
        parts_of(Sequences(turned, offset), 0, 1000) != parts_of(Sequences(X[:60], offset), 0, 1000)
    ).sum() == 1


def test_too_few_different_rows():
    with pytest.raises(ValueError, match=r"n_samples = 18 have \[.*0.*\] of them"):
        GridSearch(Ridge(), {"alpha": [1.0]}, random_state=0).fit(
            np.tile([[0.0], [1.0]], (9, 1)), [0.0, 1.0] * 9
        )
    assert not fits_running()


def fits_running():
    return [thread for thread in threading.enumerate() if thread.name == "a fit of suffice"]


# --- errors and warnings -------------------------------------------------------------------------------


def test_a_candidate_that_fails_ends_alone():
    grid = {"C": [1.0, -1.0, 0.01]}
    with pytest.warns(FitFailedWarning, match=r"3 of 9 fits failed.*'C': -1.0.*The 'C' parameter"):
        search = GridSearch(LogisticRegression(), grid, cv=3, random_state=0).fit(X, STATE)
    good = GridSearch(LogisticRegression(), {"C": [1.0, 0.01]}, cv=3, random_state=0).fit(X, STATE)
    mean = search.cv_results_["mean_test_score"]
    assert np.isnan(mean[1]) and (mean[[0, 2]] == good.cv_results_["mean_test_score"]).all()
    assert search.cv_results_["rank_test_score"][1] == 3
    assert search.best_params_ == good.best_params_
    with pytest.warns(FitFailedWarning):
        zero = GridSearch(LogisticRegression(), grid, cv=3, error_score=0.0, random_state=0).fit(X, STATE)
    assert zero.cv_results_["mean_test_score"][1] == 0.0
    with pytest.raises(ValueError, match="'C' parameter"):
        GridSearch(LogisticRegression(), grid, error_score="raise").fit(X, STATE)
    with pytest.raises(ValueError, match=r"5 of 5 fits failed.*'C' parameter"):
        GridSearch(LogisticRegression(), {"C": [-1.0]}).fit(X, STATE)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_takes_one_example_after_the_other():
    """It gathers the sequences of its folds; the best is the fit to all of them."""
    search = GridSearch(StructuredPerceptron(random_state=0), {"max_iter": [2]}, cv=2, random_state=0)
    search.fit(np.split(X, 9), np.split(STATE, 9))
    alone = StructuredPerceptron(max_iter=2, random_state=0).fit(np.split(X, 9), np.split(STATE, 9))
    np.testing.assert_array_equal(search.best_estimator_.coef_, alone.coef_)


def bad_sum(block):
    if len(block) and block.index[0] == 2:
        raise ZeroDivisionError("of this fit")
    return np.ones(1)


def bad_step(block):
    bad_sum(block)
    return block


def count(block):
    return np.array([float(len(block))])


def test_a_sum_that_fails_ends_its_fit_alone(tmp_path):
    groups = [TABLE.slice(start, GROUP) for start in range(0, ROWS, GROUP)]
    sharing = opened(described(written(groups, tmp_path / "all.parquet"), "label"), LogisticRegression())
    view = sharing.view()
    good, bad, step = sharing.together(
        [
            lambda: view.fold(count)[0] + view.fold(count)[0],
            lambda: view.fold(bad_sum),
            lambda: view.map(bad_step).fold(count),
        ]
    )
    assert good == 2 * ROWS and sharing.n_passes == 2
    for failed in (bad, step):
        assert isinstance(failed, Failure) and isinstance(failed.error, ZeroDivisionError)
    assert any("In block 2 of the data" in note for note in bad.error.__notes__)
    with pytest.raises(ZeroDivisionError):
        view.fold(bad_sum)


@pytest.mark.parametrize("error", [OSError("the disk is gone"), KeyboardInterrupt()], ids=type)
@pytest.mark.parametrize("read", [1, 3])
def test_what_ends_a_pass_ends_the_search(error, read):
    search = GridSearch(LogisticRegression(), {"C": [0.1, 1.0]}, cv=3, random_state=0)
    with pytest.raises(type(error)) as caught:
        search.fit(Source((read, error)).scan("label"))
    assert caught.value is error
    assert not fits_running()
    with pytest.raises(NotFittedError):
        search.predict(X)


def test_an_exit_in_a_fit_ends_all():
    sharing = opened(X, KMeans())
    with pytest.raises(SystemExit):
        sharing.together([lambda: sharing.view().fold(count), lambda: exec("raise SystemExit")])
    assert not fits_running()


def test_fits_of_unlike_lengths_end_when_they_end():
    sharing = opened(X, KMeans())

    def passes(n):
        return sum(sharing.view(n % 3).fold(count)[0] for _ in range(n))

    def seen():
        return len(fits_running()), sharing.view().fold(count)

    found = sharing.together([partial(passes, n) for n in (0, 7, 1, 3)])
    assert sharing.together([seen])[0][0] == 1
    sizes = np.bincount(parts_of(Rows(X), 0, 3))
    assert found == [n * sizes[n % 3] if n else 0 for n in (0, 7, 1, 3)]
    assert sharing.n_passes == 7 + 1
    assert not fits_running()


def test_warnings_come_out_once():
    grid = {"C": [1.0, 10.0], "max_iter": [1]}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GridSearch(LogisticRegression(), grid, cv=3, random_state=0).fit(X, STATE)
    assert [w.category for w in caught] == [ConvergenceWarning]
    with pytest.raises(ConvergenceWarning):
        GridSearch(LogisticRegression(), grid, cv=3, random_state=0).fit(X, STATE)


def test_fits_run_in_the_context_of_the_caller():
    sharing = opened(X, KMeans())
    with suffice.threads(1), config_context(assume_finite=True):
        found = sharing.together([lambda: (n_threads(), get_config()["assume_finite"])] * 2)
    assert found == [(1, True)] * 2


def test_threads_change_no_bit():
    results = []
    for n in (1, 2, 3):
        with suffice.threads(n):
            search = GridSearch(
                GaussianMixture(random_state=0), {"n_components": [1, 2]}, random_state=0
            ).fit(X)
        results.append(
            (search.cv_results_["mean_test_score"].tobytes(), search.best_estimator_.means_.tobytes())
        )
    assert len(set(results)) == 1


def test_what_cannot_be_held_is_refused(monkeypatch):
    afforded = []
    monkeypatch.setattr(shared, "afford", lambda numbers, *words: afforded.append((numbers, words)))
    GridSearch(Ridge(), {"alpha": [1.0, 2.0]}, cv=3, random_state=0).fit(X, X.sum(axis=1))
    numbers, (what, _) = max(afforded)
    assert what == "the sums of 6 fits at once" and numbers >= 6 * 4 * 4


def test_mistakes_are_named(tmp_path):
    with pytest.raises(TypeError, match="GridSearchCV"):
        GridSearch(__import__("sklearn.linear_model").linear_model.Ridge(), {"alpha": [1.0]}).fit(X, STATE)
    with pytest.raises(ValueError, match="'cv' parameter"):
        GridSearch(Ridge(), {"alpha": [1.0]}, cv=1).fit(X, STATE)
    with pytest.raises(ValueError, match="no_such"):
        GridSearch(Ridge(), {"no_such": [1.0]}).fit(X, STATE)
    with pytest.raises(ValueError, match="groups"):
        GridSearch(Ridge(), {"alpha": [1.0]}).fit(X, STATE, groups=STATE)
    with pytest.raises(ValueError, match="checkpoint"):
        GridSearch(LogisticRegression(checkpoint=tmp_path / "c"), {"C": [1.0]}).fit(X, STATE)
    sharing = opened(X, KMeans())
    with pytest.raises(ValueError, match="Open partitions"):
        KMeans(2).fit(sharing.view(), sample_weight=np.ones(ROWS))


# --- the face ------------------------------------------------------------------------------------------


def test_answers_are_those_of_the_best(tmp_path):
    search = GridSearch(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, random_state=0)
    assert hasattr(search, "predict") and not hasattr(search, "transform")
    with pytest.raises(NotFittedError):
        search.predict(X)
    search.fit(X, STATE)
    best = LogisticRegression(**search.best_params_).fit(X, STATE)
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert np.array_equal(getattr(search, name)(X), getattr(best, name)(X))
    assert search.score(X, STATE) == best.score(X, STATE)
    assert search.classes_.tolist() == [0, 1] and search.n_features_in_ == 3
    search.best_estimator_.save(tmp_path / "best.suffice")
    assert np.array_equal(suffice.load(tmp_path / "best.suffice").predict(X), best.predict(X))
    bare = GridSearch(LogisticRegression(), {"C": [0.1, 1.0]}, refit=False, random_state=0).fit(X, STATE)
    assert bare.best_params_ and not hasattr(bare, "best_estimator_")
    with pytest.raises(AttributeError, match="refit=True"):
        bare.predict(X)
    projected = GridSearch(PCA(), {"n_components": [1, 2]}, random_state=0).fit(X)
    assert projected.transform(X).shape == (ROWS, projected.best_params_["n_components"])


def test_several_targets_and_sparse_rows():
    Y = np.column_stack([X.sum(axis=1), X[:, 0]])
    search = GridSearch(Ridge(), {"alpha": [0.1, 1.0]}, random_state=0).fit(X, Y)
    assert search.predict(X).shape == Y.shape
    assert GridSearch(Ridge(), {"alpha": [0.1]}, random_state=0).fit(X, Y[:, 0]).predict(X).shape == (ROWS,)
    dense = np.where(np.abs(X) < 1.0, 0.0, X)
    grid = {"C": [0.01, 1.0]}
    thin = GridSearch(LogisticRegression(), grid, random_state=0).fit(sp.csr_array(dense), STATE)
    wide = GridSearch(LogisticRegression(), grid, random_state=0).fit(dense, STATE)
    assert np.allclose(thin.cv_results_["mean_test_score"], wide.cv_results_["mean_test_score"], atol=0.01)


def test_a_candidate_that_asks_for_other_data_is_checked():
    """Counts are checked for Poisson emissions, and not for Gaussian ones."""
    sequences = np.split(X, 9)
    search = GridSearch(
        HiddenMarkovModel(2, random_state=0), {"emission": ["gaussian", "poisson"]}, cv=2, random_state=3
    )
    with pytest.warns(FitFailedWarning, match="poisson"):
        search.fit(sequences)
    assert search.best_params_ == {"emission": "gaussian"}


# The checks replace cv by lists of rows; that a weight is a repetition is tried below.
NUMBER_OF_FOLDS = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
    "cv is a number of folds",
)
FEW_ROWS = dict.fromkeys(
    ("check_sample_weights_not_overwritten", "check_sample_weights_shape"),
    "of few different rows, some folds have one class",
)
SEARCHES = {LogisticRegression: FEW_ROWS, Ridge: {}}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # as scikit-learn runs them
@parametrize_with_checks(
    [
        GridSearch(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, random_state=1),
        GridSearch(Ridge(), {"alpha": [0.1, 1.0]}, cv=2, random_state=0),
    ],
    expected_failed_checks=lambda search: NUMBER_OF_FOLDS | SEARCHES[type(search.estimator)],
)
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_a_weight_is_a_repetition():
    """Equal rows are in one fold, so this holds of a search as a whole."""
    weight = np.random.default_rng(2).integers(0, 4, ROWS)
    again = np.repeat(np.arange(ROWS), weight)
    search = GridSearch(LogisticRegression(tol=1e-10), {"C": [1e-3, 1.0]}, random_state=0)
    weighed = clone(search).fit(X, STATE, sample_weight=weight)
    repeated = clone(search).fit(X[again], STATE[again])
    for name in ("mean_test_score", "std_test_score"):
        assert np.allclose(weighed.cv_results_[name], repeated.cv_results_[name], rtol=1e-12)
    assert np.allclose(weighed.best_estimator_.coef_, repeated.best_estimator_.coef_, rtol=1e-6)


def test_a_search_is_saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] > 0
    grid = [{"C": [0.1, 1.0]}, {"fit_intercept": [False]}]
    search = GridSearch(LogisticRegression(), grid, cv=2, random_state=0).fit(X, y)
    search.save(tmp_path / "search.suffice")
    loaded = suffice.load(tmp_path / "search.suffice")
    assert (loaded.predict(X) == search.predict(X)).all()
    assert loaded.best_params_ == search.best_params_ and loaded.best_score_ == search.best_score_
    assert loaded.cv_results_.keys() == search.cv_results_.keys()
    assert loaded.cv_results_["params"] == search.cv_results_["params"]
    for name in search.cv_results_.keys() - {"params"}:
        assert np.ma.allequal(loaded.cv_results_[name], search.cv_results_[name])
    assert loaded.cv_results_["param_C"].mask.tolist() == [False, False, True]
