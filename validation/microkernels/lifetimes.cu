// Where the time of a short thread block goes, by its shape: how long its loads take, how far its
// warps are apart, how long it stays, how much of the time an SM holds as many as it can.
//
//     nvcc -arch=native -o lifetimes lifetimes.cu && ./lifetimes > lifetimes.csv

#include <cmath>
#include <numeric>

#include "measuring.cuh"

namespace {

constexpr size_t kFloats = 16500ull * 16500;
constexpr size_t kMost = 9 << 20;
constexpr uint32_t kEvery = 16;

// Clocks of one warp, and its SM plus one.
struct alignas(16) Seen {
    uint32_t sm, begin, loaded, end;
};

// Of every thread block of one SM, and of one in `kEvery` of the others, what its warps saw.
struct Log {
    Seen* seen;
    uint32_t sm;
};

__device__ inline uint32_t now() {
    uint32_t cycles;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(cycles)::"memory");
    return cycles;
}

// The clock when `value` is there.
__device__ inline uint32_t now_with(float value) {
    uint32_t cycles = 0;
    asm volatile(
        "{.reg .pred there; setp.neu.f32 there, %1, 0f7e967699; @there mov.u32 %0, %%clock;}"
        : "+r"(cycles) : "f"(value) : "memory");
    return cycles;
}

// Where this thread writes what its warp saw; nowhere for most of them.
__device__ inline Seen* place_in(const Log& log, uint32_t& sm) {
    uint32_t thread = threadIdx.y * blockDim.x + threadIdx.x, block = blockIdx.y * gridDim.x + blockIdx.x;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    bool is_kept = thread % kWarp == 0 && (sm == log.sm || block % kEvery == 3);
    return is_kept ? log.seen + block * (blockDim.x * blockDim.y / kWarp) + thread / kWarp : nullptr;
}

enum class Work { copy, read, stencil };

// A word a thread, of a matrix in squares of the thread block's shape; a stencil adds the four neighbours.
template <Work work, bool watched>
__global__ void square(const float* from, float* to, int pitch, Log log) {
    uint32_t begin = watched ? now() : 0;
    size_t x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    size_t at = (y + 1) * pitch + x + 32;
    float value = from[at];
    if (work == Work::stencil) value += from[at - 1] + from[at + 1] + from[at - pitch] + from[at + pitch];
    uint32_t sm = 0;
    Seen* place = watched ? place_in(log, sm) : nullptr;
    uint32_t loaded = watched ? now_with(value) : 0;
    if (work != Work::read || value == 3e33f) to[at] = value;
    if (place) *place = {sm + 1, begin, loaded, now()};
}

__global__ void touch(const float* from, size_t count, float* kept) {
    float sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += from[i];
    if (sum == 3e33f) *kept = sum;
}

struct Block {
    uint32_t first, loaded, last;
};

bool is_earlier(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

double part(std::vector<uint32_t>& values, double share) {
    std::sort(values.begin(), values.end());
    return values[std::min(values.size() - 1, static_cast<size_t>(share * values.size()))];
}

// When the first warp of a thread block began, when the last one had its load, and ended.
Block block_of(const Seen* warps, int count) {
    Block block{warps[0].begin, warps[0].loaded, warps[0].end};
    for (int i = 1; i < count; ++i) {
        if (is_earlier(warps[i].begin, block.first)) block.first = warps[i].begin;
        if (is_earlier(block.loaded, warps[i].loaded)) block.loaded = warps[i].loaded;
        if (is_earlier(block.last, warps[i].end)) block.last = warps[i].end;
    }
    return block;
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

// Rows of what was seen of thread blocks of `warps` warps; `resident` of them can be there at a time.
void report(const char* name, const char* settings, const std::vector<Seen>& seen, int warps, int resident, uint32_t sm) {
    std::vector<uint32_t> waits;
    std::vector<double> latest, lives, later, there;
    uint32_t low = 0, high = 0;
    for (size_t at = 0; at + warps <= seen.size(); at += warps) {
        if (!seen[at].sm) continue;
        Block block = block_of(&seen[at], warps);
        if (seen[at].sm == sm + 1) {
            if (there.empty() || is_earlier(block.first, low)) low = block.first;
            if (there.empty() || is_earlier(high, block.last)) high = block.last;
            there.push_back(block.last - block.first);
            continue;
        }
        latest.push_back(block.loaded - block.first);
        lives.push_back(block.last - block.first);
        for (int i = 0; i < warps; ++i) {
            waits.push_back(seen[at + i].loaded - seen[at + i].begin);
            later.push_back(seen[at + i].begin - block.first);
        }
    }
    auto show = [&](const char* what, double value) {
        char text[160];
        std::snprintf(text, sizeof text, "%s %s", settings, what);
        row(name, text, value, "cycles");
    };
    double load = std::accumulate(waits.begin(), waits.end(), 0.0) / waits.size(), squares = 0;
    for (uint32_t wait : waits) squares += (wait - load) * (wait - load);
    show("load_mean", load);
    show("load_deviation", std::sqrt(squares / waits.size()));
    for (double share : {0.01, 0.1, 0.5, 0.9, 0.99}) {
        char what[32];
        std::snprintf(what, sizeof what, "load_p%g", 100 * share);
        show(what, part(waits, share));
    }
    show("block_latest_load", mean(latest));
    show("block_life", mean(lives));
    show("warp_begins_later", mean(later));
    show("block_life_of_one_sm", mean(there));
    show("between_blocks", static_cast<double>(high - low) * resident / there.size() - mean(there));
}

template <Work work>
void show(const char* name, const float* from, float* to, int width, int pitch, int x, int y, bool in_l2, Log log) {
    dim3 blocks(width / x, width / y), threads(x, y);
    char settings[96];
    std::snprintf(settings, sizeof settings, "width=%d pitch=%d threads=%dx%d%s", width, pitch, x, y, in_l2 ? " l2" : "");
    auto prepare = [&] {
        if (in_l2) touch<<<multiprocessors() * 2, 1024>>>(from, static_cast<size_t>(pitch) * (width + 2), to);
        else touch<<<multiprocessors() * 2, 1024>>>(from + kFloats - (64 << 20), 32 << 20, to);
    };
    double bytes = 4.0 * width * width * (work == Work::read ? 1 : 2);
    double taken = seconds([&] { square<work, false><<<blocks, threads>>>(from, to, pitch, log); }, prepare);
    row(name, settings, bytes / taken, "bytes/s");
    row(name, settings, taken, "s");
    size_t warps = static_cast<size_t>(blocks.x) * blocks.y * x * y / kWarp;
    std::vector<Seen> seen(std::min(warps, kMost));
    prepare();
    CHECK(cudaMemset(log.seen, 0, kMost * sizeof(Seen)));
    square<work, true><<<blocks, threads>>>(from, to, pitch, log);
    CHECK(cudaMemcpy(seen.data(), log.seen, seen.size() * sizeof(Seen), cudaMemcpyDeviceToHost));
    int resident = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, square<work, true>, x * y, 0));
    report(name, settings, seen, x * y / kWarp, resident, log.sm);
}

}  // namespace

int main() {
    header();
    auto from = allocate<float>(kFloats), to = allocate<float>(kFloats);
    Log log{allocate<Seen>(kMost), 7};
    std::vector<std::pair<int, int>> shapes{{8, 32},  {16, 16}, {32, 8},  {64, 4},   {128, 2},
                                            {256, 1}, {32, 32}, {64, 16}, {1024, 1}, {16, 8}, {128, 1}};
    for (auto [x, y] : shapes) {
        show<Work::copy>("copy", from, to, 16384, 16416, x, y, false, log);
        show<Work::read>("read", from, to, 16384, 16416, x, y, false, log);
        show<Work::read>("read", from, to, 2048, 2080, x, y, true, log);
        show<Work::copy>("copy", from, to, 2048, 2080, x, y, true, log);
        show<Work::stencil>("stencil", from, to, 16384, 16416, x, y, false, log);
    }
    for (auto [x, y] : std::vector<std::pair<int, int>>{{16, 16}, {32, 8}, {256, 1}})
        for (int pitch : {16384, 16448})
            show<Work::copy>("copy", from, to, 16384 - 64, pitch, x, y, false, log);
    return 0;
}
