"""A column of ids as y: classifiers refuse more classes than there is memory for, before they take any."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from suffice.core import cost
from suffice.linear_model import LogisticRegression

from ..laws.registry import ESTIMATORS

K, D = 600, 100
rng = np.random.default_rng(0)
X = rng.integers(0, 3, size=(2 * K, D)).astype(np.float64)
ids = rng.permutation(2 * K) % K  # scikit-learn warns if more than half of the rows are classes

OPTIONS = {  # without which the kernels of all rows are refused first, or scikit-learn warns
    "KernelLogisticRegression": {"landmarks": 10},
    "KernelMachine": {"landmarks": 10},
    "LogisticRegressionCV": {
        "cv": 2,
        "l1_ratios": (0.0,),
        "scoring": "accuracy",
        "use_legacy_attributes": True,
    },
}
MORE = {"SequenceClassifier": {"groups": np.arange(2 * K)}}
# It answers from the stored rows and labels.
WITHOUT_SUMS = {"KNeighborsClassifier"}
CLASSIFIERS = [
    cls
    for cls in ESTIMATORS
    if is_classifier(cls())
    and cls.__name__ not in WITHOUT_SUMS
    and get_tags(cls()).classifier_tags.multi_class
    and get_tags(cls()).target_tags.required
]


@pytest.fixture
def little_memory(monkeypatch):
    """A machine with room for D x D numbers, and for neither K x D nor K x K."""
    monkeypatch.setattr(cost, "memory_limit", lambda: (8 * 4 * 0.9 * K * D, "this machine has"))


def test_the_classifiers_are_found():
    names = {cls.__name__ for cls in CLASSIFIERS}
    assert {"LogisticRegression", "RandomForestClassifier", "GaussianNB", "SVC", "LinearSVC"} <= names


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("cls", CLASSIFIERS, ids=lambda cls: cls.__name__)
def test_ids_are_not_classes(cls):
    with pytest.raises(MemoryError, match=rf"y has {K} classes, and .* this machine has .*column of ids"):
        cls(**OPTIONS.get(cls.__name__, {})).fit(X, ids, **MORE.get(cls.__name__, {}))


def test_sixty_thousand_classes_of_little_memory(monkeypatch):
    monkeypatch.setattr(cost, "memory_limit", lambda: (16e9, "this machine has"))
    n = 60_000
    with pytest.raises(MemoryError, match=r"60000 classes, and .* take 28.8 GB, and this machine has 16"):
        LogisticRegression().fit(np.zeros((2 * n, 2)), np.arange(2 * n) % n)
