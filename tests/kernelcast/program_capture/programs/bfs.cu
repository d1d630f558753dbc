// Breadth-first search: the host asks after each level whether there is another one.
#include "check.h"

__global__ void visit(const int *starts, const int *edges, int *depth, int nodes, int level, bool *more) {
  int node = blockIdx.x * blockDim.x + threadIdx.x;
  if (node >= nodes || depth[node] != level) return;
  for (int i = starts[node]; i < starts[node + 1]; i++)
    if (depth[edges[i]] < 0) {
      depth[edges[i]] = level + 1;
      *more = true;
    }
}

int main() {
  const int nodes = 500;
  std::vector<int> starts(1, 0), edges, expected(nodes, -1);
  for (int i = 0; i < nodes; i++) {
    for (int to : {(i * 3 + 1) % nodes, (i * 7 + 5) % nodes, i / 2}) edges.push_back(to);
    starts.push_back((int)edges.size());
  }
  std::vector<int> front(1, 0);
  expected[0] = 0;
  for (size_t at = 0; at < front.size(); at++)
    for (int i = starts[front[at]]; i < starts[front[at] + 1]; i++)
      if (expected[edges[i]] < 0) expected[edges[i]] = expected[front[at]] + 1, front.push_back(edges[i]);
  std::vector<int> depth(nodes, -1);
  depth[0] = 0;
  int *from = on_device(starts), *to = on_device(edges), *found = on_device(depth);
  bool *more, again = true;
  CHECK(cudaMalloc(&more, sizeof(bool)));
  for (int level = 0; again; level++) {
    CHECK(cudaMemset(more, 0, sizeof(bool)));
    visit<<<(nodes + 127) / 128, 128>>>(from, to, found, nodes, level, more);
    CHECK(cudaMemcpy(&again, more, sizeof(bool), cudaMemcpyDeviceToHost));
  }
  EXPECT(to_host(found, nodes) == expected);
}
