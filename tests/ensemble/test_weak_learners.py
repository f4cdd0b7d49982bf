"""The members of ensembles by their numbers, and what they are fitted to."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from suffice.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from suffice.linear_model import LogisticRegression
from suffice.neighbors import KNeighborsClassifier, KNeighborsRegressor
from suffice.tree import DecisionTreeClassifier, DecisionTreeRegressor


def rows(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        (RandomForestClassifier(3), DecisionTreeClassifier),
        (BaggingClassifier(LogisticRegression(), 3), LogisticRegression),
        (AdaBoostClassifier(n_estimators=3), DecisionTreeClassifier),
        (GradientBoostingRegressor(n_estimators=3), np.ndarray),
    ],
    ids=lambda m: type(m).__name__,
)
def test_number_index_and_loop(model, kind):
    model.fit(*rows())
    assert len(model) == 3
    assert isinstance(model[-1], kind)
    assert [type(member) for member in model] == [kind] * 3


class Recorder(LogisticRegression):
    """A subclass with a `fit` of arrays, which records what it is fitted to."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.kind_ = type(X)
        return self


@pytest.mark.parametrize("make", [BaggingClassifier, AdaBoostClassifier], ids=lambda m: m.__name__)
@pytest.mark.parametrize(
    ("passed", "received"),
    [
        (sp.csr_matrix, sp.csr_matrix),
        (sp.csc_matrix, sp.csc_matrix),
        (sp.csc_array, sp.csc_array),
        (sp.lil_matrix, sp.csr_matrix),
        (sp.coo_array, sp.csr_array),
        (np.asarray, np.ndarray),
    ],
)
def test_sparse_rows_keep_their_format(make, passed, received):
    X, y = rows()
    model = make(Recorder(), n_estimators=2, random_state=0).fit(passed(X), y)
    assert {member.kind_ for member in model} == {received}


@pytest.mark.parametrize(
    ("bag", "member"), [(BaggingClassifier, KNeighborsClassifier), (BaggingRegressor, KNeighborsRegressor)]
)
def test_members_may_keep_their_rows(bag, member):
    X, y = rows()
    model = bag(member(3), 4, bootstrap=False, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), member(3).fit(X, y).predict(X))


@pytest.mark.parametrize("make", [BaggingClassifier, BaggingRegressor, RandomForestClassifier])
def test_rows_in_every_sample_have_no_score(make):
    X, y = rows()
    with pytest.warns(UserWarning, match="do not have OOB scores.*of 60 rows are in every sample"):
        make(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    make(n_estimators=30, oob_score=True, random_state=0).fit(X, y)  # without a warning


def test_a_tree_of_a_subclass_gets_arrays():
    class Counted(DecisionTreeRegressor):
        def fit(self, X, y, sample_weight=None):
            self.rows_ = len(X)
            return super().fit(X, y, sample_weight)

    X, y = rows()
    model = BaggingRegressor(Counted(), 2, bootstrap=False, random_state=0).fit(X, y)
    assert [member.rows_ for member in model] == [60, 60]


@pytest.mark.parametrize("make", [RandomForestClassifier, RandomForestRegressor])
def test_a_forest_says_what_its_trees_are_before_a_fit(make):
    X, y = rows()
    model = make(2, random_state=0)
    assert type(model.estimator) is type(model.fit(X, y).estimators_[0])
    for form in ("coo", "csc", "csr"):
        again = make(2, random_state=0).fit(sp.csr_array(X).asformat(form), y)
        np.testing.assert_array_equal(again.predict(X), model.predict(X))
