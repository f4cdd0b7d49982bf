"""ONNX graphs of fitted estimators, by converters for `skl2onnx` that convert the copies of `as_sklearn`.

They are registered when `skl2onnx` is imported, so that `skl2onnx.to_onnx(model, X)` takes the estimators of
suffice, alone and as parts of scikit-learn's pipelines and ensembles.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator

from ..core.values import stored_name
from .interchange import as_sklearn, namesake
from .storing import Storable


def register_all() -> None:
    """Register the converters of all classes, and of those that are imported later."""
    for cls in list(Storable.known.values()):
        register(cls)
    Storable.watchers.append(register)


def register(cls: type) -> None:
    """Register the converter of a class whose namesake in scikit-learn has one, with the same options."""
    import skl2onnx
    from skl2onnx.common._registration import get_converter

    theirs = namesake(cls)
    try:
        converter = get_converter(skl2onnx.get_model_alias(theirs))
    except (RuntimeError, ValueError):  # there is none
        return
    skl2onnx.update_registered_converter(
        cls, _alias(cls), _set_shapes, _convert, parser=_parse, options=converter.get_allowed_options()
    )


def _alias(cls: type) -> str:
    return stored_name(cls).replace(".", "_")


def _parse(scope: Any, model: BaseEstimator, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the outputs of the copy as those of the model."""
    from skl2onnx._parse import _parse_sklearn

    copy = as_sklearn(model)
    _share_options(scope.options, model, copy)
    outputs = _parse_sklearn(scope, copy, inputs, custom_parsers=custom_parsers)
    scope.replace_raw_operator(copy, model, _alias(type(model)))
    return outputs


def _set_shapes(operator: Any) -> None:
    """Set the types and shapes of the outputs."""
    from skl2onnx.common._registration import get_shape_calculator

    model, alias = operator.raw_operator, operator.type
    _become(operator, as_sklearn(model))
    get_shape_calculator(operator.type)(operator)
    operator.raw_operator, operator.type = model, alias


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of the copy to the graph."""
    from skl2onnx.common._registration import get_converter

    model = operator.raw_operator
    copy = as_sklearn(model)
    for options in (scope.options, container.options):
        _share_options(options, model, copy)
    _become(operator, copy)
    get_converter(operator.type)(scope, operator, container)


def _become(operator: Any, copy: Any) -> None:
    """Replace the model of a node by its copy, since converters read its type."""
    import skl2onnx

    operator.raw_operator, operator.type = copy, skl2onnx.get_model_alias(type(copy))


def _share_options(options: Any, model: BaseEstimator, copy: Any) -> None:
    """Copy the options of the model, set by its class or its id, to the id of its copy."""
    chosen = {**(options or {}).get(type(model), {}), **(options or {}).get(id(model), {})}
    if chosen:
        options[id(copy)] = chosen
