// Threads of all thread blocks wait for each other: prefix sums in one launch.
#include <cooperative_groups.h>

#include "check.h"
namespace cg = cooperative_groups;

__global__ void scan(int *x, int *other, int n) {
  cg::grid_group grid = cg::this_grid();
  int i = grid.thread_rank();
  for (int step = 1; step < n; step *= 2) {
    if (i < n) other[i] = i >= step ? x[i] + x[i - step] : x[i];
    grid.sync();
    int *swapped = x;
    x = other, other = swapped;
  }
}

__global__ void tiles(int *sums) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int sum = threadIdx.x;
  for (int step = tile.size() / 2; step; step /= 2) sum += tile.shfl_xor(sum, step);
  if (tile.thread_rank() == 0) sums[threadIdx.x / 8] = sum;
}

int main() {
  const int n = 1024;
  std::vector<int> in(n);
  for (int i = 0; i < n; i++) in[i] = i % 13 - 4;
  int *x = on_device(in), *other = on_device(in), count = n, possible, resident;
  CHECK(cudaDeviceGetAttribute(&possible, cudaDevAttrCooperativeLaunch, 0));
  EXPECT(possible);
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, scan, 128, 0));
  EXPECT(resident > 0);
  void *arguments[] = {&x, &other, &count};
  CHECK(cudaLaunchCooperativeKernel(scan, dim3(n / 128), dim3(128), arguments, 0, 0));
  CHECK(cudaDeviceSynchronize());
  std::vector<int> found = to_host(x, n);  // ten steps: the result is where it began
  for (int i = 0, sum = 0; i < n; i++) EXPECT(found[i] == (sum += in[i]));
  tiles<<<1, 64>>>(x);
  found = to_host(x, 8);
  for (int i = 0; i < 8; i++) EXPECT(found[i] == 64 * i + 28);
  EXPECT(cudaLaunchCooperativeKernel(scan, dim3(100000), dim3(128), arguments, 0, 0) ==
         cudaErrorCooperativeLaunchTooLarge);
}
