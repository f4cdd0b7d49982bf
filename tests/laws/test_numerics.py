"""Numbers: far from the origin, tiny, huge, in single precision, constant, few; and no NaN leaves fit."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from suffice.cluster import KMeans, KMedoids
from suffice.core.blocks import Rows
from suffice.decomposition import PCA
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.estimator.parameters import Numbers
from suffice.linear_model import LinearRegression, Ridge
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB, MixedNB
from suffice.statistics import describe, factor, moments

from . import registry
from .registry import (
    ESTIMATORS,
    VARIANTS,
    K,
    N,
    answers,
    assert_close,
    determined,
    fit,
    fitted,
    is_default,
    is_distinct,
    leaves,
    table,
    with_holes,
)

each_variant = partial(registry.each_variant, takes=("rows",))  # those of sequences are in tests/sequence


MARKER = ".model_.missing_values"  # which may be NaN


def public_numbers(model):
    """What is public and a number, but for what is documented to be NaN: the losses of rows outside the
    sample and of those for validation, if there are none; a bound that AdaBoost has not if it is "real";
    out-of-bag answers for rows that are in every bag, and their score if all rows are."""
    for name, leaf in leaves(model).items():
        leaf = np.asarray(leaf)
        leaf = leaf[:, 0] if name == ".losses_" else leaf
        no_bound = name == ".training_error_bound_" and model.algorithm == "real"
        if name.startswith(".oob_") and leaf.ndim:
            leaf = leaf[~np.isnan(leaf).reshape(len(leaf), -1).all(axis=1)]
        if name == ".oob_score_" and np.isnan(by_row(model)).all():
            continue
        if leaf.dtype.kind == "f" and name != MARKER and not no_bound:
            yield name, leaf


def by_row(model):
    """The out-of-bag answers of an ensemble."""
    found = getattr(model, "oob_prediction_", None)
    return model.oob_decision_function_ if found is None else found


def assert_numbers(model, X):
    """Whatever is public is a number; a probability may be zero, so a logarithm may be minus infinity."""
    for name, leaf in public_numbers(model):
        assert not np.isnan(leaf).any(), name
        # There may be no such bound, and the only bin of a constant feature has no edges; p of the
        # largest difference is infinite.
        may_be_infinite = name.startswith((".mistake_bound_", ".bin_edges_", ".model_.edges"))
        if not (may_be_infinite or name == ".model_.p"):
            assert not np.isposinf(leaf).any(), name
    try:
        found = answers(model, X)
    except (ValueError, np.linalg.LinAlgError) as refused:  # a density without width is none
        assert any(word in str(refused) for word in ("positive definite", "Singular", "n_neighbors"))
        return
    for name, answer in found.items():
        if answer.dtype.kind == "f":
            assert not np.isnan(answer).any(), name


def start_at(variant, X):
    """Parameters that fix the start of those that have one: seeds are hashes of rows, and would move."""
    if type(variant.estimator) is KMedoids:  # takes the numbers of rows
        return {} if isinstance(variant.estimator.sample_size, int) else {"init": [0, 50, 100]}
    constraints = type(variant.estimator)._parameter_constraints.get("init", ())
    if variant.has("n_clusters") and any(isinstance(part, Numbers) for part in constraints):
        return {"init": X[[0, 50, 100]], "n_init": 1}
    if variant.has("means_init", "precisions_init"):
        shape = {"full": (K, 3, 3), "tied": (3, 3), "diag": (K, 3), "spherical": (K,)}
        kind = variant.estimator.covariance_type
        precision = 1.0 / X.var()
        return {
            "means_init": X[[0, 50, 100]],
            "weights_init": np.full(K, 1.0 / K),
            "precisions_init": np.broadcast_to(
                precision * (np.eye(3) if kind in ("full", "tied") else 1.0), shape[kind]
            ),
        }
    return {}


def starts_anywhere(variant):
    """Whether nothing but the start is special about the variant."""
    return any(word in variant.name for word in ("init_params=", "n_init=", "init="))


# --- far from the origin -------------------------------------------------------------------------------

SHIFT = 2.0**27  # 1.3e8: a power of two, so that shifted rows are exact


def exact(X):
    """Rows that are the same to the bit, but for the shift, wherever they are."""
    return np.round(X * 2.0**20) / 2.0**20


def of_class(cls):
    return [v for v in VARIANTS if v.takes == "rows" and type(v.estimator) is cls]


# What speaks of places, and moves with the rows.
PLACES = (
    "mean",
    "points",
    "means_",
    "mean_",
    "theta_",
    "xbar_",
    "X_offset_",
    "centers_",
    "cluster_centers_",
    "knots",
    "center",
    "intercept_",
    "intercept",
    "threshold",
)


def can_move(variant):
    """Whether a fit with these parameters can be compared with that of rows that are moved."""
    params = variant.estimator.get_params()
    intercept = params.get("fit_intercept") is not False  # else it is another fit there
    prior = params.get("prior") is not None  # which stays where it is
    return variant.support == "real" and not starts_anywhere(variant) and intercept and not prior


@each_variant(lambda v: can_move(v) and not v.exempt("shift") and not v.exempt("rounding"))
def test_far_from_the_origin(variant):
    keeps_shift(variant)


def keeps_shift(variant):
    """Shapes, scales, shares and answers are what they are at the origin; places move by the shift."""
    X, y = variant.data()
    X = exact(X)
    how = {"max_iter": 8, **determined(variant)}
    near, far = (fit(variant.make(**how, **start_at(variant, X + s)), X + s, y) for s in (0.0, SHIFT))
    ours = leaves(far)
    for name, there in leaves(near).items():
        last = name.rsplit(".", 1)[-1]
        if last in (*PLACES, "offset", "gap", "dual_gap_", "gradient") or np.asarray(there).dtype.kind != "f":
            continue
        if last == "coef_" and getattr(variant.estimator, "solver", "svd") != "svd":
            continue  # of means about the origin, and so as large as they are
        size = np.abs(np.nan_to_num(there)).max(initial=1e-12)
        np.testing.assert_allclose(ours[name], there, rtol=1e-5, atol=1e-5 * size, err_msg=name)
    for name in ("means_", "mean_", "theta_", "xbar_", "cluster_centers_"):
        if hasattr(near, name):
            np.testing.assert_allclose(getattr(far, name) - SHIFT, getattr(near, name), atol=1e-6)
    there, here = answers(near, X), answers(far, X + SHIFT)
    for name in there.keys() - {"decision_function"}:
        a, b = here[name], there[name]
        if b.dtype.kind != "f":
            assert (a == b).all(), name
            continue
        if name == "transform" and not hasattr(near, "mean_"):  # a projection that moves with the rows
            a, b = a - a.mean(axis=0), b - b.mean(axis=0)
        size = np.abs(b[np.isfinite(b)]).max(initial=0.0)  # the log of a share of zero is not
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * size, err_msg=name)


@pytest.mark.parametrize("shift", [0.0, 1e4, 1e8])
def test_variances_are_right_everywhere(shift):
    """Against NumPy on the same rows, in twice the precision."""
    X, group = table("real", 5000, shift=shift)
    wide = X.astype(np.longdouble)
    variance = wide.var(axis=0).astype(float)
    covariance = ((wide - wide.mean(axis=0)).T @ (wide - wide.mean(axis=0)) / len(X)).astype(float)
    rtol = 1e-9
    rows = Rows(X, None, np.ones(len(X)))
    np.testing.assert_allclose(describe(rows).features.variance, variance, rtol=rtol)
    np.testing.assert_allclose(moments(X, rows.weight).variance, covariance, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(factor(X, rows.weight).scatter / len(X), covariance, rtol=1e-7, atol=1e-7)
    for solver in ("full", "covariance_eigh"):
        found = PCA(svd_solver=solver).fit(X)
        values = np.linalg.eigvalsh(covariance * len(X) / (len(X) - 1))[::-1]
        np.testing.assert_allclose(found.explained_variance_, values, rtol=1e-7)
    by_class = np.stack([wide[group == k].var(axis=0) for k in range(K)]).astype(float)
    np.testing.assert_allclose(GaussianNB(var_smoothing=0).fit(X, group).var_, by_class, rtol=1e-8)
    np.testing.assert_allclose(
        MixedNB(var_smoothing=0).fit(X, group).model_.component.parts[0].covariance, by_class, rtol=1e-8
    )
    within = sum(
        np.cov(wide[group == k].T.astype(float) - shift, bias=True) * (group == k).mean() for k in range(K)
    )
    for solver in ("svd", "lsqr", "eigen"):
        lda = LinearDiscriminantAnalysis(solver=solver, store_covariance=True).fit(X, group)
        np.testing.assert_allclose(lda.covariance_, within, rtol=1e-6, atol=1e-6)
    qda = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, group)
    for k in range(K):
        np.testing.assert_allclose(np.diag(qda.covariance_[k]), by_class[k], rtol=1e-7)
    for kind, expected in {
        "full": covariance,
        "tied": covariance,
        "diag": variance,
        "spherical": variance.mean(),
    }.items():
        found = fit(GaussianMixture(1, covariance_type=kind, reg_covar=0.0), X)
        np.testing.assert_allclose(np.squeeze(found.covariances_), expected, rtol=1e-7, atol=1e-7)
    y = (X - shift) @ [1.0, -2.0, 0.5] + 3.0
    for model in (LinearRegression(), Ridge(1e-10)):
        np.testing.assert_allclose(model.fit(X, y).coef_, [1.0, -2.0, 0.5], rtol=1e-6)
    inertia = KMeans(1, random_state=0).fit(X).inertia_
    np.testing.assert_allclose(inertia, variance.sum() * len(X), rtol=1e-8)


# --- single precision ----------------------------------------------------------------------------------


@each_variant(is_distinct)
def test_single_precision_agrees(variant):
    """Rows that single precision holds exactly give the sums of double precision, and its model."""
    X, y = variant.data()
    X = X.astype(np.float32)
    y = y.astype(np.float32) if variant.kind == "regressor" else y
    how = {"max_iter": 10}
    single = fit(variant.make(**how), X, y)
    double = fit(
        variant.make(**how), X.astype(np.float64), y.astype(np.float64) if variant.kind == "regressor" else y
    )
    for name, value in vars(single).items():  # what is read from the fit is rounded to the rows' precision
        if getattr(value, "dtype", None) == np.float32:
            setattr(double, name, np.float32(getattr(double, name)))
    assert_close(single, double, 1e-12)


def can_round(variant):
    return is_distinct(variant) and variant.support == "real" and not starts_anywhere(variant)


@each_variant(lambda v: can_round(v) and not v.exempt("rounding"))
def test_rows_rounded_to_single_precision_agree_to_its_rounding(variant):
    keeps_rounding(variant)


def keeps_rounding(variant):
    X, y = variant.data()
    how = {"max_iter": 5, "tol": 1e-3, **start_at(variant, X), **determined(variant)}
    if variant.estimator.get_params().get("learning_rate") == "optimal":
        how |= {"learning_rate": "constant", "eta0": 1e-3}  # its first steps are so long that rounding grows
    double, single = (fit(variant.make(**how), rows, y) for rows in (X, X.astype(np.float32)))
    # The cubics of a spline are divided by powers of the distance of knots, which may be that of rounding.
    skip = ("labels_", ".offset", ".gradient", ".pieces", "n_passes_", *registry.of_margins(variant))
    assert_close(single, double, 1e-4, skip=skip)


# --- scale ---------------------------------------------------------------------------------------------

SCALES = (1e-150, 1e-20, 1e20, 1e140)


OF_ANY_SCALE = [v for v in VARIANTS if v.takes == "rows" and v.support == "real" and is_distinct(v)]


@pytest.mark.parametrize(
    ("variant", "scale"),
    [
        pytest.param(v, scale, id=f"{scale}-{v.name}", marks=pytest.mark.slow if registry.is_rare(v) else ())
        for n, v in enumerate(OF_ANY_SCALE)
        for scale in (SCALES if is_default(v) else [SCALES[n % len(SCALES)]])
    ],
)
def test_no_nan_leaves_fit_at_any_scale(variant, scale):
    """What a fit says is a number, or it refuses with a reason: an overflow never passes for an answer.

    Every estimator at every scale, and with every option that sums something else at one of them: squares
    overflow or vanish in the same sums, whatever the other options.
    """
    X, y = variant.data()
    if variant.kind == "regressor":
        y = y * scale
    how = {"reg_covar": 0.0, "var_smoothing": 1e-9, "tol": 0.0, "max_iter": 5}
    with np.errstate(all="ignore"):
        try:
            model = fit(variant.make(**how), X * scale, y)
        except (ValueError, np.linalg.LinAlgError) as refused:
            assert str(refused)
            return
        for name, leaf in public_numbers(model):
            assert not np.isnan(leaf).any(), name


SCALE_FREE = {
    "GaussianNB": {},
    "KMeans": {},
    "LinearDiscriminantAnalysis": {},
    "LinearRegression": {},
    "PCA": {},
    "GaussianMixture": {"reg_covar": 0.0},
    "MixedNB": {},
    "TruncatedSVD": {},
}


@each_variant(
    lambda v: (
        type(v.estimator).__name__ in SCALE_FREE
        and v.support == "real"
        and not starts_anywhere(v)
        and not v.estimator.get_params().get("prior")
        and not v.name.endswith("normalizer=none)")  # powers of the rows overflow
    )
)
@pytest.mark.parametrize("power", [-480, -40, 40, 480])
def test_units_do_not_matter(variant, power):
    """Powers of two are exact: rows in other units give the same answers, to rounding."""
    X, y = variant.data()
    scale = 2.0**power
    how = SCALE_FREE[type(variant.estimator).__name__] | {"max_iter": 8}
    unit = scale if variant.kind == "regressor" else None
    here = fit(variant.make(**how, **start_at(variant, X)), X, y)
    there = fit(
        variant.make(**how, **start_at(variant, X * scale)), X * scale, y if unit is None else y * unit
    )
    theirs, ours = answers(here, X), answers(there, X * scale)
    for name in theirs.keys() - {"score_samples"}:
        a, b = ours[name], theirs[name]
        if b.dtype.kind != "f":
            assert (a == b).all(), name
            continue
        if unit is not None or (name == "transform" and variant.kind in (None, "clusterer")):
            a = a / scale
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8, err_msg=name)


# --- poor data -----------------------------------------------------------------------------------------


@each_variant()
def test_no_nan_leaves_fit(variant):
    assert_numbers(fitted(variant), variant.data()[0])
    if variant.tags.allow_nan and not variant.exempt("missing"):
        keeps_missing(variant)


def keeps_missing(variant):
    X, y = variant.data()
    holes = with_holes(X)
    assert_numbers(fit(variant.make(max_iter=20), holes, y), holes)


@each_variant()
def test_constant_columns(variant):
    X, y = variant.data()
    X = X.copy()
    X[:, 1] = X[0, 1]
    for rows in (X, np.hstack([X, X[:, :1]]) if variant.support != "mixed" else X):
        try:
            model = fit(variant.make(max_iter=20), rows, y)
        except (ValueError, np.linalg.LinAlgError) as refused:
            # A class that is flat has no density, and no inverse root: said, with what to do about it.
            flat = variant.kind == "classifier" or variant.name == "Whitening(kind=cholesky)"
            assert flat or "reg_covar" in str(refused), refused
            words = "full rank", "positive definite", "Raise", "raise", "leave it out"
            assert any(word in str(refused) for word in words), refused
            continue
        assert_numbers(model, rows)


@each_variant()
def test_all_rows_are_the_same(variant):
    X, y = variant.data()
    X = np.repeat(X[:1], N, axis=0)
    try:
        model = fit(variant.make(max_iter=20), X, y)
    except (ValueError, np.linalg.LinAlgError) as refused:
        assert str(refused)
        return
    assert_numbers(model, X)


@each_variant()
def test_one_row_is_enough_or_refused(variant):
    X, y = variant.data()
    try:
        model = fit(variant.make(n_components=1, n_clusters=1), X[:1], None if y is None else y[:1])
    except (ValueError, np.linalg.LinAlgError) as refused:
        assert str(refused)
        return
    assert_numbers(model, X)


@each_variant(is_default)
def test_no_rows_are_refused(variant):
    X, y = variant.data()
    with pytest.raises(ValueError, match="0 sample"):
        variant.make().fit(X[:0], None if y is None else y[:0])


@each_variant(lambda v: v.has("n_components", "init_params") or v.has("n_clusters"))
def test_fewer_different_rows_than_components(variant):
    X, _ = variant.data()
    X = np.repeat(X[:2], 30, axis=0)
    model = fit(variant.make(max_iter=20), X)
    assert_numbers(model, X)
    assert len(np.unique(model.predict(X))) <= 2


@each_variant(lambda v: is_default(v) and (v.has("n_components", "init_params") or v.has("n_clusters")))
def test_fewer_rows_than_components_are_refused(variant):
    X, _ = variant.data()
    with pytest.raises(ValueError, match="n_samples"):
        variant.make().fit(X[:2])


@each_variant(lambda v: v.support == "real")
def test_rare_and_distant_rows(variant):
    """One row far from all others."""
    X, y = variant.data()
    X = X.copy()
    X[7] = 1e6
    try:
        model = fit(variant.make(max_iter=20), X, y)
    except ValueError as refused:
        assert "reg_covar" in str(refused) or "Raise nu" in str(refused)
        return
    assert_numbers(model, X)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_mixtures_of_repeated_rows(kind, init):
    X = np.repeat(np.array([[0.0, 0.0], [1.0, 5.0], [2.0, -3.0]]), 20, axis=0)
    model = fit(GaussianMixture(5, covariance_type=kind, init_params=init, random_state=0), X)
    assert_numbers(model, X)


def can_be_unobserved(variant):
    return variant.tags.allow_nan and variant.support == "real"


@each_variant(lambda v: can_be_unobserved(v) and not v.exempt("missing") and not v.exempt("unobserved"))
def test_a_column_of_nothing(variant):
    keeps_unobserved(variant)


def keeps_unobserved(variant):
    """A feature that was never observed tells nothing, and breaks nothing."""
    X, y = variant.data()
    X = X.copy()
    X[:, 2] = np.nan
    model = fit(variant.make(max_iter=10), X, y)
    assert_numbers(model, X)


def in_halves(X):
    """Each entry as two of its place, which add up; the caller's stay as they are."""
    X = sp.csr_array(X)
    return sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape)


# QuantileTransformer takes no negative sparse rows: tests/preprocessing/test_scalers.py. Intercepts of SGD
# take shorter steps on sparse rows, as in scikit-learn: tests/linear_model/test_sgd.py.
@each_variant(
    lambda v: is_distinct(v) and v.tags.sparse and not v.name.startswith(("QuantileTransformer", "SGD"))
)
@pytest.mark.filterwarnings("ignore:The 'svd' mode is not supported for sparse X:FutureWarning")
@pytest.mark.filterwarnings("ignore:cannot use tree with sparse input")
def test_sparse_is_dense(variant):
    X, y = variant.data()
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    how = {"max_iter": 20}
    stages = type(variant.estimator).__module__.startswith("suffice.ensemble")
    if variant.kind in ("classifier", "regressor") and variant.has("checkpoint") and not stages:
        how = {"tol": 1e-9, "max_iter": 1000}  # to one optimum, by other steps
    dense = fit(variant.make(**how), X, y)
    for form in (sp.csc_array, in_halves):
        sparse = fit(variant.make(**how), form(X), y)
        assert_close(answers(sparse, form(X)), answers(dense, X), 1e-6)
        if hasattr(dense, "coef_"):
            assert_close(sparse.coef_, dense.coef_, 1e-6)


@each_variant(lambda v: not v.tags.allow_nan and is_default(v))
def test_nan_is_refused_where_it_cannot_be_summed_out(variant):
    X, y = variant.data()
    with pytest.raises(ValueError, match="NaN"):
        clone(variant.estimator).fit(with_holes(X), y)


@each_variant(is_default)
def test_infinity_is_refused(variant):
    X, y = variant.data()
    X = X.copy()
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        variant.make().fit(X, y)


@each_variant(lambda v: v.tags.positive_only and is_default(v))
def test_negative_counts_are_refused(variant):
    X, y = variant.data()
    X = X.copy()
    X[3, 1] = -1.0
    with pytest.raises(ValueError, match="Negative"):
        variant.make().fit(X, y)


@each_variant(is_default)
def test_weights_are_checked(variant):
    X, y = variant.data()
    for weight, said in (
        (-np.ones(N), "[Nn]egative"),
        (np.zeros(N), "zero"),
        (np.ones(N - 1), "sample_weight"),
        (np.full(N, np.nan), "NaN"),
    ):
        with pytest.raises(ValueError, match=said):
            variant.make().fit(X, y, sample_weight=weight)


def test_variants_cover_the_scale_free():
    assert set(SCALE_FREE) <= {type(v.estimator).__name__ for v in VARIANTS}


# --- exemptions ------------------------------------------------------------------------------------------

# Laws that estimators may be exempt from, and what is tried: see `suffice.estimator.guarantees`.
CHECKS = {
    "shift": (keeps_shift, can_move),
    "rounding": (keeps_rounding, can_round),
    "missing": (keeps_missing, lambda v: v.tags.allow_nan),
    "unobserved": (keeps_unobserved, can_be_unobserved),
}
EXEMPT = [(law, cls) for cls in ESTIMATORS for law in CHECKS if any(v.exempt(law) for v in of_class(cls))]


@pytest.mark.slow
@pytest.mark.parametrize(("law", "cls"), EXEMPT, ids=lambda part: getattr(part, "__name__", part))
def test_exemptions_are_needed(law, cls):
    """Some fit of each class that is exempt breaks the law."""
    check, suits = CHECKS[law]
    for variant in of_class(cls):
        if variant.exempt(law) and suits(variant):
            try:
                check(variant)
            except AssertionError:
                return
    raise AssertionError(f"every fit of {cls.__name__} keeps the law of {law}")
