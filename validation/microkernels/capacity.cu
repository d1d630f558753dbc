// What L1 and L2 keep of data that are read again, and where atomics on different words meet.
//
//     nvcc -arch=native -o capacity capacity.cu && ./capacity > capacity.csv
//     ncu --metrics ... ./capacity counted      # launches alone, for counters of hits

#include <cstring>

#include "measuring.cuh"

namespace {

constexpr int kLineWords = 32;

// Each thread block goes through `lines` lines of its own, a line a thread, one word of each line in
// a pass: a column of rows of 128 bytes. `drawn`: lines are drawn instead.
template <bool drawn>
__global__ void rows(const uint32_t* words, int lines, int passes, uint32_t* kept) {
    const uint32_t* mine = words + static_cast<size_t>(blockIdx.x) * lines * kLineWords;
    uint32_t sum = 0;
    for (int pass = 0; pass < passes; ++pass) {
        for (int line = threadIdx.x; line < lines; line += blockDim.x) {
            uint32_t at = drawn ? mixed_word(line + pass * 131071) % lines : line;
            sum += mine[at * kLineWords + pass % kLineWords];
        }
        __syncthreads();
    }
    if (sum == 0xdeadbeef) *kept = sum;
}

// As `rows`, each warp reads whole lines, one after the other.
__global__ void whole_lines(const uint32_t* words, int lines, int passes, uint32_t* kept) {
    const uint32_t* mine = words + static_cast<size_t>(blockIdx.x) * lines * kLineWords;
    uint32_t sum = 0;
    for (int pass = 0; pass < passes; ++pass) {
        for (int line = threadIdx.x / kWarp; line < lines; line += blockDim.x / kWarp)
            sum += mine[line * kLineWords + threadIdx.x % kWarp];
        __syncthreads();
    }
    if (sum == 0xdeadbeef) *kept = sum;
}

// All SMs go through `count` words together; in each pass a thread block reads what another read before.
__global__ void through(const uint4* words, size_t count, int passes, int shift, uint32_t* kept) {
    uint32_t sum = 0;
    for (int pass = 0; pass < passes; ++pass) {
        size_t block = (blockIdx.x + static_cast<size_t>(pass) * shift) % gridDim.x;
        for (size_t at = block * blockDim.x + threadIdx.x; at < count; at += static_cast<size_t>(gridDim.x) * blockDim.x)
            sum += __ldcg(words + at).x;
    }
    if (sum == 0xdeadbeef) *kept = sum;
}

// Atomics on `groups` groups of eight neighbouring words, `stride` words apart, drawn lane by lane.
__global__ void met(uint32_t* memory, uint32_t groups, uint32_t stride, int rounds) {
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int round = 0; round < rounds; ++round) {
        uint32_t drawn = mixed_word(thread + round * threads);
        atomicAdd(memory + (drawn >> 3) % groups * stride + (drawn & 7), 1u);
    }
}

void count_hits(uint32_t* words, uint32_t* kept) {
    int blocks = multiprocessors();
    for (int kib : {64, 96, 128, 160, 192, 208, 224, 240, 256, 288, 320, 384}) {
        int lines = kib * 8;
        rows<false><<<blocks, 1024>>>(words, lines, 32, kept);
        rows<true><<<blocks, 1024>>>(words, lines, 32, kept);
        whole_lines<<<blocks, 1024>>>(words, lines, 16, kept);
        rows<false><<<blocks, 256>>>(words, lines, 32, kept);
        CHECK(cudaDeviceSynchronize());
    }
    auto wide = reinterpret_cast<const uint4*>(words);
    for (size_t mib : {16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128})
        for (int shift : {0, 37}) {
            through<<<blocks * 2, 1024>>>(wide, mib << 16, 8, shift, kept);
            CHECK(cudaDeviceSynchronize());
        }
}

void show_atomics(uint32_t* memory) {
    int blocks = multiprocessors() * 8, threads = 256, rounds = 16;
    for (uint32_t stride : {8u, 16u, 32u, 64u, 128u, 256u, 512u, 1024u, 2048u, 4096u, 16384u})
        for (uint32_t groups : {1u, 2u, 3u, 4u, 6u, 8u, 16u, 32u, 64u, 128u, 512u}) {
            if (static_cast<uint64_t>(groups) * stride > (32u << 20)) continue;
            double taken = seconds([&] { met<<<blocks, threads>>>(memory, groups, stride, 3 * rounds); }) -
                           seconds([&] { met<<<blocks, threads>>>(memory, groups, stride, rounds); });
            char settings[64];
            std::snprintf(settings, sizeof settings, "groups=%u stride=%u", groups, 4 * stride);
            row("met", settings, 2.0 * rounds * blocks * threads / taken, "lanes/s");
        }
}

}  // namespace

int main(int count, char** arguments) {
    auto words = allocate<uint32_t>(64 << 20);
    auto kept = allocate<uint32_t>(1);
    if (count > 1 && !std::strcmp(arguments[1], "counted")) {
        count_hits(words, kept);
        return 0;
    }
    header();
    show_atomics(words);
    return 0;
}
