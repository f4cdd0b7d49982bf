"""What users paste into reports of problems."""

from __future__ import annotations

import numpy as np

import suffice


def test_versions_of_all_dependencies_are_shown(capsys):
    suffice.show_versions()
    lines = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert lines["suffice"] == suffice.__version__
    assert lines["numpy"] == np.__version__
    assert {"scipy", "scikit-learn", "safetensors"} <= lines.keys()
    assert {"pyarrow", "ray", "pyspark", "dask"} <= lines.keys()  # extras
