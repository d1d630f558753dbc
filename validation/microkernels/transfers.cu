// What host and link take: copies by size, direction and kind of memory, and calls that launch.
//
//     nvcc -arch=native -o transfers transfers.cu && ./transfers > transfers.csv
//
// Seconds of blocking calls are those of the host's clock, medians of several.

#include "measuring.cuh"

#include <chrono>
#include <cstring>

namespace {

__global__ void nothing() {}

double host_seconds(const std::function<void()>& call) {
    std::vector<double> found;
    for (int turn = 0; turn <= kRepeats; ++turn) {
        CHECK(cudaDeviceSynchronize());
        auto start = std::chrono::steady_clock::now();
        call();
        std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
        if (turn > 0) found.push_back(taken.count());
    }
    return median(found);
}

void show_copies(const char* kind, char* host, char* device) {
    for (size_t bytes : {size_t(4), size_t(4) << 10, size_t(64) << 10, size_t(1) << 20, size_t(16) << 20, size_t(256) << 20}) {
        char settings[96];
        std::snprintf(settings, sizeof settings, "memory=%s bytes=%zu", kind, bytes);
        row("to_device", settings, host_seconds([&] { CHECK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice)); }), "s");
        row("to_host", settings, host_seconds([&] { CHECK(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost)); }), "s");
        row("to_device_events", settings, seconds([&] { CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice)); }), "s");
        row("to_host_events", settings, seconds([&] { CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost)); }), "s");
    }
}

}  // namespace

int main() {
    header();
    constexpr size_t kBytes = size_t(256) << 20;
    char* device = allocate<char>(kBytes);
    char* other = allocate<char>(kBytes);
    std::vector<char> pageable(kBytes, 1);
    char* locked = nullptr;
    CHECK(cudaMallocHost(&locked, kBytes));
    std::memset(locked, 1, kBytes);
    show_copies("page-locked", locked, device);
    show_copies("pageable", pageable.data(), device);
    for (size_t bytes : {size_t(4), size_t(1) << 20, kBytes}) {
        char settings[64];
        std::snprintf(settings, sizeof settings, "bytes=%zu", bytes);
        row("device_to_device", settings, seconds([&] { CHECK(cudaMemcpyAsync(other, device, bytes, cudaMemcpyDeviceToDevice)); }), "s");
        row("fill", settings, seconds([&] { CHECK(cudaMemsetAsync(device, 0, bytes)); }), "s");
    }
    // calls that return at once: below what the queue holds, then with a full queue
    for (int many : {1, 100, 500}) {
        char settings[64];
        std::snprintf(settings, sizeof settings, "launches=%d", many);
        row("launch_calls", settings, host_seconds([&] { for (int i = 0; i < many; ++i) nothing<<<1, 32>>>(); }) / many, "s of the host for a launch");
        row("launch_and_wait", settings, host_seconds([&] { for (int i = 0; i < many; ++i) { nothing<<<1, 32>>>(); CHECK(cudaDeviceSynchronize()); } }) / many, "s for a launch");
    }
    return 0;
}
