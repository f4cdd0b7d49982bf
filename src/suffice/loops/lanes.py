"""Sixteen numbers in single precision at a time, where the compiler does not find out by itself.

    load(a, i) * load(b, i) + load(c, i)

is three loads, a product and a sum, of as many instructions as the machine takes for sixteen numbers.
Arrays have one axis, are contiguous, and are at least i + 16 long: nothing is checked.
"""

from __future__ import annotations

import operator
from typing import Any

import numba.extending
from llvmlite import ir
from numba.core import types
from numba.extending import models, overload, register_model

intrinsic: Any = numba.extending.intrinsic  # a function with an argument that its callers do not give

N = 16
FLOATS = ir.VectorType(ir.FloatType(), N)
WHOLE = ir.VectorType(ir.IntType(32), N)


class Lanes(types.Type):
    """The type of sixteen numbers."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = Lanes()


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, FLOATS)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [i]), ir.VectorType(data.type.pointee, N).as_pointer())


@intrinsic
def load(typing, array, i):
    """Of an array from i on: of floats, or of whole numbers that are not negative."""

    def build(context, builder, signature, arguments):
        kind = signature.args[0]
        bits = kind.dtype.bitwidth
        x = builder.load(_pointer(context, builder, kind, *arguments), align=bits // 8)
        if isinstance(kind.dtype, types.Integer):
            x = builder.sitofp(builder.zext(x, WHOLE) if bits < 32 else x, FLOATS)
        return x

    return lanes(array, types.uint64), build


@intrinsic
def store(typing, array, i, x):
    """array[i : i + 16] = x."""

    def build(context, builder, signature, arguments):
        builder.store(arguments[2], _pointer(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.uint64, lanes), build


@intrinsic
def zeros(typing):
    return lanes(), lambda context, builder, signature, arguments: ir.Constant(FLOATS, [0.0] * N)


@intrinsic
def without(typing, x, i):
    """x, with a zero in place i if that is one of the sixteen."""

    def build(context, builder, signature, arguments):
        place = builder.trunc(arguments[1], ir.IntType(32))
        places = builder.insert_element(ir.Constant(WHOLE, ir.Undefined), place, ir.IntType(32)(0))
        places = builder.shuffle_vector(places, ir.Constant(WHOLE, ir.Undefined), ir.Constant(WHOLE, [0] * N))
        others = builder.icmp_unsigned("!=", places, ir.Constant(WHOLE, list(range(N))))
        return builder.select(others, arguments[0], ir.Constant(FLOATS, [0.0] * N))

    return lanes(lanes, types.uint64), build


@intrinsic
def _sum(typing, a, b):
    return lanes(lanes, lanes), lambda context, builder, signature, arguments: builder.fadd(*arguments)


@intrinsic
def _product(typing, a, b):
    return lanes(lanes, lanes), lambda context, builder, signature, arguments: builder.fmul(*arguments)


@overload(operator.add)
def _add(a, b):
    if a is lanes and b is lanes:
        return lambda a, b: _sum(a, b)


@overload(operator.mul)
def _multiply(a, b):
    if a is lanes and b is lanes:
        return lambda a, b: _product(a, b)
