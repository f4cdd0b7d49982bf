"""Expectation maximisation on a Ray of three nodes that loses two: one between folds, one inside a fold.

Run by test_faults as a process of its own. Prints, as JSON, what happened and whether the bits are those of
the same blocks on this machine's threads.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

BLOCKS, ROWS = 12, 20_000


def main(folder: Path) -> None:
    import numpy as np
    import pyarrow as pa
    import ray
    import ray.data
    from _common import bits
    from ray.cluster_utils import Cluster

    from suffice.engines import ray as engine
    from suffice.engines.local import LocalPartitions
    from suffice.families import FullGaussian, Mixture
    from suffice.fitting import em
    from suffice.inputs import Check, source_of
    from suffice.inputs.readers import DenseColumns
    from suffice.inputs.tables import Columns

    made, folds = folder / "made", folder / "folds"
    made.mkdir()
    folds.mkdir()

    def make(batch, noted=made):
        """A block, and a trace of its having been made."""
        number = int(batch["id"][0])
        (noted / f"{number}-{time.time_ns()}").touch()
        rng = np.random.default_rng(number)
        X = rng.normal(size=(ROWS, 2)) + 4 * rng.integers(0, 2, (ROWS, 1))
        return {"a": X[:, 0], "b": X[:, 1]}

    columns = Columns(DenseColumns(("a", "b")))
    check = Check("", sparse=False, nan=False, positive=False, strings=False, target=None)
    start = Mixture(np.array([0.5, 0.5]), FullGaussian.start(2, 2))
    start = start.replace(component=start.component.replace(mean=np.array([[0.0, 1.0], [3.0, 2.0]])))

    def shifted(by, rows):
        return rows.replace(X=rows.X + by)

    def fitted(data):
        return bits(em(start, data.map(shifted, np.array([0.1, 0.2])), tol=-1.0, max_iter=6))

    here = [columns.block(check, n, pa.table(make({"id": [n]}, folder))) for n in range(BLOCKS)]
    expected = fitted(LocalPartitions(tuple(here)))

    # A node that is gone fails each check at once; one that is slow, on a busy machine, has two seconds.
    quick = {"health_check_initial_delay_ms": 500, "health_check_period_ms": 300}
    quick |= {"health_check_timeout_ms": 2000, "health_check_failure_threshold": 4}
    store = {"object_store_memory": 100 << 20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": quick, **store})
    nodes = [cluster.add_node(num_cpus=1, **store) for _ in range(2)]
    ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    engine.RUN = 2
    lost = {"between": 0, "inside": 0}

    class Unlucky(engine.RayPartitions):
        """Partitions whose second and fourth fold lose a node."""

        def map(self, f, *shared):
            return Unlucky(super().map(f, *shared).runs)

        def fold(self, f, *shared):
            number = len(list(folds.iterdir()))
            (folds / str(number)).touch()
            if number == 1:
                node = most_loaded(nodes, self.runs)
                lost["between"] = sum(node.node_id in where for where in places(self.runs))
                nodes.remove(node)
                cluster.remove_node(node, allow_graceful=False)
                nodes.append(cluster.add_node(num_cpus=1, **store))
            if number == 3:
                slow = SlowOnce(f, folder / "slow")
                threading.Thread(target=remove_when, args=(folder / "slow",), daemon=True).start()
                return super().fold(slow, *shared)
            return super().fold(f, *shared)

    class SlowOnce:
        """f, but the first task to come here says where it is, and stays until its node is lost."""

        def __init__(self, f, marker):
            self.f, self.marker, self.__qualname__ = f, marker, "SlowOnce"

        def is_first(self):
            try:  # two tasks may come at once, on two nodes
                self.marker.with_suffix(".claimed").touch(exist_ok=False)
            except FileExistsError:
                return False
            return True

        def __call__(self, *args):
            if len(args[-1]) and self.is_first():
                part = self.marker.with_suffix(".part")
                part.write_text(ray.get_runtime_context().get_node_id())
                part.rename(self.marker)
                time.sleep(60)
            return self.f(*args)

    def remove_when(marker):
        while not marker.exists():
            time.sleep(0.01)
        [node] = [node for node in nodes if node.node_id == marker.read_text()]
        nodes.remove(node)
        cluster.remove_node(node, allow_graceful=False)
        lost["inside"] = 1

    def places(runs):
        ray.wait(list(runs), num_returns=len(runs), fetch_local=False)
        return [where["node_ids"] for where in ray.experimental.get_object_locations(list(runs)).values()]

    def most_loaded(nodes, runs):
        where = places(runs)
        return max(nodes, key=lambda node: sum(node.node_id in ids for ids in where))

    source = ray.data.range(BLOCKS, override_num_blocks=BLOCKS).map_batches(make, batch_size=None)
    opened = source_of(source).partitions(columns, check)
    del source
    got = fitted(Unlucky(opened.runs))
    print(json.dumps({"same": got == expected, "made": len(list(made.iterdir())), **lost}))
    ray.shutdown()
    cluster.shutdown()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
