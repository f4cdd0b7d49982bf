"""Displays of clusters, mixtures and components, and of the choice of their number."""

from __future__ import annotations

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import pandas as pd  # noqa: E402
from scipy.cluster.hierarchy import dendrogram, linkage  # noqa: E402
from sklearn.cluster import AgglomerativeClustering as PeerTree  # noqa: E402
from sklearn.metrics import silhouette_samples, silhouette_score  # noqa: E402
from sklearn.mixture import GaussianMixture as PeerMixture  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import suffice  # noqa: E402
from suffice.cluster import AgglomerativeClustering, DivisiveClustering, KMeans  # noqa: E402
from suffice.decomposition import PCA, TruncatedSVD, parallel_analysis  # noqa: E402
from suffice.linear_model import LinearRegression  # noqa: E402
from suffice.mixture import GaussianMixture, PoissonMixture  # noqa: E402
from suffice.model_selection import GridSearch  # noqa: E402
from suffice.plot import (  # noqa: E402
    ClusterProfilesDisplay,
    DendrogramDisplay,
    MixtureDisplay,
    ModelSelectionDisplay,
    ScreeDisplay,
    SilhouetteDisplay,
)

from .geometry import boxes, drawn, overlaps  # noqa: E402

RNG = np.random.default_rng(0)
CENTERS = np.array([[0.0, 0.0, 1.0], [7.0, 0.0, 2.0], [0.0, 7.0, 3.0]])
X = np.concatenate([RNG.normal(m, [1.0, 0.5, 2.0], (60, 3)) for m in CENTERS])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("cls", [GaussianMixture, PeerMixture])
def test_ellipses_are_those_of_the_covariances(cls, kind):
    model = cls(3, covariance_type=kind, random_state=0).fit(X)
    display = drawn(MixtureDisplay.from_estimator(model, X, features=(2, 0)))
    order = np.argsort(-model.weights_, kind="stable")
    full = {
        "full": lambda k: model.covariances_[k],
        "tied": lambda k: model.covariances_,
        "diag": lambda k: np.diag(model.covariances_[k]),
        "spherical": lambda k: model.covariances_[k] * np.eye(3),
    }[kind]
    for n, ellipse in enumerate(display.ellipses_):
        k, times = order[n // 2], 1.0 + n % 2
        outline = ellipse.get_patch_transform().transform(ellipse.get_path().vertices)
        away = outline - model.means_[k][[2, 0]]
        block = full(k)[np.ix_([2, 0], [2, 0])]
        distance = np.sqrt(np.einsum("nd,de,ne->n", away, np.linalg.inv(block), away))
        np.testing.assert_allclose(distance[np.abs(outline).sum(axis=1) > 0][::3], times, rtol=1e-3)
    assert [label.get_text() for label in display.labels_] == [f"{k}: {model.weights_[k]:.0%}" for k in order]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("x2", "x0")
    np.testing.assert_array_equal(display.points_.get_offsets(), X[:, [2, 0]])


def test_weights_of_many_components_do_not_overlap():
    means = np.repeat(RNG.normal(size=(4, 2)), 4, axis=0)  # four at each place
    display = drawn(MixtureDisplay(means, np.tile(np.eye(2), (16, 1, 1)), np.full(16, 1 / 16)).plot())
    found = boxes(display, display.labels_)
    assert len(found) == 16 and overlaps(found) == 0


def test_mixture_of_names_and_a_pipeline():
    frame = pd.DataFrame(X, columns=["age", "income", "years"])
    model = make_pipeline(StandardScaler(), GaussianMixture(2, random_state=0)).fit(frame)
    display = MixtureDisplay.from_estimator(model, frame, features=("income", "age"))
    assert display.axis_names == ["income", "age"]
    np.testing.assert_allclose(display.X.mean(axis=0), 0.0, atol=1e-9)  # as the last step sees them
    with pytest.raises(TypeError, match="KMeans has no covariances_"):
        MixtureDisplay.from_estimator(KMeans(2).fit(X))
    with pytest.raises(TypeError, match="expected rows in memory"):
        MixtureDisplay.from_estimator(model[-1], iter([1]))


def test_criteria_by_the_number_of_components():
    fits = [
        GaussianMixture(K, covariance_type=kind, random_state=0).fit(X)
        for kind in ("diag", "spherical")
        for K in (4, 2, 3)
    ]
    display = drawn(ModelSelectionDisplay.from_estimators(fits, X))
    assert display.names == ["diag", "spherical"] and display.parameter == "n_components"
    for n, line in enumerate(display.lines_):
        assert line.get_xdata().tolist() == [2, 3, 4]  # sorted
        expected = [fits[3 * n + k].bic(X) for k in (1, 2, 0)]
        np.testing.assert_array_equal(line.get_ydata(), expected)
    assert display.best_value_ == min(fits, key=lambda fit: fit.bic(X)).n_components
    assert display.best_.get_ydata()[0] == min(fit.bic(X) for fit in fits)
    assert display.ax_.get_legend().get_window_extent().x0 >= display.ax_.bbox.x1
    aic = ModelSelectionDisplay.from_estimators(fits[:3], X, criterion="aic")
    assert aic.ax_.get_ylabel() == "AIC" and aic.criteria[0][0] == fits[1].aic(X)


def test_elbow_and_silhouette_of_k_means():
    fits = [make_pipeline(StandardScaler(), KMeans(K, random_state=0)).fit(X) for K in (1, 2, 3, 4, 5, 6)]
    display = drawn(ModelSelectionDisplay.from_estimators(fits))
    assert display.criterion == "inertia" and display.best_value_ == 3
    assert display.ax_.get_xlabel() == "n_clusters"
    other = ModelSelectionDisplay.from_estimators(fits, X, criterion="silhouette")
    scaled = fits[0][0].transform(X)
    assert np.isnan(other.criteria[0][0])  # there is none of one cluster
    assert other.criteria[0][2] == pytest.approx(silhouette_score(scaled, fits[2].predict(X)))
    with pytest.raises(ValueError, match="pass X"):
        ModelSelectionDisplay.from_estimators(fits, criterion="silhouette")
    with pytest.raises(ValueError, match="'auto' or one of"):
        ModelSelectionDisplay.from_estimators(fits, criterion="elbow")
    with pytest.raises(TypeError, match="KMeans has no bic"):
        ModelSelectionDisplay.from_estimators(fits, X, criterion="bic")


def test_scores_of_a_search():
    grid = {"n_components": [1, 3, 5], "covariance_type": ["diag", "full"]}
    search = GridSearch(GaussianMixture(random_state=0), grid, cv=2, random_state=0).fit(X)
    display = drawn(ModelSelectionDisplay.from_estimator(search))
    assert display.best_value_ == search.best_params_["n_components"]
    assert display.best_.get_ydata()[0] == search.best_score_
    assert len(display.lines_) == len(display.errors) == 2
    with pytest.raises(ValueError, match="expected numbers"):
        ModelSelectionDisplay.from_estimator(search, parameter="covariance_type")
    with pytest.raises(ValueError, match="no parameter 'K'"):
        ModelSelectionDisplay.from_estimator(search, parameter="K")
    with pytest.raises(TypeError, match="pass a fitted GridSearch"):
        ModelSelectionDisplay.from_estimator(KMeans(2).fit(X))


def test_scree():
    pca = PCA().fit(X)
    display = drawn(ScreeDisplay.from_estimator(make_pipeline(pca), threshold=0.9))
    assert [bar.get_height() for bar in display.bars_] == pca.explained_variance_ratio_.tolist()
    np.testing.assert_allclose(display.line_.get_ydata()[-1], 1.0)
    assert display.n_components_ == PCA(0.9).fit(X).n_components_
    svd = TruncatedSVD(1, random_state=0).fit(X)
    assert ScreeDisplay.from_estimator(svd, threshold=0.9999).n_components_ is None
    with pytest.raises(TypeError, match="explained_variance_ratio_"):
        ScreeDisplay.from_estimator(PCA())


def test_scree_beside_rows_without_factors():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2)) @ np.kron(np.eye(2), np.ones(4)) + rng.normal(size=(400, 8))
    found = parallel_analysis(rows, random_state=0)
    display = drawn(ScreeDisplay.from_parallel_analysis(found))
    assert display.n_components_ == found.n_factors == 2
    np.testing.assert_allclose(display.reference_line_.get_ydata(), found.threshold / 8.0)
    np.testing.assert_allclose(sum(bar.get_height() for bar in display.bars_), 1.0)
    with pytest.raises(TypeError, match="result of parallel_analysis"):
        ScreeDisplay.from_parallel_analysis(PCA())


def test_silhouettes():
    model = KMeans(3, random_state=0).fit(X)
    display = drawn(SilhouetteDisplay.from_estimator(model, X))
    np.testing.assert_allclose(display.silhouettes, silhouette_samples(X, model.labels_))
    for k, area in enumerate(display.areas_):
        widest = area.get_paths()[0].vertices[:, 0].max()
        assert widest == pytest.approx(display.silhouettes[model.labels_ == k].max())
    assert display.mean_.get_xdata()[0] == pytest.approx(silhouette_score(X, model.labels_))
    some = SilhouetteDisplay.from_estimator(model, pd.DataFrame(X).to_numpy(), sample_size=50)
    assert len(some.silhouettes) == 50
    with pytest.raises(ValueError, match="at least two"):
        SilhouetteDisplay.from_predictions(X, np.zeros(180))
    with pytest.raises(ValueError, match=r"expected \(180,\)"):
        SilhouetteDisplay.from_predictions(X, [0, 1])


def test_silhouettes_of_many_clusters():
    labels = np.concatenate([np.zeros(120, int), np.arange(60) // 2 + 1])  # thirty small ones
    display = drawn(SilhouetteDisplay.from_predictions(X, labels))
    assert len(display.areas_) == 31
    assert overlaps(boxes(display, display.ax_.get_yticklabels())) == 0


def test_profiles_are_standardized_centers(tmp_path):
    frame = pd.DataFrame(X * [1.0, 100.0, 1e-3] + 5.0, columns=["age", "income", "years"])
    model = KMeans(3, random_state=0).fit(frame)
    display = drawn(ClusterProfilesDisplay.from_estimator(model, frame))
    expected = (model.cluster_centers_ - frame.to_numpy().mean(axis=0)) / frame.to_numpy().std(axis=0)
    np.testing.assert_allclose(display.profiles, expected)
    np.testing.assert_allclose(display.weights, np.bincount(model.labels_) / 180)
    np.testing.assert_array_equal(display.image_.get_array(), display.profiles.T)
    assert [tick.get_text() for tick in display.ax_.get_yticklabels()] == ["age", "income", "years"]
    frame.to_parquet(tmp_path / "rows.parquet")
    scanned = ClusterProfilesDisplay.from_estimator(model, suffice.scan_parquet(tmp_path / "rows.parquet"))
    np.testing.assert_allclose(scanned.profiles, expected)


def test_profiles_of_many_features_and_of_mixtures():
    wide = RNG.normal(size=(90, 40)) * np.linspace(0.0, 1.0, 40)  # the first is constant
    wide[:45, 17] += 9.0
    display = drawn(ClusterProfilesDisplay.from_estimator(KMeans(2, random_state=0).fit(wide), wide))
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert len(names) == 20 and "x17" in names
    assert "20 of 40" in display.ax_.get_title("left")
    assert np.isfinite(display.profiles).all()
    assert overlaps(boxes(display, display.ax_.texts)) == 0
    counts = RNG.poisson(3.0, size=(50, 2))
    poisson = PoissonMixture(2, random_state=0).fit(counts)
    of_counts = ClusterProfilesDisplay.from_estimator(poisson, counts, feature_names=["a", "b"])
    np.testing.assert_array_equal(of_counts.weights, poisson.weights_)
    with pytest.raises(TypeError, match="no cluster_centers_, means_ or rates_"):
        ClusterProfilesDisplay.from_estimator(LinearRegression().fit(X, X[:, 0]), X)


def bars_of(display):
    """x of the two ends of each merge that is drawn, and its height, sorted."""
    bars = [line for n, line in enumerate(display.lines_.get_segments()) if n % 3 == 2]
    return sorted((*sorted(line[:, 0].tolist()), line[0, 1]) for line in bars)


@pytest.mark.parametrize("shown", [8, 60])
@pytest.mark.parametrize("method", ["ward", "centroid", "single"])
def test_dendrogram_is_that_of_scipy(method, shown):
    model = AgglomerativeClustering(3, linkage=method).fit(X[::3])
    display = drawn(DendrogramDisplay.from_estimator(make_pipeline(model), max_leaves=shown))
    Z = linkage(X[::3], method)
    np.testing.assert_allclose(display.linkage[:, 2:], Z[:, 2:])
    expected = dendrogram(display.linkage, shown, "lastp", no_plot=True)
    assert display.leaves_ == expected["leaves"]
    pairs = zip(expected["icoord"], expected["dcoord"], strict=True)
    ends = [(x[1] / 10 - 0.5, x[2] / 10 - 0.5, y[1]) for x, y in pairs]
    np.testing.assert_allclose(bars_of(display), sorted(ends))
    texts = [tick.get_text() for tick in display.ax_.get_xticklabels()]
    assert texts == expected["ivl"]
    assert (display.triangles_ is None) == (shown == 60)


def test_dendrogram_has_the_colors_and_the_cut_of_the_clusters():
    model = AgglomerativeClustering(3).fit(X)
    display = DendrogramDisplay.from_estimator(model, max_leaves=180)
    palette = [matplotlib.colors.to_rgba(color) for color in suffice.plot.base.COLORS[:3]]
    stems = {}
    for line, ink in zip(display.lines_.get_segments(), display.lines_.get_colors(), strict=True):
        if line[0, 1] == 0.0:
            stems[display.leaves_[round(line[0, 0])]] = palette.index(tuple(ink))
    np.testing.assert_array_equal([stems[n] for n in range(180)], model.labels_)
    (height, _) = display.cut_.get_ydata()
    assert np.count_nonzero(model.distances_ > height) == 2
    above = AgglomerativeClustering(None, distance_threshold=4.5).fit(X)
    assert DendrogramDisplay.from_estimator(above).cut_.get_ydata()[0] == 4.5
    assert DendrogramDisplay.from_estimator(AgglomerativeClustering(1).fit(X)).cut_ is None
    peer = PeerTree(3, compute_distances=True).fit(X)
    np.testing.assert_allclose(DendrogramDisplay.from_estimator(peer).linkage[:, 2], model.distances_)
    assert DendrogramDisplay(linkage(X, "average")).plot().cut_ is None


def test_dendrogram_of_splits():
    model = DivisiveClustering(4).fit(X)
    display = drawn(DendrogramDisplay.from_estimator(model))
    np.testing.assert_array_equal(display.linkage[:, 2], model.diameters_[::-1])
    sizes = np.bincount(model.labels_)
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == [f"({sizes[k]})" for k in display.leaves_]
    assert display.linkage[-1, 3] == 180
    for n, (_, left, right) in enumerate(model.splits_[::-1]):
        parts = sorted(display.linkage[n, :2].astype(int))
        for node, part in ((left, parts), (right, parts)):
            if (model.nodes_ == node).any():
                assert model.labels_[model.nodes_ == node][0] in part
    rows = DivisiveClustering(None).fit(X[::20])
    assert sorted(DendrogramDisplay.from_estimator(rows).leaves_) == list(range(9))


def test_dendrogram_of_weights_small_clusters_and_chains():
    weighted = AgglomerativeClustering(2).fit(X[:4], sample_weight=[2.0, 1.0, 0.5, 1.0])
    assert DendrogramDisplay.from_estimator(weighted).linkage[-1, 3] == 4.5
    summed = AgglomerativeClustering(3, micro_clusters=40, random_state=0).fit(X)
    display = drawn(DendrogramDisplay.from_estimator(summed, max_leaves=12))
    shown = [float(tick.get_text().strip("()")) for tick in display.ax_.get_xticklabels()]
    assert len(shown) == 12 and sum(shown) == 180
    chain = AgglomerativeClustering(2, linkage="single").fit(np.cumsum(np.arange(2000.0))[:, None])
    assert len(DendrogramDisplay.from_estimator(chain, max_leaves=2000).leaves_) == 2000
    named = DendrogramDisplay.from_estimator(weighted, names=["a", "b", "c", "d" * 50])
    assert overlaps(boxes(drawn(named), named.ax_.get_xticklabels())) == 0
    with pytest.raises(ValueError, match="There are 2 names, expected 4"):
        DendrogramDisplay.from_estimator(weighted, names=["a", "b"])
    with pytest.raises(ValueError, match="one leaf"):
        DendrogramDisplay.from_estimator(DivisiveClustering(1).fit(X))
    for other in (KMeans(2).fit(X), PeerTree(2).fit(X), AgglomerativeClustering(2)):
        with pytest.raises(TypeError, match="no tree with heights"):
            DendrogramDisplay.from_estimator(other)
