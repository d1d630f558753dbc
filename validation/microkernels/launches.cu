// Seconds of launches and cycles of thread blocks: what a kernel costs that does nothing.
//
//     nvcc -arch=native -o launches launches.cu && ./launches > launches.csv

#include "measuring.cuh"

namespace {

__global__ void nothing() {}

__global__ void one_store(int* to) {
    if (threadIdx.x == 0) to[blockIdx.x] = 1;
}

enum class Life { thread_x, thread_xy, place_xy, copies };

// Warps of a few instructions: where they are, and a word that is written, or copied. What they
// touch is `mask` + 1 words, which L2 holds.
template <Life life>
__global__ void short_lived(const float* from, float* to, unsigned mask) {
    unsigned at = threadIdx.x;
    if (life != Life::thread_x) at += threadIdx.y * blockDim.x;
    if (life == Life::place_xy || life == Life::copies)
        at = ((blockIdx.y * blockDim.y + threadIdx.y) * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
    to[at & mask] = life == Life::copies ? from[at & mask] : 1.0f;
}

// Thread blocks that stay for a while: the next one of an SM begins when one has ended.
__global__ void wait(int64_t cycles, int64_t* ends) {
    int64_t start = clock64();
    while (clock64() - start < cycles) {}
    if (threadIdx.x == 0 && ends) ends[blockIdx.x] = clock64();
}

// Code that no loop executes again: `kLines` x 32 multiply-adds in a row.
template <int kLines>
__global__ void straight(float* to, int rounds, int64_t* cycles) {
    float x = to[threadIdx.x], y = x + 1, z = x + 2, w = x + 3;
    int64_t taken = 0;
#pragma unroll 1
    for (int round = 0; round < rounds; ++round) {
        int64_t start = clock64();
#pragma unroll
        for (int line = 0; line < kLines; ++line) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(y));
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(z));
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(w));
            }
        }
        taken = clock64() - start;
        if (threadIdx.x == 0) cycles[blockIdx.x * rounds + round] = taken;
    }
    to[threadIdx.x] = x + y + z + w;
}

void show_grid(int blocks, int threads, size_t shared) {
    CHECK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
    char settings[64];
    std::snprintf(settings, sizeof settings, "blocks=%d threads=%d shared_kib=%zu", blocks, threads, shared / 1024);
    row("nothing", settings, seconds([&] { nothing<<<blocks, threads, shared>>>(); }), "s");
}

template <Life life>
void show_short(const char* name, float* memory, int x, int y) {
    int sms = multiprocessors(), many = 128 * 1024 / (x * y);  // 64 full waves of threads
    char settings[64];
    std::snprintf(settings, sizeof settings, "threads=%dx%d blocks_of_sm=%d", x, y, many);
    auto taken = [&](int turns) {
        dim3 blocks(sms, many * turns);
        return seconds([&] { short_lived<life><<<blocks, dim3(x, y)>>>(memory, memory + (1 << 21), (1 << 20) - 1); });
    };
    row(name, settings, (taken(3) - taken(1)) / (2 * many), "s of an SM for each thread block");
}

template <int kLines>
void show_straight(float* to, int64_t* cycles, int threads, int blocks) {
    constexpr int kRounds = 4;
    std::vector<int64_t> found(static_cast<size_t>(kRounds) * blocks);
    straight<kLines><<<blocks, threads>>>(to, kRounds, cycles);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(found.data(), cycles, found.size() * 8, cudaMemcpyDeviceToHost));
    for (int round : {0, 1, 3}) {
        int64_t most = 0;
        for (int block = 0; block < blocks; ++block) most = std::max(most, found[block * kRounds + round]);
        char settings[96];
        std::snprintf(settings, sizeof settings, "kib=%d threads=%d blocks=%d round=%d", kLines / 2, threads, blocks, round);
        row("straight", settings, static_cast<double>(most) / (kLines * 32), "cycles of an instruction");
    }
}

}  // namespace

int main() {
    header();
    int sms = multiprocessors();
    int* to = allocate<int>(1 << 22);
    float* floats = allocate<float>(1 << 12);
    int64_t* cycles = allocate<int64_t>(1 << 20);
    for (int threads : {32, 128, 256, 1024})
        for (int blocks : {1, sms, 8 * sms, 64 * sms, 512 * sms}) show_grid(blocks, threads, 0);
    for (int blocks : {sms, 8 * sms, 64 * sms}) show_grid(blocks, 128, 100 * 1024);
    for (int blocks : {sms, 8 * sms, 64 * sms}) show_grid(blocks, 128, 200 * 1024);
    for (int blocks : {1, sms, 64 * sms}) {
        char settings[64];
        std::snprintf(settings, sizeof settings, "blocks=%d threads=128", blocks);
        row("one_store", settings, seconds([&] { one_store<<<blocks, 128>>>(to); }), "s");
    }
    // launches in a row between two events: the slope is what one of them adds
    for (int many : {1, 2, 10, 100}) {
        char settings[64];
        std::snprintf(settings, sizeof settings, "launches=%d", many);
        row("in_a_row", settings, seconds([&] { for (int i = 0; i < many; ++i) nothing<<<1, 32>>>(); }), "s");
        row("in_a_row_full", settings, seconds([&] { for (int i = 0; i < many; ++i) wait<<<sms, 128>>>(20000, nullptr); }), "s");
    }
    float* words = allocate<float>(1 << 22);
    for (auto [x, y] : std::vector<std::pair<int, int>>{{32, 1}, {64, 1}, {128, 1}, {256, 1}, {1024, 1}, {16, 16}, {32, 8}, {32, 32}, {8, 8}}) {
        show_short<Life::thread_x>("short_thread_x", words, x, y);
        show_short<Life::thread_xy>("short_thread_xy", words, x, y);
        show_short<Life::place_xy>("short_place_xy", words, x, y);
        show_short<Life::copies>("short_copies", words, x, y);
    }
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    for (int many : {1, 10, 100}) {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        for (int i = 0; i < many; ++i) nothing<<<1, 32, 0, stream>>>();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&executable, graph, 0));
        char settings[64];
        std::snprintf(settings, sizeof settings, "launches=%d", many);
        row("in_a_graph", settings, seconds([&] { CHECK(cudaGraphLaunch(executable, nullptr)); }), "s");
    }
    CHECK(cudaFuncSetAttribute(wait, cudaFuncAttributeMaxDynamicSharedMemorySize, 120 * 1024));
    // thread blocks that wait a known time: what is over goes to launch and dispatch
    for (int waves : {1, 2, 4, 8})
        for (int64_t stay : {1000, 10000}) {
            char settings[64];
            std::snprintf(settings, sizeof settings, "waves=%d cycles=%d", waves, static_cast<int>(stay));
            row("waves_of_one", settings, seconds([&] { wait<<<waves * sms, 1024, 120 * 1024>>>(stay, nullptr); }), "s");
        }
    for (int threads : {32, 128, 1024}) {
        show_straight<8>(floats, cycles, threads, 1);
        show_straight<32>(floats, cycles, threads, 1);
        show_straight<64>(floats, cycles, threads, 1);
        show_straight<128>(floats, cycles, threads, 1);
        show_straight<256>(floats, cycles, threads, 1);
        show_straight<384>(floats, cycles, threads, 1);
        show_straight<1024>(floats, cycles, threads, 1);
    }
    show_straight<64>(floats, cycles, 128, sms);
    show_straight<1024>(floats, cycles, 128, sms);
    return 0;
}
