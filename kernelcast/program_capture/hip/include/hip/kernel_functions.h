// What HIP has in kernels, and launches of them.
#ifndef KERNELCAST_HIP_KERNEL_FUNCTIONS_H
#define KERNELCAST_HIP_KERNEL_FUNCTIONS_H

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define hipLaunchKernelGGL(kernel, grid, block, bytes, stream, ...) \
  do {                                                              \
    kernel<<<(grid), (block), (bytes), (stream)>>>(__VA_ARGS__);    \
  } while (0)
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_SYMBOL(name) name

#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

// Functions of a warp without a mask: all threads of it take part that are there. CUDA declares some
// of these names, without code for today's GPUs.
#define __shfl kc_hip_shfl
#define __shfl_up kc_hip_shfl_up
#define __shfl_down kc_hip_shfl_down
#define __shfl_xor kc_hip_shfl_xor
#define __ballot kc_hip_ballot
#define __any kc_hip_any
#define __all kc_hip_all
template <class T>
__device__ inline T __shfl(T value, int lane, int width = 32) {
  return __shfl_sync(__activemask(), value, lane, width);
}
template <class T>
__device__ inline T __shfl_up(T value, unsigned by, int width = 32) {
  return __shfl_up_sync(__activemask(), value, by, width);
}
template <class T>
__device__ inline T __shfl_down(T value, unsigned by, int width = 32) {
  return __shfl_down_sync(__activemask(), value, by, width);
}
template <class T>
__device__ inline T __shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(__activemask(), value, mask, width);
}
__device__ inline unsigned long long __ballot(int predicate) {
  return __ballot_sync(__activemask(), predicate);
}
__device__ inline int __any(int predicate) { return __any_sync(__activemask(), predicate); }
__device__ inline int __all(int predicate) { return __all_sync(__activemask(), predicate); }
__device__ inline unsigned __lane_id() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % warpSize;
}
__device__ inline float unsafeAtomicAdd(float *to, float value) { return atomicAdd(to, value); }
__device__ inline double unsafeAtomicAdd(double *to, double value) { return atomicAdd(to, value); }
__device__ inline float atomicAddNoRet(float *to, float value) { return atomicAdd(to, value); }

template <class Kernel>
inline hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel kernel, int threads,
                                                               size_t bytes) {
  return kc_hip_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, bytes));
}
template <class Kernel>
inline hipError_t hipOccupancyMaxPotentialBlockSize(int *blocks, int *threads, Kernel kernel,
                                                    size_t bytes = 0, int most = 0) {
  return kc_hip_error(cudaOccupancyMaxPotentialBlockSize(blocks, threads, kernel, bytes, most));
}
template <class Kernel>
inline hipError_t hipLaunchCooperativeKernel(Kernel kernel, dim3 grid, dim3 block, void **arguments,
                                             unsigned bytes, hipStream_t stream) {
  return kc_hip_error(cudaLaunchCooperativeKernel((const void *)kernel, grid, block, arguments,
                                                  (size_t)bytes, stream));
}

template <class T>
inline hipError_t hipMalloc(T **to, size_t bytes) { return kc_hip_error(cudaMalloc((void **)to, bytes)); }
template <class T>
inline hipError_t hipMallocAsync(T **to, size_t bytes, hipStream_t stream) {
  return kc_hip_error(cudaMallocAsync((void **)to, bytes, stream));
}
template <class T>
inline hipError_t hipMallocManaged(T **to, size_t bytes, unsigned flags = hipMemAttachGlobal) {
  return kc_hip_error(cudaMallocManaged((void **)to, bytes, flags));
}
template <class T>
inline hipError_t hipHostMalloc(T **to, size_t bytes, unsigned flags = 0) {
  return kc_hip_error(cudaHostAlloc((void **)to, bytes, flags & 7));
}
template <class T>
inline hipError_t hipHostAlloc(T **to, size_t bytes, unsigned flags = 0) {
  return hipHostMalloc(to, bytes, flags);
}
template <class T>
inline hipError_t hipMallocHost(T **to, size_t bytes) { return hipHostMalloc(to, bytes); }
template <class T>
inline hipError_t hipMallocPitch(T **to, size_t *pitch, size_t width, size_t height) {
  return kc_hip_error(cudaMallocPitch((void **)to, pitch, width, height));
}
template <class T>
inline hipError_t hipHostGetDevicePointer(T **to, void *host, unsigned flags) {
  return kc_hip_error(cudaHostGetDevicePointer((void **)to, host, flags));
}
template <class T>
inline hipError_t hipMemcpyToSymbol(const T &symbol, const void *from, size_t bytes, size_t offset = 0,
                                    hipMemcpyKind kind = hipMemcpyHostToDevice) {
  return kc_hip_error(cudaMemcpyToSymbol(symbol, from, bytes, offset, kind));
}
template <class T>
inline hipError_t hipMemcpyFromSymbol(void *to, const T &symbol, size_t bytes, size_t offset = 0,
                                      hipMemcpyKind kind = hipMemcpyDeviceToHost) {
  return kc_hip_error(cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind));
}
template <class T>
inline hipError_t hipMemcpyToSymbolAsync(const T &symbol, const void *from, size_t bytes, size_t offset,
                                         hipMemcpyKind kind, hipStream_t stream = 0) {
  return kc_hip_error(cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, stream));
}
template <class T>
inline hipError_t hipMemcpyFromSymbolAsync(void *to, const T &symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind, hipStream_t stream = 0) {
  return kc_hip_error(cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, stream));
}
template <class T>
inline hipError_t hipGetSymbolAddress(void **to, const T &symbol) {
  return kc_hip_error(cudaGetSymbolAddress(to, symbol));
}
template <class T>
inline hipError_t hipGetSymbolSize(size_t *bytes, const T &symbol) {
  return kc_hip_error(cudaGetSymbolSize(bytes, symbol));
}
template <class T>
inline hipError_t hipFuncGetAttributes(hipFuncAttributes *to, T *kernel) {
  return kc_hip_error(cudaFuncGetAttributes(to, (const void *)kernel));
}
template <class T>
inline hipError_t hipFuncSetAttribute(T *kernel, hipFuncAttribute attribute, int value) {
  return kc_hip_error(cudaFuncSetAttribute((const void *)kernel, attribute, value));
}
template <class T>
inline hipError_t hipFuncSetCacheConfig(T *kernel, hipFuncCache_t which) {
  return kc_hip_error(cudaFuncSetCacheConfig((const void *)kernel, which));
}
template <class T>
inline hipError_t hipLaunchKernel(T *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes,
                                  hipStream_t stream) {
  return kc_hip_error(cudaLaunchKernel((const void *)kernel, grid, block, arguments, bytes, stream));
}
#endif
