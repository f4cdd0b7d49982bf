"""Errors for keywords of other libraries, which name the parameter to use here.

A call with an unknown keyword raises Python's TypeError, with the parameter of suffice and its value added.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'(?:\. Did you mean .*)?$")
# Parameters of hmmlearn, CRFsuite, scikit-learn, Spark and gensim, with the names here: a class has one.
NAMES = {
    "class_weights": ("class_weight",),
    "delta": ("tol",),
    "elasticNetParam": ("l1_ratio",),
    "eps": ("tol",),
    "epsilon": ("tol",),
    "eta": ("topic_word_prior",),
    "iterations": ("max_iter",),
    "k": ("n_components", "n_clusters"),
    "maxIter": ("max_iter",),
    "max_iterations": ("max_iter",),
    "max_iters": ("max_iter",),
    "min_covar": ("reg_covar",),
    "n_clusters": ("n_components",),
    "n_components": ("n_clusters",),
    "n_epochs": ("max_iter",),
    "n_iter": ("max_iter",),
    "n_states": ("n_components",),
    "n_topics": ("n_components",),
    "num_iterations": ("max_iter",),
    "num_topics": ("n_components",),
    "passes": ("max_iter",),
    "random_seed": ("random_state",),
    "seed": ("random_state",),
    "startprob_prior": ("start_prior",),
    "transmat_prior": ("transition_prior",),
    "weights": ("sample_weight",),
}
# Parameters that need more advice: the parameter that the class must have ("" for any class), and the advice.
ADVICE = {
    "algorithm": ("solver", "use solver, e.g. solver='lbfgs', or StructuredPerceptron for 'ap'"),
    "all_possible_states": ("edge_features", "leave it out: all features have weights for all labels"),
    "all_possible_transitions": ("edge_features", "leave it out: all transitions have weights"),
    "covars_prior": ("emission_prior", "use emission_prior=GaussianPrior(...)"),
    "means_prior": ("emission_prior", "use emission_prior=GaussianPrior(...)"),
    "n_jobs": ("", "leave it out: the number of threads is set by suffice.threads(n)"),
    "params": (
        "fixed",
        "use fixed, what is not estimated, e.g. fixed=('start', 'transition')",
    ),
    "penalty": ("l1_ratio", "use l1_ratio: 0 is the l2 penalty, 1 the l1 penalty; C=np.inf is none"),
    "verbose": ("", "leave it out: progress is shown by `with suffice.progress():`"),
}


def advised(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator: add to the error for an unknown keyword which one to use."""

    @wraps(method)
    def call(self: Any, *args: Any, **more: Any) -> Any:
        try:
            return method(self, *args, **more)
        except TypeError as error:
            match = UNEXPECTED.search(str(error))
            if match is None or match[1] not in more or match[1] in inspect.signature(method).parameters:
                raise
            known = list(inspect.signature(method).parameters)[1:]
            raise TypeError(f"{error}: {_advice(match[1], more, known)}.") from None

    return call


def _advice(name: str, more: dict[str, Any], known: list[str]) -> str:
    """Return the advice for an unknown keyword.

    `more` are the keywords of the call, and `known` the parameters of the method.
    """
    if name == "lengths" and "groups" in known:
        return "pass groups=np.repeat(np.arange(len(lengths)), lengths), or a list of sequences"
    if name in ("c1", "c2") and "l1_ratio" in known:
        c1, c2 = (float(more.get(key, 0.0)) for key in ("c1", "c2"))
        total = c1 + 2.0 * c2
        same = f"C={1 / total:.6g}, l1_ratio={c1 / total:.6g}" if total else "C=np.inf"
        return f"c1={c1:g}, c2={c2:g} are {same}, since c1 = l1_ratio / C and c2 = (1 - l1_ratio) / (2 * C)"
    if name == "regParam" and "C" in known:
        return "use C=1 / (regParam * n), for n rows"
    if name in ADVICE and ADVICE[name][0] in ("", *known):
        return ADVICE[name][1]
    for ours in NAMES.get(name, ()):
        if ours in known:
            return f"use {ours}={more[name]!r:.60}"
    close = difflib.get_close_matches(name, known, 1)
    return f"use {close[0]}={more[name]!r:.60}" if close else f"the parameters are {', '.join(known)}"
