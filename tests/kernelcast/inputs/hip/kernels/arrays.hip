// Arrays and matrices: sums of vectors, transposes, meshes, filters, products of matrices.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

extern "C" __global__ void vector_add(const float *x, const float *y, float *sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = x[i] + y[i];
}

constexpr int kTile = 32, kRowsAtOnce = 8;

extern "C" __global__ void transpose_naive(float *to, const float *from, int rows, int columns) {
  int column = blockIdx.x * kTile + threadIdx.x;
  for (int down = 0; down < kTile; down += kRowsAtOnce) {
    int row = blockIdx.y * kTile + threadIdx.y + down;
    if (row < rows && column < columns) to[column * rows + row] = from[row * columns + column];
  }
}

extern "C" __global__ void transpose_tiled(float *to, const float *from, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  int x = threadIdx.x, y = threadIdx.y;
  int first_column = blockIdx.x * kTile, first_row = blockIdx.y * kTile;
  for (int down = 0; down < kTile; down += kRowsAtOnce) {
    int row = first_row + y + down;
    if (row < rows && first_column + x < columns)
      tile[y + down][x] = from[row * columns + first_column + x];
  }
  __syncthreads();
  for (int down = 0; down < kTile; down += kRowsAtOnce) {
    int column = first_column + y + down;
    if (column < columns && first_row + x < rows)
      to[column * rows + first_row + x] = tile[x][y + down];
  }
}

extern "C" __global__ void star5_2d(float *__restrict__ to, const float *__restrict__ from,
                                    float centre, float beside, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
  if (x >= width - 1 || y >= height - 1) return;
  int i = y * width + x;
  to[i] = centre * from[i] + beside * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
}

struct Weights {
  float value[3][3];
};

extern "C" __global__ void convolution2d(const float *in, float *out, Weights weights, int width,
                                         int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0.0f;
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    int row = y + j - 1;
    if (row < 0 || row >= height) continue;
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      int column = x + i - 1;
      if (column >= 0 && column < width) sum += weights.value[j][i] * in[row * width + column];
    }
  }
  out[y * width + x] = sum;
}

// A filter of finite response: taps in constant memory, a stretch of the signal in shared memory.
constexpr int kTaps = 16;
__constant__ float taps[kTaps] = {0.5f,  -0.25f, 0.125f, 1.0f,  -1.5f, 0.75f, 0.375f, -0.0625f,
                                  2.25f, 0.25f,  -0.5f,  0.75f, 1.25f, -1.0f, 0.625f, 0.875f};
extern "C" __global__ void fir(const float *signal, float *filtered, int n) {
  HIP_DYNAMIC_SHARED(float, stretch)
  int first = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < (int)blockDim.x + kTaps - 1; i += blockDim.x)
    stretch[i] = first + i < n + kTaps - 1 ? signal[first + i] : 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int tap = 0; tap < kTaps; ++tap) sum += taps[tap] * stretch[threadIdx.x + tap];
  if (first + (int)threadIdx.x < n) filtered[first + threadIdx.x] = sum;
}

// Patches of 3 x 3 of an image of several channels as columns of a matrix.
extern "C" __global__ void im2col(const float *image, float *columns, int channels, int height,
                                  int width) {
  int place = blockIdx.x * blockDim.x + threadIdx.x;
  int out_height = height - 2, out_width = width - 2;
  if (place >= channels * out_height * out_width) return;
  int x = place % out_width, y = place / out_width % out_height, channel = place / out_width / out_height;
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      columns[((channel * 9 + j * 3 + i) * out_height + y) * out_width + x] =
          image[(channel * height + y + j) * width + x + i];
}

template <int side>
__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
  __shared__ float a_tile[side][side], b_tile[side][side];
  int x = threadIdx.x, y = threadIdx.y;
  int column = blockIdx.x * side + x, row = blockIdx.y * side + y;
  float sum = 0;
  for (int first = 0; first < k; first += side) {
    a_tile[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
    b_tile[y][x] = first + y < k && column < n ? b[(first + y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < side; ++i) sum += a_tile[y][i] * b_tile[i][x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

#if __has_builtin(__builtin_amdgcn_mfma_f32_16x16x16f16)
// A tile of 16 x 16 by one wavefront: A is m x k and B is k x n of half, C of float.
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef float float_4 __attribute__((ext_vector_type(4)));
extern "C" __global__ void matrix_core_product(const _Float16 *a, const _Float16 *b, float *c, int m,
                                               int n, int k) {
  int lane = threadIdx.x % 64, group = lane / 16, within = lane % 16;
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  float_4 sums = {0, 0, 0, 0};
  for (int first = 0; first < k; first += 16) {
    half4 of_a, of_b;
    for (int i = 0; i < 4; ++i) {
      of_a[i] = a[(row + within) * k + first + group * 4 + i];
      of_b[i] = b[(first + group * 4 + i) * n + column + within];
    }
    sums = __builtin_amdgcn_mfma_f32_16x16x16f16(of_a, of_b, sums, 0, 0, 0);
  }
  for (int i = 0; i < 4; ++i) c[(row + group * 4 + i) * n + column + within] = sums[i];
}
#endif

int main() {
  multiply<16><<<dim3(1), dim3(16, 16)>>>(nullptr, nullptr, nullptr, 16, 16, 16);
  return hipDeviceSynchronize() != hipSuccess;
}
