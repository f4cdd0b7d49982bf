// Which level of instructions the CPU has: "v2", "v3" or "v4" of x86-64, or "base" of another architecture.
// Compiled for the baseline, so that it runs on every CPU.
#include <nanobind/nanobind.h>

static const char* level() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    auto v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2");
    auto v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
              __builtin_cpu_supports("avx512vl");
    return v4 ? "v4" : v3 ? "v3" : "v2";
#else
    return "base";
#endif
}

NB_MODULE(_cpu, m) { m.def("level", level, "The level of instructions that the CPU has."); }
