"""Boosted trees and forests of one Spark DataFrame, beside Spark MLlib's: seconds by the clock, in turns.

    python benchmarks/trees_spark.py --rows 1000000

Both fit the same cached DataFrame in the same local session. MLlib has its features assembled to vectors
before the clock starts. It takes the first tree whole and the gradients of the others twice, so that our
learning rate is three times its 0.1. Accuracies are of the rows of the fit.
"""

from __future__ import annotations

import argparse
import time
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from pyspark.ml.classification import GBTClassifier
from pyspark.ml.classification import RandomForestClassifier as Theirs
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import SparkSession

import suffice
from suffice.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

D, PARTS = 20, 8
NAMES = [f"x{d}" for d in range(D)]


def frame(spark: Any, rows: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, D))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=rows) > 0).astype(float)
    table = pd.DataFrame(X, columns=NAMES).assign(y=y)
    return spark.createDataFrame(table).repartition(PARTS).cache()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--repeat", type=int, default=2)
    given = parser.parse_args()
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "6g")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    data = frame(spark, given.rows)
    vectors = VectorAssembler(inputCols=NAMES, outputCol="features").transform(data).cache()
    print(data.count(), vectors.count(), "rows")
    rows = suffice.rows(data, features=NAMES, target="y")
    n, mllib = given.trees, {"labelCol": "y", "maxBins": 255, "seed": 0}
    pairs = {
        "boosting, depth 5": (
            HistGradientBoostingClassifier(
                learning_rate=0.3, max_iter=n, max_depth=5, max_leaf_nodes=None, early_stopping=False
            ),
            GBTClassifier(maxIter=n, maxDepth=5, **mllib),
        ),
        "forest, depth 10": (
            RandomForestClassifier(n, max_depth=10, random_state=0),
            Theirs(numTrees=n, maxDepth=10, **mllib),
        ),
    }
    accuracy = MulticlassClassificationEvaluator(labelCol="y", metricName="accuracy")
    for case, (ours, theirs) in pairs.items():
        times: dict[str, list[float]] = {"suffice": [], "MLlib": []}
        for _ in range(given.repeat):
            start = time.perf_counter()
            ours.fit(rows)
            times["suffice"].append(time.perf_counter() - start)
            start = time.perf_counter()
            model = theirs.fit(vectors)
            times["MLlib"].append(time.perf_counter() - start)
        seconds = {name: [round(t, 1) for t in found] for name, found in times.items()}
        ratio = median(times["MLlib"]) / median(times["suffice"])
        ends = ours.score(rows), accuracy.evaluate(model.transform(vectors))
        print(f"{case}: {seconds}, {ratio:.2f}x, accuracy {ends[0]:.4f} and {ends[1]:.4f}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
