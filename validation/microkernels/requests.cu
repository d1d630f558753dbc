// What a request of a warp costs L1 and L2: by the number of lines that it touches, by where they
// are, and where hits and misses follow one another.
//
//     nvcc -arch=native -o requests requests.cu && ./requests > requests.csv

#include "measuring.cuh"

namespace {

constexpr int kLineWords = 32;
constexpr int kLoads = 8;
constexpr int kMixed = 32;

// Warps of one thread block an SM; cycles from the first to the last of each.
template <typename Body>
__device__ void timed(int64_t* cycles, Body body) {
    __shared__ unsigned long long first, last;
    if (threadIdx.x == 0) first = ~0ull, last = 0;
    __syncthreads();
    unsigned long long begin = clock64();
    body();
    unsigned long long end = clock64();
    if (threadIdx.x % kWarp == 0) atomicMin(&first, begin), atomicMax(&last, end);
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = last - first;
}

template <bool l1>
__device__ inline uint32_t load(const uint32_t* at) {
    uint32_t found;
    if (l1) asm volatile("ld.global.u32 %0, [%1];" : "=r"(found) : "l"(at) : "memory");
    else asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(found) : "l"(at) : "memory");
    return found;
}

// Each load touches `kLines` lines, kWarp / kLines lanes each. `apart`: lanes of different lines read
// different banks; otherwise the same ones.
template <int kLines, bool l1, bool apart>
__global__ void gather(const uint32_t* words, uint32_t mask, int rounds, int64_t* cycles, uint32_t* kept) {
    uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp + blockIdx.x * (l1 ? 0 : blockDim.x / kWarp);
    uint32_t line = lane / (kWarp / kLines), word = apart ? lane : lane % (kWarp / kLines);
    uint32_t sum = 0, place = warp * 97;
    timed(cycles, [&] {
#pragma unroll 1
        for (int round = 0; round < rounds; ++round) {
            const uint32_t* at = words + (place & mask) * kLineWords + line * kLineWords + word;
            uint32_t found[kLoads];
#pragma unroll
            for (int i = 0; i < kLoads; ++i) found[i] = load<l1>(at + i * kLines * kLineWords);
#pragma unroll
            for (int i = 0; i < kLoads; ++i) sum += found[i];
            place += 61 * kLines;
        }
    });
    if (sum == 0xdeadbeef) *kept = sum;
}

// Of 32 loads of a line each, `kMisses` are of lines that L1 does not hold but L2 does, the others of
// 16 KB; `uniform`: half of those others read one word.
template <int kMisses, bool uniform>
__global__ void mixed(const uint32_t* words, uint32_t mask, int rounds, int64_t* cycles, uint32_t* kept) {
    uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp, warps = blockDim.x / kWarp;
    const uint32_t* far = words + (1 << 20);
    uint32_t sum = 0, place = warp * 97, next = (blockIdx.x * warps + warp) * 1021;
    timed(cycles, [&] {
#pragma unroll 1
        for (int round = 0; round < rounds; ++round) {
            const uint32_t* near = words + (place & 63) * kLineWords;
            const uint32_t* missed = far + (next & mask) * kLineWords + lane;
            uint32_t found[kMixed];
#pragma unroll
            for (int i = 0; i < kMixed; ++i) {
                if (i * kMisses / kMixed != (i + 1) * kMisses / kMixed) found[i] = load<true>(missed + i * kLineWords);
                else found[i] = load<true>(near + i * kLineWords + (uniform && i % 2 ? 0 : lane));
            }
#pragma unroll
            for (int i = 0; i < kMixed; ++i) sum += found[i];
            place += 8;
            next += kMixed;
        }
    });
    if (sum == 0xdeadbeef) *kept = sum;
}

// Stores of a word a lane to `kLines` lines, which L2 holds.
template <int kLines>
__global__ void scatter(uint32_t* words, uint32_t mask, int rounds, int64_t* cycles) {
    uint32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp + blockIdx.x * (blockDim.x / kWarp);
    uint32_t line = lane / (kWarp / kLines), place = warp * 97;
    timed(cycles, [&] {
#pragma unroll 1
        for (int round = 0; round < rounds; ++round) {
            uint32_t* at = words + (place & mask) * kLineWords + line * kLineWords + lane;
#pragma unroll
            for (int i = 0; i < kLoads; ++i) at[i * kLines * kLineWords] = round;
            place += 61 * kLines;
        }
    });
}

template <typename Launch>
void show(const char* name, const char* settings, int rounds, int loads, int threads, int blocks, Launch launch) {
    auto cycles = allocate<int64_t>(blocks);
    std::vector<double> found;
    for (int turn = 0; turn < 4; ++turn) {
        double taken[2];
        for (int long_one = 0; long_one < 2; ++long_one) {
            launch(rounds * (1 + 2 * long_one), cycles);
            CHECK(cudaDeviceSynchronize());
            std::vector<int64_t> all(blocks);
            CHECK(cudaMemcpy(all.data(), cycles, blocks * 8, cudaMemcpyDeviceToHost));
            taken[long_one] = median(std::vector<double>(all.begin(), all.end()));
        }
        if (turn) found.push_back((taken[1] - taken[0]) / (2.0 * rounds * loads * threads / kWarp));
    }
    row(name, settings, median(found), "cycles");
    CHECK(cudaFree(cycles));
}

template <int kLines, bool l1, bool apart>
void show_gather(const uint32_t* words, uint32_t* kept) {
    for (int blocks : {1, multiprocessors()})
        for (int threads : {256, 1024}) {
            // L1: 32 KB and what a round reaches beyond; L2: 8 MB, warmed by the first launch.
            uint32_t mask = l1 ? 255 : 65535;
            char settings[96];
            std::snprintf(settings, sizeof settings, "lines=%d banks=%s blocks=%d threads=%d", kLines,
                          apart ? "apart" : "same", blocks, threads);
            show(l1 ? "gather_l1" : "gather_l2", settings, 128, kLoads, threads, blocks, [&](int rounds, int64_t* cycles) {
                gather<kLines, l1, apart><<<blocks, threads>>>(words, mask, rounds, cycles, kept);
            });
        }
}

template <int kMisses, bool uniform>
void show_mixed(const uint32_t* words, uint32_t* kept) {
    for (int blocks : {1, multiprocessors()}) {
        char settings[96];
        std::snprintf(settings, sizeof settings, "misses=%d/32 uniform=%d blocks=%d", kMisses, uniform, blocks);
        show("mixed", settings, 128, kMixed, 1024, blocks, [&](int rounds, int64_t* cycles) {
            mixed<kMisses, uniform><<<blocks, 1024>>>(words, 65535, rounds, cycles, kept);
        });
    }
}

template <int kLines>
void show_scatter(uint32_t* words) {
    for (int blocks : {1, multiprocessors()}) {
        char settings[96];
        std::snprintf(settings, sizeof settings, "lines=%d blocks=%d threads=1024", kLines, blocks);
        show("scatter", settings, 128, kLoads, 1024, blocks, [&](int rounds, int64_t* cycles) {
            scatter<kLines><<<blocks, 1024>>>(words, 65535, rounds, cycles);
        });
    }
}

template <int kLines>
void show_lines(uint32_t* words, uint32_t* kept) {
    show_gather<kLines, true, true>(words, kept);
    show_gather<kLines, true, false>(words, kept);
    show_gather<kLines, false, true>(words, kept);
    show_scatter<kLines>(words);
}

}  // namespace

int main() {
    header();
    auto words = allocate<uint32_t>(16 << 20);
    auto kept = allocate<uint32_t>(1);
    show_lines<1>(words, kept);
    show_lines<2>(words, kept);
    show_lines<4>(words, kept);
    show_lines<8>(words, kept);
    show_lines<16>(words, kept);
    show_lines<32>(words, kept);
    show_mixed<0, false>(words, kept);
    show_mixed<1, false>(words, kept);
    show_mixed<2, false>(words, kept);
    show_mixed<4, false>(words, kept);
    show_mixed<8, false>(words, kept);
    show_mixed<16, false>(words, kept);
    show_mixed<32, false>(words, kept);
    show_mixed<0, true>(words, kept);
    show_mixed<1, true>(words, kept);
    show_mixed<2, true>(words, kept);
    show_mixed<4, true>(words, kept);
    show_mixed<8, true>(words, kept);
    show_mixed<16, true>(words, kept);
    return 0;
}
