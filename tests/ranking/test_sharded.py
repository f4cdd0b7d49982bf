"""Links on Ray: the bits of the local ones; and scores that stay there, in shards."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import suffice
from suffice.ranking import PageRank, sharded

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300, method="thread"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::UserWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]


@pytest.mark.parametrize("strings", [False, True])
def test_the_same_bits(ray_here, tmp_path, strings, monkeypatch):
    rng = np.random.default_rng(0)
    ends = (rng.random((6000, 2)) ** 2 * 700).astype(int)
    weight = rng.uniform(0.5, 2.0, 6000)
    columns = [[f"{v:04}" for v in part] for part in ends.T] if strings else list(ends.T)
    table = pa.table({"from": columns[0], "to": columns[1], "w": weight})
    for n in range(5):
        pq.write_table(table.slice(1200 * n, 1200), tmp_path / f"{n}.parquet")
    parts = {"source": "from", "target": "to", "weight": "w"}
    here = PageRank(tol=1e-12).fit(suffice.edges(suffice.scan_parquet(tmp_path), **parts))
    data = suffice.edges(ray_here.data.read_parquet(str(tmp_path)), **parts)
    there = PageRank(tol=1e-12).fit(data)
    assert there.nodes_.tolist() == here.nodes_.tolist()
    assert there.scores_.tobytes() == here.scores_.tobytes()
    if strings:
        return
    monkeypatch.setattr(sharded, "HOME_BYTES", 0)
    monkeypatch.setattr(sharded, "SHARD_BYTES", 30_000)
    apart = PageRank(tol=1e-12).fit(data)
    assert len(apart.scores_.starts) > 3
    assert np.abs(apart.scores_.take(here.nodes_) - here.scores_).sum() < 1e-12
