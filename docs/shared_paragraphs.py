"""Descriptions that the docstrings of many estimators share, written once.

    python docs/shared_paragraphs.py     # writes them into the docstrings in src/

The docstrings in the files stay complete, as `help` and editors show them. A test fails if one differs.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from pathlib import Path

from suffice.core.storage import import_everything
from suffice.estimator import Estimator
from suffice.estimator.storing import Storable

WIDTH = 110
SHARED = {
    "checkpoint": "File in which progress is saved while the fit runs. A fit that was interrupted resumes "
    "from it.",
    "copy_X": "Ignored: `X` is never modified.",
    "max_iter": "Maximum number of iterations.",
    "n_jobs": "Ignored: see `suffice.threads`.",
    "sample_weight": "Per-{unit} weights. A weight of 2 is equivalent to repeating the {unit}; 0 drops it.",
    "verbose": "Ignored: see scikit-learn's callbacks, e.g. ``set_callbacks(ProgressBar())``.",
    "X": "The rows. To name the {columns} in a table, see `suffice.rows`.",
}
# Classes that need other words.
NETS = {"ElasticNet", "ElasticNetCV", "Lasso", "LassoCV"}
DOCUMENTS = {
    "CountVectorizer",
    "LatentDirichletAllocation",
    "ProbabilisticLatentSemanticAnalysis",
    "RegularizedLSI",
}
SGD = {"SGDClassifier", "SGDRegressor"}
OWN = {
    "X": {
        *{"BayesianGaussianMixture", "GaussianMixture", "LatentMixture", "BasisFunctions", "BilinearNMF"},
        *DOCUMENTS,
    },
    "max_iter": {
        *{"AdditiveModel", "MaxMarginMarkovNetwork", "Perceptron", "Ridge", "RidgeClassifier"},
        *{"StructuredPerceptron", "VotedPerceptron", "PocketPerceptron", "MarginPerceptron"},
        *{"BayesianGaussianMixture", "KernelPerceptron", "MiniBatchKMeans", *DOCUMENTS, *NETS, *SGD},
    },
    "verbose": {
        *{"BayesianGaussianMixture", "GaussianMixture", "KMeans", "LatentDirichletAllocation"},
        *{"MiniBatchKMeans", "NMF", "SpectralClustering", *SGD},
    },
    "sample_weight": {
        "BayesianGaussianMixture",
        *{"DatetimeEncoder", "OneHotEncoder", "OrdinalEncoder", "StepClassifier", "LinkEstimator"},
        *{"BasisFunctions", "BilinearNMF", "CrossValidated", "FromInitialWeights", "PolynomialFeatures"},
        *SGD,
    },
}


def paragraph(cls: type[Estimator], name: str) -> str | None:
    """The description of a parameter of an estimator or of its `fit`, unless the class needs its own."""
    if cls.__name__ in OWN.get(name, ()) or (name == "X" and cls.takes != "rows"):
        return None
    unit = "document" if cls.__name__ in DOCUMENTS else "sequence" if cls.takes == "sequences" else "sample"
    unsupervised = cls.__name__ in ("KMeans", "MiniBatchKMeans", "NMF", "TruncatedSVD")
    columns = "column of weights" if unsupervised else "columns of target and weights"
    return SHARED[name].format(unit=unit, columns=columns)


def rendered(cls: type[Estimator], lines: list[str], first: int, last: int) -> list[str]:
    """The lines of a docstring, first to last, with the shared descriptions."""
    out, n = [], first
    while n < last:
        out.append(lines[n])
        entry = re.match(r"( +)(\w+) : ", lines[n])
        text = paragraph(cls, entry[2]) if entry and entry[2] in SHARED else None
        n += 1
        if entry and text is not None and lines[n].startswith(f"{entry[1]}    "):
            indent = f"{entry[1]}    "
            out += textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
            while lines[n].startswith(indent):
                n += 1
    return out


def render(path: Path, classes: dict[str, type[Estimator]]) -> str:
    """The text of a file, with the shared descriptions in docstrings of estimators and their `fit`."""
    lines = path.read_text(encoding="utf-8").split("\n")
    tree = ast.parse("\n".join(lines))
    places = []
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in classes:
            fits = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "fit"]
            for part in [node, *fits]:
                if ast.get_docstring(part):
                    doc = part.body[0]
                    places.append((classes[node.name], doc.lineno - 1, doc.end_lineno or doc.lineno))
    for cls, first, last in reversed(places):
        lines[first:last] = rendered(cls, lines, first, last)
    return "\n".join(lines)


def files() -> dict[Path, dict[str, type[Estimator]]]:
    """The estimators by file."""
    import_everything()
    found: dict[Path, dict[str, type[Estimator]]] = {}
    for name, cls in Storable.known.items():
        if name.startswith("suffice.") and issubclass(cls, Estimator):
            found.setdefault(Path(inspect.getfile(cls)), {})[cls.__name__] = cls
    return found


if __name__ == "__main__":
    for path, classes in files().items():
        path.write_text(render(path, classes), encoding="utf-8")
