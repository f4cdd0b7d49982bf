"""One long fit with a checkpoint. Run by test_faults as a process of its own, to be killed and run again.

python _fit.py ESTIMATOR ENGINE CHECKPOINT RESULT
"""

from __future__ import annotations

import sys
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
        "LogisticRegression": suffice.linear_model.LogisticRegression(C=1e4, tol=1e-14),
    }


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
    source = table
    if engine == "ray":
        import ray
        import ray.data

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        source = ray.data.from_arrow([table.slice(n, 10_000) for n in range(0, ROWS, 10_000)])

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
