"""Files of estimators: `save` and `load`. See docs/concepts/file_format.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from ..core.shapes import declared, fitting_sizes
from ..core.storage import StorageError, known_class, load_value, save_value, this_version
from ..core.values import Value, stored_name
from .parameters import check_parameters


class Storable:
    """Base class of objects that `suffice.save` writes, which have parameters and fitted attributes."""

    known: ClassVar[dict[str, type]] = {}  # by their names in files; `load` creates no other classes
    watchers: ClassVar[list[Callable[[type], None]]] = []  # called with each class that becomes known

    # scikit-learn's HTML representation links to the page of the class in the reference.
    _doc_link_module = "suffice"
    _doc_link_template = "https://suffice.readthedocs.io/en/latest/reference/generated/{name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"name": stored_name(type(self))}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Storable.known[stored_name(cls)] = cls
        for watch in Storable.watchers:
            watch(cls)

    def save(self, path: Any) -> None:
        """Write the estimator, with its parameters and fitted attributes, to one file.

        Read it with `suffice.load`. The file contains JSON and arrays, and no code.
        """
        save(self, path)

    def _stored_params(self) -> dict[str, Any]:
        """Return the parameters to store."""
        return self.get_params(deep=False)  # type: ignore[attr-defined]

    def _fitted_state(self) -> dict[str, Any]:
        """Return the fitted attributes to store."""
        params = self.get_params(deep=False)  # type: ignore[attr-defined]
        return {k: v for k, v in vars(self).items() if k not in params and not k.startswith("_skl_")}

    def _restore(self, state: dict[str, Any]) -> Self:
        """Set the fitted attributes from a file."""
        self.__dict__.update(state)
        return self

    def _check_loaded(self) -> None:
        """Raise a ValueError if fitted attributes from a file are inconsistent in ways shapes do not show."""


@dataclass(frozen=True)
class StoredEstimator(Value):
    """An estimator in a file: the name of its class, its parameters and its fitted attributes."""

    estimator: str
    version: str
    params: dict[str, Any]
    fitted: dict[str, Any]

    @classmethod
    def of(cls, estimator: BaseEstimator) -> StoredEstimator:
        params, fitted = estimator._stored_params(), estimator._fitted_state()
        return cls(stored_name(type(estimator)), this_version(), _nested(params), _nested(fitted))

    def estimator_of(self) -> Any:
        """Create the estimator. Nested estimators are stored in the same way."""
        cls: Any = known_class(self.estimator, Storable.known)
        if strange := set(self.params) - set(cls._get_param_names()):
            raise StorageError(f"{cls.__name__} has no parameters {sorted(strange)} in this version.")
        if strange := {k for k in self.fitted if not k.isidentifier() or k[:5] == "_skl_" or hasattr(cls, k)}:
            raise StorageError(f"{cls.__name__} has no fitted attributes {sorted(strange)}.")
        known = {"D": self.fitted["n_features_in_"]} if "n_features_in_" in self.fitted else {}
        if "D" in fitting_sizes(cls, self.fitted, **known) and not known:  # X would not be checked
            raise StorageError(f"{cls.__name__} has a model of features, and no n_features_in_.")
        estimator = cls(**_restored(self.params))
        if any(name.endswith("_") for name in self.fitted):
            if missing := must_have(cls) - self.fitted.keys():
                raise StorageError(
                    f"{cls.__name__} has no {', '.join(sorted(missing))}: the file was changed, or the fit "
                    f"did not end."
                )
            check_parameters(estimator)  # methods of the fitted estimator read them
        estimator._restore(_restored(self.fitted))
        if self.fitted:
            estimator._check_loaded()
        return estimator


def must_have(cls: type) -> set[str]:
    """Return the names of the fitted attributes that every fit sets.

    These are the model, and the attributes that declare a shape without "or None".
    """
    shapes = {name: shape for name, (_, shape) in declared(cls).items() if shape or name == "model_"}
    return {name for name, shape in shapes.items() if not (shape or "").endswith(" or None")}


@dataclass(frozen=True)
class StoredPipeline(Value):
    """A scikit-learn pipeline in a file."""

    names: tuple[str, ...]
    steps: tuple[Any, ...]  # of StoredEstimator

    @classmethod
    def of(cls, pipeline: Pipeline) -> StoredPipeline:
        steps = [step for _, step in pipeline.steps]
        if others := [type(step).__name__ for step in steps if not isinstance(step, Storable | Pipeline)]:
            raise _foreign(", ".join(others))
        return cls(tuple(name for name, _ in pipeline.steps), tuple(_nested(steps)))

    def estimator_of(self) -> Pipeline:
        steps = _restored(self.steps)
        if len(self.names) != len(steps) or not all(isinstance(step, Storable | Pipeline) for step in steps):
            raise StorageError("the steps of the pipeline are not estimators, each with a name.")
        return Pipeline(list(zip(self.names, steps, strict=True)))


def _nested(value: Any) -> Any:
    """Convert the estimators in a value, also in lists, tuples and dicts, to the form that is stored."""
    if isinstance(value, Storable):
        return StoredEstimator.of(value)
    if isinstance(value, Pipeline):
        return StoredPipeline.of(value)
    if hasattr(value, "fit") and not isinstance(value, type):
        raise _foreign(type(value).__name__)
    if isinstance(value, dict):
        return {k: _nested(v) for k, v in value.items()}
    return type(value)(map(_nested, value)) if type(value) in (list, tuple) else value


def _restored(value: Any) -> Any:
    """Create the estimators that are stored in a value, also in lists, tuples and dicts."""
    if isinstance(value, StoredEstimator | StoredPipeline):
        return value.estimator_of()
    if isinstance(value, dict):
        return {k: _restored(v) for k, v in value.items()}
    return type(value)(map(_restored, value)) if type(value) in (list, tuple) else value


def save(estimator: BaseEstimator, path: Any) -> None:
    """Save an estimator, or a scikit-learn pipeline of suffice estimators, to a file.

    Read it with `suffice.load`. The file contains JSON and arrays, and no code.

    Examples
    --------
    >>> import tempfile, suffice
    >>> from sklearn.pipeline import make_pipeline
    >>> from suffice.cluster import KMeans
    >>> from suffice.decomposition import PCA
    >>> file = tempfile.mkdtemp() + "/pipeline.suffice"
    >>> pipeline = make_pipeline(PCA(1), KMeans(2, random_state=0)).fit([[0.0, 1.0], [2.0, 3.0], [2.0, 4.0]])
    >>> suffice.save(pipeline, file)
    >>> suffice.load(file)[0]
    PCA(n_components=1)
    """
    if not isinstance(estimator, Storable | Pipeline):
        raise _foreign(type(estimator).__name__)
    save_value(_nested(estimator), path)


def _foreign(names: str) -> TypeError:
    return TypeError(
        f"suffice.save writes estimators of suffice, alone or in a pipeline; got {names}: use joblib.dump, "
        "or skops.io.dump."
    )


def load(path: Any) -> Any:
    """Load an estimator or a pipeline from a file written by `save`.

    No code in the file is run: it names classes of suffice and contains their values. A `StorageError`, which
    is a ValueError, is raised for a file that is damaged or changed, that was written by a newer version, or
    whose arrays do not match.

    Examples
    --------
    >>> import tempfile, suffice
    >>> from suffice.decomposition import PCA
    >>> file = tempfile.mkdtemp() + "/pca.suffice"
    >>> PCA(1).fit([[0.0, 1.0], [2.0, 3.0]]).save(file)
    >>> suffice.load(file)
    PCA(n_components=1)
    """
    return load_value(path, _estimator)


def _estimator(stored: Any) -> Any:
    if not isinstance(stored, StoredEstimator | StoredPipeline):
        raise StorageError(f"the file holds a {type(stored).__name__}, not an estimator.")
    return stored.estimator_of()
