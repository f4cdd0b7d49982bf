"""A Spark of two executors, processes of their own, of which one is killed between folds, and both in one."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import psutil
from pyspark.sql import SparkSession

from suffice.inputs import Check, source_of
from suffice.inputs.readers import DenseColumns
from suffice.inputs.tables import Columns

N_BLOCKS = 6
CHECK = Check("Test", sparse=False, nan=False, positive=False, strings=False, target=None)


def executors():
    return [child for child in psutil.Process().children(recursive=True) if is_executor(child)]


def is_executor(process):
    with suppress(psutil.Error):  # it has just ended
        return "CoarseGrainedExecutorBackend" in " ".join(process.cmdline())
    return False


def main(folder):
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    made = folder / "made"
    made.mkdir()

    def noted(batches):
        for batch in batches:
            (made / f"{time.time_ns()}-{os.getpid()}").touch()
            yield batch

    source = session.range(0, 600, 1, N_BLOCKS).selectExpr("sin(id) as a").mapInArrow(noted, "a double")
    data = source_of(source).partitions(Columns(DenseColumns(("a",))), CHECK)

    def summed(rows):
        return np.array([rows.X.sum(), len(rows)])

    def waits(marker, rows):
        if rows.index[0] == 4 and len(rows) and not marker.exists():
            marker.touch()
            time.sleep(120)
        return summed(rows)

    def kill():
        while not marker.exists():
            time.sleep(0.01)
        for executor in executors():
            executor.kill()

    first, counts = data.fold(summed), [len(list(made.iterdir()))]
    executors()[0].kill()
    between = data.fold(summed)
    counts.append(len(list(made.iterdir())))
    marker = folder / "inside"
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    inside = data.fold(waits, marker)
    thread.join()
    counts.append(len(list(made.iterdir())))
    same = first.tobytes() == between.tobytes() == inside.tobytes()
    print(json.dumps({"same": same, "made": counts}))
    session.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
