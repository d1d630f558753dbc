// What threads combine: sums by shuffles, scans, histograms, sorting, rows of matrices.
#include <hip/hip_runtime.h>

constexpr int kThreads = 256;

__device__ float wavefront_sum(float sum) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) sum += __shfl_down(sum, distance);
  return sum;
}

extern "C" __global__ void partial_sums(const float *values, float *sums, int n) {
  __shared__ float of_wavefronts[kThreads / 32];
  int lane = threadIdx.x % warpSize, wavefront = threadIdx.x / warpSize;
  float sum = 0.0f;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += values[i];
  sum = wavefront_sum(sum);
  if (lane == 0) of_wavefronts[wavefront] = sum;
  __syncthreads();
  if (wavefront == 0) {
    sum = wavefront_sum(lane < kThreads / warpSize ? of_wavefronts[lane] : 0.0f);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}

// Inclusive sums of every 256 integers, and where a ballot says that odd numbers are.
extern "C" __global__ void scan(const int *values, int *prefix, unsigned long long *odd, int n) {
  __shared__ int of_wavefronts[kThreads / 32];
  int i = blockIdx.x * kThreads + threadIdx.x;
  int lane = threadIdx.x % warpSize, wavefront = threadIdx.x / warpSize;
  int value = i < n ? values[i] : 0;
  unsigned long long where = __ballot(value & 1);
  if (lane == 0) odd[i / warpSize] = where;
  int sum = value;
  for (int distance = 1; distance < warpSize; distance *= 2) {
    int before = __shfl_up(sum, distance);
    if (lane >= distance) sum += before;
  }
  if (lane == warpSize - 1) of_wavefronts[wavefront] = sum;
  __syncthreads();
  for (int w = 0; w < wavefront; ++w) sum += of_wavefronts[w];
  if (i < n) prefix[i] = sum;
}

extern "C" __global__ void shared_atomics(const unsigned *words, unsigned *bins, int n) {
  __shared__ unsigned counts[256];
  counts[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    unsigned word = words[i];
    atomicAdd(&counts[word & 0xff], 1u);
    atomicAdd(&counts[(word >> 8) & 0xff], 1u);
    atomicAdd(&counts[(word >> 16) & 0xff], 1u);
    atomicAdd(&counts[word >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

extern "C" __global__ void bitonic_sort(unsigned *keys, int n) {
  constexpr int kKeys = 4 * kThreads;
  __shared__ unsigned stretch[kKeys];
  int thread = threadIdx.x, first = blockIdx.x * kKeys;
#pragma unroll
  for (int k = 0; k < kKeys; k += kThreads)
    stretch[k + thread] = first + k + thread < n ? keys[first + k + thread] : 0xffffffff;
#pragma unroll 1
  for (int length = 2; length <= kKeys; length *= 2) {
#pragma unroll 1
    for (int distance = length / 2; distance > 0; distance /= 2) {
      __syncthreads();
#pragma unroll
      for (int k = 0; k < kKeys / 2; k += kThreads) {
        int pair = k + thread, low = 2 * pair - (pair & (distance - 1)), high = low + distance;
        unsigned a = stretch[low], b = stretch[high];
        if ((a > b) != ((low & length) != 0)) stretch[low] = b, stretch[high] = a;
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kKeys; k += kThreads)
    if (first + k + thread < n) keys[first + k + thread] = stretch[k + thread];
}

template <typename Combine>
__device__ float combined(float *partial, float value, Combine combine) {
  int thread = threadIdx.x;
  partial[thread] = value;
  __syncthreads();
#pragma unroll 1
  for (int active = kThreads / 2; active > 0; active /= 2) {
    if (thread < active) partial[thread] = combine(partial[thread], partial[thread + active]);
    __syncthreads();
  }
  float result = partial[0];
  __syncthreads();
  return result;
}

extern "C" __global__ void softmax(const float *x, float *y, int columns) {
  __shared__ float partial[kThreads];
  const float *row = x + (size_t)blockIdx.x * columns;
  float *out = y + (size_t)blockIdx.x * columns;
  float largest = -INFINITY;
  for (int c = threadIdx.x; c < columns; c += kThreads) largest = fmaxf(largest, row[c]);
  largest = combined(partial, largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kThreads) sum += expf(row[c] - largest);
  sum = combined(partial, sum, [](float a, float b) { return a + b; });
  for (int c = threadIdx.x; c < columns; c += kThreads) out[c] = expf(row[c] - largest) / sum;
}

// A row for every 32 threads, two of which a wavefront of 64 lanes has.
constexpr int kLanes = 32;
__device__ float row_sum(float value) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) value += __shfl_xor(value, distance, kLanes);
  return value;
}

extern "C" __global__ void layernorm(const float *x, const float *gamma, const float *beta, float *y,
                                     int rows, int columns, float epsilon) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float *in = x + (size_t)row * columns;
  float *out = y + (size_t)row * columns;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kLanes) sum += in[c];
  float mean = row_sum(sum) / columns;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < columns; c += kLanes) {
    float difference = in[c] - mean;
    squares += difference * difference;
  }
  float scale = rsqrtf(row_sum(squares) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += kLanes)
    out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
}
