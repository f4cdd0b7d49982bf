// Arrays of NumPy at the boundary: types, order and shapes are checked here, once, and nothing is converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "../sparse.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace suffice {

// The loops of a file, in a submodule of its name: TOPIC(distances) { m.def(...); }
struct Topic {
    Topic(const char* name, void (*bind)(nb::module_&)) : name(name), bind(bind), next(first) { first = this; }

    inline static Topic* first = nullptr;
    const char* name;
    void (*bind)(nb::module_&);
    Topic* next;
};

#define TOPIC(name)                             \
    static void bind_topic(nb::module_&);       \
    static Topic topic_of_file(#name, bind_topic); \
    static void bind_topic(nb::module_& m)

// Arguments; `arg` names them. A converted copy would lose what is written to it.
template <class T, size_t N>
using In = nb::ndarray<const T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T, size_t N>
using InOut = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;

// A new array, of zeros.
template <class T, size_t N>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<N>, nb::c_contig>;

template <class T, class... Sizes>
Out<T, sizeof...(Sizes)> zeros(Sizes... sizes) {
    const size_t shape[] = {size_t(sizes)...};
    size_t size = 1;
    for (size_t s : shape) size *= s;
    T* data = static_cast<T*>(std::calloc(size ? size : 1, sizeof(T)));
    if (!data) throw std::bad_alloc();
    nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
    return Out<T, sizeof...(Sizes)>(data, sizeof...(Sizes), shape, owner);
}

template <class T>
Out<T, 1> array_of(const std::vector<T>& x) {
    auto out = zeros<T>(x.size());
    std::copy(x.begin(), x.end(), out.data());
    return out;
}

template <class Array>
auto vector(const Array& a) {
    return Vector<std::remove_pointer_t<decltype(a.data())>>{a.data(), int64_t(a.shape(0))};
}

template <class Array>
auto matrix(const Array& a) {
    return Matrix<std::remove_pointer_t<decltype(a.data())>>{a.data(), int64_t(a.shape(0)), int64_t(a.shape(1))};
}

template <class Array>
auto tensor(const Array& a) {
    return Tensor<std::remove_pointer_t<decltype(a.data())>>{a.data(), int64_t(a.shape(0)),
                                                             int64_t(a.shape(1)), int64_t(a.shape(2))};
}

inline auto arg(const char* name) { return nb::arg(name).noconvert(); }

inline void must(bool holds, const char* otherwise) {
    if (!holds) throw nb::value_error(otherwise);
}

// Whether indices are from 0 to `end`, without a branch, so that the compiler takes several at a time.
template <class Index>
bool are_below(const In<Index, 1>& indices, size_t end) {
    std::make_unsigned_t<Index> largest = 0;
    for (size_t p = 0; p < indices.shape(0); p++)
        largest = std::max(largest, std::make_unsigned_t<Index>(indices.data()[p]));
    return indices.shape(0) == 0 || largest < end;
}

// Offsets of so many parts of so many things.
inline void must_divide(const In<int64_t, 1>& offset, size_t parts, size_t things) {
    must(offset.shape(0) == parts + 1, "offset must have one number more than there are parts");
    const int64_t* at = offset.data();
    must(at[0] >= 0 && at[parts] <= int64_t(things), "offset must be numbers of things");
    for (size_t s = 0; s < parts; s++) must(at[s] <= at[s + 1], "offset must not fall");
}

// CSR rows with so many columns.
template <class Index, class T>
Sparse<Index, T> sparse(const In<T, 1>& data, const In<Index, 1>& indices, const In<Index, 1>& indptr,
                        size_t columns) {
    must(indptr.shape(0) > 0, "indptr must have one number more than there are rows");
    const int64_t rows = indptr.shape(0) - 1, stored = data.shape(0);
    must(indptr.data()[0] == 0 && indptr.data()[rows] <= stored && stored == int64_t(indices.shape(0)),
         "data and indices must have the entries of indptr");
    for (int64_t n = 0; n < rows; n++) must(indptr.data()[n] <= indptr.data()[n + 1], "indptr must not fall");
    must(are_below(indices, columns), "indices must be numbers of columns");
    return {data.data(), indices.data(), indptr.data(), rows};
}

// The loop, while other threads run Python.
template <class Loop>
auto without_gil(Loop loop) {
    nb::gil_scoped_release release;
    return loop();
}

}  // namespace suffice
