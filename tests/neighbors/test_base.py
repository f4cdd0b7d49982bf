"""Estimators of neighbours: as scikit-learn's, wherever the rows are."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import sklearn.neighbors as theirs
from sklearn.exceptions import DataConversionWarning

import suffice
from suffice.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from suffice.statistics.nearest import BOOLEAN

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 3))
LABEL = np.array(["ash", "elm", "oak"])[RNG.integers(3, size=3000)]
Y = X @ RNG.normal(size=(3, 2)) + RNG.normal(size=(3000, 2))
QUERIES = RNG.normal(size=(50, 3))


def inverse_square(distance):
    return 1.0 / (distance**2 + 0.1)


@pytest.fixture
def scan(tmp_path):
    """The rows in a Parquet file of six row groups."""
    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "label": LABEL, "y": Y[:, 0]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=550)
    return suffice.scan_parquet(tmp_path)


def described(scan, target=None):
    return suffice.rows(scan, features=["a", "b", "c"], target=target)


def named(queries):
    return pa.table(dict(zip("abc", np.asarray(queries).T, strict=True)))


@pytest.mark.parametrize("weights", ["uniform", "distance", inverse_square])
@pytest.mark.parametrize("how", [{}, {"metric": "manhattan"}, {"p": np.inf, "algorithm": "brute"}])
def test_predictions_are_those_of_scikit_learn(weights, how):
    # By brute force, scikit-learn before 1.9 takes no strings.
    classes, codes = np.unique(LABEL, return_inverse=True)
    for name, y, coded in (("KNeighborsClassifier", LABEL, codes), ("KNeighborsRegressor", Y, Y)):
        ours, them = (
            getattr(module, name)(7, weights=weights, **how).fit(X, target)
            for module, target in ((suffice.neighbors, y), (theirs, coded))
        )
        assert ours.effective_metric_ == them.effective_metric_
        rows = np.concatenate([QUERIES, X[:20]])  # of which some are at distance zero
        if name == "KNeighborsClassifier":
            np.testing.assert_allclose(ours.predict_proba(rows), them.predict_proba(rows), atol=1e-12)
            assert (ours.predict(rows) == classes[them.predict(rows)]).all()
        else:
            np.testing.assert_allclose(ours.predict(rows), them.predict(rows), rtol=1e-10)
        assert ours.score(X[:200], y[:200]) == pytest.approx(them.score(X[:200], coded[:200]))


def test_neighbours_and_graphs_are_those_of_scikit_learn():
    ours, them = (module.NearestNeighbors(n_neighbors=4).fit(X) for module in (suffice.neighbors, theirs))
    for queries in (QUERIES, None):
        for a, b in zip(ours.kneighbors(queries), them.kneighbors(queries), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        assert (
            ours.kneighbors(queries, 2, return_distance=False) == ours.kneighbors(queries)[1][:, :2]
        ).all()
        for mode in ("connectivity", "distance"):
            a, b = (m.kneighbors_graph(queries, mode=mode) for m in (ours, them))
            np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-12)
            a, b = (m.radius_neighbors_graph(queries, 0.3, mode=mode) for m in (ours, them))
            np.testing.assert_allclose(a.toarray(), b.toarray(), atol=1e-12)
    near = ours.radius_neighbors(QUERIES, 0.5, sort_results=True)
    for a, b in zip(near[0], them.radius_neighbors(QUERIES, 0.5, sort_results=True)[0], strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    assert (ours.radius_neighbors(QUERIES, 0.5, return_distance=False)[0] == np.sort(near[1][0])).all()
    with pytest.raises(ValueError, match="Unsupported mode"):
        ours.kneighbors_graph(QUERIES, mode="other")


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_stay_in_files_have_the_same_bits(scan, threads):
    here = KNeighborsClassifier(weights="distance").fit(X, LABEL)
    there = KNeighborsClassifier(weights="distance").fit(described(scan, "label"))
    assert there.classes_.tolist() == here.classes_.tolist() and there.n_samples_fit_ == 3000
    with suffice.threads(threads):
        queries = named(QUERIES)
        assert np.array_equal(there.predict_proba(queries), here.predict_proba(QUERIES))
        for a, b in zip(there.kneighbors(queries), here.kneighbors(QUERIES), strict=True):
            assert np.array_equal(a, b)
        assert there.kneighbors_graph(queries).shape == (50, 3000)
        mean = KNeighborsRegressor().fit(described(scan, "y"))
        assert np.array_equal(mean.predict(queries), KNeighborsRegressor().fit(X, Y[:, 0]).predict(QUERIES))


def test_a_batch_of_queries_is_one_pass(scan, monkeypatch):
    model = KNeighborsClassifier().fit(described(scan, "label"))
    passes, plain = [], type(model._rows.data).fold

    def fold(self, f, *shared):
        passes.append(f)
        return plain(self, f, *shared)

    monkeypatch.setattr(type(model._rows.data), "fold", fold)
    model.predict(named(QUERIES))
    assert len(passes) == 1
    here = KNeighborsClassifier().fit(X, LABEL)
    assert model.score(named(X), LABEL) == here.score(X, LABEL)
    assert sum("Queries" in f.__qualname__ for f in passes) == 2


def test_what_needs_rows_in_memory_says_so(scan, tmp_path):
    model = NearestNeighbors().fit(described(scan))
    classifier = KNeighborsClassifier().fit(described(scan, "label"))
    with pytest.raises(TypeError, match="pass these in memory, in parts"):
        classifier.predict(scan)
    with pytest.raises(TypeError, match="must be in memory; got ParquetScan"):
        model.kneighbors(scan)
    for call in (model.kneighbors, lambda: model.radius_neighbors(named(QUERIES))):
        with pytest.raises(TypeError, match="fit to rows in memory"):
            call()
    with pytest.raises(TypeError, match="are not stored"):
        model.save(tmp_path / "model")
    with pytest.raises(TypeError, match="needs rows in memory"):
        suffice.as_sklearn(model)


def test_a_row_of_weight_two_is_two_neighbours():
    rows, times = X[:300], RNG.integers(0, 3, 300)
    again = np.repeat(np.arange(300), times)
    for algorithm in ("brute", "kd_tree"):
        weighted = KNeighborsRegressor(algorithm=algorithm).fit(rows, Y[:300], times)
        repeated = KNeighborsRegressor(algorithm=algorithm).fit(rows[again], Y[again])
        assert np.array_equal(weighted.predict(QUERIES), repeated.predict(QUERIES))
        distance, row = weighted.kneighbors(QUERIES)
        assert np.array_equal(distance, repeated.kneighbors(QUERIES)[0])
        assert np.array_equal(row, again[repeated.kneighbors(QUERIES)[1]])
        assert weighted.n_samples_fit_ == times.sum() == repeated.n_samples_fit_
        alone = weighted.kneighbors(n_neighbors=3)[0][again]
        assert np.array_equal(alone, repeated.kneighbors(n_neighbors=3)[0])


def test_a_part_of_a_weight_is_a_part_of_a_vote():
    model = KNeighborsClassifier(3).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"], [0.5, 1.5, 1.0])
    np.testing.assert_allclose(model.predict_proba([[0.0]]), [[0.25, 0.75, 0.0]])


@pytest.mark.parametrize("n_features", [40, 400])
def test_sparse_rows_have_the_bits_of_dense_rows(n_features):
    rows, queries = (sp.random_array((n, n_features), density=0.05, rng=n, format="csr") for n in (2500, 150))
    times = np.arange(2500) % 3
    rows = sp.vstack([rows[:30], rows[:-30]], format="csr")  # with ties
    for p in (2, 1) if n_features == 40 else (2,):
        for weight in (None, times):
            search = NearestNeighbors(n_neighbors=7, p=p)
            expected = search.fit(rows.toarray(), None, weight).kneighbors(queries.toarray())
            for fitted in (rows, rows.toarray()):
                search.fit(fitted, None, weight)
                for asked in (queries, queries.toarray()):
                    for a, b in zip(search.kneighbors(asked), expected, strict=True):
                        assert np.array_equal(a, b)
    them = theirs.NearestNeighbors(n_neighbors=7).fit(rows).kneighbors(queries)[0]
    np.testing.assert_allclose(NearestNeighbors(n_neighbors=7).fit(rows).kneighbors(queries)[0], them)
    few = NearestNeighbors(radius=1.2).fit(rows[:300])
    near = few.radius_neighbors(queries)[1], NearestNeighbors(radius=1.2).fit(rows[:300].toarray())
    for a, b in zip(near[0], near[1].radius_neighbors(queries.toarray())[1], strict=True):
        assert np.array_equal(a, b)


def test_sparse_rows_have_no_tree(tmp_path):
    rows = sp.random_array((50, 10), density=0.3, rng=0, format="csr")
    with pytest.warns(UserWarning, match="cannot use tree with sparse input: using brute force"):
        model = KNeighborsRegressor(algorithm="kd_tree").fit(rows, np.arange(50.0))
    model.save(tmp_path / "model")
    assert np.array_equal(suffice.load(tmp_path / "model").predict(rows), model.predict(rows))
    with pytest.warns(UserWarning, match="cannot use tree with sparse input"):
        them = suffice.as_sklearn(model)
    np.testing.assert_allclose(them.predict(rows), model.predict(rows))


def test_several_targets_are_those_of_scikit_learn(tmp_path):
    labels = np.column_stack([LABEL, np.where(Y[:, 0] > 0, "up", "down")]).astype(object)
    ours, them = (
        module.KNeighborsClassifier(weights="distance").fit(X, labels)
        for module in (suffice.neighbors, theirs)
    )
    assert ours.outputs_2d_ and [c.tolist() for c in ours.classes_] == [c.tolist() for c in them.classes_]
    assert (ours.predict(QUERIES) == them.predict(QUERIES)).all()
    for a, b in zip(ours.predict_proba(QUERIES), them.predict_proba(QUERIES), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    assert ours.score(QUERIES, them.predict(QUERIES)) == 1.0
    ours.save(tmp_path / "model")
    assert (suffice.load(tmp_path / "model").predict(QUERIES) == ours.predict(QUERIES)).all()
    assert (suffice.as_sklearn(ours).predict(QUERIES) == ours.predict(QUERIES)).all()
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        column = KNeighborsClassifier().fit(X, LABEL[:, None])
    assert not column.outputs_2d_ and column.predict(QUERIES).shape == (50,)


def test_ties_go_to_the_earlier_row():
    for algorithm in ("brute", "kd_tree"):
        search = NearestNeighbors(n_neighbors=3, algorithm=algorithm, leaf_size=1)
        search.fit([[1.0], [-1.0], [1.0], [0.0], [-1.0]])
        assert search.kneighbors([[0.0]])[1].tolist() == [[3, 0, 1]]
        assert search.kneighbors(n_neighbors=1)[1].ravel().tolist() == [2, 4, 0, 0, 1]


@pytest.mark.parametrize("cls", [KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors])
def test_more_neighbours_than_rows(cls):
    model = cls(n_neighbors=4).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1], [1, 1, 1, 0])
    ask = getattr(model, "predict", model.kneighbors)
    with pytest.raises(ValueError, match=r"n_neighbors = 4, n_samples_fit = 3.*lower n_neighbors"):
        ask([[0.5]])
    with pytest.raises(ValueError, match="a row is not its own neighbour"):
        model.kneighbors(n_neighbors=3)
    for wrong, error in ((0, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="n_neighbors"):
            model.kneighbors([[0.5]], n_neighbors=wrong)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"metric": "taxi"}, r"Metric 'taxi' not valid\. Use one of"),
        ({"metric": "mahalanobis"}, r"metric='mahalanobis' needs metric_params={'VI': \.\.\.}"),
        ({"metric_params": {"V": 1}}, "metric_params=.* is not supported"),
        ({"p": None}, "p is None"),
        ({"p": -1.0}, "The 'p' parameter"),
        ({"algorithm": "grid"}, "The 'algorithm' parameter"),
    ],
)
def test_distances_that_are_not_supported(how, message):
    with pytest.raises(ValueError, match=message):
        NearestNeighbors(**how).fit(X)


def test_single_precision_is_compared_exactly():
    rows = X.astype(np.float32)
    a, b = (NearestNeighbors().fit(each).kneighbors(QUERIES) for each in (rows, rows.astype(np.float64)))
    assert all(np.array_equal(u, v) for u, v in zip(a, b, strict=True))


def test_missing_values_are_refused():
    rows = X[:9].copy()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        NearestNeighbors().fit(rows)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        NearestNeighbors().fit(X).kneighbors(rows)


def longest_step(x, z):
    return float(np.abs(x - z).max())


OTHERS = {
    "cosine": {},
    "canberra": {},
    "sqeuclidean": {},
    "hamming": {},
    "mahalanobis": {"VI": np.diag([1.0, 2.0, 3.0])},
    "minkowski": {"w": np.array([1.0, 0.5, 2.0])},
    longest_step: {},
}


@pytest.mark.parametrize("metric", list(OTHERS))
def test_other_metrics_are_those_of_scikit_learn(metric, scan):
    how = {"n_neighbors": 4, "metric": metric, "metric_params": OTHERS[metric] or None}
    rows, queries = X[:400].round(1), QUERIES[:5].round(1)
    ours = NearestNeighbors(**how).fit(rows)
    them = theirs.NearestNeighbors(**how, algorithm="brute").fit(rows)
    for mine, their in zip(ours.kneighbors(queries), them.kneighbors(queries), strict=True):
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, their, atol=1e-12)
    if metric is not longest_step:
        np.testing.assert_allclose(ours.kneighbors()[0], them.kneighbors()[0], atol=1e-12)
    radius = 1.0001 * float(np.median(ours.kneighbors(queries)[0]))
    for mine, their in zip(*(m.radius_neighbors(queries, radius) for m in (ours, them)), strict=True):
        assert [len(a) for a in mine] == [len(a) for a in their]
    weight = np.where(np.arange(400) % 3 == 0, 2.0, np.arange(400) % 3 - 1.0)
    weighted = NearestNeighbors(**how).fit(rows, sample_weight=weight)
    repeated = NearestNeighbors(**how).fit(np.repeat(rows, weight.astype(int), axis=0))
    np.testing.assert_array_equal(weighted.kneighbors(queries)[0], repeated.kneighbors(queries)[0])
    table = described(scan)
    elsewhere, here = NearestNeighbors(**how).fit(table), NearestNeighbors(**how).fit(X)
    for mine, their in zip(elsewhere.kneighbors(named(queries)), here.kneighbors(queries), strict=True):
        np.testing.assert_allclose(mine, their, atol=1e-12)


@pytest.mark.parametrize("cls", [KNeighborsClassifier, KNeighborsRegressor])
def test_precomputed_distances(cls):
    y = LABEL[:300] if cls is KNeighborsClassifier else Y[:300, 0]
    D = np.sqrt(((X[:300, None] - X[:300]) ** 2).sum(axis=2))
    near = np.sqrt(((QUERIES[:, None] - X[:300]) ** 2).sum(axis=2))
    direct = cls(5).fit(X[:300], y)
    matrix = cls(5, metric="precomputed").fit(D, y)
    np.testing.assert_array_equal(matrix.predict(near), direct.predict(QUERIES))
    np.testing.assert_array_equal(matrix.kneighbors()[1], direct.kneighbors()[1])
    graph = theirs.KNeighborsTransformer(n_neighbors=9, mode="distance").fit(X[:300])
    sparse = cls(5, metric="precomputed").fit(graph.transform(X[:300]), y)
    np.testing.assert_array_equal(sparse.predict(graph.transform(QUERIES)), direct.predict(QUERIES))
    with pytest.raises(
        ValueError, match="12 neighbors per samples are required, but some samples have only 10"
    ):
        sparse.kneighbors(graph.transform(QUERIES), n_neighbors=12)
    with pytest.raises(ValueError, match=r"must be square\. Input is a 50x300 matrix"):
        cls(5, metric="precomputed").fit(near, y[:50])
    with pytest.raises(ValueError, match="Negative values in data passed to precomputed"):
        cls(5, metric="precomputed").fit(-D, y)
    with pytest.raises(ValueError, match=r"precomputed distance matrix.*takes distances: X has -"):
        matrix.predict(-near)


def test_precomputed_distances_must_be_in_memory(scan):
    with pytest.raises(TypeError, match="metric='precomputed' needs the matrix of distances in memory"):
        NearestNeighbors(metric="precomputed").fit(described(scan))


def test_metrics_of_dense_rows_alone():
    with pytest.raises(ValueError, match="Metric 'canberra' not valid for sparse input"):
        NearestNeighbors(metric="canberra").fit(sp.csr_array(X))


def test_powers_in_metric_params():
    with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
        model = NearestNeighbors(metric_params={"p": 1}).fit(X)
    assert model.effective_metric_ == "manhattan"


def test_votes_without_a_weight_are_refused():
    model = KNeighborsClassifier(3, weights=lambda distance: 0.0 * distance).fit(X, LABEL)
    with pytest.raises(ValueError, match="All neighbors of some sample is getting zero weights"):
        model.predict(QUERIES)


@pytest.mark.parametrize("name", ["KNeighborsClassifier", "KNeighborsRegressor"])
def test_each_row_is_predicted_from_the_others(name):
    y = LABEL[:60] if name == "KNeighborsClassifier" else Y[:60, 0]
    ours, them = (getattr(module, name)(4).fit(X[:60], y) for module in (suffice.neighbors, theirs))
    apart = [
        getattr(suffice.neighbors, name)(4).fit(np.delete(X[:60], n, 0), np.delete(y, n)).predict(X[[n]])[0]
        for n in range(60)
    ]
    np.testing.assert_array_equal(ours.predict(None), apart)
    assert ours.score(None, y) == pytest.approx(them.score(None, y))


def test_a_tree_refuses_metrics_that_it_cannot_search_by():
    X = np.random.default_rng(0).random((20, 3))
    for tree in ("kd_tree", "ball_tree"):
        with pytest.raises(ValueError, match=f'algorithm="{tree}" does not support 0 < p < 1'):
            NearestNeighbors(algorithm=tree, p=0.5).fit(X)
        with pytest.raises(ValueError, match=f"Metric 'cosine' not valid for algorithm='{tree}'"):
            NearestNeighbors(algorithm=tree, metric="cosine").fit(X)
    with pytest.raises(ValueError, match="with weights 'w' not valid for algorithm='kd_tree'"):
        NearestNeighbors(algorithm="kd_tree", metric="minkowski", metric_params={"w": np.ones(3)}).fit(X)
    with pytest.raises(ValueError, match="kd_tree does not support callable metric"):
        NearestNeighbors(algorithm="kd_tree", metric=lambda a, b: abs(a - b).sum()).fit(X)
    for options in ({"metric": "canberra"}, {"metric_params": {"w": np.ones(3)}}):
        by_tree = NearestNeighbors(algorithm="ball_tree", **options).fit(X).kneighbors(X)[1]
        assert np.array_equal(by_tree, NearestNeighbors(algorithm="brute", **options).fit(X).kneighbors(X)[1])


@pytest.mark.parametrize(
    "metric", sorted({*theirs.VALID_METRICS["brute"], *theirs.VALID_METRICS["ball_tree"]} - {"pyfunc"})
)
def test_auto_takes_each_metric(metric):
    X = np.random.default_rng(0).random((20, 2 if metric == "haversine" else 4))
    if metric in BOOLEAN:
        X = X > 0.3
    if metric == "precomputed":
        X = abs(X[:, None] - X).sum(axis=2)
    params = {"mahalanobis": {"VI": np.eye(4)}, "seuclidean": {"V": np.ones(4)}}.get(metric)
    ours, them = (
        module.NearestNeighbors(n_neighbors=3, metric=metric, metric_params=params).fit(X)
        for module in (suffice.neighbors, theirs)
    )
    assert ours.effective_metric_ == them.effective_metric_
    np.testing.assert_allclose(ours.kneighbors(X)[0], them.kneighbors(X)[0], atol=1e-7)


@pytest.mark.parametrize("form", ["dok", "bsr"])
def test_a_sparse_matrix_that_drops_distances_of_zero_is_refused(form):
    distance = abs(X[:20, None] - X[:20]).sum(axis=2)
    distance[0, 1] = distance[1, 0] = 0.0  # two equal rows
    for matrix in (sp.csr_array(distance), distance):
        NearestNeighbors(n_neighbors=3, metric="precomputed").fit(matrix)
    with pytest.raises(TypeError, match="not supported due to its handling of explicit zeros"):
        NearestNeighbors(n_neighbors=3, metric="precomputed").fit(sp.csr_array(distance).asformat(form))


def test_weights_that_are_all_zero_or_negative():
    X = np.random.default_rng(0).random((4, 3))
    for weight, cause in ((np.zeros(4), "zero for every row"), (np.full(4, -1.0), "Negative values")):
        with pytest.raises(ValueError, match=f"all samples have zero or negative weights. .*{cause}"):
            NearestNeighbors().fit(X, sample_weight=weight)
    with pytest.raises(TypeError, match="at least 1 dimension"):
        NearestNeighbors().fit(X, sample_weight=np.array(2.0))
    assert NearestNeighbors().fit(X, sample_weight=2.0).n_samples_fit_ == 8


def test_functions_of_scikit_learn_take_a_fitted_search():
    ours, them = (module.NearestNeighbors().fit(X[:100]) for module in (suffice.neighbors, theirs))
    for graph, limit in ((theirs.kneighbors_graph, 3), (theirs.radius_neighbors_graph, 0.5)):
        np.testing.assert_allclose(
            graph(ours, limit, mode="distance").toarray(), graph(them, limit, mode="distance").toarray()
        )
