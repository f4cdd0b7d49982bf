"""One classifier over every family: equal to those of one name, to mixtures, and to EM written by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, poisson
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import DiagonalGaussian, FullGaussian, GaussianPrior, Mixtures
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ClassConditional,
    GaussianNB,
    MixedNB,
    MultinomialNB,
)

from ..laws.registry import FAMILIES, K, assert_close, fit, learnt, starts, table, with_holes

REAL, GROUP = table("real")
NAMES = np.array(["ash", "elm", "oak"])
Y = NAMES[GROUP]
WEIGHT = np.random.default_rng(3).gamma(2.0, size=len(Y))


def hidden(y, share=0.6, seed=0, none=None):
    """Labels of which most are not known."""
    out = np.array(y, dtype=object if none is None else None)
    out[np.random.default_rng(seed).random(len(y)) < share] = none
    return out


# --- one class for all ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "support", "peer"),
    [
        ("diag", "real", GaussianNB(var_smoothing=0.0)),
        ("tied", "real", LinearDiscriminantAnalysis()),
        ("full", "real", QuadraticDiscriminantAnalysis(solver="eigen")),
        ("bernoulli", "binary", BernoulliNB()),
        ("multinomial", "count", MultinomialNB()),
        ("categorical", "category", CategoricalNB()),
        (["gaussian", "categorical", "bernoulli", "poisson"], "mixed", None),
        ({1: "categorical"}, "category", None),
    ],
    ids=str,
)
def test_those_of_one_name_are_its_faces(family, support, peer):
    X, group = table(support)
    y = NAMES[group]
    if peer is None:
        peer = MixedNB(family, var_smoothing=0.0)
    for weight in (None, WEIGHT):
        model = ClassConditional(family, reg_covar=0.0).fit(X, y, weight)
        assert not hasattr(model, "trace_")  # one pass
        peer.fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=1e-8, atol=1e-12)
        np.testing.assert_array_equal(model.predict(X), peer.predict(X))
        assert model.score(X, y) == peer.score(X, y)


def test_a_family_that_is_given(tmp_path):
    D = REAL.shape[1]
    named = ClassConditional("diag").fit(REAL, Y, WEIGHT)
    given = ClassConditional(DiagonalGaussian.start(3, D, reg=1e-6)).fit(REAL, Y, WEIGHT)
    np.testing.assert_array_equal(given.predict_proba(REAL), named.predict_proba(REAL))
    given.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").predict(REAL), named.predict(REAL))

    prior = GaussianPrior(mean_precision=1e9)
    pulled = ClassConditional(FullGaussian.start(6, D, prior=prior), n_components=2, random_state=0)
    pulled.fit(REAL, Y)
    np.testing.assert_allclose(pulled.model_.component.component.mean, 0.0, atol=1e-5)
    with pytest.raises(ValueError, match="2 densities on 5 columns, expected one for each of the 3 classes"):
        ClassConditional(DiagonalGaussian.start(2, 5)).fit(REAL, Y)


def test_sparse_rows():
    X, group = table("count")
    for family in ("multinomial", "bernoulli"):
        rows = X if family == "multinomial" else (X > 3).astype(float)
        dense, sparse = (ClassConditional(family).fit(A, group) for A in (rows, sp.csr_array(rows)))
        assert_close(dense.model_, sparse.model_, 1e-12)
        probability = sparse.predict_proba(sp.csr_array(rows))
        np.testing.assert_allclose(dense.predict_proba(rows), probability, rtol=1e-12)


def test_partial_fit_is_addition():
    parts = ClassConditional("full").partial_fit(REAL[:70], Y[:70], NAMES).partial_fit(REAL[70:], Y[70:])
    assert_close(parts.model_, ClassConditional("full").fit(REAL, Y).model_, 1e-10)
    assert not hasattr(ClassConditional(n_components=2), "partial_fit")


# --- exponential families ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [c for c in FAMILIES if c is not Mixtures], ids=lambda c: c.__name__)
def test_log_odds_are_linear_in_the_sufficient_statistics(cls):
    family = next(iter(starts(cls).values()))
    X = table(family.support)[0]
    family = learnt(family, X)
    coef, intercept = family.natural()
    linear = family.sufficient(X) @ coef.T + intercept
    for log_p in (family.log_density(X), family.scores(X)):
        off = linear - log_p  # the same for every k
        np.testing.assert_allclose(off - off[:, :1], 0.0, atol=1e-8)


def test_coefficients_are_those_of_the_posterior():
    X, group = table("count")
    model = ClassConditional("poisson", alpha=0.0).fit(X, group)
    rate = np.stack([X[group == k].mean(axis=0) for k in range(K)])
    np.testing.assert_allclose(model.coef_, np.log(rate))
    joint = poisson.logpmf(X[:, None], rate).sum(axis=2) + np.log(np.bincount(group) / len(X))
    np.testing.assert_allclose(
        model.predict_log_proba(X), joint - logsumexp(joint, axis=1)[:, None], atol=1e-10
    )
    linear = model.sufficient_statistics(X) @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(linear - linear[:, :1], joint - joint[:, :1], atol=1e-10)
    np.testing.assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-12)
    linear = LinearDiscriminantAnalysis(solver="lsqr").fit(REAL, Y)
    ours = ClassConditional("tied", reg_covar=0.0).fit(REAL, Y)
    np.testing.assert_allclose(ours.coef_ - ours.coef_[:1], linear.coef_ - linear.coef_[:1], atol=1e-8)
    with pytest.raises(AttributeError, match="not an exponential family"):
        ClassConditional(n_components=2, random_state=0).fit(REAL, Y).coef_  # noqa: B018


# --- mixtures within classes ---------------------------------------------------------------------------


def two_in_each(n=400, seed=0):
    """Two classes, each of two clouds, so that no line parts them."""
    rng = np.random.default_rng(seed)
    centers = np.array([[-3.0, -3.0], [3.0, 3.0], [-3.0, 3.0], [3.0, -3.0]])
    part = rng.integers(4, size=n)
    return centers[part] + rng.normal(size=(n, 2)), part // 2


def test_mixture_discriminant_analysis_is_a_mixture_in_each_class():
    X, y = two_in_each()
    model = ClassConditional("full", n_components=2, random_state=0, tol=1e-9, max_iter=500).fit(X, y)
    assert model.score(X, y) > 0.95
    for k in (0, 1):
        alone = GaussianMixture(2, random_state=0, tol=1e-9, max_iter=500).fit(X[y == k])
        order, theirs = np.argsort(model.model_.component.weight[k]), np.argsort(alone.weights_)
        mean = model.model_.component.component.mean[2 * k : 2 * k + 2]
        np.testing.assert_allclose(mean[order], alone.means_[theirs], atol=1e-3)
        np.testing.assert_allclose(
            model.model_.component.log_density(X)[:, k], alone.score_samples(X), atol=1e-3
        )
    assert (np.diff(model.trace_) >= -1e-12).all()


def test_components_that_share_a_covariance():
    """As Hastie and Tibshirani have it: one covariance for all components of all classes."""
    X, y = two_in_each()
    model = ClassConditional("tied", n_components=2, random_state=0).fit(X, y)
    assert model.model_.component.component.covariance.shape == (2, 2)
    assert model.score(X, y) > 0.95
    assert ClassConditional("tied").fit(X, y).score(X, y) < 0.7  # a line


def test_too_few_rows_for_the_components():
    with pytest.raises(ValueError, match=r"Class 1 has 2 labelled rows, and n_components=3"):
        ClassConditional(n_components=3).fit(REAL[:50], (np.arange(50) >= 48).astype(int))


# --- rows without a label ------------------------------------------------------------------------------


def em_by_hand(X, codes, weight, steps):
    """Full Gaussians, labels where codes >= 0: the textbook, without blocks."""
    R = np.where(codes[:, None] >= 0, np.eye(K)[codes], 0.0) * weight[:, None]
    trace = []
    for _ in range(steps + 1):
        total = R.sum(axis=0)
        mean = R.T @ X / total[:, None]
        Z = X[:, None] - mean
        C = np.einsum("nk,nki,nkj->kij", R, Z, Z) / total[:, None, None]
        joint = np.stack([multivariate_normal(m, c).logpdf(X) for m, c in zip(mean, C, strict=True)], axis=1)
        joint += np.log(total / total.sum())
        log_p = logsumexp(joint, axis=1)
        R = np.exp(joint - log_p[:, None])
        R[codes >= 0] = np.eye(K)[codes[codes >= 0]]
        R *= weight[:, None]
        known = np.where(codes >= 0, joint[np.arange(len(X)), codes], log_p)
        trace.append((weight * known).sum() / weight.sum())
    return mean, C, total / total.sum(), np.array(trace)


@pytest.mark.parametrize("none", [None, -1])
def test_em_is_the_textbook(none):
    codes = np.where(np.random.default_rng(1).random(len(GROUP)) < 0.6, -1, GROUP)
    y = codes if none == -1 else np.where(codes < 0, np.nan, codes.astype(float))
    model = fit(
        ClassConditional("full", reg_covar=0.0, unlabelled=none, tol=0.0, max_iter=9), REAL, y, WEIGHT
    )
    mean, C, prior, trace = em_by_hand(REAL, codes, WEIGHT, 9)
    np.testing.assert_allclose(model.trace_, trace[:9], rtol=1e-10)
    np.testing.assert_allclose(model.model_.component.mean, mean, rtol=1e-8)
    np.testing.assert_allclose(model.model_.component.covariance, C, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.class_prior_, prior, rtol=1e-9)
    assert model.classes_.tolist() == [0, 1, 2]


SUPPORTS = {"diag": "real", "poisson": "count", "multinomial": "count", "bernoulli": "binary"}
SUPPORTS |= {"tied": "real", "full": "real", "spherical": "real", "categorical": "category"}


@pytest.mark.parametrize("family", SUPPORTS)
def test_the_objective_never_falls(family):
    X, group = table(SUPPORTS[family])
    for rows in (X, with_holes(X)) if family != "multinomial" else (X,):
        how = {"reg_covar": 0.0, "tol": 0.0, "max_iter": 15}
        model = fit(ClassConditional(family, **how), rows, hidden(NAMES[group]), WEIGHT)
        assert len(model.trace_) == 15
        assert (np.diff(model.trace_) >= -1e-12 * np.abs(model.trace_[-1])).all(), model.trace_


@pytest.mark.parametrize("family", SUPPORTS)
def test_with_all_labels_a_step_is_the_supervised_fit(family):
    """The model of EM, wherever it is, gives back the supervised fit in one step."""
    X, group = table(SUPPORTS[family])
    supervised = ClassConditional(family).fit(X, group)
    partly = fit(ClassConditional(family), X, hidden(group, none=None))
    rows = suffice.partition(X, group, WEIGHT)
    anywhere = partly.model_.replace(classes=np.arange(K))
    step = anywhere.estimate(rows.fold(type(anywhere).summarize, anywhere))
    assert_close(step, supervised.fit(X, group, WEIGHT).model_, 1e-10)


def test_rows_without_a_label_help():
    """Ten labels and a thousand rows: the clouds say where the boundary is."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=2000)
    X = rng.normal(size=(2000, 12)) + 1.3 * truth[:, None] * (np.arange(12) < 4)
    y = np.full(2000, -1)
    few = np.concatenate([np.flatnonzero(truth == k)[:5] for k in (0, 1)])
    y[few] = truth[few]
    alone = ClassConditional("diag").fit(X[few], truth[few]).score(X, truth)
    both = ClassConditional("diag", unlabelled=-1).fit(X, y)
    assert both.converged_ and both.n_iter_ == len(both.trace_) > 1
    assert both.score(X, truth) > alone + 0.05


def test_labels_that_are_missing_in_every_form(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pd = pytest.importorskip("pandas")
    y = hidden(Y)
    first = ClassConditional("diag").fit(REAL, y)
    names = [f"x{d}" for d in range(REAL.shape[1])]
    frame = pd.DataFrame(REAL, columns=names).assign(label=y)
    arrow = pa.Table.from_pandas(frame)
    for n, part in enumerate((arrow[:40], arrow[40:41], arrow[41:])):
        pq.write_table(part, tmp_path / f"{n}.parquet")
    for table_ in (frame, arrow, suffice.scan_parquet(tmp_path)):
        model = ClassConditional("diag").fit(suffice.rows(table_, features=names, target="label"))
        assert_close(model.model_.component, first.model_.component, 1e-9)
        assert model.classes_.tolist() == ["ash", "elm", "oak"]
    # Whole numbers with holes, of pandas, are no objects of NumPy.
    numbers = pd.Series(pd.array(np.where(y == None, 0, GROUP), dtype="Int64"))  # noqa: E711
    numbers[pd.isna(y)] = pd.NA
    model = ClassConditional("diag").fit(REAL, numbers)
    assert_close(model.model_.component, first.model_.component, 1e-9)


def test_other_classifiers_refuse_rows_without_a_label():
    with pytest.raises(ValueError, match="missing labels"):
        GaussianNB().fit(REAL, hidden(Y))
    with pytest.raises(ValueError, match="No row has a label"):
        ClassConditional(unlabelled=-1).fit(REAL, np.full(len(REAL), -1))
    with pytest.raises(ValueError, match="'family' parameter"):
        ClassConditional("gausian").fit(REAL, Y)
    with pytest.raises(ValueError, match="zeros and ones"):
        ClassConditional("bernoulli").fit(np.abs(REAL), Y)


def test_a_table_of_strings_and_holes():
    X = np.array([["red", 1.0], ["red", None], ["blue", 3.0], ["blue", 3.2], ["blue", 2.9]], dtype=object)
    model = ClassConditional(["categorical", "gaussian"]).fit(X, ["a", "a", "b", "b", None])
    assert model.converged_
    np.testing.assert_allclose(model.class_count_, [2.0, 3.0], atol=1e-6)


def test_samples_come_from_the_model():
    model = ClassConditional("full", random_state=0).fit(REAL, Y)
    X, y = model.sample(30_000)
    again = ClassConditional("full").fit(X, y)
    np.testing.assert_allclose(again.class_prior_, model.class_prior_, atol=0.01)
    np.testing.assert_allclose(again.model_.component.mean, model.model_.component.mean, atol=0.1)


def test_partial_fit_refuses_what_is_hidden():
    model = ClassConditional("full").fit(REAL, Y)
    with pytest.raises(ValueError, match="call fit with all rows"):
        model.partial_fit(REAL, hidden(Y))
    with pytest.raises(ValueError, match="call fit with all rows"):
        model.partial_fit(with_holes(REAL), Y)
    with pytest.raises(ValueError, match="this fit iterated"):
        fit(model, REAL, hidden(Y)).partial_fit(REAL, Y)


def test_the_first_batch_may_lack_classes_that_are_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    model = ClassConditional("diag").partial_fit(X[y < 2], y[y < 2], classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    whole = ClassConditional("diag").fit(np.concatenate([X[y < 2], X]), np.concatenate([y[y < 2], y]))
    np.testing.assert_allclose(model.partial_fit(X, y).predict_proba(X), whole.predict_proba(X))


def test_without_iterations_the_start_is_published():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    with pytest.warns(ConvergenceWarning):
        model = ClassConditional("diag", n_components=2, max_iter=0, random_state=0).fit(X, y)
    assert model.n_iter_ == 0 and not hasattr(model, "class_count_")
