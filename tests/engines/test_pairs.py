"""Clusterings that compare all pairs of rows: rows of every engine are gathered in one order."""

from __future__ import annotations

import pytest

import suffice

from ._common import bits, described, made, spark_frame, tables, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
]

BLOCKS = [tables()[n] for n in (0, 3, 9)]  # of 300 rows, of one, and of 77
PAIRS = (
    "AgglomerativeClustering",
    "DivisiveClustering",
    "FusionClustering",
    "KernelKMeans",
    "KMedoids",
    "SpectralClustering",
)
# Rows are gathered by the engine, whatever is done with them: each of these is tried on one.
of_ray, of_dask, of_spark = (pytest.mark.parametrize("name", PAIRS[n::3]) for n in range(3))


def fitted(name, source):
    cls = getattr(suffice.cluster, name)
    estimator = made(cls, **({"landmarks": None} if name == "KernelKMeans" else {}))
    return bits(estimator.fit(described(estimator, source)))


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    return suffice.scan_parquet(write(tmp_path_factory.mktemp("pairs"), BLOCKS))


@of_ray
def test_same_bits_on_ray(name, cluster, scan):
    ray = pytest.importorskip("ray")
    assert fitted(name, ray.data.from_arrow(BLOCKS)) == fitted(name, scan)


@of_spark
def test_same_bits_on_spark(name, spark, scan):
    assert fitted(name, spark_frame(spark, BLOCKS)) == fitted(name, scan)


@of_dask
def test_same_bits_on_dask(name, dask_client, scan):
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    parts = [block.to_pandas() for block in BLOCKS]
    frame = dd.from_delayed([dask.delayed(part) for part in parts], meta=parts[0], verify_meta=False)
    with dask_client.as_current(), dask.config.set(scheduler="dask.distributed"):
        assert fitted(name, frame) == fitted(name, scan)
