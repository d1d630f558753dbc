// K-means in two streams: points are copied in halves while others are assigned to clusters.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "check.h"

constexpr int CLUSTERS = 16, STEPS = 8;
__constant__ float2 centres[CLUSTERS];

__global__ void assign(const float2 *points, int *cluster, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float best = INFINITY;
  for (int k = 0; k < CLUSTERS; k++) {
    float x = points[i].x - centres[k].x, y = points[i].y - centres[k].y;
    float distance = x * x + y * y;
    if (distance < best) best = distance, cluster[i] = k;
  }
}

__global__ void add_up(const float2 *points, const int *cluster, int count, float *sums) {
  __shared__ float own[3 * CLUSTERS];
  for (int i = threadIdx.x; i < 3 * CLUSTERS; i += blockDim.x) own[i] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    atomicAdd(&own[3 * cluster[i]], points[i].x);
    atomicAdd(&own[3 * cluster[i] + 1], points[i].y);
    atomicAdd(&own[3 * cluster[i] + 2], 1.0f);
  }
  __syncthreads();
  for (int j = threadIdx.x; j < 3 * CLUSTERS; j += blockDim.x) atomicAdd(&sums[j], own[j]);
}

int main() {
  const int count = 1 << 18, half = count / 2, block = 256;
  float2 *points;
  CHECK(cudaMallocHost(&points, count * sizeof(float2)));
  std::vector<float2> found(CLUSTERS);
  srand(1);
  for (int i = 0; i < count; i++) {
    float angle = 6.2831853f * (i % CLUSTERS) / CLUSTERS;
    points[i] = {10 * cosf(angle) + rand() / (float)RAND_MAX, 10 * sinf(angle) + rand() / (float)RAND_MAX};
  }
  for (int k = 0; k < CLUSTERS; k++) found[k] = points[k];

  float2 *on_device;
  int *cluster;
  float *sums;
  CHECK(cudaMalloc(&on_device, count * sizeof(float2)));
  CHECK(cudaMalloc(&cluster, count * sizeof(int)));
  CHECK(cudaMalloc(&sums, 3 * CLUSTERS * sizeof(float)));
  cudaStream_t streams[2];
  for (auto &stream : streams) CHECK(cudaStreamCreate(&stream));

  for (int step = 0; step < STEPS; step++) {
    CHECK(cudaMemcpyToSymbol(centres, found.data(), CLUSTERS * sizeof(float2)));
    CHECK(cudaMemset(sums, 0, 3 * CLUSTERS * sizeof(float)));
    CHECK(cudaDeviceSynchronize());
    for (int s = 0; s < 2; s++) {
      float2 *mine = on_device + s * half;
      int *own = cluster + s * half;
      if (step == 0)
        CHECK(cudaMemcpyAsync(mine, points + s * half, half * sizeof(float2), cudaMemcpyHostToDevice,
                              streams[s]));
      assign<<<half / block, block, 0, streams[s]>>>(mine, own, half);
      add_up<<<half / block, block, 0, streams[s]>>>(mine, own, half, sums);
    }
    float host[3 * CLUSTERS];
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int k = 0; k < CLUSTERS; k++)
      if (host[3 * k + 2] > 0) found[k] = {host[3 * k] / host[3 * k + 2], host[3 * k + 1] / host[3 * k + 2]};
  }
  for (int k = 0; k < CLUSTERS; k++) {
    float angle = 6.2831853f * k / CLUSTERS;
    if (hypotf(found[k].x - 10 * cosf(angle) - 0.5f, found[k].y - 10 * sinf(angle) - 0.5f) > 0.05f)
      return printf("cluster %d is wrong\n", k), 1;
  }
  printf("%d points in %d clusters: right\n", count, CLUSTERS);
  return 0;
}
