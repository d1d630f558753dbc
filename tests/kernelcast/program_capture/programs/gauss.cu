// Gaussian elimination: two kernels for each column, whose counter is another one at each launch.
#include "check.h"

__global__ void multipliers(float *m, const float *a, int n, int t) {
  int row = blockIdx.x * blockDim.x + threadIdx.x + t + 1;
  if (row < n) m[row * n + t] = a[row * n + t] / a[t * n + t];
}

__global__ void eliminate(const float *m, float *a, float *b, int n, int t) {
  int row = blockIdx.y * blockDim.y + threadIdx.y + t + 1;
  int column = blockIdx.x * blockDim.x + threadIdx.x + t;
  if (row >= n || column >= n) return;
  a[row * n + column] -= m[row * n + t] * a[t * n + column];
  if (column == t) b[row] -= m[row * n + t] * b[t];
}

int main() {
  const int n = 48;
  std::vector<float> a(n * n), b(n, 0), none(n * n, 0), x(n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i * n + j] = i == j ? n : 1.0f / (1 + i + j);
      b[i] += a[i * n + j] * (j % 5 + 1);
    }
  float *da = on_device(a), *db = on_device(b), *dm = on_device(none);
  for (int t = 0; t < n - 1; t++) {
    multipliers<<<1, 64>>>(dm, da, n, t);
    eliminate<<<dim3(3, 3), dim3(16, 16)>>>(dm, da, db, n, t);
  }
  CHECK(cudaDeviceSynchronize());
  a = to_host(da, n * n), b = to_host(db, n);
  for (int i = n - 1; i >= 0; i--) {
    x[i] = b[i];
    for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
    EXPECT(fabsf(x[i] - (i % 5 + 1)) < 1e-3f);
  }
}
