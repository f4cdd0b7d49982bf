"""A container without a writable file: a user without rights, on read-only files, without a home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import suffice
from suffice.linear_model import SGDRegressor
from suffice.loops import native

SCRIPT = """
import sys
sys.meta_path = [f for f in sys.meta_path if "Editable" not in str(f) and "ScikitBuild" not in str(f)]
import numpy as np
import suffice
from suffice.linear_model import SGDRegressor

assert suffice.__file__.startswith(sys.argv[1]), suffice.__file__
try:
    open(sys.argv[1] + "/written", "w")
except PermissionError:
    pass
else:
    raise SystemExit("the files can be written")
X = np.arange(12.0).reshape(6, 2)
fitted = SGDRegressor(random_state=0).fit(X, [0, 1, 0, 1, 1, 1])
print(*fitted.predict(X))
print(*suffice.load(sys.argv[2]).predict(X))
"""


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    """The package and a saved model, in a folder that nobody may write to."""
    package = tmp_path / "package" / "suffice"
    shutil.copytree(Path(suffice.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    for extension in Path(native.loops.__file__).parent.glob("_*.so"):
        shutil.copy(extension, package / "loops")
    X = np.arange(12.0).reshape(6, 2)
    fitted = SGDRegressor(random_state=0).fit(X, [0, 1, 0, 1, 1, 1])
    fitted.save(package.parent / "model.suffice")
    folders = [package.parent, *package.parent.rglob("*")]
    for path in folders:
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield package.parent
    for path in folders:
        path.chmod(0o755)


def test_a_user_without_rights_fits_and_loads(read_only: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(read_only),
        "HOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    # The rights of root are given up, but for reading: Python may be installed where others may not look.
    only = "-all,+dac_read_search"
    no_rights = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    no_rights += [f"--inh-caps={only}", f"--ambient-caps={only}", f"--bounding-set={only}"]
    command = [sys.executable, "-c", SCRIPT, str(read_only), str(read_only / "model.suffice")]
    answer = subprocess.run(
        [*(no_rights if os.geteuid() == 0 else []), *command],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    fitted, loaded = answer.stdout.splitlines()
    assert fitted == loaded
