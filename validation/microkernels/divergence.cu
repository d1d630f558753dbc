// What branches cost at which the lanes of a warp part, by the number of ways that they go, and by
// the number of warps.
//
//     nvcc -arch=native -o divergence divergence.cu && ./divergence > divergence.csv

#include "measuring.cuh"

namespace {

// One way: `steps` dependent multiply-adds that no other way has.
template <int kWay, int kSteps>
__device__ __forceinline__ uint32_t way(uint32_t value) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step)
        asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(value) : "n"(2 * kWay + 3), "n"(kWay));
    return value;
}

// A choice of `kCount` ways from `kFirst` on by halving.
template <int kFirst, int kCount, int kSteps>
__device__ __forceinline__ uint32_t halve(uint32_t value, uint32_t which) {
    if constexpr (kCount == 1) {
        return way<kFirst, kSteps>(value);
    } else {
        if (which < kFirst + kCount / 2) value = halve<kFirst, kCount / 2, kSteps>(value, which);
        else value = halve<kFirst + kCount / 2, kCount / 2, kSteps>(value, which);
        return value;
    }
}

#define WAY(n) \
    case n: value = way<n, kSteps>(value); break;
#define WAYS(n) WAY(n) WAY(n + 1) WAY(n + 2) WAY(n + 3)

// A choice of 32 ways by one branch through a table.
template <int kSteps>
__device__ __forceinline__ uint32_t jump(uint32_t value, uint32_t which) {
    switch (which) { WAYS(0) WAYS(4) WAYS(8) WAYS(12) WAYS(16) WAYS(20) WAYS(24) WAYS(28) }
    return value;
}

enum class Shape { in_a_row, halves, table };

// `groups` of the lanes go ways of their own in each round: by kWays branches in a row, each around
// one way; by halving; or through a table of 32.
template <Shape shape, int kWays, int kSteps>
__global__ void parted(int rounds, int groups, int64_t* cycles, uint32_t* kept) {
    uint32_t lane = threadIdx.x % kWarp, which = lane % groups, value = lane;
    bool goes_0 = which == 0, goes_1 = which == 1 % groups, goes_2 = which == 2 % groups, goes_3 = which == 3 % groups;
    int64_t begin = clock64();
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        if constexpr (shape == Shape::table) value = jump<kSteps>(value, which);
        else if constexpr (shape == Shape::halves) value = halve<0, kWays, kSteps>(value, which);
        else {
            if (goes_0) value = way<0, kSteps>(value);
            __syncwarp();
            if (kWays > 1 && goes_1) value = way<1, kSteps>(value);
            if (kWays > 1) __syncwarp();
            if (kWays > 2 && goes_2) value = way<2, kSteps>(value);
            if (kWays > 2) __syncwarp();
            if (kWays > 2 && goes_3) value = way<3, kSteps>(value);
            if (kWays > 2) __syncwarp();
        }
    }
    int64_t taken = clock64() - begin;
    kept[blockIdx.x * blockDim.x + threadIdx.x] = value;
    if (threadIdx.x == 0) cycles[blockIdx.x] = taken;
}

template <Shape shape, int kWays, int kSteps>
void show(const char* name, int64_t* cycles, uint32_t* kept) {
    for (int threads : {32, 128, 512, 1024})
        for (int groups : {1, 2, 4, 8, 16, 32}) {
            if (groups > std::max(kWays, 1)) continue;
            std::vector<double> found;
            for (int turn = 0; turn < 4; ++turn) {
                int64_t taken[2];
                for (int i = 0; i < 2; ++i) {
                    parted<shape, kWays, kSteps><<<1, threads>>>(200 * (1 + 2 * i), groups, cycles, kept);
                    CHECK(cudaMemcpy(taken + i, cycles, 8, cudaMemcpyDeviceToHost));
                }
                if (turn) found.push_back((taken[1] - taken[0]) / 400.0);
            }
            char settings[96];
            std::snprintf(settings, sizeof settings, "ways=%d steps=%d groups=%d threads=%d", kWays, kSteps, groups, threads);
            row(name, settings, median(found), "cycles");
        }
}

template <int kSteps>
void show_all(int64_t* cycles, uint32_t* kept) {
    show<Shape::in_a_row, 1, kSteps>("in_a_row", cycles, kept);
    show<Shape::in_a_row, 2, kSteps>("in_a_row", cycles, kept);
    show<Shape::in_a_row, 4, kSteps>("in_a_row", cycles, kept);
    show<Shape::halves, 2, kSteps>("halves", cycles, kept);
    show<Shape::halves, 4, kSteps>("halves", cycles, kept);
    show<Shape::halves, 8, kSteps>("halves", cycles, kept);
    show<Shape::halves, 32, kSteps>("halves", cycles, kept);
    show<Shape::table, 32, kSteps>("table", cycles, kept);
}

}  // namespace

int main() {
    header();
    auto cycles = allocate<int64_t>(1);
    auto kept = allocate<uint32_t>(1024);
    show_all<1>(cycles, kept);
    show_all<4>(cycles, kept);
    show_all<16>(cycles, kept);
    return 0;
}
