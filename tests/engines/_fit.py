"""One long fit with a checkpoint. Run by test_faults as a process of its own, to be killed and run again.

python _fit.py ESTIMATOR ENGINE CHECKPOINT RESULT, with ENGINE local, parquet, ray, dask or spark
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

ROWS, ITERATIONS = 60_000, 20


def estimators():
    import suffice

    return {
        "KMeans": suffice.cluster.KMeans(24, init="random", n_init=2, tol=0.0, random_state=3),
        "GaussianMixture": suffice.mixture.GaussianMixture(
            8, tol=0.0, init_params="random_from_data", n_init=2, random_state=3
        ),
        "BayesianGaussianMixture": suffice.mixture.BayesianGaussianMixture(
            n_components=8, tol=0.0, init_params="random_from_data", n_init=2, random_state=3
        ),
        "Gibbs": suffice.mixture.BayesianGaussianMixture(
            n_components=8, solver="gibbs", init_params="random_from_data", n_init=2, random_state=3
        ),
        "FastICA": suffice.decomposition.FastICA(tol=0.0, random_state=3),
        "LogisticRegression": suffice.linear_model.LogisticRegression(C=1e4, tol=1e-14),
    }


def source_on(engine: str, table):
    """The table where the engine has it, in blocks of 10,000 rows."""
    parts = [table.slice(n, 10_000) for n in range(0, ROWS, 10_000)]
    if engine == "parquet":
        import pyarrow.parquet as pq

        import suffice

        file = Path(tempfile.mkdtemp()) / "rows.parquet"
        pq.write_table(table, file, row_group_size=10_000)
        return suffice.scan_parquet(file)
    if engine == "ray":
        import ray
        import ray.data

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        return ray.data.from_arrow(parts)
    if engine == "dask":
        import dask.dataframe
        import distributed

        distributed.Client(n_workers=2, threads_per_worker=1, host="127.0.0.1", silence_logs="CRITICAL")
        return dask.dataframe.from_pandas(table.to_pandas(), npartitions=len(parts))
    if engine == "spark":
        from _common import spark_frame
        from pyspark.sql import SparkSession

        from conftest import SPARK

        builder = SparkSession.builder
        for key, value in SPARK.items():
            builder = builder.config(key, value)
        return spark_frame(builder.getOrCreate(), parts)
    return table


def main(name: str, engine: str, checkpoint: str, result: str) -> None:
    import numpy as np
    import pyarrow as pa
    from _common import bits

    import suffice
    from suffice.core import loop

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(ROWS, 6)) @ rng.normal(size=(6, 6))
    label = (X @ rng.normal(size=(6, 5)) + rng.gumbel(size=(ROWS, 5))).argmax(axis=1)
    table = pa.table({f"x{j}": X[:, j] for j in range(6)} | {"label": label})
    source = source_on(engine, table)
    saved = []
    save = loop.save_value

    def counted(value, path):
        save(value, path)
        saved.append(path)

    loop.save_value = counted
    estimator = estimators()[name].set_params(checkpoint=checkpoint, max_iter=ITERATIONS)
    features = table.column_names[:-1]
    target = "label" if name == "LogisticRegression" else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(suffice.rows(source, features=features, target=target))
    Path(result).write_text(f"{len(saved)}\n{bits(estimator)!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
