"""Fast forms of inner functions of topic models, each with a plain one that computes the same.

The fast forms use what Numba does not check: logarithms and exponentials from the bits of float64, so that
the compiler works on several numbers at once, and LLVM vectors of sixteen float32. No other module does so.
`benchmarks/fast_math.py` measures what they gain, and the tests compare them with the plain forms, which use
the functions of libm and loops over scalars. Set the environment variable SUFFICE_PLAIN_MATH=1 to compute
with the plain forms, e.g. to see whether a result depends on the fast ones. Results then differ by rounding.
(No CPU needs the switch: Numba depends on llvmlite, and LLVM splits the vectors for the CPU at hand.)
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numba.extending
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import models, overload, register_model

from .compiled import PLAIN, compiled

inlined = compiled(inline="always", fastmath={"contract", "reassoc"})
ordered = compiled(fastmath={"contract"})  # reordered, the functions of bits would lose their precision

LOWEST = -345.0  # exponentials are not smaller than e to this: products of two of them are still floats
MOST = 1e30  # arguments of the digamma and gamma functions are at most this
LOG2E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 0.6931471803691238, 1.9082149292705877e-10
HALF_LOG_2PI = 0.9189385332046727
ROUND = 6755399441055744.0  # 1.5 2^52: adding it leaves an integer in the lowest bits
ROUND_BITS = 0x4338000000000000
ROOT_HALF_BITS = 0x3FE6A09E667F3BCD  # of the square root of 1/2
SECTION = 8  # vectors whose products are also summed by themselves

# --- exp(digamma) ------------------------------------------------------------------------------------------


@ordered
def below_log(a):
    """digamma(a) - log(a + 6): the recurrence over six steps as one fraction, and the asymptotic series."""
    u = a * (a + 5.0)
    steps = (2.0 * a + 5.0) * (3.0 * u * u + 20.0 * u + 24.0) / (u * (u + 4.0) * (u + 6.0))
    i = 1.0 / (a + 6.0)
    j = i * i
    p = 1 / 132 - j * (691 / 32760 - j * (1 / 12 - j * (3617 / 8160)))
    p = 1 / 12 - j * (1 / 120 - j * (1 / 252 - j * (1 / 240 - j * p)))
    return -0.5 * i - j * p - steps


@ordered
def fast_exp_digamma(x, less, out, power):
    """out = exp(digamma(x) - less) of x from 0 to infinity; `power` (K,) is scratch.

    The factor exp(digamma(x) - log(x + 6) - less) is at least exp(LOWEST), and x is taken as at most MOST.
    """
    K, power_bits = len(x), power.view(np.int64)
    for k in range(K):
        a = x[k] if x[k] < MOST else MOST
        v = below_log(a) - less
        v = v if v > LOWEST else LOWEST
        whole = v * LOG2E + ROUND
        power[k] = whole
        whole -= ROUND
        r = v - whole * LN2_HIGH - whole * LN2_LOW
        p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600))))
        p = 1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p)))
        out[k] = (a + 6.0) * (1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * p))))
    for k in range(K):
        power_bits[k] = (power_bits[k] - ROUND_BITS + 1023) << 52
    for k in range(K):
        out[k] *= power[k]


@ordered
def plain_exp_digamma(x, less, out, power):
    """The same by the exponential function of libm."""
    for k in range(len(x)):
        a = min(x[k], MOST)
        out[k] = (a + 6.0) * math.exp(max(below_log(a) - less, LOWEST))


# --- digamma and log gamma ---------------------------------------------------------------------------------


@ordered
def _log(x, out):
    """out = log(x) of positive floats that are neither subnormal nor infinite; x is overwritten."""
    K, x_bits = len(x), x.view(np.int64)
    for k in range(K):
        exponent = (x_bits[k] - ROOT_HALF_BITS) >> 52
        x_bits[k] -= exponent << 52  # from the square root of 1/2 to that of 2
        out[k] = exponent * LN2_LOW + exponent * LN2_HIGH
    for k in range(K):
        s = (x[k] - 1.0) / (x[k] + 1.0)
        t = s * s
        p = 1 / 15 + t * (1 / 17 + t * (1 / 19 + t * (1 / 21)))
        p = 1 / 7 + t * (1 / 9 + t * (1 / 11 + t * (1 / 13 + t * p)))
        out[k] += 2.0 * s * (1.0 + t * (1 / 3 + t * (1 / 5 + t * p)))


@ordered
def fast_gammas(x, digamma, log_gamma, a, b, logs):
    """The digamma function and the logarithm of the gamma function of x from 1e-300 to infinity, which is
    taken as at most MOST; the rest, (K,) each, is scratch."""
    K = len(x)
    for k in range(K):
        c = x[k] if x[k] < MOST else MOST
        u = c * (c + 5.0)
        a[k] = c + 6.0
        b[k] = u * (u + 4.0) * (u + 6.0)
    _log(a, digamma)  # of x + 6
    _log(b, logs)  # of x (x + 1) ... (x + 5)
    for k in range(K):
        c = x[k] if x[k] < MOST else MOST
        z, log_z = c + 6.0, digamma[k]
        i = 1.0 / z
        j = i * i
        p = 1 / 1188 - j * (691 / 360360 - j * (1 / 156 - j * (3617 / 122400)))
        p = i * (1 / 12 - j * (1 / 360 - j * (1 / 1260 - j * (1 / 1680 - j * p))))
        log_gamma[k] = (z - 0.5) * log_z - z + HALF_LOG_2PI + p - logs[k]
        digamma[k] = log_z + below_log(c)


@ordered
def plain_gammas(x, digamma, log_gamma, a, b, logs):
    """The same by the functions of libm."""
    for k in range(len(x)):
        c = min(x[k], MOST)
        digamma[k] = math.log(c + 6.0) + below_log(c)
        log_gamma[k] = math.lgamma(c)


# --- vectors of sixteen float32 ----------------------------------------------------------------------------
#
# `_load(a, i) * _load(b, i) + _load(c, i)` is three loads, a product and a sum, each of as few instructions
# as the CPU takes for sixteen numbers. Arrays have one axis, are contiguous, and have at least i + 16
# numbers: nothing is checked.

intrinsic: Any = numba.extending.intrinsic  # a function with an argument that its callers do not give

N = 16
FLOATS = ir.VectorType(ir.FloatType(), N)
WHOLE = ir.VectorType(ir.IntType(32), N)


class _Lanes(types.Type):
    """The type of a vector."""

    def __init__(self) -> None:
        super().__init__("Lanes")


lanes = _Lanes()


@register_model(_Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, FLOATS)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, i: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [i]), ir.VectorType(data.type.pointee, N).as_pointer())


@intrinsic
def _load(typing, array, i):
    """array[i : i + 16] of float32, or of integers that are not negative."""

    def build(context, builder, signature, arguments):
        kind = signature.args[0]
        bits = kind.dtype.bitwidth
        x = builder.load(_pointer(context, builder, kind, *arguments), align=bits // 8)
        if isinstance(kind.dtype, types.Integer):
            x = builder.sitofp(builder.zext(x, WHOLE) if bits < 32 else x, FLOATS)
        return x

    return lanes(array, types.uint64), build


@intrinsic
def _store(typing, array, i, x):
    """array[i : i + 16] = x."""

    def build(context, builder, signature, arguments):
        builder.store(arguments[2], _pointer(context, builder, signature.args[0], *arguments[:2]), align=4)
        return context.get_dummy_value()

    return types.void(array, types.uint64, lanes), build


@intrinsic
def _zeros(typing):
    return lanes(), lambda context, builder, signature, arguments: ir.Constant(FLOATS, [0.0] * N)


@intrinsic
def _without(typing, x, i):
    """x, with a zero at i if i < 16."""

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


# --- products of a Gibbs sampler ---------------------------------------------------------------------------


@inlined
def fast_products(n_dk, document, old, prior, q, p, by_column, by_section):
    """p = (n_dk + prior) q in float32 for a document whose counts begin at `document`, with 0 for the old
    topic; and the sums of p by column, (N,), and by section and column, (sections N,).

    Topic k is in column k % N and in section k // (N SECTION). The length of p is a multiple of N.
    """
    k, end, column = np.uint64(0), np.uint64(len(p)), _zeros()
    for s in range(len(by_section) // N):
        section = _zeros()
        for _ in range(SECTION):
            x = _without((_load(n_dk, document + k) + _load(prior, k)) * _load(q, k), old - k)
            _store(p, k, x)
            section = section + x
            k += np.uint64(N)
            if k == end:
                break
        _store(by_section, np.uint64(N * s), section)
        column = column + section
    _store(by_column, np.uint64(0), column)


@ordered
def plain_products(n_dk, document, old, prior, q, p, by_column, by_section):
    """The same by scalars."""
    by_column[:] = 0.0
    by_section[:] = 0.0
    for s in range(len(by_section) // N):
        section = by_section[N * s : N * (s + 1)]
        for k in range(N * SECTION * s, min(N * SECTION * (s + 1), len(p)), N):
            for j in range(N):
                x = (np.float32(n_dk[document + np.uint64(k + j)]) + prior[k + j]) * q[k + j]
                p[k + j] = np.float32(0.0) if k + j == np.int64(old) else x
                section[j] += p[k + j]
        by_column += section


exp_digamma = plain_exp_digamma if PLAIN else fast_exp_digamma
gammas = plain_gammas if PLAIN else fast_gammas
products = plain_products if PLAIN else fast_products
