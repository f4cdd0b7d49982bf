"""What users of scikit-learn expect of a class of the same name: sparse rows, float32, options, siblings."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn import covariance, decomposition
from sklearn.feature_extraction import text as theirs

import suffice
from suffice.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from suffice.decomposition import NMF, PCA, IncrementalPCA, LatentDirichletAllocation, TruncatedSVD
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.feature_extraction.text import HashingVectorizer, TfidfTransformer, TfidfVectorizer
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6)) * (RNG.random((300, 6)) < 0.4) + 3.0 * (
    RNG.integers(3, size=(300, 1)) == range(6)
)
S, Y = sp.csr_array(X), RNG.integers(3, size=300)
TEXTS = ["red red wine", "white wine", "a glass of red", "the glass is white"] * 3


@pytest.mark.parametrize("cls", [BisectingKMeans, KMeans, MiniBatchKMeans])
def test_clusters_of_sparse_rows_are_those_of_dense_rows(cls):
    dense, sparse = (cls(3, random_state=0, n_init=2).fit(rows) for rows in (X, S))
    np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, atol=1e-12)
    np.testing.assert_array_equal(sparse.labels_, dense.predict(S))
    np.testing.assert_allclose(sparse.transform(S), dense.transform(X), atol=1e-12)
    assert (sparse.transform(sp.csr_array(sparse.cluster_centers_)).diagonal() == 0.0).all()


@pytest.mark.parametrize(
    ("model", "attribute"),
    [
        (PCA(2), "components_"),
        (IncrementalPCA(2), "components_"),
        (TruncatedSVD(2, random_state=0), "components_"),
        (KMeans(2, random_state=0), "cluster_centers_"),
        (MiniBatchKMeans(2, random_state=0), "cluster_centers_"),
        (NMF(2, random_state=0, max_iter=500), "components_"),
        (LatentDirichletAllocation(2, random_state=0), "components_"),
        (LinearDiscriminantAnalysis(), "coef_"),
    ],
    ids=lambda part: type(part).__name__,
)
def test_single_precision_stays(model, attribute):
    """The sums are float64: only what is returned is rounded."""
    rows = np.abs(X).astype(np.float32)
    for given in (rows, sp.csr_array(rows)) if suffice.inputs.Check.of(model).sparse else (rows,):
        model.fit(given, Y)
        assert getattr(model, attribute).dtype == np.float32
        assert model.transform(given).dtype == np.float32
    assert model.transform(rows.astype(np.float64)).dtype == np.float64
    single = getattr(model, attribute)
    model.fit(rows.astype(np.float64), Y)
    assert getattr(model, attribute).dtype == np.float64
    np.testing.assert_allclose(single, getattr(model, attribute), rtol=1e-4, atol=1e-4)


def test_mini_batches_come_close_to_all_rows(capsys):
    full = KMeans(3, random_state=0, n_init=3).fit(X)
    few = MiniBatchKMeans(3, batch_size=50, random_state=0, n_init=3, verbose=1).fit(X)
    assert full.inertia_ <= few.inertia_ < 1.05 * full.inertia_
    assert few.n_iter_ == np.ceil(few.n_steps_ * 50 / 300) and "Minibatch step 2/" in capsys.readouterr().out
    again = MiniBatchKMeans(3, batch_size=50, random_state=0, n_init=3).fit(X)
    np.testing.assert_array_equal(again.cluster_centers_, few.cluster_centers_)
    steps = MiniBatchKMeans(3, random_state=0)
    for _ in range(20):
        steps.partial_fit(X)
    assert steps.n_steps_ == 20 and steps.inertia_ < 1.2 * full.inertia_


@pytest.mark.parametrize("beta", [-0.5, 0.0, "itakura-saito", 0.5, 1.5, 2.5])
def test_beta_divergences(beta):
    rows = np.abs(X) + 0.1
    how = {
        "n_components": 2,
        "solver": "mu",
        "beta_loss": beta,
        "random_state": 0,
        "max_iter": 50,
        "tol": 0.0,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, them = NMF(**how).fit(rows), decomposition.NMF(**how).fit(rows)
        sparse = NMF(**how).fit(sp.csr_array(rows))
    np.testing.assert_allclose(ours.reconstruction_err_, them.reconstruction_err_, rtol=1e-6)
    np.testing.assert_allclose(ours.components_, them.components_, rtol=1e-4, atol=1e-8)
    np.testing.assert_allclose(sparse.components_, ours.components_, rtol=1e-9)
    assert (np.diff(ours.trace_) <= 1e-9 * ours.trace_[0]).all()


def test_beta_divergences_refuse_zeros():
    with pytest.raises(ValueError, match="X contains zeros"):
        NMF(2, solver="mu", beta_loss=0).fit(np.abs(X))


def test_covariance_estimator():
    shrunk = covariance.ShrunkCovariance(shrinkage=0.3)
    for cls, solver in ((LinearDiscriminantAnalysis, "lsqr"), (QuadraticDiscriminantAnalysis, "eigen")):
        ours = cls(solver=solver, covariance_estimator=shrunk).fit(X, Y)
        same = cls(solver=solver, shrinkage=0.3).fit(X, Y)
        np.testing.assert_allclose(ours.predict_proba(X), same.predict_proba(X))
        with pytest.raises(ValueError, match="Only one of the two"):
            cls(solver=solver, covariance_estimator=shrunk, shrinkage=0.1).fit(X, Y)
        with pytest.raises(ValueError, match="without weights"):
            cls(solver=solver, covariance_estimator=shrunk).fit(X, Y, sample_weight=np.arange(300.0))
    assert LinearDiscriminantAnalysis(solver="eigen", covariance_estimator=shrunk)._guarantee().gathers


def test_tfidf_is_that_of_scikit_learn():
    for how in (
        {},
        {"sublinear_tf": True, "norm": "l1"},
        {"smooth_idf": False, "norm": None},
        {"use_idf": False},
    ):
        ours, them = TfidfVectorizer(**how), theirs.TfidfVectorizer(**how)
        np.testing.assert_allclose(ours.fit_transform(TEXTS).toarray(), them.fit_transform(TEXTS).toarray())
        np.testing.assert_allclose(ours.transform(TEXTS[:2]).toarray(), them.transform(TEXTS[:2]).toarray())
        counts = theirs.CountVectorizer().fit_transform(TEXTS)
        mine, other = (t.TfidfTransformer(**how).fit_transform(counts) for t in (suffice_text(), theirs))
        np.testing.assert_allclose(mine.toarray(), other.toarray())
    fixed = TfidfVectorizer(vocabulary=["red", "wine"]).fit(TEXTS)
    np.testing.assert_allclose(fixed.idf_, theirs.TfidfVectorizer(vocabulary=["red", "wine"]).fit(TEXTS).idf_)
    parts = TfidfTransformer().partial_fit(counts[:5]).partial_fit(counts[5:])
    np.testing.assert_allclose(parts.idf_, TfidfTransformer().fit(counts).idf_)


def suffice_text():
    import suffice.feature_extraction.text as module

    return module


def test_texts_of_a_table_are_weighted_where_they_are():
    table = pa.table({"body": TEXTS})
    scan = suffice.documents(suffice.scan(lambda: [pa.record_batch({"body": TEXTS})]), text="body")
    for vectorizer in (TfidfVectorizer(), HashingVectorizer(n_features=64)):
        here = vectorizer.fit_transform(TEXTS)
        for there in (suffice.documents(table, text="body"), scan):
            weighed = vectorizer.fit(there).transform(there)
            got = KMeans(2, random_state=0).fit(weighed).cluster_centers_
            np.testing.assert_allclose(got, KMeans(2, random_state=0).fit(here).cluster_centers_)


def test_arrow_table_with_a_separate_target():
    names = [f"x{d}" for d in range(6)]
    table = pa.table(dict(zip(names, X.T, strict=True)))
    model = GaussianNB().fit(table, Y)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.predict(table), GaussianNB().fit(X, Y).predict(X))
    with pytest.raises(ValueError, match="fitted with"):
        model.partial_fit(table.select(names[::-1]), Y)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KMeans(3, random_state=0, verbose=1), ["Initialization complete", "inertia", "Converged"]),
        (GaussianMixture(2, random_state=0, verbose=2, verbose_interval=1), ["ll change", "converged"]),
        (NMF(2, random_state=0, verbose=1, max_iter=500), ["Epoch 01", "error"]),
        (LatentDirichletAllocation(2, random_state=0, verbose=1), ["iteration: 10 of max_iter: 10"]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_verbose_prints(model, words, capsys):
    model.fit(np.abs(X))
    out = capsys.readouterr().out
    assert all(word in out for word in words)
    model.set_params(verbose=0).fit(np.abs(X))
    assert not capsys.readouterr().out
