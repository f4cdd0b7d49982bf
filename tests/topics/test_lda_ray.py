"""Latent Dirichlet allocation on Ray: the bits of the same blocks here; draws that can be repeated."""

from __future__ import annotations

import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.topics import LatentDirichletAllocation

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300, method="thread"),  # what a signal raises is lost inside ray.get
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def ray_here():
    ray = pytest.importorskip("ray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(num_cpus=2, include_dashboard=False, object_store_memory=200 << 20, log_to_driver=False)
        pytest.importorskip("ray.data").DataContext.get_current().enable_progress_bars = False
    yield ray
    ray.shutdown()


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


def test_variational_has_the_bits_of_the_same_blocks(ray_here, tmp_path):
    features = documents(tmp_path)
    tables = [pq.read_table(tmp_path / f"{i}.parquet") for i in range(4)]
    there = suffice.rows(ray_here.data.from_arrow(tables), features=features)
    here = suffice.rows(suffice.scan_parquet(tmp_path), features=features)
    fits = [LatentDirichletAllocation(4, max_iter=5, random_state=0).fit(data) for data in (here, there)]
    assert (fits[0].components_ == fits[1].components_).all()
    assert (fits[0].trace_ == fits[1].trace_).all()


def test_gibbs_draws_the_same_again(ray_here, tmp_path):
    features = documents(tmp_path)
    tables = [pq.read_table(tmp_path / f"{i}.parquet") for i in range(4)]
    found = []
    for _ in range(2):
        there = suffice.rows(ray_here.data.from_arrow(tables), features=features)
        how = {"topic_word_prior": 0.05, "max_iter": 20, "random_state": 0}
        found.append(LatentDirichletAllocation(4, solver="gibbs", **how).fit(there))
    assert (found[0].components_ == found[1].components_).all()
    assert found[0].trace_[-1] > found[0].trace_[0]
    assert found[0].components_.sum() == pytest.approx(160 * 50 + 4 * 60 * 0.05)
