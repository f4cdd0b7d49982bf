"""Model files of an attacker: with the right digest, and with any content. They are refused, or answer."""

from __future__ import annotations

import collections
import json
import os
import stat
import subprocess
import sys
import threading
import warnings
import zlib

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.attack.mutants import RANKS, Worker, cases, closed, opened

import suffice
from suffice.additive import AdditiveModel
from suffice.cluster import BisectingKMeans, DivisiveClustering, KMeans
from suffice.core import loop, storage
from suffice.core.loop import Checkpoint, Progress
from suffice.core.storage import StorageError, load_value, save_value
from suffice.decomposition import NMF, PCA, FactorAnalysis
from suffice.discriminant_analysis import QuadraticDiscriminantAnalysis
from suffice.ensemble import (
    BaggingClassifier,
    ForwardStagewiseClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from suffice.feature_extraction.text import CountVectorizer, TfidfVectorizer
from suffice.linear_model import (
    KernelLogisticRegression,
    LogisticRegression,
    MaximumEntropy,
    ProportionalOdds,
    Ridge,
    SGDClassifier,
)
from suffice.mixture import GaussianMixture
from suffice.naive_bayes import GaussianNB
from suffice.neighbors import KNeighborsClassifier
from suffice.preprocessing import BasisFunctions, KBinsDiscretizer
from suffice.sampling import MarkovChain
from suffice.sequence import HiddenMarkovModel
from suffice.svm import SVC, KernelMachine
from suffice.topics import LatentDirichletAllocation, TermWeighting
from suffice.tree import DecisionTreeClassifier


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model"


def forged(estimator, path, change=lambda tree, arrays: None, **metadata):
    """The file of an estimator, changed, with the right digest."""
    estimator.save(path)
    tree, arrays, known = opened(path.read_bytes())
    tree = change(tree, arrays) or tree
    path.write_bytes(closed(json.dumps(tree), arrays, known | metadata))
    return path


def resized(**shapes):
    """A change: arrays whose names end so have other shapes, wherever they are."""

    def walk(node, arrays):
        if isinstance(node, dict) and "array" in node:
            for name, shape in shapes.items():
                if node["array"].endswith(f"model_.{name}"):
                    arrays[node["array"]] = np.full(shape, 1 / 3)
                    node["shape"] = list(shape)
        for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            walk(part, arrays)

    return walk


X = np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 4.0], [4.0, 5.0]])


def small():
    return KMeans(2, random_state=0).fit(X)


# --- shapes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "estimator, shapes, said",
    [
        (HiddenMarkovModel(2, random_state=0), {"start": (4000,), "transition": (1, 4000)}, "transition"),
        (HiddenMarkovModel(2, random_state=0), {"start": (3,), "transition": (3, 3)}, "emission"),
        (LatentDirichletAllocation(2, max_iter=1), {"alpha": (0,)}, "alpha|word"),
        (LatentDirichletAllocation(2, max_iter=1), {"word": (1, 2), "eta": (1,)}, "model_"),
        (KMeans(2), {"center": (2, 1)}, "model_"),
        (GaussianMixture(2, random_state=0), {"weight": (3,)}, "component"),
        (GaussianNB(), {"component.mean": (2, 7)}, "covariance|mean"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(estimator, shapes, said, path):
    y = [0, 0, 1, 1] if isinstance(estimator, GaussianNB) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X, y)
    with pytest.raises(StorageError, match=f"`({said})` of"):
        suffice.load(forged(estimator, path, resized(**shapes)))


@pytest.mark.parametrize(
    "estimator, name, value, said",
    [
        (NMF(2, random_state=0), "order", [0, 10**9], "turns"),
        (AdditiveModel(), "basis.first", [0, 10**9, 8], "knots"),
        (AdditiveModel(), "basis.columns", [0, 10**9, 2], "functions|pieces"),
        (AdditiveModel(), "basis.place", [0, 10**9, 40], "pieces"),
    ],
)
def test_indices_beyond_their_array_are_refused(estimator, name, value, said, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        estimator.fit(X, X[:, 0] + 0.0)

    def change(tree, arrays):
        (full,) = [known for known in arrays if known.endswith(f"model_.{name}")]
        arrays[full] = np.array(value, dtype=arrays[full].dtype)

    with pytest.raises(StorageError, match=f"(?i){said}"):
        suffice.load(forged(estimator, path, change))


CLASSES = [
    DecisionTreeClassifier(),
    RandomForestClassifier(2, random_state=0),
    BaggingClassifier(n_estimators=2, random_state=0),
    GradientBoostingClassifier(n_estimators=1),
    HistGradientBoostingClassifier(max_iter=1),
    ForwardStagewiseClassifier(n_estimators=2),
]


@pytest.mark.parametrize("estimator", CLASSES, ids=lambda estimator: type(estimator).__name__)
@pytest.mark.parametrize("n", [1, 4])
def test_another_number_of_classes_is_refused(estimator, n, path):
    def change(tree, arrays):
        fitted_entry(tree, "classes_")[1] = {"strings": list("abcd"[:n]), "dtype": "<U1", "shape": [n]}

    labels = "ab" if isinstance(estimator, ForwardStagewiseClassifier) else "abc"
    estimator.fit(np.sin(np.arange(12.0))[:, None], (list(labels) * 6)[:12])
    with pytest.raises(StorageError, match="classes"):
        suffice.load(forged(estimator, path, change))


def test_fields_that_answers_cannot_use_are_refused(path):
    """Indices of children, integers that do not add, no knots, a type without arithmetic, other options."""

    def as_array(name, value):
        def change(tree, arrays):
            (full,) = [known for known in arrays if known.endswith(name)]
            arrays[full] = np.asarray(value)
            node = next(node for node in every_node(tree) if node.get("array") == full)
            node["shape"] = list(arrays[full].shape)

        return change

    def other_range(tree, arrays):
        for node in every_node(tree):
            if node.get("tuple") == [1, 1]:
                node["tuple"] = [1, ""]

    texts = CountVectorizer().fit(["a word", "other words"])
    pairs = [
        (BisectingKMeans(2, random_state=0), "model_.child", [[1, 1000], [-1, -1], [-1, -1]], "Children"),
        (BisectingKMeans(2, random_state=0), "model_.child", [[0, 2], [-1, -1], [-1, -1]], "parents"),
        (AdditiveModel(), "basis.columns", np.array([0, 1, 2], np.uint64), "columns"),
        (BasisFunctions("sigmoid"), "model_.knots", np.zeros((0, 2)), "knots"),
        (BaggingClassifier(GaussianNB(), n_estimators=1), "0.fitted.classes_", np.zeros(2), "codes"),
        (FactorAnalysis(1), "mean_", np.zeros(2, np.float16), "mean_"),
    ]
    for estimator, name, value, match in pairs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of four rows
            estimator.fit(X, [0, 1, 0, 1])
        with pytest.raises(StorageError, match=match):
            suffice.load(forged(estimator, path, as_array(name, value)))
    with pytest.raises(StorageError, match="ngram_range"):
        suffice.load(forged(texts, path, other_range))


def as_fitted(name, value):
    """A change: a fitted attribute is another array, or text; or there is none of this name."""

    def change(tree, arrays):
        pair = fitted_entry(tree, name)
        if value is None:
            tree["fields"]["fitted"]["dict"].remove(pair)
        elif isinstance(value, np.ndarray):
            arrays["forged"] = value
            pair[1] = {"array": "forged", "shape": list(value.shape)}
        else:
            pair[1] = value

    return change


def as_field(name, value):
    """A change: the last field of this name, in any value, is another array or another number."""

    def change(tree, arrays):
        node = [node for node in every_node(tree) if name in node][-1]
        if isinstance(value, np.ndarray):
            arrays["forged"] = value
        node[name] = (
            {"array": "forged", "shape": list(value.shape)} if isinstance(value, np.ndarray) else value
        )

    return change


def as_param(name, value):
    def change(tree, arrays):
        (pair,) = [pair for pair in tree["fields"]["params"]["dict"] if pair[0] == name]
        pair[1] = value

    return change


OTHER = {"class": "suffice.fitting.Penalty", "fields": {"l1": 0.0, "l2": 0.0}}
FOUR = {"strings": list("abcd"), "dtype": "<U1", "shape": [4]}
FORGED = [
    (Ridge(), as_fitted("coef_", None), "no coef_"),
    (Ridge(), as_fitted("coef_", np.zeros(3)), "coef_"),
    (ProportionalOdds(), as_fitted("model_", None), "no model_"),
    (KBinsDiscretizer(2), as_fitted("model_", None), "no model_"),
    (LogisticRegression(), as_fitted("classes_", FOUR), "model_|classes_"),
    (LogisticRegression(), as_fitted("coef_", np.zeros((2, 2, 1))), "coef_"),
    (KernelLogisticRegression(), as_fitted("classes_", FOUR), "model_|classes_"),
    (KernelMachine("hinge"), as_fitted("classes_", FOUR), "model_|classes_"),
    (SVC(), as_fitted("classes_", FOUR), "4 classes, and the model 2"),
    (KNeighborsClassifier(1), as_fitted("classes_", {**FOUR, "shape": [1], "strings": ["a"]}), "Codes"),
    (KNeighborsClassifier(1), as_fitted("outputs_2d_", True), "outputs_2d_"),
    (KNeighborsClassifier(1), as_field("target", np.zeros((4, 0))), "targets"),
    (KNeighborsClassifier(1), as_field("p", -1.0), "p=-1"),
    (QuadraticDiscriminantAnalysis(reg_param=0.1), as_fitted("means_", np.zeros((2, 3))), "means_"),
    (PCA(), as_fitted("statistics_", OTHER), "statistics_"),
    (SGDClassifier(random_state=0), as_field("w", np.zeros((1, 2), np.uint64)), "`w`"),
    (SGDClassifier(random_state=0), as_field("model", OTHER), "`model`"),
    (TermWeighting(), as_field("local", "other"), "local"),
    (DivisiveClustering(), as_param("metric", 3), "metric"),
    (MaximumEntropy(), as_param("features", 1e308), "features"),
]  # fmt: skip


@pytest.mark.parametrize("estimator, change, match", FORGED, ids=lambda value: str(value)[:30])
def test_fitted_attributes_that_answers_cannot_use_are_refused(estimator, change, match, path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of four rows
        estimator.fit(X, [0, 1, 0, 1])
    with pytest.raises(StorageError, match=match):
        suffice.load(forged(estimator, path, change))


def test_other_fitted_attributes_that_answers_cannot_use_are_refused(path):
    """Of sequences and texts."""
    chain = MarkovChain().fit(np.array([0, 1, 1, 0, 1])[:, None])
    with pytest.raises(StorageError, match="transition_"):
        suffice.load(forged(chain, path, as_fitted("transition_", np.zeros((2, 0)))))
    texts = TfidfVectorizer().fit(["a word", "other words"])
    with pytest.raises(StorageError, match="weights_"):
        suffice.load(forged(texts, path, as_field("of_words", np.ones(1))))


def every_node(tree):
    """All dicts of a tree."""
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from every_node(part)


def test_checkpoints_of_other_sizes_are_refused(path, monkeypatch):
    """Sound ones, with the identity of the fit, which an attacker can compute."""
    saved = []
    monkeypatch.setattr(loop, "save_value", lambda value, path: saved.append(value))
    for K in (2, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = HiddenMarkovModel(K, random_state=0, max_iter=1, checkpoint=path).fit(X)
    save_value(saved[1].replace(progress=saved[0].progress), path)
    with pytest.raises(StorageError, match="another fit"):
        model.fit(X)


def fitted_entry(tree, name):
    (pair,) = [pair for pair in tree["fields"]["fitted"]["dict"] if pair[0] == name]
    return pair


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_features_in_", 5),
        ("n_features_in_", 2.0),
        ("n_features_in_", "2"),
        ("n_features_in_", None),
        ("model_", None),
        ("model_", {"class": "suffice.fitting.Penalty", "fields": {"l1": 0.0, "l2": 0.0}}),
        ("model_", {"class": "suffice.fitting.Penalty", "fields": {"l1": "0", "l2": 0.0}}),
        ("model_", {"class": "suffice.fitting.Penalty", "fields": {"l1": True, "l2": 0.0}}),
    ],
)
def test_fitted_attributes_of_another_kind_are_refused(name, value, path):
    def change(tree, arrays):
        fitted_entry(tree, name)[1] = value

    with pytest.raises(StorageError, match=r"n_features_in_|model_|`l1`"):
        suffice.load(forged(small(), path, change))


def test_a_model_of_features_needs_their_number(path):
    def change(tree, arrays):
        tree["fields"]["fitted"]["dict"].remove(fitted_entry(tree, "n_features_in_"))

    with pytest.raises(StorageError, match="n_features_in_"):
        suffice.load(forged(small(), path, change))


@pytest.mark.parametrize("name", ["predict", "fit", "__class__", "_skl_callbacks", "no name", ""])
def test_attributes_that_would_hide_methods_are_refused(name, path):
    def change(tree, arrays):
        tree["fields"]["fitted"]["dict"].append([name, 3])

    with pytest.raises(StorageError, match="no fitted attributes"):
        suffice.load(forged(small(), path, change))


# --- content -------------------------------------------------------------------------------------------


def refused(tree, path, match, arrays=None):
    content = closed(
        json.dumps(tree) if not isinstance(tree, str) else tree, arrays or {}, {"suffice": storage.FORMAT}
    )
    path.write_bytes(content)
    with pytest.raises(StorageError, match=match):
        load_value(path)


def test_strings_are_priced_before_memory_is_taken(path):
    """A long string and many short ones: NumPy makes all as long as the longest."""
    wide = {"strings": ["x" * 100_000] + [""] * 50_000, "dtype": "<U1", "shape": [50_001]}
    refused(wide, path, "far more memory")
    few = {"strings": ["x" * 5000] + [""] * 5000, "dtype": "<U1", "shape": [5001]}
    refused({"list": [few] * 30}, path, "far more memory")  # or many that are smaller
    with pytest.raises(TypeError, match="dtype object"):  # and what would be refused is not written
        save_value(np.array(["x" * 10_000] + [""] * 5_000), path)


def test_honest_strings_come_back(path):
    words = np.array(["x" * 10_000] + [f"{n}" for n in range(500)])
    save_value(words, path)
    assert (load_value(path) == words).all()


@pytest.mark.parametrize(
    "tree, match",
    [
        ({"array": "a", "shape": [-1]}, "shape"),
        ({"array": "a", "shape": [0, 2**60]}, "shape"),
        ({"array": "a", "shape": [True]}, "shape"),
        ({"array": "a", "shape": "3"}, "shape"),
        ({"array": "a", "shape": [2**70]}, "shape"),
        ({"strings": ["a"], "dtype": "<M8[D]", "shape": [1]}, "type"),
        ({"strings": ["a"], "dtype": "i4,f8", "shape": [1]}, "type"),
        ({"strings": ["a"], "dtype": ["f8"], "shape": [1]}, "type"),
        ({"strings": [1], "dtype": "<U1", "shape": [1]}, "strings"),
        ({"strings": [1], "dtype": "<f8", "shape": [1]}, "strings"),
        ({"strings": [{"class": "x"}], "dtype": "|O", "shape": [1]}, "invalid value"),
        ({"scalar": "<f8", "value": "nan"}, "scalar"),
        ({"scalar": "<U1", "value": 3}, "scalar"),
        ({"scalar": "|i1", "value": 300}, "damaged"),
        ({"scalar": "<f8", "value": 10**400}, "damaged"),
        ({"type": "<M8[D]"}, "type"),
        ({"type": 3}, "type"),
        ({"dict": [["a", 1], ["a", 2]]}, "duplicate key"),
        ({"dict": [[{"list": []}, 1]]}, "damaged"),
        ({"dict": [["a"]]}, "damaged"),
        ({"dict": [[n * (2**61 - 1), 0] for n in range(20_000)]}, "keys"),  # all of one hash
        ("9" * 100_000, "damaged"),
        ("[" * 100_000, "nested"),
        ('{"list": [' * 50_000 + "]}" * 50_000, "nested"),
        ([], "invalid value"),
        ({}, "invalid value"),
        ({"tuple": {"a": 1}}, "invalid value"),
        ({"class": "suffice.cluster.Centers", "fields": {"center": 1.0}}, "center"),
        ({"class": "suffice.fitting.MultiStart", "fields": {"model": None, "runs": {"tuple": [3]}}}, "runs"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_content_that_no_save_has_written_is_refused(tree, match, path):
    refused(tree, path, match, {"a": np.zeros(0)})


# --- files that are no files, and versions ---------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_only_regular_files_are_read_and_written(kind, tmp_path):
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/null")
    found = []

    def read():
        try:
            suffice.load(path)
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(20)  # who reads a pipe waits for ever
    assert [type(error) for error in found] == [StorageError]
    with pytest.raises(StorageError, match="regular file"):
        small().save(path)
    assert stat.S_IFMT(path.stat().st_mode) != stat.S_IFREG


@pytest.mark.parametrize("newer", [{"version": "99.0.1"}, {"suffice": "2", "version": "99.0.1"}])
def test_a_newer_version_is_refused_with_the_call_to_make(newer, path):
    with pytest.raises(StorageError, match=r"suffice 99\.0\.1.*upgrade"):
        suffice.load(forged(small(), path, **newer))
    save_value(Checkpoint("fit", Progress(None)), path)
    tree, arrays, known = opened(path.read_bytes())
    assert known["version"] == suffice.__version__
    path.write_bytes(closed(json.dumps(tree), arrays, known | newer))
    with pytest.raises(StorageError, match=r"suffice 99\.0\.1.*upgrade"):
        load_value(path)


@pytest.mark.parametrize("older", ["0.0.1", "0.1.0.dev3+g12", None])
def test_files_of_earlier_versions_are_read(older, path):
    model = small()
    forged(model, path)
    tree, arrays, known = opened(path.read_bytes())
    known.pop("version", None)
    path.write_bytes(closed(json.dumps(tree), arrays, known | ({} if older is None else {"version": older})))
    assert (suffice.load(path).cluster_centers_ == model.cluster_centers_).all()


# --- what a save leaves ----------------------------------------------------------------------------------


def test_a_save_keeps_the_mode_of_the_file(path):
    small().save(path)
    plain = stat.S_IMODE(path.stat().st_mode)
    path.chmod(0o640)
    small().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640 != plain


def test_a_save_through_a_link_writes_its_target(tmp_path):
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "model", tmp_path / "link"
    link.symlink_to(target)
    for _ in range(2):  # a link to nothing, then to a file
        small().save(link)
        assert link.is_symlink() and not target.is_symlink()
        assert (suffice.load(target).cluster_centers_ == suffice.load(link).cluster_centers_).all()
    assert sorted(os.listdir(tmp_path)) == ["link", "there"] and os.listdir(tmp_path / "there") == ["model"]


def test_what_a_killed_save_left_is_swept(path):
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    host = storage._host()
    dead = [f".model.{host}.{child.pid}.7.part", f".model.{host}.{os.getpid()}.7.part"]
    others = [f".model.{host}.{os.getppid()}.7.part", f".model.00000000.{child.pid}.7.part", ".model.x.part"]
    others += [f".other.{host}.{child.pid}.7.part", f".model.{host}.a.b.part"]
    for name in dead + others:
        (path.parent / name).write_bytes(b"")
    small().save(path)
    assert sorted(os.listdir(path.parent)) == sorted([*others, "model"])


def test_names_with_signs_of_patterns_are_swept_too(tmp_path):
    path = tmp_path / "a[1]*?"
    left = tmp_path / f".{path.name}.{storage._host()}.{os.getpid()}.7.part"
    left.write_bytes(b"")
    small().save(path)
    assert os.listdir(tmp_path) == [path.name]


# --- mutants -------------------------------------------------------------------------------------------


def attacked(each, wanted, first=0):
    """Outcomes of mutants, and the worst of them."""
    counts, bad = collections.Counter(), []
    with Worker() as worker:
        for name, content, asked in cases(wanted):
            for seed in range(first, first + each):
                changes, what, where = worker(content, [zlib.crc32(name.encode()), seed], asked)
                counts[what] += 1
                if RANKS[what] > RANKS["unclear"]:
                    bad.append(f"{what}: {name} {seed}: {changes}: {where}")
    return counts, bad


SAMPLE = ("HiddenMarkovModel", "LatentDirichletAllocation", "AdditiveModel", "NMF", "KMeans", "GaussianNB")


def test_mutants_crash_nothing():
    """A sample; all estimators are tried in the slow suite."""
    counts, bad = attacked(12, lambda v: v.name in SAMPLE)
    assert not bad, "\n".join(bad)
    assert counts["refused"] > 30 and counts["unclear"] <= 2


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_mutants_of_every_estimator_crash_nothing():
    counts, bad = attacked(40, lambda v: True)
    assert not bad, "\n".join(bad)
    assert counts["unclear"] < 0.02 * counts.total()
