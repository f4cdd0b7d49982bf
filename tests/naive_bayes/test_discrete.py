"""Naive Bayes by counting: what scikit-learn gives, maximum likelihood, holes, and words for mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.naive_bayes as theirs

import suffice.naive_bayes as ours

RNG = np.random.default_rng(0)
X = RNG.poisson(1.0, size=(240, 6)).astype(float)
Y = np.array(["ash", "elm", "oak"])[RNG.integers(3, size=240)]
WEIGHT = RNG.gamma(2.0, size=240)
ANSWERS = ["predict", "predict_proba", "predict_log_proba", "predict_joint_log_proba"]
NAMES = ["BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"]


def assert_same(a, b, X):
    for name in [name for name in vars(b) if name.endswith("_") and name[0] != "_"]:
        mine, its = getattr(a, name), getattr(b, name)
        for m, i in zip(mine, its, strict=True) if isinstance(its, list) else [(mine, its)]:
            if np.asarray(i).dtype.kind == "f":
                np.testing.assert_allclose(m, i, rtol=1e-12, err_msg=name)
            else:
                np.testing.assert_array_equal(m, i, err_msg=name)
    for name in ANSWERS:
        mine, its = getattr(a, name)(X), getattr(b, name)(X)
        if its.dtype.kind == "f":
            np.testing.assert_allclose(mine, its, rtol=1e-10, atol=1e-14, err_msg=name)
        else:
            np.testing.assert_array_equal(mine, its, err_msg=name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"alpha": 0.3, "fit_prior": False},
        {"alpha": 1e-3, "class_prior": [0.2, 0.3, 0.5]},
        {"alpha": [0.1, 0.2, 0.3, 1.0, 2.0, 0.5]},
        {"norm": True},
        {"binarize": 1.0},
        {"min_categories": [9, 8, 1, 1, 1, 20]},
    ],
    ids=str,
)
def test_as_scikit_learn(name, params):
    its, mine = getattr(theirs, name), getattr(ours, name)
    each = np.ndim(params.get("alpha", 0))  # theirs cannot: of categories not at all, of flags by mistake
    if set(params) - set(its().get_params()) or (each and name not in ("MultinomialNB", "ComplementNB")):
        return
    kinds = [X, X.astype(np.float32), X.astype(int)]
    for rows in kinds if name == "CategoricalNB" else [*kinds, sp.csr_array(X), sp.csr_matrix(X)]:
        for weight in (None, WEIGHT):
            a, b = mine(**params).fit(rows, Y, weight), its(**params).fit(rows, Y, weight)
            assert_same(a, b, rows)
        parts = [
            (model.partial_fit(rows[:50], Y[:50], ["ash", "elm", "oak"]).partial_fit(rows[50:], Y[50:]))
            for model in (mine(**params), its(**params))
        ]
        if name != "CategoricalNB":  # theirs forgets n_categories_ of the first part
            assert_same(*parts, rows)


@pytest.mark.parametrize("name", NAMES)
def test_one_class(name):
    assert_same(*(getattr(m, name)().fit(X, np.zeros(240, int)) for m in (ours, theirs)), X)


@pytest.mark.parametrize("name", NAMES[:2] + NAMES[3:])
def test_without_smoothing_it_is_maximum_likelihood(name):
    """Frequencies; and what never occurred in a class is impossible there, not NaN."""
    rows = np.array([[0, 1], [0, 1], [0, 2], [1, 0], [1, 0]])
    y = np.array([0, 0, 0, 1, 1])
    model = getattr(ours, name)(alpha=0.0).fit(rows, y)
    log_p = model.feature_log_prob_
    if name != "CategoricalNB":
        np.testing.assert_allclose(np.exp(log_p), [[0, 1], [1, 0]])
    else:
        np.testing.assert_allclose(np.exp(log_p[1]), [[0, 2 / 3, 1 / 3], [1, 0, 0]])
    np.testing.assert_allclose(model.predict_proba(rows), np.eye(2)[y])
    if name != "CategoricalNB":
        np.testing.assert_allclose(model.predict_proba(sp.csr_array(rows)), np.eye(2)[y])
    nowhere = model.predict_proba([[1, 1]])  # no class can produce it
    np.testing.assert_allclose(nowhere, [[0.5, 0.5]])


@pytest.mark.parametrize("name", ["BernoulliNB", "CategoricalNB"])
def test_holes_count_nowhere(name):
    """The columns of a naive Bayes model are learnt apart, each from the rows that have it."""
    holes = X.copy()
    holes[RNG.random(X.shape) < 0.2] = np.nan
    model = getattr(ours, name)().fit(holes, Y)
    for d in range(6):
        seen = ~np.isnan(holes[:, d])
        alone = getattr(theirs, name)().fit(X[seen][:, [d]], Y[seen])
        mine, its = model.feature_log_prob_, alone.feature_log_prob_
        mine, its = (mine[d], its[0]) if isinstance(mine, list) else (mine[:, [d]], its)
        np.testing.assert_allclose(mine, its, rtol=1e-12)
    whole = getattr(ours, name)().fit(X, Y)
    nothing = np.full((1, 6), np.nan)
    np.testing.assert_allclose(whole.predict_proba(nothing)[0], np.exp(whole.class_log_prior_))


def test_a_category_that_was_not_seen_tells_nothing():
    model = ours.CategoricalNB().fit([[0, 0], [1, 1], [3, 1]], [0, 1, 1])
    assert model.n_categories_.tolist() == [4, 2]
    np.testing.assert_allclose(model.predict_proba([[9, 1]]), model.predict_proba([[np.nan, 1]]))


def test_bernoulli_of_zeros_and_ones():
    rows = (X > 0).astype(float)
    for kind in (rows, sp.csr_array(rows)):
        assert_same(*(m.BernoulliNB(binarize=None).fit(kind, Y) for m in (ours, theirs)), kind)


def test_wide_sparse_rows_in_few_blocks():
    """Where the sums are larger than the rows, there are few blocks; the sums are the same."""
    rng = np.random.default_rng(1)
    wide = sp.random_array((3000, 20_000), density=2e-4, format="csr", rng=rng)
    y = rng.integers(5, size=3000)
    assert_same(*(m.MultinomialNB().fit(wide, y) for m in (ours, theirs)), wide)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ours.MultinomialNB(alpha=-1.0), "'alpha' parameter"),
        (
            ours.MultinomialNB(alpha=[1.0, 2.0]),
            r"should contains `n_features`\. Got shape \(2,\), and X has 6",
        ),
        (ours.MultinomialNB(alpha=-np.ones(6)), "All values in alpha must be greater than 0"),
        (ours.CategoricalNB(alpha=np.ones(6)), "'alpha' parameter"),
        (ours.CategoricalNB(min_categories=1.5), "'min_categories' parameter"),
        (ours.CategoricalNB(min_categories=[1, 2]), "should have shape"),
        (ours.BernoulliNB(binarize=-1.0), "'binarize' parameter"),
        (ours.MultinomialNB(class_prior=[0.5, 0.5]), "Number of priors must match number of classes"),
    ],
    ids=str,
)
def test_words_for_mistakes(model, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X, Y)


def test_negative_counts_and_holes_are_refused():
    with pytest.raises(ValueError, match="Negative values"):
        ours.MultinomialNB().fit(-X, Y)
    with pytest.raises(ValueError, match="NaN"):
        ours.MultinomialNB().fit(np.where(X > 2, np.nan, X), Y)


def test_alpha_that_is_too_small():
    with pytest.warns(UserWarning, match=r"alpha too small"):
        model = ours.MultinomialNB(alpha=0.0, force_alpha=False).fit(X, Y)
    assert np.isfinite(model.feature_log_prob_).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_many_rows_are_checked_by_threads(dtype):
    """What a few rows are refused for, many are too, in `fit` and in `predict`, with the same words."""
    many = np.tile(X, (500, 6)).astype(dtype)
    y = np.tile(Y, 500)
    model = ours.MultinomialNB().fit(many[:4000], y[:4000])
    assert model.predict(many).shape == y.shape
    for value, words in ((np.nan, "Input X contains NaN"), (np.inf, "infinity"), (-1.0, "Negative values")):
        many[-1, -1] = value
        for call in (lambda: ours.MultinomialNB().fit(many, y), lambda: model.predict(many)):
            with pytest.raises(ValueError, match=words):
                call()
