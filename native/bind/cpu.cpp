// Which level of instructions the CPU has: v2, v3 or v4 of x86-64, or "base" of another architecture. Compiled
// for the least of them, so that it runs on every CPU.
#include <nanobind/nanobind.h>

#if defined(_WIN32) && (defined(__x86_64__) || defined(_M_X64))
#include <windows.h>
static bool has_avx2() { return IsProcessorFeaturePresent(PF_AVX2_INSTRUCTIONS_AVAILABLE); }
static bool has_avx512() { return IsProcessorFeaturePresent(PF_AVX512F_INSTRUCTIONS_AVAILABLE); }
#elif defined(__x86_64__)
static bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
static bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

static const char* level() {
#if defined(__x86_64__) || defined(_M_X64)
    return !has_avx2() ? "v2" : !has_avx512() ? "v3" : "v4";
#else
    return "base";
#endif
}

NB_MODULE(_cpu, m) { m.def("level", level, "The level of instructions that the CPU has."); }
