"""A classic Spark whose workers have a Python without packages: the error of a fit is printed."""

from __future__ import annotations

import os
import sys
import warnings

from pyspark.sql import SparkSession

import suffice
from suffice.naive_bayes import GaussianNB


def main(python):
    warnings.simplefilter("ignore")
    os.environ["PYSPARK_PYTHON"] = python
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    rows = session.createDataFrame([(float(n), n % 2) for n in range(8)], "a double, y int")
    try:
        GaussianNB().fit(suffice.rows(rows, target="y"))
    except ModuleNotFoundError as error:
        print(error)
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1])
