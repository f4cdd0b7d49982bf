"""Latent Dirichlet allocation on clusters: the bits of the same blocks here; the draws of any of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.topics import LatentDirichletAllocation

from .test_spark import frame

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300, method="thread"),  # what a signal raises is lost inside ray.get
    pytest.mark.filterwarnings("ignore"),
]


def documents(folder, n=4, rows=40):
    """Parquet files, a block each; and what describes the words in them."""
    rng = np.random.default_rng(0)
    phi = rng.dirichlet(np.full(60, 0.05), size=4)
    truth = LatentDirichletAllocation.from_topics(phi, doc_topic_prior=0.2, random_state=0)
    X = truth.sample(n * rows, length=50)[0]
    for i in range(n):
        part = X[i * rows : (i + 1) * rows]
        lists = {"words": part.indices, "counts": part.data}
        columns = {
            name: pa.array([list(row) for row in np.split(v, part.indptr[1:-1])]) for name, v in lists.items()
        }
        pq.write_table(pa.table(columns), folder / f"{i}.parquet")
    return suffice.sparse("words", "counts", size=60)


def in_ray(tables, ray):
    return ray.data.from_arrow(tables)


def in_dask(tables, client):
    dask = pytest.importorskip("dask")
    return [dask.delayed(table) for table in tables]


def in_spark(tables, spark):
    return frame(spark, tables)


@pytest.fixture(scope="module")
def dask_here():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def spark_here():
    sql = pytest.importorskip("pyspark.sql")
    session = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    yield session
    session.stop()


ENGINES = {"ray": in_ray, "dask": in_dask, "spark": in_spark}


@pytest.fixture(params=ENGINES)
def there(request, tmp_path):
    """Documents in four blocks on an engine, and in four files here."""
    features = documents(tmp_path)
    tables = [pq.read_table(tmp_path / f"{i}.parquet") for i in range(4)]
    frame = ENGINES[request.param](tables, request.getfixturevalue(f"{request.param}_here"))
    here = suffice.rows(suffice.scan_parquet(tmp_path), features=features)
    return suffice.rows(frame, features=features), here


def test_variational_has_the_bits_of_the_same_blocks(there):
    fits = [LatentDirichletAllocation(4, max_iter=5, random_state=0).fit(data) for data in there]
    assert (fits[0].components_ == fits[1].components_).all()
    assert (fits[0].trace_ == fits[1].trace_).all()


@pytest.fixture(scope="module")
def drawn():
    """What the engines before this one have drawn."""
    return []


def test_gibbs_draws_the_same_again_and_elsewhere(there, drawn):
    how = {"topic_word_prior": 0.05, "max_iter": 20, "random_state": 0}
    drawn += [LatentDirichletAllocation(4, solver="gibbs", **how).fit(there[0]) for _ in range(2)]
    for found in drawn:
        assert (found.components_ == drawn[0].components_).all()
        assert (found.trace_ == drawn[0].trace_).all()
    assert found.trace_[-1] > found.trace_[0]
    assert found.components_.sum() == pytest.approx(160 * 50 + 4 * 60 * 0.05)
