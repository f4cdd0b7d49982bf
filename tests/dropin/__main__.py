"""Run scikit-learn's own tests, which are in its wheel, with suffice's classes in place of scikit-learn's.

    python -m tests.dropin                     # the tests of the classes, and the common checks
    python -m tests.dropin --ingredients       # and the tests that use them: pipelines, searches, ...
    python -m tests.dropin --report --details  # of the last run: one line for each class, and why tests fail
    python -m tests.dropin --only linear_model/tests/test_ridge.py

It prints `class tests passed failed` for each class, and the totals. A test counts for each class of
which it makes, changes or is passed an instance; the total counts each test once. Skipped tests and
expected failures do not count. Tests that fail are run again with scikit-learn's own classes; those that
fail there too do not count. `triage.toml` gives the reason of each failure. A `?` is a failure without a
rule.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = Path(os.environ.get("DROPIN_RESULTS", HERE.parents[1] / ".cache" / "dropin"))

OWN = [
    "linear_model/tests",
    "linear_model/_glm/tests",
    "cluster/tests",
    "decomposition/tests",
    "mixture/tests",
    "feature_extraction/tests/test_text.py",
    "svm/tests",
    "tree/tests/test_tree.py",
    "tree/tests/test_export.py",
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_forest.py",
    "ensemble/tests/test_gradient_boosting.py",
    "ensemble/tests/test_weight_boosting.py",
    "ensemble/_hist_gradient_boosting/tests/test_gradient_boosting.py",
    "neighbors/tests/test_neighbors.py",
    "neighbors/tests/test_neighbors_pipeline.py",
    "manifold/tests/test_locally_linear.py",
    "tests/test_kernel_approximation.py",
    "tests/test_kernel_ridge.py",
    "tests/test_naive_bayes.py",
    "tests/test_discriminant_analysis.py",
    "tests/test_common.py",
]
INGREDIENTS = [
    "compose/tests",
    "cross_decomposition/tests",
    "ensemble/tests/test_base.py",
    "ensemble/tests/test_common.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_voting.py",
    "feature_selection/tests",
    "frozen/tests",
    "inspection/tests",
    "inspection/_plot/tests",
    "manifold/tests/test_classical_mds.py",
    "manifold/tests/test_spectral_embedding.py",
    "metrics/_plot/tests",
    "metrics/tests/test_ranking.py",
    "metrics/tests/test_score_objects.py",
    "model_selection/tests",
    "neighbors/tests/test_nca.py",
    "preprocessing/tests/test_polynomial.py",
    "preprocessing/tests/test_target_encoder.py",
    "semi_supervised/tests",
    "tests/test_base.py",
    "tests/test_calibration.py",
    "tests/test_docstring_parameters.py",
    "tests/test_metadata_routing.py",
    "tests/test_metaestimators.py",
    "tests/test_metaestimators_metadata_routing.py",
    "tests/test_multiclass.py",
    "tests/test_multioutput.py",
    "tests/test_pipeline.py",
    "utils/_repr_html/tests",
    "utils/tests/test_class_weight.py",
    "utils/tests/test_plotting.py",
    "utils/tests/test_pprint.py",
    "utils/tests/test_response.py",
]


def run(paths: list[str], out: Path, workers: str, extra: list[str], theirs: Path | None = None) -> None:
    """Run the tests; with scikit-learn's own classes, and only those listed, if there is a list `theirs`."""
    import sklearn

    root = Path(sklearn.__file__).parent
    files = [str(root / path) for path in paths if (root / path).exists()]
    missing = [path for path in paths if not (root / path).exists()]
    if missing:
        print("not in this scikit-learn:", *missing)
    out.parent.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {
        "PYTHONPATH": f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "DROPIN_OUT": str(out),
        "DROPIN_BASELINE": "0" if theirs is None else "1",
        "DROPIN_ONLY": "" if theirs is None else str(theirs),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MPLBACKEND": "Agg",
    }
    command = [
        *("nice", "-n", "19", sys.executable, "-m", "pytest", "-c", str(HERE / "pytest.ini")),
        *(f"--rootdir={root.parent}", "-p", "plugin", "--tb=no", "--no-header", "--no-summary"),
        *("-n", workers, "--dist", "loadfile", "-q"),
        *extra,
        *files,
    ]
    with (out.with_suffix(".log")).open("w") as log:
        subprocess.run(command, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False)


def read(path: Path) -> dict[str, dict]:
    if not path.exists():
        return {}
    return {entry["test"]: entry for entry in map(json.loads, path.read_text().splitlines())}


def triage() -> list[tuple[re.Pattern, re.Pattern, str, str]]:
    file = HERE / "triage.toml"
    rules = tomllib.loads(file.read_text())["rule"] if file.exists() else []
    return [
        (re.compile(r.get("test", "")), re.compile(r.get("message", ""), re.S), r["kind"], r["why"])
        for r in rules
    ]


def reason(rules: list[tuple[re.Pattern, re.Pattern, str, str]], test: str, text: str) -> tuple[str, str]:
    """The kind of a failure and its reason, by the first rule that applies."""
    found = (
        (kind, why) for tests, message, kind, why in rules if tests.search(test) and message.search(text)
    )
    return next(found, ("?", "no rule"))


def report(name: str, found: dict[str, dict], theirs: dict[str, dict], details: bool) -> None:
    rules = triage()
    rows: dict[str, Counter] = defaultdict(Counter)
    kinds: dict[str, Counter] = defaultdict(Counter)
    whole: Counter = Counter()
    reasons: Counter = Counter()
    untriaged = []
    for test, entry in found.items():
        if entry["outcome"] == "collection":
            print(f"collection error: {test}\n{entry['message'][-800:]}")
            continue
        if not entry["classes"] or entry["outcome"] in ("skipped", "xfailed"):
            continue
        if theirs.get(test, {}).get("outcome", "passed") not in ("passed", "xpassed"):
            continue  # scikit-learn does not pass it here either
        failed = entry["outcome"] in ("failed", "error")
        if theirs and failed and test.startswith("sklearn/tests/test_common.py") and test not in theirs:
            continue  # a check that their class does not have, because it does less
        passed = entry["outcome"] in ("passed", "xpassed")
        for cls in entry["classes"]:
            rows[cls][passed] += 1
        whole[passed] += 1
        if passed:
            continue
        text = f"{entry.get('type')}: {entry.get('message', '')} | {entry.get('statement', '')}"
        kind, why = reason(rules, test, text)
        if kind == "?":
            untriaged.append(entry)
        entry["kind"], entry["why"] = kind, why
        reasons[kind, why] += 1
        for cls in entry["classes"]:
            kinds[cls][kind] += 1
    print(f"\n# {name}")
    print("class tests passed failed")
    for cls in sorted(rows):
        n = rows[cls]
        of = " ".join(f"{k}:{v}" for k, v in sorted(kinds[cls].items()))
        print(f"{cls} {n[True] + n[False]} {n[True]} {n[False]}" + (f"   ({of})" if of else ""))
    print(f"total {whole[True] + whole[False]} {whole[True]} {whole[False]}")
    by_kind: Counter = Counter()
    for (kind, _), n in reasons.items():
        by_kind[kind] += n
    print("failed by kind:", ", ".join(f"{kind} {n}" for kind, n in sorted(by_kind.items())))
    if details:
        print()
        for (kind, why), n in sorted(reasons.items()):
            print(f"  ({kind}) {n:4d}  {why}")
        for entry in untriaged:
            print(f"  ? {entry['test']}")
            print(f"      {entry.get('type')}: {entry.get('message', '')[:300]!r}")
            print(f"      at {entry.get('at')}  {entry.get('statement', '')!r}  ours {entry.get('ours')}")


def tested(name: str, paths: list[str], workers: str, extra: list[str]) -> None:
    """Run the tests; then those that failed, with scikit-learn's own classes."""
    out = RESULTS / f"{name}.jsonl"
    run(paths, out, workers, extra)
    failed = [test for test, entry in read(out).items() if entry["outcome"] in ("failed", "error")]
    theirs = RESULTS / f"{name}.failed"
    theirs.write_text("\n".join(failed))
    files = sorted({test.split("::")[0].removeprefix("sklearn/") for test in failed})
    if files:
        run(files, RESULTS / f"{name}.theirs.jsonl", workers, [], theirs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ingredients", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("-n", default="2", help="processes")
    parser.add_argument("extra", nargs="*", help="passed on to pytest, after --")
    a = parser.parse_args()
    if a.only:
        sets = {"only": a.only}
    else:
        sets = {"own": OWN} | ({"ingredients": INGREDIENTS} if a.ingredients or a.report else {})
    for name, paths in sets.items():
        if not a.report:
            tested(name, paths, a.n, a.extra)
        if (RESULTS / f"{name}.jsonl").exists():
            report(name, read(RESULTS / f"{name}.jsonl"), read(RESULTS / f"{name}.theirs.jsonl"), a.details)


if __name__ == "__main__":
    main()
