// The second unit: what the first one calls, and a kernel of its own.
#include "check.h"

__device__ int calls = 100;
__device__ float shape(float x) { return x * x + 1; }

static __global__ void twice(float *x) { *x *= 2; }

float twice_on_device(float x) {
  float *place = on_device(std::vector<float>(1, x));
  twice<<<1, 1>>>(place);
  return to_host(place, 1)[0];
}
