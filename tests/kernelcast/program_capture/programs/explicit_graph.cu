// A graph made by hand: fills, copies, kernels and host functions; parameters changed between launches.
#include "check.h"

__global__ void fused(float *x, const float *y, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = a * y[i] + x[i];
}

static int called;
static void note(void *data) { called += *(int *)data; }

int main() {
  const int n = 300;
  std::vector<float> host(n), result(n);
  for (int i = 0; i < n; i++) host[i] = i;
  float *x, *y, a = 2;
  CHECK(cudaMalloc(&x, n * sizeof(float)));
  CHECK(cudaMalloc(&y, n * sizeof(float)));
  cudaGraph_t graph;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t clear, copy, run, back, tell;
  cudaMemsetParams fill = {};
  fill.dst = x, fill.value = 0, fill.elementSize = 4, fill.width = n, fill.height = 1;
  CHECK(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill));
  CHECK(cudaGraphAddMemcpyNode1D(&copy, graph, nullptr, 0, y, host.data(), n * sizeof(float),
                                 cudaMemcpyHostToDevice));
  int count = n;
  void *arguments[] = {&x, &y, &count, &a};
  cudaKernelNodeParams kernel = {};
  kernel.func = (void *)fused, kernel.gridDim = dim3(2), kernel.blockDim = dim3(160);
  kernel.kernelParams = arguments;
  cudaGraphNode_t before[] = {clear, copy};
  CHECK(cudaGraphAddKernelNode(&run, graph, before, 2, &kernel));
  cudaMemcpy3DParms box = {};
  box.srcPtr = make_cudaPitchedPtr(x, n * sizeof(float), n, 1);
  box.dstPtr = make_cudaPitchedPtr(result.data(), n * sizeof(float), n, 1);
  box.extent = make_cudaExtent(n * sizeof(float), 1, 1), box.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaGraphAddMemcpyNode(&back, graph, nullptr, 0, &box));
#if CUDART_VERSION >= 13000
  CHECK(cudaGraphAddDependencies(graph, &run, &back, nullptr, 1));
#else
  CHECK(cudaGraphAddDependencies(graph, &run, &back, 1));
#endif
  int amount = 5;
  cudaHostNodeParams host_call = {note, &amount};
  CHECK(cudaGraphAddHostNode(&tell, graph, &back, 1, &host_call));
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 5);
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &nodes));
  EXPECT(nodes == 2);
  cudaGraphExec_t executable;
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) EXPECT(result[i] == 2.0f * i);
  EXPECT(called == 5);
  a = 3;
  CHECK(cudaGraphExecKernelNodeSetParams(executable, run, &kernel));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) EXPECT(result[i] == 3.0f * i);
  a = 4;
  CHECK(cudaGraphKernelNodeSetParams(run, &kernel));
  cudaGraphExecUpdateResultInfo update;
  CHECK(cudaGraphExecUpdate(executable, graph, &update));
  CHECK(cudaGraphLaunch(executable, 0));
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) EXPECT(result[i] == 4.0f * i);
  EXPECT(called == 15);
  cudaGraph_t outer, clone;
  cudaGraphNode_t inner, empty;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphCreate(&outer, 0));
  CHECK(cudaGraphAddChildGraphNode(&inner, outer, nullptr, 0, clone));
  CHECK(cudaGraphAddEmptyNode(&empty, outer, &inner, 1));
  cudaGraphExec_t whole;
  CHECK(cudaGraphInstantiate(&whole, outer, 0));
  CHECK(cudaGraphLaunch(whole, 0));
  CHECK(cudaDeviceSynchronize());
  EXPECT(called == 20);
}
