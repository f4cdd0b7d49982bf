"""Keywords of other libraries: the error names the parameter to use."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import clone

from suffice.cluster import KMeans
from suffice.estimator.keywords import ADVICE, NAMES
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.sequence import ConditionalRandomField, HiddenMarkovModel, StructuredPerceptron
from suffice.topics import LatentDirichletAllocation

X, Y = np.arange(10.0).reshape(5, 2), [0, 1, 0, 1, 1]


@pytest.mark.parametrize(
    ("estimator", "keywords", "advice"),
    [
        (HiddenMarkovModel, {"n_iter": 50}, "use max_iter=50"),
        (HiddenMarkovModel, {"n_components": 2, "startprob_prior": 2.0}, "use start_prior=2.0"),
        (HiddenMarkovModel, {"params": "mc"}, "use fixed"),
        (HiddenMarkovModel, {"min_covar": 0.01}, "use reg_covar=0.01"),
        (HiddenMarkovModel, {"n_states": 3}, "use n_components=3"),
        (ConditionalRandomField, {"c1": 0.1, "c2": 0.2}, "are C=2, l1_ratio=0.2, since"),
        (ConditionalRandomField, {"c2": 1.0}, "are C=0.5, l1_ratio=0, since"),
        (ConditionalRandomField, {"c1": 0.0}, "are C=np.inf"),
        (ConditionalRandomField, {"max_iterations": 9}, "use max_iter=9"),
        (ConditionalRandomField, {"algorithm": "lbfgs"}, "use solver"),
        (ConditionalRandomField, {"all_possible_transitions": True}, "leave it out"),
        (ConditionalRandomField, {"verbose": True}, "suffice.progress"),
        (StructuredPerceptron, {"max_iterations": 9}, "use max_iter=9"),
        (KMeans, {"k": 3}, "use n_clusters=3"),
        (KMeans, {"n_components": 3}, "use n_clusters=3"),
        (GaussianMixture, {"n_clusters": 3}, "use n_components=3"),
        (GaussianMixture, {"seed": 1}, "use random_state=1"),
        (LogisticRegression, {"regParam": 0.1}, r"C=1 / \(regParam \* n\)"),
        (LogisticRegression, {"maxiter": 3}, "use max_iter=3"),
        (LatentDirichletAllocation, {"num_topics": 4}, "use n_components=4"),
        (KMeans, {"zzz": 3}, "the parameters are n_clusters, "),
    ],
    ids=lambda value: repr(value) if isinstance(value, dict) else getattr(value, "__name__", ""),
)
def test_unknown_parameters(estimator, keywords, advice):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '.*': .*{advice}"):
        estimator(**keywords)


@pytest.mark.parametrize("method", ["fit", "predict", "decode", "score"])
def test_lengths(method):
    model = HiddenMarkovModel(2, random_state=0)
    model = model if method == "fit" else model.fit(X)
    with pytest.raises(
        TypeError, match=r"'lengths': pass groups=np.repeat\(np.arange\(len\(lengths\)\), lengths\)"
    ):
        getattr(model, method)(X, lengths=[2, 3])
    place = (
        "y has 2 lengths" if method == "fit" else "groups has 2 ids, but X has 5 rows, and these are lengths"
    )
    if method != "score":
        with pytest.raises(ValueError, match=f"{place}.*np.repeat"):
            getattr(model, method)(X, [2, 3])


def test_an_error_of_another_function_stays():
    class Bad(KMeans):
        def fit(self, X, y=None, sample_weight=None, groups=None):
            return KMeans().fit(X, lengths=1)

    with pytest.raises(TypeError) as error:
        Bad().fit(X)
    assert str(error.value).endswith("the parameters are X, y, sample_weight.")  # of that function


def test_signatures_and_clones_stay():
    crf = ConditionalRandomField(C=2.0)
    assert list(inspect.signature(ConditionalRandomField).parameters)[:2] == ["C", "l1_ratio"]
    assert clone(crf).get_params() == crf.get_params()


def test_the_table_names_parameters_that_exist():
    """Of some class."""
    from suffice.estimator.storing import Storable

    known = {name for cls in Storable.known.values() for name in cls._get_param_names()} | {
        "sample_weight",
        "",
    }
    assert {ours for names in NAMES.values() for ours in names} <= known
    assert {ours for ours, _ in ADVICE.values()} <= known
