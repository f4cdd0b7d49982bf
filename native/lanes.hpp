// Lanes<T>: 64 bytes of numbers, eight float64 or sixteen float32, in one, two or four registers of the CPU.
//
// Each operation is one of IEEE 754 for each element, and `sum` adds them in one order, so that the same source
// has the same bits on every CPU and at every level of instructions. No other file has what a compiler or a CPU
// decides. Sources are compiled without contraction (a * b + c is rounded twice) and without -ffast-math.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__GNUC__) || defined(__clang__)
#define INLINE inline __attribute__((always_inline))
#else
#error "compile with GCC or Clang (clang-cl on Windows): lanes are their vector extensions"
#endif

namespace suffice {

#if defined(__AVX512F__)
constexpr int REGISTER = 64;  // bytes
#elif defined(__AVX__)
constexpr int REGISTER = 32;
#else
constexpr int REGISTER = 16;  // SSE, NEON
#endif
constexpr int REGISTERS = 64 / REGISTER;  // of one Lanes: GCC is slow with wider vectors
constexpr int FIT = 8 / REGISTERS;        // sums of Lanes that stay in registers, beside others

template <class T>
struct Lanes {
    static constexpr int N = 64 / sizeof(T), PER = N / REGISTERS;
    typedef T Register __attribute__((vector_size(REGISTER)));
    Register v[REGISTERS];

    INLINE T operator[](int i) const { return v[i / PER][i % PER]; }
    INLINE void set(int i, T x) { v[i / PER][i % PER] = x; }
};

using f64s = Lanes<double>;
using f32s = Lanes<float>;
using i64s = Lanes<int64_t>;
using i32s = Lanes<int32_t>;

template <class T>
struct MaskOf;
template <>
struct MaskOf<double> { using type = int64_t; };
template <>
struct MaskOf<int64_t> { using type = int64_t; };
template <>
struct MaskOf<float> { using type = int32_t; };
template <>
struct MaskOf<int32_t> { using type = int32_t; };
template <class T>
using Mask = Lanes<typename MaskOf<T>::type>;  // all bits where it holds, else none

template <class T>
static INLINE Lanes<T> all(T x) {
    Lanes<T> r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = x - typename Lanes<T>::Register{};
    return r;
}

#define LANES_OPERATOR(op)                                                          \
    template <class T>                                                              \
    static INLINE Lanes<T> operator op(const Lanes<T>& a, const Lanes<T>& b) {      \
        Lanes<T> r;                                                                 \
        for (int p = 0; p < REGISTERS; p++) r.v[p] = a.v[p] op b.v[p];              \
        return r;                                                                   \
    }                                                                               \
    template <class T>                                                              \
    static INLINE Lanes<T> operator op(const Lanes<T>& a, T b) {                    \
        return a op all(b);                                                         \
    }                                                                               \
    template <class T>                                                              \
    static INLINE Lanes<T> operator op(T a, const Lanes<T>& b) {                    \
        return all(a) op b;                                                         \
    }                                                                               \
    template <class T>                                                              \
    static INLINE Lanes<T>& operator op##=(Lanes<T>& a, const Lanes<T>& b) {        \
        return a = a op b;                                                          \
    }
LANES_OPERATOR(+)
LANES_OPERATOR(-)
LANES_OPERATOR(*)
LANES_OPERATOR(/)
#undef LANES_OPERATOR

#define LANES_COMPARISON(op)                                                        \
    template <class T>                                                              \
    static INLINE Mask<T> operator op(const Lanes<T>& a, const Lanes<T>& b) {       \
        Mask<T> r;                                                                  \
        for (int p = 0; p < REGISTERS; p++)                                         \
            r.v[p] = (typename Mask<T>::Register)(a.v[p] op b.v[p]);                \
        return r;                                                                   \
    }                                                                               \
    template <class T>                                                              \
    static INLINE Mask<T> operator op(const Lanes<T>& a, T b) {                     \
        return a op all(b);                                                         \
    }                                                                               \
    template <class T>                                                              \
    static INLINE Mask<T> operator op(T a, const Lanes<T>& b) {                     \
        return all(a) op b;                                                         \
    }
LANES_COMPARISON(<)
LANES_COMPARISON(==)
#undef LANES_COMPARISON

template <class T>
static INLINE Lanes<T> select(const Mask<T>& where, const Lanes<T>& a, const Lanes<T>& b) {
    Lanes<T> r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = where.v[p] ? a.v[p] : b.v[p];
    return r;
}

// a * b + c, rounded once or twice: for what decides no bit of a result
static INLINE f32s times_plus(const f32s& a, const f32s& b, const f32s& c) {
#if defined(__AVX512F__)
    f32s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (f32s::Register)_mm512_fmadd_ps((__m512)a.v[p], (__m512)b.v[p], (__m512)c.v[p]);
    return r;
#elif defined(__FMA__)
    f32s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (f32s::Register)_mm256_fmadd_ps((__m256)a.v[p], (__m256)b.v[p], (__m256)c.v[p]);
    return r;
#else
    return a * b + c;
#endif
}

// b where a is NaN
template <class T>
static INLINE Lanes<T> least(const Lanes<T>& a, const Lanes<T>& b) {
    return select(a < b, a, b);
}

template <class T>
static INLINE Lanes<T> greatest(const Lanes<T>& a, const Lanes<T>& b) {
    return select(b < a, a, b);
}

static INLINE double least(double a, double b) { return a < b ? a : b; }
static INLINE double greatest(double a, double b) { return b < a ? a : b; }

#if defined(__x86_64__)  // the same by one instruction
#if defined(__AVX512F__)
#define REGISTER_OF(name, a, b) _mm512_maskz_##name##_pd(255, a, b)
#elif defined(__AVX__)
#define REGISTER_OF(name, a, b) _mm256_##name##_pd(a, b)
#else
#define REGISTER_OF(name, a, b) _mm_##name##_pd(a, b)
#endif
static INLINE f64s least(const f64s& a, const f64s& b) {
    f64s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (f64s::Register)REGISTER_OF(min, a.v[p], b.v[p]);
    return r;
}

static INLINE f64s greatest(const f64s& a, const f64s& b) {
    f64s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (f64s::Register)REGISTER_OF(max, a.v[p], b.v[p]);
    return r;
}
#undef REGISTER_OF
#endif

// The same of one number, for functions of either.
static INLINE double select(bool where, double a, double b) { return where ? a : b; }

template <class T>
static INLINE bool any(const Lanes<T>& mask) {  // of integers: whether one is not zero
    typename Lanes<T>::Register r = mask.v[0];
    for (int p = 1; p < REGISTERS; p++) r |= mask.v[p];
    uint64_t bits[REGISTER / 8], one = 0;
    std::memcpy(bits, &r, REGISTER);
    for (int i = 0; i < REGISTER / 8; i++) one |= bits[i];
    return one != 0;
}

// The bits of float64 as integers, and back.
static INLINE int64_t bits_of(double x) {
    int64_t r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}

static INLINE double of_bits(int64_t x) {
    double r;
    std::memcpy(&r, &x, sizeof r);
    return r;
}

static INLINE i64s bits_of(const f64s& x) {
    i64s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (i64s::Register)x.v[p];
    return r;
}

static INLINE f64s of_bits(const i64s& x) {
    f64s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (f64s::Register)x.v[p];
    return r;
}

// x 2^bits and floor(x / 2^bits) of integers without a sign.
static INLINE int64_t shift_left(int64_t x, int bits) { return int64_t(uint64_t(x) << bits); }
static INLINE int64_t shift_right(int64_t x, int bits) { return int64_t(uint64_t(x) >> bits); }

static INLINE i64s shift_left(const i64s& x, int bits) {
    typedef Lanes<uint64_t>::Register Bits;
    i64s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (i64s::Register)((Bits)x.v[p] << bits);
    return r;
}

static INLINE i64s shift_right(const i64s& x, int bits) {
    typedef Lanes<uint64_t>::Register Bits;
    i64s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = (i64s::Register)((Bits)x.v[p] >> bits);
    return r;
}

// Memory need not be aligned. GCC copies more than a register at a time through the stack.
template <class T>
static INLINE Lanes<T> load(const T* from) {
    Lanes<T> r;
    for (int p = 0; p < REGISTERS; p++) std::memcpy(&r.v[p], from + p * Lanes<T>::PER, REGISTER);
    return r;
}

// Where the first n of eight lanes are.
static INLINE i64s first_lanes(int64_t n) {
    static constexpr int64_t lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return load(lanes + 8 - n);
}

// Eight float64, also from float32.
static INLINE f64s load_f64s(const double* from) { return load(from); }
static INLINE f64s load_f64s(const float* from) {
    typedef float Half __attribute__((vector_size(REGISTER / 2)));
    f64s r;
    for (int p = 0; p < REGISTERS; p++) {
        Half x;
        std::memcpy(&x, from + p * f64s::PER, REGISTER / 2);
        r.v[p] = __builtin_convertvector(x, f64s::Register);
    }
    return r;
}

// Sixteen float32, also from integers.
static INLINE f32s load_f32s(const float* from) { return load(from); }
static INLINE f32s as_floats(const i32s& x) {
    f32s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = __builtin_convertvector(x.v[p], f32s::Register);
    return r;
}
static INLINE f32s load_f32s(const int32_t* from) { return as_floats(load(from)); }

template <class Integer>
static INLINE f32s load_f32s(const Integer* from) {
    typedef Integer Part __attribute__((vector_size(REGISTER / 4 * sizeof(Integer))));
    i32s r;
    for (int p = 0; p < REGISTERS; p++) {
        Part x;
        std::memcpy(&x, from + p * i32s::PER, sizeof x);
        r.v[p] = __builtin_convertvector(x, i32s::Register);
    }
    return as_floats(r);
}

#if defined(__x86_64__)  // the same by one instruction: GCC takes one number after the other, which doubled the
                         // time of a Gibbs sampler
#if defined(__AVX512F__)
#define WIDER(name, part) (i32s::Register)_mm512_maskz_cvt##name##_epi32(0xFFFF, part)
#define PART_OF_BYTES(from) _mm_loadu_si128((const __m128i*)(from))
#define PART_OF_WORDS(from) _mm256_loadu_si256((const __m256i*)(from))
#elif defined(__AVX2__)
#define WIDER(name, part) (i32s::Register)_mm256_cvt##name##_epi32(part)
#define PART_OF_BYTES(from) _mm_loadl_epi64((const __m128i*)(from))
#define PART_OF_WORDS(from) _mm_loadu_si128((const __m128i*)(from))
#elif defined(__SSE4_1__)
#define WIDER(name, part) (i32s::Register)_mm_cvt##name##_epi32(part)
#define PART_OF_BYTES(from) _mm_loadu_si32(from)
#define PART_OF_WORDS(from) _mm_loadl_epi64((const __m128i*)(from))
#endif
#if defined(WIDER)
static INLINE f32s load_f32s(const uint8_t* from) {
    i32s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = WIDER(epu8, PART_OF_BYTES(from + p * i32s::PER));
    return as_floats(r);
}

static INLINE f32s load_f32s(const uint16_t* from) {
    i32s r;
    for (int p = 0; p < REGISTERS; p++) r.v[p] = WIDER(epu16, PART_OF_WORDS(from + p * i32s::PER));
    return as_floats(r);
}
#undef WIDER
#undef PART_OF_BYTES
#undef PART_OF_WORDS
#endif
#endif

template <class T>
static INLINE void store(T* to, const Lanes<T>& x) {
    for (int p = 0; p < REGISTERS; p++) std::memcpy(to + p * Lanes<T>::PER, &x.v[p], REGISTER);
}

// Eight float64 as float32.
static INLINE void store_f32s(float* to, const f64s& x) {
    typedef float Half __attribute__((vector_size(REGISTER / 2)));
    for (int p = 0; p < REGISTERS; p++) {
        const Half half = __builtin_convertvector(x.v[p], Half);
        std::memcpy(to + p * f64s::PER, &half, REGISTER / 2);
    }
}

// Four rows of four numbers, whose columns are stored as rows.
static INLINE void store_transposed(const float* from, int64_t row, float* to, int64_t to_row) {
    typedef float Four __attribute__((vector_size(16)));
    Four a, b, c, d;
    std::memcpy(&a, from, 16), std::memcpy(&b, from + row, 16);
    std::memcpy(&c, from + 2 * row, 16), std::memcpy(&d, from + 3 * row, 16);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), AB = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5), CD = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    const Four columns[4] = {
        __builtin_shufflevector(ab, cd, 0, 1, 4, 5), __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
        __builtin_shufflevector(AB, CD, 0, 1, 4, 5), __builtin_shufflevector(AB, CD, 2, 3, 6, 7)};
    for (int j = 0; j < 4; j++) std::memcpy(to + j * to_row, &columns[j], 16);
}

// In the order ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
static INLINE double sum(const f64s& x) {
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

// Of numbers; where one is NaN, perhaps NaN.
static INLINE double largest(const f64s& x) {
    return greatest(greatest(greatest(x[0], x[4]), greatest(x[2], x[6])),
                    greatest(greatest(x[1], x[5]), greatest(x[3], x[7])));
}

static INLINE void prefetch(const void* memory) { __builtin_prefetch(memory); }

// --- arrays of Python, which are contiguous and do not overlap ------------------------------------------------

template <class T>
struct Vector {
    T* data;
    int64_t size;

    INLINE T& operator[](int64_t i) const { return data[i]; }
};

template <class T>
struct Matrix {
    T* data;
    int64_t rows, columns;

    INLINE T* operator[](int64_t i) const { return data + i * columns; }
};

template <class T>
struct Tensor {
    T* data;
    int64_t size, rows, columns;

    INLINE Matrix<T> operator[](int64_t i) const { return {data + i * rows * columns, rows, columns}; }
};

}  // namespace suffice
