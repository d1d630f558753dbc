// What scattered accesses cost: reads of DRAM by the size of a piece, rows of square thread blocks,
// latency by the memory that is reached, atomics by the number of words that they meet on.
//
//     nvcc -arch=native -o scattered scattered.cu && ./scattered > scattered.csv

#include <numeric>
#include <random>

#include "measuring.cuh"

namespace {

constexpr size_t kMegabyte = 1 << 20;
constexpr size_t kGigabyte = 1 << 30;

__host__ __device__ inline uint64_t mixed(uint64_t x) {
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

// Where pieces of 2^`log_piece` words lie: groups of 2^`log_group` of them, each group at a random
// one of `mask` + 1 places, a power of two; a piece every `spread` of its own lengths.
struct Pieces {
    uint32_t mask;
    int log_piece, log_group, spread;

    __device__ size_t word(uint32_t thread) const {
        uint32_t within = thread & ((1u << log_piece) - 1), number = thread >> log_piece;
        uint32_t in_group = number & ((1u << log_group) - 1);
        size_t place = mixed_word(number >> log_group) & mask;
        return ((place << log_group | in_group) * spread << log_piece) + within;
    }
};

// A word a lane, eight loads before the first use.
template <bool writes>
__global__ void pieces(uint32_t* words, Pieces where, int rounds, uint32_t* kept) {
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    uint32_t sum = 0;
    for (int round = 0; round < rounds; round += 8) {
        uint32_t found[8];
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            uint32_t* at = words + where.word(thread + (round + i) * threads);
            if (writes) *at = round;
            else found[i] = __ldcg(at);
        }
        if (!writes)
#pragma unroll
            for (int i = 0; i < 8; ++i) sum ^= found[i];
    }
    if (sum == 0xdeadbeef) *kept = sum;
}

// A word a thread of a square of a matrix: rows of `blockDim.x` words.
__global__ void square(const float* from, float* to, int width) {
    size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    to[y * width + x] = from[y * width + x];
}

// As `square`, eight squares of a column of them a thread, all loads before the first store. `down`:
// thread blocks follow one another down the columns.
template <bool reads, bool writes, bool down>
__global__ void squares(const float* from, float* to, int width) {
    size_t across = down ? blockIdx.y : blockIdx.x, along = down ? blockIdx.x : blockIdx.y;
    size_t x = across * blockDim.x + threadIdx.x, y = along * 8 * blockDim.y + threadIdx.y;
    float found[8];
#pragma unroll
    for (int i = 0; i < 8; ++i) found[i] = reads ? __ldcg(from + (y + i * blockDim.y) * width + x) : 1.0f;
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        if (writes) to[(y + i * blockDim.y) * width + x] = found[i];
        sum += found[i];
    }
    if (!writes && sum == 3e33f) to[x] = sum;
}

// As `square`, without the read.
__global__ void square_written(float* to, int width) {
    size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    to[y * width + x] = 1.0f;
}

__global__ void link(char* memory, const uint32_t* order, uint32_t count, size_t stride) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        *reinterpret_cast<uint64_t*>(memory + order[i] * stride) =
            reinterpret_cast<uint64_t>(memory + order[(i + 1) % count] * stride);
}

__global__ void chase(const uint64_t* start, int steps, int64_t* cycles, uint64_t* kept) {
    const uint64_t* at = start;
    int64_t begin = clock64();
    for (int i = 0; i < steps; ++i) at = reinterpret_cast<const uint64_t*>(__ldcg(at));
    *cycles = clock64() - begin;
    *kept = reinterpret_cast<uint64_t>(at);
}

enum class Kind { red, red_f32, returned, warp_in_a_row };

// `rounds` atomics a thread on words drawn from `words`; in a row: the lanes of a warp on neighbours.
template <Kind kind>
__global__ void atomics(uint32_t* memory, uint64_t words, int rounds) {
    uint64_t thread = blockIdx.x * static_cast<uint64_t>(blockDim.x) + threadIdx.x;
    uint64_t threads = static_cast<uint64_t>(gridDim.x) * blockDim.x;
    uint32_t sum = 0;
    for (int round = 0; round < rounds; ++round) {
        uint64_t turn = thread + round * threads;
        uint64_t at = kind == Kind::warp_in_a_row ? (mixed(turn / 32) * 32 + turn % 32) % words
                                                  : mixed(turn) % words;
        if (kind == Kind::red_f32) atomicAdd(reinterpret_cast<float*>(memory) + at, 1.0f);
        else if (kind == Kind::returned) sum ^= atomicAdd(memory + at, 1u);
        else atomicAdd(memory + at, 1u);
    }
    if (kind == Kind::returned && sum == 0xdeadbeef) memory[0] = sum;
}

struct Arena {
    char* memory;
    size_t bytes;
};

template <bool writes>
void show_pieces(const Arena& arena, const char* name, size_t footprint, int log_piece, int log_group = 0, int spread = 1) {
    constexpr int kRounds = 64;
    int blocks = multiprocessors() * 8, threads = 256;
    auto words = reinterpret_cast<uint32_t*>(arena.memory);
    auto kept = reinterpret_cast<uint32_t*>(arena.memory + arena.bytes - 64);
    size_t groups = (footprint / 4 / spread >> log_piece) >> log_group;
    Pieces where{static_cast<uint32_t>(groups - 1), log_piece, log_group, spread};
    double taken = seconds([&] { pieces<writes><<<blocks, threads>>>(words, where, 4 * kRounds, kept); }) -
                   seconds([&] { pieces<writes><<<blocks, threads>>>(words, where, kRounds, kept); });
    char settings[96];
    std::snprintf(settings, sizeof settings, "mib=%zu piece_bytes=%d group=%d spread=%d", footprint / kMegabyte,
                  4 << log_piece, 1 << log_group, spread);
    row(name, settings, 3.0 * kRounds * blocks * threads * 4 / taken, "bytes/s");
}

template <bool reads, bool writes, bool down>
void show_squares(const Arena& arena, const char* name, int width, int x, int y) {
    auto from = reinterpret_cast<const float*>(arena.memory);
    auto to = reinterpret_cast<float*>(arena.memory + kGigabyte);
    dim3 blocks(width / x, width / y / 8), threads(x, y);
    if (down) std::swap(blocks.x, blocks.y);
    double bytes = 4.0 * width * width * ((reads ? 1 : 0) + (writes ? 1 : 0));
    char settings[64];
    std::snprintf(settings, sizeof settings, "width=%d threads=%dx%d", width, x, y);
    row(name, settings, bytes / seconds([&] { squares<reads, writes, down><<<blocks, threads>>>(from, to, width); }), "bytes/s");
}

void show_square(const Arena& arena, int x, int y) {
    int width = 16384;
    auto from = reinterpret_cast<const float*>(arena.memory);
    auto to = reinterpret_cast<float*>(arena.memory + kGigabyte);
    dim3 blocks(width / x, width / y), threads(x, y);
    double bytes = 4.0 * width * width;
    char settings[64];
    std::snprintf(settings, sizeof settings, "width=%d threads=%dx%d", width, x, y);
    row("square", settings, 2 * bytes / seconds([&] { square<<<blocks, threads>>>(from, to, width); }), "bytes/s");
    row("square_written", settings,
        bytes / seconds([&] { square_written<<<blocks, threads>>>(to, width); }), "bytes/s");
}

void show_chase(const Arena& arena, size_t footprint, uint32_t most) {
    size_t stride = std::max<size_t>(128, footprint / most);
    uint32_t count = static_cast<uint32_t>(footprint / stride);
    std::vector<uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), std::mt19937(1));
    auto places = allocate<uint32_t>(count);
    CHECK(cudaMemcpy(places, order.data(), count * 4ull, cudaMemcpyHostToDevice));
    link<<<(count + 255) / 256, 256>>>(arena.memory, places, count, stride);
    auto cycles = allocate<int64_t>(1);
    auto kept = allocate<uint64_t>(1);
    int steps = static_cast<int>(std::min<uint32_t>(count, 20000));
    CHECK(cudaMemset(arena.memory + arena.bytes / 2, 0, 256 * kMegabyte));  // L2 holds something else
    chase<<<1, 1>>>(reinterpret_cast<const uint64_t*>(arena.memory + order[0] * stride), steps, cycles, kept);
    int64_t taken = 0;
    CHECK(cudaMemcpy(&taken, cycles, 8, cudaMemcpyDeviceToHost));
    char settings[64];
    std::snprintf(settings, sizeof settings, "mib=%zu stride=%zu", footprint / kMegabyte, stride);
    row("chase_random", settings, static_cast<double>(taken) / steps, "cycles");
    CHECK(cudaFree(places));
    CHECK(cudaFree(cycles));
    CHECK(cudaFree(kept));
}

template <Kind kind>
void show_atomics(const Arena& arena, const char* name) {
    auto memory = reinterpret_cast<uint32_t*>(arena.memory);
    int threads = 256;
    for (int blocks : {1, multiprocessors() * 8}) {
        for (uint64_t words : {1ull, 4ull, 32ull, 256ull, 1024ull, 4096ull, 65536ull, 1ull << 20, 4ull << 20, 64ull << 20}) {
            if (blocks == 1 && words != 1024 && words != 65536) continue;
            int rounds = words < 256 ? 8 : 32;
            double taken = seconds([&] { atomics<kind><<<blocks, threads>>>(memory, words, 3 * rounds); }) -
                           seconds([&] { atomics<kind><<<blocks, threads>>>(memory, words, rounds); });
            char settings[64];
            std::snprintf(settings, sizeof settings, "words=%llu blocks=%d", static_cast<unsigned long long>(words), blocks);
            row(name, settings, 2.0 * rounds * blocks * threads / taken, "lanes/s");
        }
    }
}

}  // namespace

int main() {
    header();
    size_t available = 0, total = 0;
    CHECK(cudaMemGetInfo(&available, &total));
    size_t bytes = std::min<size_t>(64, (available - 4 * kGigabyte) / kGigabyte) * kGigabyte;
    Arena arena{nullptr, bytes};
    arena.memory = allocate<char>(arena.bytes);
    for (size_t mib : {16, 256, 1024, 4096, 16384})
        for (int log_piece = 3; log_piece <= 10; ++log_piece) {
            show_pieces<false>(arena, "pieces", mib * kMegabyte, log_piece);
            show_pieces<true>(arena, "pieces_written", mib * kMegabyte, log_piece);
        }
    for (auto [log_piece, spread] : std::vector<std::pair<int, int>>{{3, 2}, {3, 4}, {4, 2}, {4, 4}, {5, 2}, {5, 4}, {6, 2}})
        for (int log_group = 0; log_group <= 8; ++log_group)
            show_pieces<false>(arena, "pieces", 1024 * kMegabyte, log_piece, log_group, spread);
    for (int width : {1024, 2048, 16384})
        for (auto [x, y] : std::vector<std::pair<int, int>>{{8, 32}, {16, 16}, {32, 8}, {64, 4}, {128, 2}, {256, 1}}) {
            show_squares<true, true, false>(arena, "squares", width, x, y);
            show_squares<true, false, false>(arena, "squares_read", width, x, y);
            show_squares<false, true, false>(arena, "squares_written", width, x, y);
            show_squares<true, true, true>(arena, "squares_down", width, x, y);
            show_squares<true, false, true>(arena, "squares_down_read", width, x, y);
        }
    for (auto [x, y] : std::vector<std::pair<int, int>>{
             {8, 32}, {16, 16}, {32, 8}, {64, 4}, {128, 2}, {256, 1}, {8, 8}, {16, 8}, {32, 4}, {32, 32}, {64, 16}, {1024, 1}})
        show_square(arena, x, y);
    for (size_t mib : {16, 128, 512, 1024, 2048, 4096, 8192, 16384, 32768}) {
        if (mib * kMegabyte > bytes / 2) continue;
        show_chase(arena, mib * kMegabyte, 1 << 20);
        if (mib >= 2048) show_chase(arena, mib * kMegabyte, static_cast<uint32_t>(mib / 2));  // a word a page of 2 MiB
    }
    show_atomics<Kind::red>(arena, "red");
    show_atomics<Kind::red_f32>(arena, "red_f32");
    show_atomics<Kind::returned>(arena, "atom");
    show_atomics<Kind::warp_in_a_row>(arena, "red_in_a_row");
    return 0;
}
