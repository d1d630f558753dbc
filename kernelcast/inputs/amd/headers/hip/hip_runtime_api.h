// The runtime as host code sees it: declared, so that sources with host code are read. Nothing of
// it is compiled or called; kernels are launched by kernelcast.
#ifndef KERNELCAST_HIP_RUNTIME_API_H
#define KERNELCAST_HIP_RUNTIME_API_H
#ifndef KERNELCAST_HIP_RUNTIME_H
#include <hip/hip_runtime.h>
#else
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

enum hipError_t {
  hipSuccess = 0, hipErrorInvalidValue = 1, hipErrorOutOfMemory = 2, hipErrorNotInitialized = 3,
  hipErrorMemoryAllocation = 2, hipErrorInvalidConfiguration = 9, hipErrorInvalidDevicePointer = 17,
  hipErrorNoDevice = 100, hipErrorInvalidDevice = 101, hipErrorNotReady = 600,
  hipErrorIllegalAddress = 700, hipErrorLaunchFailure = 719, hipErrorNotSupported = 801,
  hipErrorUnknown = 999
};
enum hipMemcpyKind {
  hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice,
  hipMemcpyDefault
};
typedef struct ihipStream_t *hipStream_t;
typedef struct ihipEvent_t *hipEvent_t;
typedef void *hipDeviceptr_t;
typedef int hipDevice_t;
struct hipDeviceArch_t {
  unsigned hasGlobalInt32Atomics, hasSharedInt32Atomics, hasDoubles, hasWarpVote, hasWarpBallot,
      hasWarpShuffle;
};
struct hipDeviceProp_t {
  char name[256], gcnArchName[256];
  unsigned long totalGlobalMem, sharedMemPerBlock, totalConstMem, maxSharedMemoryPerMultiProcessor;
  int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate,
      memoryClockRate, memoryBusWidth, major, minor, multiProcessorCount, l2CacheSize,
      maxThreadsPerMultiProcessor, computeMode, clockInstructionRate, concurrentKernels, pciDomainID,
      pciBusID, pciDeviceID, isMultiGpuBoard, canMapHostMemory, gcnArch, integrated,
      cooperativeLaunch, managedMemory;
  hipDeviceArch_t arch;
};
#define hipStreamDefault 0
#define hipStreamNonBlocking 1
#define hipEventDefault 0
#define hipEventDisableTiming 2
#define hipHostMallocDefault 0
#define hipHostMallocMapped 2
#define hipMemAttachGlobal 1

extern "C" {
const char *hipGetErrorString(hipError_t);
const char *hipGetErrorName(hipError_t);
hipError_t hipGetLastError(void);
hipError_t hipPeekAtLastError(void);
hipError_t hipInit(unsigned);
hipError_t hipDeviceSynchronize(void);
hipError_t hipDeviceReset(void);
hipError_t hipSetDevice(int);
hipError_t hipGetDevice(int *);
hipError_t hipGetDeviceCount(int *);
hipError_t hipGetDeviceProperties(hipDeviceProp_t *, int);
hipError_t hipMemGetInfo(unsigned long *, unsigned long *);
hipError_t hipFree(void *);
hipError_t hipHostFree(void *);
hipError_t hipFreeAsync(void *, hipStream_t);
hipError_t hipMemcpy(void *, const void *, unsigned long, hipMemcpyKind);
hipError_t hipMemcpy2D(void *, unsigned long, const void *, unsigned long, unsigned long,
                       unsigned long, hipMemcpyKind);
hipError_t hipMemcpyHtoD(hipDeviceptr_t, void *, unsigned long);
hipError_t hipMemcpyDtoH(void *, hipDeviceptr_t, unsigned long);
hipError_t hipMemset(void *, int, unsigned long);
hipError_t hipStreamCreate(hipStream_t *);
hipError_t hipStreamCreateWithFlags(hipStream_t *, unsigned);
hipError_t hipStreamDestroy(hipStream_t);
hipError_t hipStreamSynchronize(hipStream_t);
hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned);
hipError_t hipEventCreate(hipEvent_t *);
hipError_t hipEventCreateWithFlags(hipEvent_t *, unsigned);
hipError_t hipEventDestroy(hipEvent_t);
hipError_t hipEventSynchronize(hipEvent_t);
hipError_t hipEventElapsedTime(float *, hipEvent_t, hipEvent_t);
hipError_t hipLaunchKernel(const void *, dim3, dim3, void **, unsigned long, hipStream_t);
}
hipError_t hipMemcpyAsync(void *, const void *, unsigned long, hipMemcpyKind, hipStream_t = 0);
hipError_t hipMemsetAsync(void *, int, unsigned long, hipStream_t = 0);
hipError_t hipEventRecord(hipEvent_t, hipStream_t = 0);
template <typename T> hipError_t hipMalloc(T **, unsigned long);
template <typename T> hipError_t hipMallocAsync(T **, unsigned long, hipStream_t);
template <typename T> hipError_t hipHostMalloc(T **, unsigned long, unsigned = 0);
template <typename T> hipError_t hipMallocManaged(T **, unsigned long, unsigned = hipMemAttachGlobal);
template <typename T> hipError_t hipMallocPitch(T **, unsigned long *, unsigned long, unsigned long);
template <typename T>
hipError_t hipMemcpyToSymbol(const T &, const void *, unsigned long, unsigned long = 0,
                             hipMemcpyKind = hipMemcpyHostToDevice);
template <typename T>
hipError_t hipMemcpyFromSymbol(void *, const T &, unsigned long, unsigned long = 0,
                               hipMemcpyKind = hipMemcpyDeviceToHost);
template <typename T> hipError_t hipGetSymbolAddress(void **, const T &);
template <typename F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int *, F, int, unsigned long);
#define HIP_SYMBOL(variable) variable
#define HIP_KERNEL_NAME(...) __VA_ARGS__

// What `kernel<<<grid, block>>>(...)` becomes.
extern "C" hipError_t __hipPushCallConfiguration(dim3, dim3, unsigned long = 0, hipStream_t = 0);
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#endif
#endif
