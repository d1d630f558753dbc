// Points, graphs and transforms: k-means, n-body, sparse matrices, shortest ways, FFT.
#include <hip/hip_runtime.h>

constexpr int kFeatures = 16, kMostCentres = 64;

extern "C" __global__ void kmeans_assign(const float *points, const float *centres, int *nearest,
                                         float *squared_distance, int n, int centre_count) {
  __shared__ float staged[kMostCentres * kFeatures];
  for (int j = threadIdx.x; j < centre_count * kFeatures; j += blockDim.x) staged[j] = centres[j];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float point[kFeatures];
#pragma unroll
  for (int f = 0; f < kFeatures; ++f) point[f] = points[f * n + i];
  int best = 0;
  float least = INFINITY;
  for (int c = 0; c < centre_count; ++c) {
    float distance = 0.0f;
#pragma unroll
    for (int f = 0; f < kFeatures; ++f) {
      float difference = point[f] - staged[c * kFeatures + f];
      distance += difference * difference;
    }
    if (distance < least) least = distance, best = c;
  }
  nearest[i] = best;
  squared_distance[i] = least;
}

constexpr int kBodies = 128;

extern "C" __global__ __launch_bounds__(kBodies) void nbody(const float4 *bodies, float4 *accelerations,
                                                            int count, float softening) {
  __shared__ float4 tile[kBodies];
  int i = blockIdx.x * kBodies + threadIdx.x;
  const float4 nobody = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float4 body = i < count ? bodies[i] : nobody;
  float3 acceleration = make_float3(0.0f, 0.0f, 0.0f);
  for (int first = 0; first < count; first += kBodies) {
    int other = first + threadIdx.x;
    tile[threadIdx.x] = other < count ? bodies[other] : nobody;
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < kBodies; ++k) {
      float x = tile[k].x - body.x, y = tile[k].y - body.y, z = tile[k].z - body.z;
      float inverse = rsqrtf(x * x + y * y + z * z + softening);
      float strength = tile[k].w * inverse * inverse * inverse;
      acceleration.x += x * strength;
      acceleration.y += y * strength;
      acceleration.z += z * strength;
    }
    __syncthreads();
  }
  if (i < count) accelerations[i] = make_float4(acceleration.x, acceleration.y, acceleration.z, 0.0f);
}

extern "C" __global__ void spmv_csr_scalar(const int *row_starts, const int *columns,
                                           const double *values, const double *x, double *y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double sum = 0.0;
  int end = row_starts[row + 1];
  for (int i = row_starts[row]; i < end; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

// One step of Floyd and Warshall: ways over node `over`.
extern "C" __global__ void floyd_warshall(int *distance, int *via, int nodes, int over) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= nodes || column >= nodes) return;
  int way = distance[row * nodes + over] + distance[over * nodes + column];
  if (way < distance[row * nodes + column]) {
    distance[row * nodes + column] = way;
    via[row * nodes + column] = over;
  }
}

// Transforms of 512 complex numbers: three passes of radix 8 in Stockham's order.
constexpr int kThreads = 64, kRadix = 8, kLength = kThreads * kRadix;
constexpr float kSqrtHalf = 0.70710678118654752f;

__device__ __forceinline__ float2 times(float2 a, float2 b) {
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__device__ __forceinline__ float2 times_minus_i(float2 a) { return make_float2(a.y, -a.x); }
__device__ __forceinline__ void transform4(float2 &a, float2 &b, float2 &c, float2 &d) {
  float2 even_sum = a + c, even_difference = a - c;
  float2 odd_sum = b + d, odd_difference = times_minus_i(b - d);
  a = even_sum + odd_sum;
  b = even_difference + odd_difference;
  c = even_sum - odd_sum;
  d = even_difference - odd_difference;
}
__device__ __forceinline__ void transform8(float2 (&v)[kRadix]) {
  transform4(v[0], v[2], v[4], v[6]);
  transform4(v[1], v[3], v[5], v[7]);
  const float2 odd[4] = {v[1], make_float2(kSqrtHalf * (v[3].x + v[3].y), kSqrtHalf * (v[3].y - v[3].x)),
                         times_minus_i(v[5]),
                         make_float2(kSqrtHalf * (v[7].y - v[7].x), -kSqrtHalf * (v[7].x + v[7].y))};
  const float2 even[4] = {v[0], v[2], v[4], v[6]};
#pragma unroll
  for (int k = 0; k < kRadix / 2; ++k) {
    v[k] = even[k] + odd[k];
    v[k + kRadix / 2] = even[k] - odd[k];
  }
}

extern "C" __global__ void fft512(const float2 *input, const float2 *roots, float2 *output) {
  __shared__ float2 exchange[kLength];
  int thread = threadIdx.x;
  size_t first = (size_t)blockIdx.x * kLength;
  float2 v[kRadix];
#pragma unroll
  for (int k = 0; k < kRadix; ++k) v[k] = input[first + thread + k * kThreads];
#pragma unroll
  for (int length = 1; length < kLength; length *= kRadix) {
    int within = thread % length;
    if (length > 1) {
#pragma unroll
      for (int k = 0; k < kRadix; ++k) v[k] = exchange[thread + k * kThreads];
      __syncthreads();
#pragma unroll
      for (int k = 1; k < kRadix; ++k) v[k] = times(v[k], roots[k * within * (kThreads / length)]);
    }
    transform8(v);
    if (length < kThreads) {
      int place = (thread - within) * kRadix + within;
#pragma unroll
      for (int k = 0; k < kRadix; ++k) exchange[place + k * length] = v[k];
      __syncthreads();
    }
  }
#pragma unroll
  for (int k = 0; k < kRadix; ++k) output[first + thread + k * kThreads] = v[k];
}
