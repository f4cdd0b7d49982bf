"""Statistical learning that fits where the data is.

A model is fitted by summing its summaries of the blocks.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Modules are imported on first use, so that importing suffice is fast.
_HOMES = {
    "as_sklearn": "suffice.estimator.interchange",
    "documents": "suffice.inputs.tables",
    "edges": "suffice.inputs.tables",
    "load": "suffice.estimator.storing",
    "partition": "suffice.engines.local",
    "progress": "suffice.core.progress",
    "rows": "suffice.inputs.tables",
    "save": "suffice.estimator.storing",
    "scan": "suffice.inputs.stream",
    "scan_csv": "suffice.inputs.stream",
    "scan_json": "suffice.inputs.stream",
    "scan_parquet": "suffice.inputs.parquet",
    "sequences": "suffice.inputs.tables",
    "show_versions": "suffice.core.versions",
    "sparse": "suffice.inputs.tables",
    "task_timeout": "suffice.engines.timeout",
    "threads": "suffice.core.threads",
}
_MODULES = (
    "additive",
    "cluster",
    "compose",
    "core",
    "decision",
    "decomposition",
    "discriminant_analysis",
    "ensemble",
    "estimator",
    "families",
    "feature_extraction",
    "fitting",
    "impute",
    "information",
    "kernel_approximation",
    "kernel_ridge",
    "kernels",
    "linear_model",
    "manifold",
    "metrics",
    "mixture",
    "model_selection",
    "naive_bayes",
    "neighbors",
    "plot",
    "preprocessing",
    "ranking",
    "sampling",
    "sequence",
    "statistics",
    "svm",
    "textbook",
    "topics",
    "tree",
)

__all__ = [*_HOMES, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"suffice.{name}")
    from .core.names import no_attribute

    raise no_attribute("suffice", name)


def __dir__() -> list[str]:
    return sorted(__all__)
