// What the micro-kernels share: checked calls, times of launches, and the rows that they print.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t status = (call);                                                     \
        if (status != cudaSuccess) {                                                     \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,           \
                         cudaGetErrorString(status));                                    \
            std::exit(1);                                                                \
        }                                                                                \
    } while (0)

constexpr int kWarp = 32;
constexpr int kRepeats = 7;

// Bits of a number mixed well, as a random number would be.
__host__ __device__ inline uint32_t mixed_word(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Median seconds between two events around `launch`, after `prepare`, which is not timed.
inline double seconds(const std::function<void()>& launch,
                      const std::function<void()>& prepare = [] {}) {
    cudaEvent_t start, end;
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    std::vector<double> found;
    for (int turn = 0; turn <= kRepeats; ++turn) {
        prepare();
        CHECK(cudaEventRecord(start));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaGetLastError());
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        if (turn > 0) found.push_back(milliseconds * 1e-3);  // the first one loads the code
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(end));
    return median(found);
}

template <typename T>
T* allocate(size_t count) {
    T* memory = nullptr;
    CHECK(cudaMalloc(&memory, count * sizeof(T)));
    CHECK(cudaMemset(memory, 0, count * sizeof(T)));
    return memory;
}

inline int multiprocessors() {
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    return properties.multiProcessorCount;
}

// One row: what was measured, under which settings, and the value with its unit.
inline void row(const char* name, const char* settings, double value, const char* unit) {
    std::printf("%s,%s,%.6g,%s\n", name, settings, value, unit);
    std::fflush(stdout);
}

inline void header() { std::printf("name,settings,value,unit\n"); }
