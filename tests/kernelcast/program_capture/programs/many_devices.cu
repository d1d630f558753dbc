// A program for several GPUs, which spreads its work over as many as there are.
#include "check.h"

__global__ void fill(int *x, int n, int value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

int main() {
  const int n = 240;
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));
  EXPECT(devices >= 1);
  std::vector<int *> parts(devices);
  std::vector<cudaStream_t> streams(devices);
  for (int d = 0; d < devices; d++) {
    CHECK(cudaSetDevice(d));
    for (int other = 0; other < devices; other++) {
      int can = 0;
      if (other != d) CHECK(cudaDeviceCanAccessPeer(&can, d, other));
      if (can) CHECK(cudaDeviceEnablePeerAccess(other, 0));
    }
    CHECK(cudaStreamCreate(&streams[d]));
    CHECK(cudaMalloc(&parts[d], n / devices * sizeof(int)));
    fill<<<1, 256, 0, streams[d]>>>(parts[d], n / devices, d + 1);
  }
  for (int d = 0; d < devices; d++) {
    CHECK(cudaSetDevice(d));
    CHECK(cudaStreamSynchronize(streams[d]));
    for (int value : to_host(parts[d], n / devices)) EXPECT(value == d + 1);
  }
  char bus[32];
  int same = -1;
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  CHECK(cudaDeviceGetByPCIBusId(&same, bus));
  EXPECT(same == 0);
}
