// nvcc 13.5: nvcc -arch=compute_75 --ptx groups.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" {

__global__ void tiles(int *p) {
  auto block = cg::this_thread_block();
  auto eight = cg::tiled_partition<8>(block);
  int i = threadIdx.x;
  int x = cg::reduce(eight, p[i], cg::plus<int>());
  auto four = cg::tiled_partition<4>(eight);
  x += four.shfl(x + i, 2);
  block.sync();
  p[i] = x;
}

__global__ void coalesced(int *p) {
  int i = threadIdx.x;
  int x = p[i];
  if (x % 3 == 1) {
    auto g = cg::coalesced_threads();
    x = g.thread_rank() * 1000 + g.size() + g.shfl(x, 0);
  }
  auto same = cg::labeled_partition(cg::tiled_partition<32>(cg::this_thread_block()), x & 3);
  p[i] = x + same.size();
}

__global__ void whole_grid(int *p, int n) {
  auto grid = cg::this_grid();
  int i = grid.thread_rank();
  p[i] = p[i] * 2;
  grid.sync();
  p[i + n] = p[(i + 37) % n];
}
}
