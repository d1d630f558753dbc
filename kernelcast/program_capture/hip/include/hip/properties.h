// What a program is told of its device, by HIP's names.
#ifndef KERNELCAST_HIP_PROPERTIES_H
#define KERNELCAST_HIP_PROPERTIES_H

typedef struct {
  unsigned hasGlobalInt32Atomics : 1, hasGlobalFloatAtomicExch : 1, hasSharedInt32Atomics : 1,
      hasSharedFloatAtomicExch : 1, hasFloatAtomicAdd : 1, hasGlobalInt64Atomics : 1,
      hasSharedInt64Atomics : 1, hasDoubles : 1, hasWarpVote : 1, hasWarpBallot : 1,
      hasWarpShuffle : 1, hasFunnelShift : 1, hasThreadFenceSystem : 1, hasSyncThreadsExt : 1,
      hasSurfaceFuncs : 1, has3dGrid : 1, hasDynamicParallelism : 1;
} hipDeviceArch_t;

typedef struct hipDeviceProp_t {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, memPitch, totalConstMem,
      textureAlignment, maxSharedMemoryPerMultiProcessor, sharedMemPerMultiprocessor;
  int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock, maxThreadsDim[3],
      maxGridSize[3], clockRate, clockInstructionRate, memoryClockRate, memoryBusWidth, major, minor,
      multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor,
      computeMode, concurrentKernels, asyncEngineCount, unifiedAddressing, canMapHostMemory,
      cooperativeLaunch, cooperativeMultiDeviceLaunch, managedMemory, concurrentManagedAccess,
      pageableMemoryAccess, integrated, isMultiGpuBoard, ECCEnabled, kernelExecTimeoutEnabled,
      tccDriver, pciDomainID, pciBusID, pciDeviceID;
  char gcnArchName[256];
  hipDeviceArch_t arch;
} hipDeviceProp_t;

#define KC_HIP_ATTRIBUTES(A)                                                       \
  A(hipDeviceAttributeMaxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock)           \
  A(hipDeviceAttributeMaxBlockDimX, cudaDevAttrMaxBlockDimX)                       \
  A(hipDeviceAttributeMaxBlockDimY, cudaDevAttrMaxBlockDimY)                       \
  A(hipDeviceAttributeMaxBlockDimZ, cudaDevAttrMaxBlockDimZ)                       \
  A(hipDeviceAttributeMaxGridDimX, cudaDevAttrMaxGridDimX)                         \
  A(hipDeviceAttributeMaxGridDimY, cudaDevAttrMaxGridDimY)                         \
  A(hipDeviceAttributeMaxGridDimZ, cudaDevAttrMaxGridDimZ)                         \
  A(hipDeviceAttributeMaxSharedMemoryPerBlock, cudaDevAttrMaxSharedMemoryPerBlock) \
  A(hipDeviceAttributeSharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin) \
  A(hipDeviceAttributeMaxSharedMemoryPerMultiprocessor,                            \
    cudaDevAttrMaxSharedMemoryPerMultiprocessor)                                   \
  A(hipDeviceAttributeTotalConstantMemory, cudaDevAttrTotalConstantMemory)         \
  A(hipDeviceAttributeWarpSize, cudaDevAttrWarpSize)                               \
  A(hipDeviceAttributeMaxRegistersPerBlock, cudaDevAttrMaxRegistersPerBlock)       \
  A(hipDeviceAttributeMaxRegistersPerMultiprocessor, cudaDevAttrMaxRegistersPerMultiprocessor) \
  A(hipDeviceAttributeClockRate, cudaDevAttrClockRate)                             \
  A(hipDeviceAttributeMemoryClockRate, cudaDevAttrMemoryClockRate)                 \
  A(hipDeviceAttributeMemoryBusWidth, cudaDevAttrGlobalMemoryBusWidth)             \
  A(hipDeviceAttributeMultiprocessorCount, cudaDevAttrMultiProcessorCount)         \
  A(hipDeviceAttributeComputeMode, cudaDevAttrComputeMode)                         \
  A(hipDeviceAttributeL2CacheSize, cudaDevAttrL2CacheSize)                         \
  A(hipDeviceAttributeMaxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor) \
  A(hipDeviceAttributeMaxBlocksPerMultiprocessor, cudaDevAttrMaxBlocksPerMultiprocessor) \
  A(hipDeviceAttributeComputeCapabilityMajor, cudaDevAttrComputeCapabilityMajor)   \
  A(hipDeviceAttributeComputeCapabilityMinor, cudaDevAttrComputeCapabilityMinor)   \
  A(hipDeviceAttributeConcurrentKernels, cudaDevAttrConcurrentKernels)             \
  A(hipDeviceAttributePciBusId, cudaDevAttrPciBusId)                               \
  A(hipDeviceAttributePciDeviceId, cudaDevAttrPciDeviceId)                         \
  A(hipDeviceAttributeIntegrated, cudaDevAttrIntegrated)                           \
  A(hipDeviceAttributeCanMapHostMemory, cudaDevAttrCanMapHostMemory)               \
  A(hipDeviceAttributeManagedMemory, cudaDevAttrManagedMemory)                     \
  A(hipDeviceAttributeConcurrentManagedAccess, cudaDevAttrConcurrentManagedAccess) \
  A(hipDeviceAttributePageableMemoryAccess, cudaDevAttrPageableMemoryAccess)       \
  A(hipDeviceAttributeUnifiedAddressing, cudaDevAttrUnifiedAddressing)             \
  A(hipDeviceAttributeAsyncEngineCount, cudaDevAttrAsyncEngineCount)               \
  A(hipDeviceAttributeEccEnabled, cudaDevAttrEccEnabled)                           \
  A(hipDeviceAttributeCooperativeLaunch, cudaDevAttrCooperativeLaunch)             \
  A(hipDeviceAttributeMemoryPoolsSupported, cudaDevAttrMemoryPoolsSupported)

// Programs use them by name; a number of another HIP means nothing here.
#define KC_HIP_ATTRIBUTE(name, number) name = number,
typedef enum { KC_HIP_ATTRIBUTES(KC_HIP_ATTRIBUTE) hipDeviceAttributeNone } hipDeviceAttribute_t;
#undef KC_HIP_ATTRIBUTE

static inline hipError_t hipDeviceGetAttribute(int *to, hipDeviceAttribute_t which, int device) {
  return kc_hip_error(cudaDeviceGetAttribute(to, (enum cudaDeviceAttr)which, device));
}

static inline int kc_hip_attribute(enum cudaDeviceAttr which, int device) {
  int found = 0;
  cudaDeviceGetAttribute(&found, which, device);
  return found;
}

static inline void kc_hip_limits(hipDeviceProp_t *to, const struct cudaDeviceProp *from) {
  to->totalGlobalMem = from->totalGlobalMem;
  to->sharedMemPerBlock = from->sharedMemPerBlock;
  to->sharedMemPerBlockOptin = from->sharedMemPerBlockOptin;
  to->sharedMemPerMultiprocessor = from->sharedMemPerMultiprocessor;
  to->maxSharedMemoryPerMultiProcessor = from->sharedMemPerMultiprocessor;
  to->memPitch = from->memPitch;
  to->totalConstMem = from->totalConstMem;
  to->textureAlignment = from->textureAlignment;
  to->regsPerBlock = from->regsPerBlock;
  to->regsPerMultiprocessor = from->regsPerMultiprocessor;
  to->warpSize = from->warpSize;
  to->maxThreadsPerBlock = from->maxThreadsPerBlock;
  memcpy(to->maxThreadsDim, from->maxThreadsDim, sizeof to->maxThreadsDim);
  memcpy(to->maxGridSize, from->maxGridSize, sizeof to->maxGridSize);
  to->major = from->major, to->minor = from->minor;
  to->multiProcessorCount = from->multiProcessorCount;
  to->maxThreadsPerMultiProcessor = from->maxThreadsPerMultiProcessor;
  to->maxBlocksPerMultiProcessor = from->maxBlocksPerMultiProcessor;
}

static inline hipError_t hipGetDeviceProperties(hipDeviceProp_t *to, int device) {
  struct cudaDeviceProp from;
  cudaError_t failure = cudaGetDeviceProperties(&from, device);
  if (failure) return kc_hip_error(failure);
  memset(to, 0, sizeof *to);
  memcpy(to->name, from.name, sizeof to->name);
  kc_hip_limits(to, &from);
  to->clockRate = kc_hip_attribute(cudaDevAttrClockRate, device);
  to->clockInstructionRate = to->clockRate;
  to->memoryClockRate = kc_hip_attribute(cudaDevAttrMemoryClockRate, device);
  to->memoryBusWidth = from.memoryBusWidth;
  to->l2CacheSize = from.l2CacheSize;
  to->concurrentKernels = from.concurrentKernels;
  to->asyncEngineCount = from.asyncEngineCount;
  to->unifiedAddressing = from.unifiedAddressing;
  to->canMapHostMemory = from.canMapHostMemory;
  to->cooperativeLaunch = from.cooperativeLaunch;
  to->managedMemory = from.managedMemory;
  to->concurrentManagedAccess = from.concurrentManagedAccess;
  to->pageableMemoryAccess = from.pageableMemoryAccess;
  to->integrated = from.integrated;
  to->ECCEnabled = from.ECCEnabled;
  to->pciDomainID = from.pciDomainID, to->pciBusID = from.pciBusID;
  to->pciDeviceID = from.pciDeviceID;
  memset(&to->arch, 0xFF, sizeof to->arch);
  to->arch.hasDynamicParallelism = 0;
  return hipSuccess;
}
static inline hipError_t hipDeviceGet(int *to, int number) {
  *to = number;
  return hipSuccess;
}
static inline hipError_t hipDeviceGetName(char *to, int room, int device) {
  hipDeviceProp_t facts;
  hipError_t failure = hipGetDeviceProperties(&facts, device);
  if (!failure && room > 0) strncpy(to, facts.name, (size_t)room - 1), to[room - 1] = 0;
  return failure;
}
static inline hipError_t hipDeviceTotalMem(size_t *to, int device) {
  hipDeviceProp_t facts;
  hipError_t failure = hipGetDeviceProperties(&facts, device);
  if (!failure) *to = facts.totalGlobalMem;
  return failure;
}
#endif
