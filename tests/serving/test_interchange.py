"""Copies as scikit-learn's classes predict the same; so do their ONNX graphs, and models logged by MLflow."""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.pipeline import make_pipeline

import suffice
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
METHODS = ("predict", "predict_proba", "decision_function", "transform")
OF_COUNTS = {"BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB", "NMF", "OneHotEncoder"}
OF_COUNTS |= {"LatentDirichletAllocation", "OrdinalEncoder", "TargetEncoder", "TfidfTransformer"}
# skl2onnx has no converter of their output.
NO_ONNX = {"NMF", "LatentDirichletAllocation", "SplineTransformer", "KBinsDiscretizer", "BayesianRidge"}
NO_ONNX |= {"KernelRidge", "Nystroem", "RBFSampler"}
# Its converter of these fails for models that scikit-learn fitted, too: node ids are unsigned.
NO_ONNX |= {"HistGradientBoostingClassifier", "HistGradientBoostingRegressor"}

import_everything()
COPIED = sorted(
    (cls for cls in set(Storable.known.values()) if namesake(cls) and cls.__name__ not in NOT_COPIED),
    key=lambda cls: cls.__name__,
)


def fitted(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = cls(**{"n_quantiles": 10} if cls.__name__ == "QuantileTransformer" else {})
        rows = COUNTS if cls.__name__ in OF_COUNTS else X
        return model.fit(rows, label if is_classifier(model) else y), rows


def dense(values):
    return values.toarray() if sp.issparse(values) else np.asarray(values)


@pytest.mark.parametrize("cls", COPIED, ids=lambda cls: cls.__name__)
def test_a_copy_predicts_the_same(cls):
    model, rows = fitted(cls)
    copy = suffice.as_sklearn(model)
    assert type(copy).__module__.startswith("sklearn.")
    names = [name for name in METHODS if hasattr(model, name)]
    assert names
    for name in names:
        ours, theirs = dense(getattr(model, name)(rows)), dense(getattr(copy, name)(rows))
        if ours.dtype.kind in "OU":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-8)


def test_what_cannot_be_copied():
    with pytest.raises(TypeError, match=r"PoissonMixture cannot be copied.*suffice.save"):
        suffice.as_sklearn(PoissonMixture(2).fit(COUNTS))
    with pytest.raises(TypeError, match="max_categories"):
        suffice.as_sklearn(OneHotEncoder(max_categories=2).fit(COUNTS))


def onnx_answers(model, rows):
    skl2onnx, runtime = import_module("skl2onnx"), import_module("onnxruntime")
    # The converter of LinearSVC, which has no probabilities, has no such option.
    has_option = is_classifier(model) and type(model).__name__ != "LinearSVC"
    how = {"options": {"zipmap": False}} if has_option else {}
    graph = skl2onnx.to_onnx(suffice.as_sklearn(model), rows.astype(np.float32), **how)
    quiet = runtime.SessionOptions()
    quiet.log_severity_level = 3
    session = runtime.InferenceSession(graph.SerializeToString(), quiet, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: rows.astype(np.float32)})


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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_mlflow(tmp_path, monkeypatch):
    """Logged, with its signature, and loaded as the estimator and as a function of tables."""
    import mlflow
    import pandas as pd

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
