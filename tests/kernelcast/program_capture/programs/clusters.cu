// Thread block clusters: shared memory of the neighbours, with dimensions at compile time and launch.
#include <cooperative_groups.h>

#include "check.h"
namespace cg = cooperative_groups;

__device__ void exchange(int *out) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (!threadIdx.x) mine = blockIdx.x * 10;
  cluster.sync();
  int next = (cluster.block_rank() + 1) % cluster.num_blocks();
  int *theirs = cluster.map_shared_rank(&mine, next);
  if (!threadIdx.x) out[blockIdx.x] = *theirs + cluster.num_blocks();
  cluster.sync();
}

__global__ void __cluster_dims__(2, 1, 1) fixed(int *out) { exchange(out); }
__global__ void chosen(int *out) { exchange(out); }

int main() {
  const int blocks = 8;
  int *out = on_device(std::vector<int>(blocks, 0));
  fixed<<<blocks, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  std::vector<int> found = to_host(out, blocks);
  for (int i = 0; i < blocks; i++) EXPECT(found[i] == (i ^ 1) * 10 + 2);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 4, attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = dim3(blocks), how.blockDim = dim3(64);
  how.attrs = &attribute, how.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&how, chosen, out));
  CHECK(cudaDeviceSynchronize());
  found = to_host(out, blocks);
  for (int i = 0; i < blocks; i++) EXPECT(found[i] == (i / 4 * 4 + (i + 1) % 4) * 10 + 4);
}
