"""Copies as scikit-learn's classes predict the same; so do their ONNX graphs, and models logged by MLflow."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline

import suffice
from suffice.compose import ColumnTransformer
from suffice.core.storage import import_everything
from suffice.decomposition import PCA
from suffice.estimator.interchange import NOT_COPIED, namesake
from suffice.estimator.storing import Storable
from suffice.linear_model import LogisticRegression
from suffice.mixture import PoissonMixture
from suffice.preprocessing import OneHotEncoder, StandardScaler

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
y = X @ [1.0, 2.0, 3.0, 4.0] + 0.1 * rng.normal(size=120)
label = np.array(["low", "mid", "top"])[np.digitize(y, [-3.0, 3.0])]
COUNTS = rng.integers(0, 4, size=(120, 4)).astype(np.float64)
METHODS = ("predict", "predict_proba", "decision_function", "transform", "kneighbors")
OF_COUNTS = {"BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB", "NMF", "OneHotEncoder"}
OF_COUNTS |= {"LatentDirichletAllocation", "OrdinalEncoder", "TargetEncoder", "TfidfTransformer"}
PARAMS = {
    "QuantileTransformer": {"n_quantiles": 10},
    "ColumnTransformer": {
        "transformers": [("scale", StandardScaler(), [0, 2]), ("drop", "drop", [1])],
        "remainder": PCA(1),
    },
}
# skl2onnx has no converter of their output.
NO_ONNX = {"NMF", "LatentDirichletAllocation", "SplineTransformer", "KBinsDiscretizer", "BayesianRidge"}
NO_ONNX |= {"FactorAnalysis", "FastICA", "SparsePCA"}
NO_ONNX |= {"KernelRidge", "LocallyLinearEmbedding", "NearestNeighbors", "Nystroem", "RBFSampler"}
# Its converter of these fails for models that scikit-learn fitted, too: node ids are unsigned.
NO_ONNX |= {"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"}

import_everything()
COPIED = sorted(
    (cls for cls in set(Storable.known.values()) if namesake(cls) and cls.__name__ not in NOT_COPIED),
    key=lambda cls: cls.__name__,
)
CLASSES = {cls.__name__: cls for cls in COPIED}


def fitted(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls(**PARAMS.get(cls.__name__, {}))
        if "random_state" in model.get_params():
            model.set_params(random_state=0)  # topics of a document converge to a tolerance
        rows = COUNTS if cls.__name__ in OF_COUNTS else X
        return model.fit(rows, label if is_classifier(model) else y), rows


def dense(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


@pytest.mark.parametrize("cls", COPIED, ids=lambda cls: cls.__name__)
def test_a_copy_predicts_the_same(cls):
    model, rows = fitted(cls)
    copy = suffice.as_sklearn(model)
    assert type(copy).__module__.startswith("sklearn.")
    assert b"suffice" not in pickle.dumps(copy)
    names = [name for name in METHODS if hasattr(model, name)]
    assert names
    for name in names:
        ours, theirs = dense(getattr(model, name)(rows)), dense(getattr(copy, name)(rows))
        if ours.dtype.kind in "OU":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "name", ["DecisionTreeClassifier", "RandomForestClassifier", "GradientBoostingClassifier"]
)
@pytest.mark.parametrize("shift", [1e8, 1e12])
def test_trees_whose_splits_float32_does_not_separate(name, shift):
    """Rows that differ by ones at 1e8 are the same in float32."""
    far, size = np.round(3.0 * X) + shift, {} if name == "DecisionTreeClassifier" else {"n_estimators": 3}
    model = CLASSES[name](random_state=0, **size).fit(far, label)
    with pytest.warns(
        UserWarning, match="round rows to float32, whose numbers are .* apart at the threshold"
    ):
        copy = suffice.as_sklearn(model)
    assert (copy.predict(far) != model.predict(far)).mean() > 0.2  # the warning is true
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        suffice.as_sklearn(model.fit(far - shift, label))


@pytest.mark.parametrize("low", [1e8, 3e7])
def test_a_stump_that_float32_does_not_separate(low):
    """One threshold, with no other to compare it with."""
    from suffice.tree import DecisionTreeRegressor

    tree = DecisionTreeRegressor().fit([[low + 1.0], [low + 2.0]], [0.0, 1.0])
    with pytest.warns(UserWarning, match="StandardScaler"):
        suffice.as_sklearn(tree)


def test_onnx_of_a_tree_that_float32_changes():
    skl2onnx = pytest.importorskip("skl2onnx")
    tree = CLASSES["DecisionTreeClassifier"](random_state=0).fit(np.round(10.0 * X) + 1e8, label)
    with pytest.warns(UserWarning, match="and ONNX, round rows to float32"):
        skl2onnx.to_onnx(tree, X[:1])


def test_draws_of_a_mixture_are_not_copied():
    mixture = CLASSES["BayesianGaussianMixture"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = mixture(n_components=2, solver="gibbs", max_iter=20, random_state=0).fit(X)
    with pytest.raises(TypeError, match="predictive density of the draws"):
        suffice.as_sklearn(model)
    plain = mixture(n_components=2, random_state=0, max_iter=500).fit(X)
    np.testing.assert_allclose(suffice.as_sklearn(plain).score_samples(X), plain.score_samples(X), rtol=1e-6)


def test_what_cannot_be_copied():
    with pytest.raises(TypeError, match=r"PoissonMixture cannot be copied.*suffice.save"):
        suffice.as_sklearn(PoissonMixture(2).fit(COUNTS))
    with pytest.raises(TypeError, match="max_categories"):
        suffice.as_sklearn(OneHotEncoder(max_categories=2).fit(COUNTS))


def onnx_answers(model, rows):
    # The converter of LinearSVC, which has no probabilities, has no such option.
    has_option = is_classifier(model) and type(model).__name__ != "LinearSVC"
    how = {"options": {"zipmap": False}} if has_option else {}
    rows = rows.astype(np.float32)
    return answers_of(import_module("skl2onnx").to_onnx(model, rows, **how), rows)


def answers_of(graph, rows):
    """What onnxruntime computes of an array, or of the columns of a DataFrame."""
    runtime = import_module("onnxruntime")
    quiet = runtime.SessionOptions()
    quiet.log_severity_level = 3
    session = runtime.InferenceSession(graph.SerializeToString(), quiet, providers=["CPUExecutionProvider"])
    names = [part.name for part in session.get_inputs()]
    return session.run(None, {n: rows[[n]].to_numpy() if n in rows else rows for n in names})


def close(ours, theirs):
    if ours.dtype.kind in "OU":
        assert (ours == theirs).mean() > 0.99  # rows at a boundary may differ in float32
    else:
        scale = np.abs(ours).max() or 1.0
        np.testing.assert_allclose(
            np.asarray(theirs, float).reshape(ours.shape), ours, rtol=1e-5, atol=1e-5 * scale
        )


@pytest.mark.filterwarnings("ignore")  # of onnx
@pytest.mark.parametrize(
    "cls", [cls for cls in COPIED if cls.__name__ not in NO_ONNX], ids=lambda cls: cls.__name__
)
def test_onnx(cls):
    model, rows = fitted(cls)
    names = ["transform"] if hasattr(model, "transform") and not hasattr(model, "predict") else ["predict"]
    names += ["predict_proba"] if hasattr(model, "predict_proba") else []
    for name, answer in zip(names, onnx_answers(model, rows), strict=False):
        close(dense(getattr(model, name)(rows)), answer)


@pytest.mark.filterwarnings("ignore")
def test_onnx_of_a_pipeline():
    model = make_pipeline(StandardScaler(), PCA(3), LogisticRegression()).fit(X, label)
    labels, probability = onnx_answers(model, X)
    close(model.predict(X), labels)
    close(model.predict_proba(X), probability)


@pytest.mark.filterwarnings("ignore")
def test_onnx_of_a_table_of_mixed_types():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"age": rng.normal(40, 9, 120), "land": rng.choice(["DE", "FR", "IT"], 120)})
    encode = ColumnTransformer([("land", OneHotEncoder(), ["land"])], remainder=StandardScaler())
    model = make_pipeline(encode, LogisticRegression()).fit(table, label)
    copy = suffice.as_sklearn(model)
    assert b"suffice" not in pickle.dumps(copy)
    np.testing.assert_allclose(copy.predict_proba(table), model.predict_proba(table), rtol=1e-12)
    table = table.astype({"age": np.float32})
    graph = import_module("skl2onnx").to_onnx(model, table, options={"zipmap": False})
    close(model.predict_proba(table), answers_of(graph, table)[1])


@pytest.mark.filterwarnings("ignore")
def test_onnx_with_options():
    """By name, by class, by id; and those that the converter of an ensemble sets for its members."""
    skl2onnx, rows = import_module("skl2onnx"), X.astype(np.float32)
    model, raw = LogisticRegression().fit(X, label), {"raw_scores": True, "zipmap": False}
    for options in (raw, {LogisticRegression: raw}, {id(model): raw}):
        graph = skl2onnx.to_onnx(model, rows, options=options)
        close(model.decision_function(X), answers_of(graph, rows)[1])
    with pytest.raises(NameError, match="'raw_score' not in"):
        skl2onnx.to_onnx(model, rows, options={"raw_score": True})
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, label)
    close(calibrated.predict_proba(X), onnx_answers(calibrated, X)[1])


def test_onnx_before_suffice():
    """Converters are registered also if skl2onnx was imported first."""
    script = """
import warnings
warnings.simplefilter("ignore")
import numpy as np, skl2onnx
from suffice.linear_model import Ridge
X = np.array([[0.0], [1.0]], np.float32)
print(len(skl2onnx.to_onnx(Ridge().fit(X, X[:, 0]), X).graph.node) > 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "True", done.stderr


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow(tmp_path, monkeypatch):
    """Logged, with its signature, and loaded as the estimator and as a function of tables."""
    import mlflow

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
        pd.DataFrame(X, columns=list("abcd")), label
    )
    table = pd.DataFrame(X, columns=list("abcd"))
    with mlflow.start_run():
        logged = mlflow.sklearn.log_model(
            model, name="model", input_example=table[:3], serialization_format="cloudpickle"
        )
    again = mlflow.sklearn.load_model(logged.model_uri)
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    np.testing.assert_array_equal(
        mlflow.pyfunc.load_model(logged.model_uri).predict(table), model.predict(table)
    )


def test_a_subclass_elsewhere_has_no_copy():
    class Own(PCA):
        pass

    assert namesake(Own) is None
