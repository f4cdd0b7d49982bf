"""What the tests compare with, in each version of scikit-learn that suffice supports.

Tests compare with the installed version; `number_of_alphas` and `l1_ratio` are parameters by the names that
it knows. Tests of what a later version introduced or corrected are skipped with older ones, and the reason
names that version.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest
import sklearn
from packaging.version import Version

SKLEARN = Version(Version(sklearn.__version__).base_version)


def since(version: str, what: str) -> pytest.MarkDecorator:
    """The mark of tests that need a version of scikit-learn, or a newer one."""
    return pytest.mark.skipif(Version(version) > SKLEARN, reason=f"scikit-learn {version} {what}")


ROUTED = "routes metadata to the score of a pipeline in a search"
CALLBACKS = "introduced callbacks"
needs_callbacks = since("1.9", CALLBACKS)


def callbacks() -> Any:
    """The module of callbacks, or the test is skipped."""
    return pytest.importorskip("sklearn.callback", reason=f"scikit-learn 1.9 {CALLBACKS}")


def number_of_alphas(peer: Any, n: int) -> dict[str, int]:
    """The parameter of scikit-learn's paths and searches for the number of penalties."""
    old = signature(peer).parameters.get("n_alphas")
    return {"alphas": n} if old is None or old.default == "deprecated" else {"n_alphas": n}


def l1_ratio(ratio: float) -> dict[str, Any]:
    """The parameters of scikit-learn's `LogisticRegression` for this share of the l1 penalty."""
    if Version("1.8") <= SKLEARN:
        return {"l1_ratio": ratio}
    if ratio in (0.0, 1.0):
        return {"penalty": "l1" if ratio else "l2"}
    return {"penalty": "elasticnet", "l1_ratio": ratio}
