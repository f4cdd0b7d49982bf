"""Whether a change of the code changes a result: the bits of every fit, before and after.

    python -m tests.laws.same_bits before.json       # in the one checkout
    python -m tests.laws.same_bits after.json        # in the other
    python -m tests.laws.same_bits before.json after.json

Every estimator in its variants is fitted to arrays; every public estimator of rows to Parquet and to a
`ray.data.Dataset`. Of each fit, a hash is kept of every fitted attribute and of every answer.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import suffice

from ..engines._common import FEATURES, described, kind_of, tables, write
from ..engines._common import variants as public
from .registry import VARIANTS, answers, bits, fit


def hashes(estimator: Any, X: Any) -> dict[str, str]:
    """A hash by fitted attribute, and by answer."""
    parts = {k: v for k, v in vars(estimator).items() if k.endswith("_") and k[0] != "_"}
    parts |= {f"{name}()": answer for name, answer in answers(estimator, X).items()}
    return {name: hashlib.sha256(repr(bits(part)).encode()).hexdigest()[:16] for name, part in parts.items()}


def data_of_variants() -> dict[str, Any]:
    return {variant.name: variant.data() for variant in VARIANTS}


def of_arrays(data: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for variant in VARIANTS:
        X, y = data[variant.name]
        found[f"arrays {variant.name}"] = hashes(fit(variant.make(), X, y), X)
    return found


def of_tables(found: dict[str, Any], where: str, sources: dict[str, Any], X: dict[str, Any]) -> None:
    for name, estimator in public().items():
        kind = kind_of(estimator)
        try:
            fit(estimator, described(estimator, sources[kind]))
        except (TypeError, ValueError, MemoryError) as error:  # those that take other tables, or fewer rows
            found[f"{where} {name}"] = {"error": f"{type(error).__name__}: {error}"[:200]}
            continue
        found[f"{where} {name}"] = hashes(estimator, X[kind])


def survey() -> dict[str, Any]:
    import ray

    found = of_arrays(data_of_variants())
    with tempfile.TemporaryDirectory() as home:
        folders = {}
        for kind in ("real", "count"):
            folders[kind] = Path(home) / kind
            folders[kind].mkdir()
            write(folders[kind], tables(kind))
        few = {kind: tables(kind)[0].select(FEATURES) for kind in folders}
        of_tables(found, "parquet", {k: suffice.scan_parquet(f) for k, f in folders.items()}, few)
        ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
        of_tables(found, "ray", {k: ray.data.from_arrow(tables(k)) for k in folders}, few)
        ray.shutdown()
    return found


def differences(before: dict[str, Any], after: dict[str, Any]) -> dict[str, list[str]]:
    """The fits that differ, and what differs in them; nothing if a fit is in one only."""
    found = {}
    for name in sorted(before.keys() | after.keys()):
        a, b = before.get(name), after.get(name)
        if a != b:
            found[name] = sorted(k for k in a.keys() | b.keys() if a.get(k) != b.get(k)) if a and b else []
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    paths = [Path(name) for name in sys.argv[1:]]
    if len(paths) == 2:
        before, after = (json.loads(path.read_text()) for path in paths)
        found = differences(before, after)
        for name, parts in found.items():
            print(name, parts or "only in one")
        print(f"{len(before.keys() & after.keys())} fits in both, {len(found)} differ")
        sys.exit(bool(found))
    paths[0].write_text(json.dumps(survey(), indent=1))
