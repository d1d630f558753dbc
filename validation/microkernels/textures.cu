// Texels that one SM reads a cycle, by format and filter, from an image that L1 holds.
//
//     nvcc -arch=native -o textures textures.cu && ./textures > textures.csv
//
// Each lane reads texels beside those of its neighbours; the slowest warp's clock counts.

#include "measuring.cuh"

#include <cuda_fp16.h>

namespace {

constexpr int kSide = 32;
constexpr int kReads = 256;
constexpr float kStep = 1.0f / 16;  // reads of a lane differ, so that no compiler does one for many

template <typename Texel>
__device__ float first_of(Texel texel) { return texel.x; }
template <>
__device__ float first_of(float texel) { return texel; }

template <typename Texel>
__global__ void read(cudaTextureObject_t image, float shift, float step, int64_t* cycles, float* kept) {
    float x = threadIdx.x % kSide + shift, y = threadIdx.x / kSide + shift;
    float sum = 0;
    int64_t taken = 0;
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {  // the first one loads code and image
        __syncthreads();
        int64_t start = clock64();
#pragma unroll 8
        for (int i = 0; i < kReads; ++i) sum += first_of(tex2D<Texel>(image, x + step * i, y + step * i));
        if (sum == 1e33f) kept[0] = sum;
        taken = clock64() - start;
    }
    cycles[threadIdx.x] = taken;
}

template <typename Texel>
void show(const char* format, cudaChannelFormatDesc channels, bool is_normalised, int64_t* cycles, float* kept) {
    cudaArray_t memory;
    CHECK(cudaMallocArray(&memory, &channels, 2 * kSide, 2 * kSide));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = memory;
    for (bool is_linear : {false, true}) {
        cudaTextureDesc sampling = {};
        sampling.filterMode = is_linear ? cudaFilterModeLinear : cudaFilterModePoint;
        sampling.readMode = is_normalised ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
        cudaTextureObject_t image;
        CHECK(cudaCreateTextureObject(&image, &resource, &sampling, nullptr));
        for (int threads : {32, 128, 256, 1024}) {
            std::vector<int64_t> found(threads);
            read<Texel><<<1, threads>>>(image, is_linear ? 0.75f : 0.5f, kStep, cycles, kept);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(found.data(), cycles, found.size() * 8, cudaMemcpyDeviceToHost));
            double most = static_cast<double>(*std::max_element(found.begin(), found.end()));
            char settings[96];
            std::snprintf(settings, sizeof settings, "format=%s filter=%s threads=%d", format,
                          is_linear ? "linear" : "point", threads);
            row("texture", settings, threads * kReads / most, "texels a cycle of an SM");
        }
        CHECK(cudaDestroyTextureObject(image));
    }
    CHECK(cudaFreeArray(memory));
}

}  // namespace

int main() {
    header();
    int64_t* cycles = allocate<int64_t>(1024);
    float* kept = allocate<float>(1024);
    show<float>("r8", cudaCreateChannelDesc<unsigned char>(), true, cycles, kept);
    show<float4>("rgba8", cudaCreateChannelDesc<uchar4>(), true, cycles, kept);
    show<float>("r16", cudaCreateChannelDesc<unsigned short>(), true, cycles, kept);
    show<float>("r16f", cudaCreateChannelDescHalf(), false, cycles, kept);
    show<float4>("rgba16f", cudaCreateChannelDescHalf4(), false, cycles, kept);
    show<float>("r32f", cudaCreateChannelDesc<float>(), false, cycles, kept);
    show<float2>("rg32f", cudaCreateChannelDesc<float2>(), false, cycles, kept);
    show<float4>("rgba32f", cudaCreateChannelDesc<float4>(), false, cycles, kept);
    return 0;
}
