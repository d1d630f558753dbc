// Memory that host and device share: allocations and variables, structs with pointers included.
#include "check.h"

__managed__ int total;
__managed__ float weights[4] = {0.5f, 1, 2, 4};

struct Body {
  float *values;
  int count;
};

__global__ void weigh(Body *body) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= body->count) return;
  body->values[i] *= weights[i % 4];
  atomicAdd(&total, 1);
}

int main() {
  EXPECT(weights[3] == 4 && total == 0);
  Body *body;
  CHECK(cudaMallocManaged(&body, sizeof(Body)));
  body->count = 100;
  CHECK(cudaMallocManaged(&body->values, body->count * sizeof(float)));
  for (int i = 0; i < body->count; i++) body->values[i] = i;
  total = 5;
  weights[0] = 10;
  weigh<<<1, 128>>>(body);
  CHECK(cudaDeviceSynchronize());
  EXPECT(total == 105);
  for (int i = 0; i < body->count; i++) EXPECT(body->values[i] == i * weights[i % 4]);
  cudaPointerAttributes about;
  CHECK(cudaPointerGetAttributes(&about, body));
  EXPECT(about.type == cudaMemoryTypeManaged && about.devicePointer == body);
  EXPECT(about.hostPointer == body);
  CHECK(cudaPointerGetAttributes(&about, &about));
  EXPECT(about.type == cudaMemoryTypeUnregistered);
  CHECK(cudaFree(body->values));
  CHECK(cudaFree(body));
}
