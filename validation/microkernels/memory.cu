// Bytes per second of loads and stores: by footprint, warps in flight, SMs and streams.
//
//     nvcc -arch=native -o memory memory.cu && ./memory > memory.csv

#include "measuring.cuh"

namespace {

constexpr size_t kMegabyte = 1 << 20;

// Each thread block reads its own part of `words`, `rounds` times, `kUnroll` loads before the first
// use. Loads bypass L1 unless `through_l1`.
template <int kUnroll, bool through_l1>
__global__ void read(const uint4* words, size_t part, int rounds, uint4* kept) {
    const uint4* mine = words + blockIdx.x * part;
    uint4 sum{0, 0, 0, 0};
    for (int round = 0; round < rounds; ++round) {
        for (size_t at = threadIdx.x; at + (kUnroll - 1) * blockDim.x < part;
             at += static_cast<size_t>(kUnroll) * blockDim.x) {
            uint4 found[kUnroll];
#pragma unroll
            for (int i = 0; i < kUnroll; ++i)
                found[i] = through_l1 ? __ldca(mine + at + i * blockDim.x)
                                      : __ldcg(mine + at + i * blockDim.x);
#pragma unroll
            for (int i = 0; i < kUnroll; ++i) {
                sum.x ^= found[i].x;
                sum.y ^= found[i].y;
                sum.z ^= found[i].z;
                sum.w ^= found[i].w;
            }
        }
    }
    if (sum.x == 0xdeadbeef && sum.y == 0x12345678) *kept = sum;
}

// A grid-stride loop over arrays: `reads` of them summed up, `writes` of them written.
template <int reads, int writes>
__global__ void stream(float4* arrays, size_t length) {
    size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < length; i += stride) {
        float4 sum{1, 2, 3, 4};
#pragma unroll
        for (int r = 0; r < reads; ++r) {
            float4 found = __ldcs(arrays + r * length + i);
            sum.x += found.x;
            sum.y += found.y;
            sum.z += found.z;
            sum.w += found.w;
        }
#pragma unroll
        for (int w = 0; w < writes; ++w) arrays[(reads + w) * length + i] = sum;
        if (writes == 0 && sum.x == 3e33f) arrays[i] = sum;
    }
}

// One element of 4 bytes per thread and array, as most kernels are written.
template <int reads, int writes>
__global__ void elements(float* arrays, size_t length) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i >= length) return;
    float sum = 1;
#pragma unroll
    for (int r = 0; r < reads; ++r) sum += arrays[r * length + i];
#pragma unroll
    for (int w = 0; w < writes; ++w) arrays[(reads + w) * length + i] = sum;
    if (writes == 0 && sum == 3e33f) arrays[i] = sum;
}

__global__ void chase(const uint64_t* start, int before, int steps, int64_t* cycles, uint64_t* kept) {
    const uint64_t* at = start;
    for (int i = 0; i < before; ++i) at = reinterpret_cast<const uint64_t*>(__ldcg(at));
    int64_t begin = clock64();
    for (int i = 0; i < steps; ++i) at = reinterpret_cast<const uint64_t*>(__ldcg(at));
    *cycles = clock64() - begin;
    *kept = reinterpret_cast<uint64_t>(at);
}

__global__ void link(uint64_t* words, size_t count, size_t stride) {
    size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
    if (i < count)
        words[i * stride] = reinterpret_cast<uint64_t>(words + ((i + 1) % count) * stride);
}

struct Arena {
    char* memory;
    size_t bytes;
};

template <int kUnroll, bool through_l1>
void show_read(const Arena& arena, const char* name, size_t footprint, int blocks, int threads) {
    size_t part = footprint / blocks / sizeof(uint4);
    size_t turn = static_cast<size_t>(kUnroll) * threads;
    part = part / turn * turn;
    if (part == 0) return;
    size_t once = part * blocks * sizeof(uint4);
    size_t wanted = (blocks < 8 ? 16 : 1024) * kMegabyte;
    int rounds = static_cast<int>(std::max<size_t>(1, wanted / once));
    auto words = reinterpret_cast<const uint4*>(arena.memory);
    auto kept = reinterpret_cast<uint4*>(arena.memory + arena.bytes - 64);
    auto launch = [&](int many) {
        return seconds([&] { read<kUnroll, through_l1><<<blocks, threads>>>(words, part, many, kept); });
    };
    // twice as many rounds less once as many: no launch, and nothing of the first touch
    double taken = rounds > 1 || once < 64 * kMegabyte ? launch(3 * rounds) - launch(rounds) : launch(1);
    double moved = static_cast<double>(once) * (rounds > 1 || once < 64 * kMegabyte ? 2 * rounds : 1);
    char settings[128];
    std::snprintf(settings, sizeof settings, "kib=%zu blocks=%d threads=%d loads=%d", once / 1024,
                  blocks, threads, kUnroll);
    row(name, settings, moved / taken, "bytes/s");
}

template <int reads, int writes>
void show_stream(const Arena& arena, int threads_of_sm, size_t length) {
    auto arrays = reinterpret_cast<float4*>(arena.memory);
    int threads = std::min(1024, threads_of_sm);
    int blocks = multiprocessors() * (threads_of_sm / threads);
    double taken = seconds([&] { stream<reads, writes><<<blocks, threads>>>(arrays, length); });
    char settings[128];
    std::snprintf(settings, sizeof settings, "reads=%d writes=%d mib_each=%zu threads_of_sm=%d", reads,
                  writes, length * 16 / kMegabyte, threads_of_sm);
    row("stream", settings, (reads + writes) * length * 16.0 / taken, "bytes/s");
}

template <int reads, int writes>
void show_elements(const Arena& arena, size_t length) {
    auto arrays = reinterpret_cast<float*>(arena.memory);
    for (int threads : {128, 256, 1024}) {
        int blocks = static_cast<int>((length + threads - 1) / threads);
        double taken = seconds([&] { elements<reads, writes><<<blocks, threads>>>(arrays, length); });
        char settings[128];
        std::snprintf(settings, sizeof settings, "reads=%d writes=%d mib_each=%zu threads=%d", reads,
                      writes, length * 4 / kMegabyte, threads);
        row("elements", settings, (reads + writes) * length * 4.0 / taken, "bytes/s");
    }
}

void show_chase(const Arena& arena, size_t footprint, size_t stride_bytes) {
    auto words = reinterpret_cast<uint64_t*>(arena.memory);
    size_t stride = stride_bytes / 8, count = footprint / stride_bytes;
    auto cycles = reinterpret_cast<int64_t*>(arena.memory + arena.bytes - 128);
    auto kept = reinterpret_cast<uint64_t*>(arena.memory + arena.bytes - 64);
    link<<<static_cast<unsigned>((count + 255) / 256), 256>>>(words, count, stride);
    int steps = static_cast<int>(std::min<size_t>(count, 20000));
    int before = static_cast<int>(std::min<size_t>(count, 500000));  // all of it, if caches hold it
    chase<<<1, 1>>>(words, before, steps, cycles, kept);
    CHECK(cudaDeviceSynchronize());
    int64_t taken = 0;
    CHECK(cudaMemcpy(&taken, cycles, 8, cudaMemcpyDeviceToHost));
    char settings[64];
    std::snprintf(settings, sizeof settings, "kib=%zu stride=%zu", footprint / 1024, stride_bytes);
    row("chase", settings, static_cast<double>(taken) / steps, "cycles");
}

}  // namespace

int main() {
    header();
    int sms = multiprocessors();
    Arena arena{nullptr, 4096 * kMegabyte + 4096};
    arena.memory = allocate<char>(arena.bytes);

    for (size_t kib : {64, 128, 192, 224, 256, 512, 4096, 16384, 24576, 32768, 40960, 49152, 65536, 262144, 1048576})
        show_chase(arena, kib * 1024, 128);
    for (int threads : {32, 64, 128, 256, 512, 1024}) {
        show_read<1, true>(arena, "read_l1", 64 * 1024, 1, threads);
        show_read<4, true>(arena, "read_l1", 64 * 1024, 1, threads);
        show_read<1, false>(arena, "read", 1 * kMegabyte, 1, threads);
        show_read<2, false>(arena, "read", 1 * kMegabyte, 1, threads);
        show_read<4, false>(arena, "read", 1 * kMegabyte, 1, threads);
        show_read<8, false>(arena, "read", 1 * kMegabyte, 1, threads);
        show_read<1, false>(arena, "read", 128 * kMegabyte, 1, threads);
        show_read<4, false>(arena, "read", 128 * kMegabyte, 1, threads);
        show_read<8, false>(arena, "read", 128 * kMegabyte, 1, threads);
    }
    for (int blocks : {2, 8, sms / 4, sms / 2, sms, 2 * sms}) {
        show_read<4, false>(arena, "read", 8 * kMegabyte, blocks, 1024);
        show_read<4, false>(arena, "read", 2048 * kMegabyte, blocks, 1024);
    }
    for (size_t megabytes : {8, 16, 24, 32, 40, 48, 64, 128, 512})
        show_read<4, false>(arena, "read", megabytes * kMegabyte, 2 * sms, 1024);
    for (int threads : {128, 256, 512, 1024, 2048}) {
        size_t length = 1024 * kMegabyte / 16;
        show_stream<1, 0>(arena, threads, length);
        show_stream<0, 1>(arena, threads, length);
        show_stream<1, 1>(arena, threads, length);
        show_stream<2, 1>(arena, threads, length);
        show_stream<3, 1>(arena, threads, length);
    }
    size_t length = 128 * kMegabyte / 16;
    show_stream<4, 0>(arena, 2048, length);
    show_stream<8, 0>(arena, 2048, length);
    show_stream<16, 0>(arena, 1024, length);
    show_stream<4, 4>(arena, 2048, length);
    show_stream<8, 8>(arena, 2048, length);
    show_stream<16, 16>(arena, 1024, length);
    show_stream<19, 1>(arena, 1024, length);
    show_elements<1, 0>(arena, 256 * kMegabyte / 4);
    show_elements<0, 1>(arena, 256 * kMegabyte / 4);
    show_elements<1, 1>(arena, 256 * kMegabyte / 4);
    show_elements<2, 1>(arena, 256 * kMegabyte / 4);
    show_elements<8, 8>(arena, 128 * kMegabyte / 4);
    show_elements<16, 16>(arena, 128 * kMegabyte / 4);
    show_elements<1, 1>(arena, 4 * kMegabyte / 4);
    show_elements<1, 1>(arena, 16 * kMegabyte / 4);
    show_elements<1, 1>(arena, 64 * kMegabyte / 4);
    return 0;
}
