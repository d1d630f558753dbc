// How long a request takes, and how much that varies, by the lines that it touches and by how busy
// DRAM is with requests of others.
//
//     nvcc -arch=native -o latencies latencies.cu && ./latencies > latencies.csv

#include <cmath>
#include <numeric>

#include "measuring.cuh"

namespace {

constexpr int kAsked = 4000;
constexpr int kLineBytes = 128;
constexpr size_t kBytes = 8ull << 30;

enum class Others { none, read, copy };

// What one request of the probe touches: `lines` lines at places of their own, 32 / `lines` words of
// each; or one stretch of 512 bytes.
enum class Asked { lines, stretch };

__device__ inline uint32_t clocked() {
    uint32_t cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
    return cycles;
}

template <Asked asked>
__device__ void probe(const char* memory, uint32_t mask, int lines, uint32_t* cycles, uint32_t* kept) {
    uint32_t lane = threadIdx.x, sum = 0, part = lane * lines / kWarp;
    for (int turn = 0; turn < kAsked; ++turn) {
        uint32_t place = mixed_word(turn * 32 + (asked == Asked::lines ? part : 0) + 77) & mask;
        const char* at = memory + static_cast<size_t>(place) * (asked == Asked::lines ? kLineBytes : 4 * kLineBytes);
        uint32_t found, begin = clocked();
        if (asked == Asked::lines) found = __ldcg(reinterpret_cast<const uint32_t*>(at) + lane);
        else found = __ldcg(reinterpret_cast<const uint4*>(at) + lane).x;
        uint32_t end = begin;
        asm volatile("{.reg .pred there; setp.ne.u32 there, %1, 0x12345677; @there mov.u32 %0, %%clock;}"
                     : "+r"(end) : "r"(found) : "memory");
        sum += found;
        if (lane == 0) cycles[turn] = end - begin;
        __syncwarp();
    }
    if (sum == 0xdeadbeef) *kept = sum;
}

// Thread block 0 asks one request after the other; the others read or copy until it is done.
template <Others others, Asked asked>
__global__ void asking(char* memory, uint32_t mask, int lines, uint32_t* cycles, volatile int* done,
                       unsigned long long* moved, uint32_t* kept) {
    if (blockIdx.x == 0) {
        if (threadIdx.x >= kWarp) return;
        if (others != Others::none)
            for (int64_t begin = clock64(); clock64() - begin < 200000;) {}
        int64_t begin = clock64();
        unsigned long long before = atomicAdd(moved, 0ull);
        probe<asked>(memory, mask, lines, cycles, kept);
        __syncwarp();
        if (threadIdx.x == 0) {
            moved[1] = clock64() - begin;
            moved[2] = atomicAdd(moved, 0ull) - before;
            __threadfence();
            *done = 1;
        }
        return;
    }
    auto from = reinterpret_cast<const uint4*>(memory + kBytes / 2);
    auto to = reinterpret_cast<uint4*>(memory + kBytes / 4 * 3);
    size_t count = kBytes / 4 / 16, threads = static_cast<size_t>(gridDim.x - 1) * blockDim.x;
    size_t at = (blockIdx.x - 1) * blockDim.x + threadIdx.x;
    uint32_t sum = 0;
    for (int round = 0; !*done; ++round) {
        for (int i = 0; i < 8; ++i) {
            uint4 found = __ldcg(from + at % count);
            if (others == Others::copy) to[at % count] = found;
            else sum += found.x;
            at += threads;
        }
        if (threadIdx.x == 0) atomicAdd(moved, 8ull * 16 * blockDim.x * (others == Others::copy ? 2 : 1));
    }
    if (sum == 0xdeadbeef) *kept = sum;
}

struct Memory {
    char* bytes;
    uint32_t* cycles;
    int* done;
    unsigned long long* moved;
    uint32_t* kept;
};

template <Others others, Asked asked>
void show(const Memory& memory, const char* name, uint32_t mask, int lines, int warps, double clock) {
    int blocks = others == Others::none ? 1 : multiprocessors();
    CHECK(cudaMemset(memory.done, 0, 4));
    CHECK(cudaMemset(memory.moved, 0, 24));
    asking<others, asked><<<blocks, warps * kWarp>>>(memory.bytes, mask, lines, memory.cycles, memory.done, memory.moved, memory.kept);
    CHECK(cudaDeviceSynchronize());
    std::vector<uint32_t> cycles(kAsked);
    unsigned long long moved[3];
    CHECK(cudaMemcpy(cycles.data(), memory.cycles, kAsked * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(moved, memory.moved, 24, cudaMemcpyDeviceToHost));
    double mean = std::accumulate(cycles.begin(), cycles.end(), 0.0) / kAsked, squares = 0;
    for (uint32_t taken : cycles) squares += (taken - mean) * (taken - mean);
    std::sort(cycles.begin(), cycles.end());
    char settings[160];
    auto line = [&](const char* what, double value, const char* unit) {
        std::snprintf(settings, sizeof settings, "%s=%d others=%s warps=%d mib=%zu %s",
                      asked == Asked::lines ? "lines" : "stretch", asked == Asked::lines ? lines : 4,
                      others == Others::none ? "none" : others == Others::read ? "read" : "copy", warps,
                      static_cast<size_t>(mask + 1ull) * (asked == Asked::lines ? 1 : 4) * kLineBytes >> 20, what);
        row(name, settings, value, unit);
    };
    line("others_moved", others == Others::none ? 0.0 : moved[2] * clock / moved[1], "bytes/s");
    line("mean", mean, "cycles");
    line("deviation", std::sqrt(squares / kAsked), "cycles");
    for (double share : {0.0, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99}) {
        char what[16];
        std::snprintf(what, sizeof what, "p%g", 100 * share);
        line(what, cycles[static_cast<size_t>(share * kAsked)], "cycles");
    }
}

}  // namespace

int main() {
    header();
    Memory memory{allocate<char>(kBytes), allocate<uint32_t>(kAsked), allocate<int>(1), allocate<unsigned long long>(3),
                  allocate<uint32_t>(1)};
    int hertz = 0;
    CHECK(cudaDeviceGetAttribute(&hertz, cudaDevAttrClockRate, 0));
    double clock = hertz * 1e3;
    constexpr uint32_t kOfDram = (4u << 20) * 8 - 1, kOfL2 = (8u << 20) / kLineBytes - 1;
    for (int lines : {1, 2, 4, 8, 16, 32}) {
        show<Others::none, Asked::lines>(memory, "fetching_to_l2", kOfL2, lines, 1, clock);
        show<Others::none, Asked::lines>(memory, "alone_l2", kOfL2, lines, 1, clock);
        show<Others::none, Asked::lines>(memory, "alone", kOfDram, lines, 1, clock);
    }
    show<Others::none, Asked::stretch>(memory, "alone", kOfDram / 4, 4, 1, clock);
    for (int warps : {1, 2, 4, 8, 16, 24, 32})
        for (int lines : {1, 2, 4, 8, 32}) {
            show<Others::read, Asked::lines>(memory, "beside", kOfDram, lines, warps, clock);
            show<Others::copy, Asked::lines>(memory, "beside", kOfDram, lines, warps, clock);
        }
    for (int warps : {4, 16}) {
        show<Others::read, Asked::stretch>(memory, "beside", kOfDram / 4, 4, warps, clock);
        show<Others::copy, Asked::stretch>(memory, "beside", kOfDram / 4, 4, warps, clock);
    }
    return 0;
}
