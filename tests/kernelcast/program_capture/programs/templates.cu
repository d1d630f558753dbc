// Kernels from templates and lambdas, with functors as arguments (--extended-lambda).
#include "check.h"

template <class T, class F>
__global__ void each(T *x, int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = f(x[i], i);
}
template <int Factor>
struct Times {
  int added;
  __device__ short operator()(short x, int) const { return x * Factor + added; }
};
struct Base {
  __device__ virtual float area() const = 0;
};
struct Square : Base {
  float side;
  __device__ Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Disc : Base {
  float radius;
  __device__ Disc(float r) : radius(r) {}
  __device__ float area() const override { return 3 * radius * radius; }
};
__global__ void areas(float *x) {
  Square square(3);
  Disc disc(2);
  const Base *shape = threadIdx.x % 2 ? (const Base *)&disc : &square;
  x[threadIdx.x] = shape->area();
}

int main() {
  const int n = 100;
  double *d = on_device(std::vector<double>(n, 1.5));
  short *s = on_device(std::vector<short>(n, 4));
  double scale = 0.25;
  long long shift = 1ll << 40;
  each<<<1, 128>>>(d, n, [=] __device__(double x, int i) { return x * scale + i + shift; });
  each<<<1, 128>>>(s, n, Times<5>{2});
  each<<<1, 128>>>(s, n, Times<3>{1});
  std::vector<double> found = to_host(d, n);
  for (int i = 0; i < n; i++) EXPECT(found[i] == 0.375 + i + shift);
  for (short value : to_host(s, n)) EXPECT(value == 67);
  float *x = on_device(std::vector<float>(2, 0));
  areas<<<1, 2>>>(x);
  EXPECT(to_host(x, 2)[0] == 9 && to_host(x, 2)[1] == 12);
}
