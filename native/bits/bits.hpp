// Digests of the results of the loops of each topic, to compare compilers and architectures.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <vector>

namespace suffice {

// What a file prints, under the name of its topic: DIGESTS(distances) { print(...); }
struct Digests {
    Digests(const char* name, void (*print)()) : name(name), print(print), next(first) { first = this; }

    inline static Digests* first = nullptr;
    const char* name;
    void (*print)();
    Digests* next;
};

#define DIGESTS(name)                                    \
    static void print_digests();                         \
    static Digests digests_of_file(#name, print_digests); \
    static void print_digests()

static std::vector<double> numbers(size_t size, uint64_t seed) {
    std::vector<double> out(size);
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (double& x : out) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        x = double(int64_t(state) >> 11) * 0x1p-52;
    }
    return out;
}

static void print(const char* loop, std::initializer_list<const std::vector<double>*> results) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (auto* result : results)
        for (double x : *result) {
            uint64_t bits;
            std::memcpy(&bits, &x, 8);
            hash = (hash ^ bits) * 0x100000001B3u;
        }
    std::printf("%s %016llx\n", loop, (unsigned long long)hash);
}

static std::vector<double> gram(const std::vector<double>& x, int64_t N, int64_t D) {
    std::vector<double> A(D * D);
    for (int64_t n = 0; n < N; n++)
        for (int64_t i = 0; i < D; i++)
            for (int64_t j = 0; j < D; j++) A[i * D + j] += x[n * D + i] * x[n * D + j];
    return A;
}

}  // namespace suffice
