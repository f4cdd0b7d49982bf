"""A search on workers: the scores and the model of a search over the same blocks in files, to the bit."""

from __future__ import annotations

import pytest

import suffice
from suffice.linear_model import LogisticRegression
from suffice.mixture import GaussianMixture
from suffice.model_selection import GridSearch

from ._common import FEATURES, bits, tables, write

SEARCHES = {
    "logistic": (GridSearch(LogisticRegression(), {"C": [1e-3, 1.0]}, cv=3, random_state=0), "label"),
    "mixture": (
        GridSearch(GaussianMixture(random_state=0, tol=0.1), {"n_components": [1, 2]}, cv=2, random_state=0),
        None,
    ),
}


def blocks():
    """Without the largest, which takes long."""
    return [table for table in tables() if table.num_rows < 10_000]


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """Of a search by name, over files."""
    scan = suffice.scan_parquet(write(tmp_path_factory.mktemp("rows"), blocks()))
    return {name: found(name, scan) for name in SEARCHES}


def found(name, source):
    search, target = SEARCHES[name]
    search.fit(suffice.rows(source, features=FEATURES, target=target, weight="w"))
    scores = [values for key, values in search.cv_results_.items() if key.startswith("split")]
    return [values.tobytes() for values in scores], bits(search.best_estimator_), search.n_passes_


@pytest.mark.parametrize("name", ["logistic", pytest.param("mixture", marks=pytest.mark.slow)])
def test_on_ray(name, cluster, references):
    import ray

    assert found(name, ray.data.from_arrow(blocks())) == references[name]


def test_on_dask(dask_client, references):
    from dask import delayed

    with dask_client.as_current():
        assert found("logistic", [delayed(table) for table in blocks()]) == references["logistic"]


@pytest.mark.timeout(600, method="thread")
@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
def test_on_spark(spark, references):
    from .test_spark import frame

    assert found("logistic", frame(spark, blocks())) == references["logistic"]


def test_a_fit_that_fails_on_workers_ends_alone(cluster):
    import ray
    from sklearn.exceptions import FitFailedWarning

    search = GridSearch(LogisticRegression(), {"C": [-1.0, 1.0]}, cv=2, random_state=0)
    with pytest.warns(FitFailedWarning, match="2 of 4 fits failed"):
        search.fit(suffice.rows(ray.data.from_arrow(blocks()), features=FEATURES, target="label"))
    assert search.best_params_ == {"C": 1.0}
