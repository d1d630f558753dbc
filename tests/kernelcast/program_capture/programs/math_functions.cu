// Functions of the mathematical library agree with those of the host.
#include "check.h"

__global__ void all(const double *x, double *out, float *single, int n) {
  int i = threadIdx.x;
  if (i >= n) return;
  double at = x[i];
  double *mine = out + 8 * i;
  mine[0] = sin(at), mine[1] = exp(at), mine[2] = log(fabs(at) + 1), mine[3] = pow(fabs(at), 1.7);
  mine[4] = atan2(at, 2.0), mine[5] = erf(at), mine[6] = fmod(at, 0.7), mine[7] = cbrt(at);
  single[2 * i] = sinf((float)at) + tanhf((float)at), single[2 * i + 1] = __expf((float)at);
}

int main() {
  const int n = 64;
  std::vector<double> x(n);
  for (int i = 0; i < n; i++) x[i] = (i - 31.5) * 0.37;
  double *out;
  float *single;
  CHECK(cudaMalloc(&out, 8 * n * sizeof(double)));
  CHECK(cudaMalloc(&single, 2 * n * sizeof(float)));
  all<<<1, n>>>(on_device(x), out, single, n);
  std::vector<double> found = to_host(out, 8 * n);
  std::vector<float> coarse = to_host(single, 2 * n);
  for (int i = 0; i < n; i++) {
    double at = x[i];
    double expected[] = {sin(at), exp(at), log(fabs(at) + 1), pow(fabs(at), 1.7),
                         atan2(at, 2.0), erf(at), fmod(at, 0.7), cbrt(at)};
    for (int k = 0; k < 8; k++)
      EXPECT(fabs(found[8 * i + k] - expected[k]) <= 4e-15 * fmax(1, fabs(expected[k])));
    EXPECT(fabs(coarse[2 * i] - (sin(at) + tanh(at))) < 1e-6);
    EXPECT(fabs(coarse[2 * i + 1] / exp(at) - 1) < 1e-5);
  }
}
