/* The part of the CUDA driver's interface that these programs use, under the names of its symbols. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t pointer;
typedef void *object;

#define CHECK(call)                                              \
  do {                                                           \
    int status_ = (call);                                        \
    if (status_) {                                               \
      printf("line %d: %s is %d\n", __LINE__, #call, status_);   \
      exit(1);                                                   \
    }                                                            \
  } while (0)
#define EXPECT(condition)                                        \
  do {                                                           \
    if (!(condition)) {                                          \
      printf("line %d: not %s\n", __LINE__, #condition);         \
      exit(1);                                                   \
    }                                                            \
  } while (0)

int cuInit(unsigned);
int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuDeviceGet(int *, int);
int cuDeviceGetName(char *, int, int);
int cuDeviceGetAttribute(int *, int, int);
int cuDeviceComputeCapability(int *, int *, int);
int cuDeviceTotalMem_v2(size_t *, int);
int cuDevicePrimaryCtxRetain(object *, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxCreate_v2(object *, unsigned, int);
int cuCtxDestroy_v2(object);
int cuCtxPushCurrent_v2(object);
int cuCtxPopCurrent_v2(object *);
int cuCtxGetCurrent(object *);
int cuCtxSetCurrent(object);
int cuCtxGetDevice(int *);
int cuCtxSetLimit(unsigned, size_t);
int cuCtxGetLimit(size_t *, unsigned);
int cuCtxSynchronize(void);
int cuGetErrorName(int, const char **);
int cuGetErrorString(int, const char **);
int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);

int cuModuleLoad(object *, const char *);
int cuModuleLoadData(object *, const void *);
int cuModuleLoadDataEx(object *, const void *, unsigned, const int *, void **);
int cuModuleLoadFatBinary(object *, const void *);
int cuModuleGetFunction(object *, object, const char *);
int cuModuleGetGlobal_v2(pointer *, size_t *, object, const char *);
int cuModuleUnload(object);
int cuLibraryLoadData(object *, const void *, const int *, void **, unsigned, const int *, void **,
                      unsigned);
int cuLibraryGetKernel(object *, object, const char *);
int cuLibraryGetGlobal(pointer *, size_t *, object, const char *);
int cuLibraryUnload(object);
int cuKernelGetFunction(object *, object);
int cuLinkCreate_v2(unsigned, const int *, void **, object *);
int cuLinkAddData_v2(object, int, const void *, size_t, const char *, unsigned, const int *, void **);
int cuLinkComplete(object, void **, size_t *);
int cuLinkDestroy(object);

int cuLaunchKernel(object, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, object,
                   void **, void **);
int cuLaunchCooperativeKernel(object, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, object, void **);
int cuLaunchKernelEx(const void *, object, void **, void **);
int cuLaunchHostFunc(object, void (*)(void *), void *);
int cuFuncSetBlockShape(object, int, int, int);
int cuFuncSetAttribute(object, int, int);
int cuFuncGetAttribute(int *, int, object);
int cuFuncGetName(const char **, object);
int cuFuncGetParamInfo(object, size_t, size_t *, size_t *);
int cuParamSetSize(object, unsigned);
int cuParamSetv(object, int, void *, unsigned);
int cuParamSeti(object, int, unsigned);
int cuLaunchGrid(object, int, int);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, object, int, size_t);
int cuOccupancyMaxPotentialBlockSize(int *, int *, object, size_t (*)(int), size_t, int);

int cuMemAlloc_v2(pointer *, size_t);
int cuMemAllocPitch_v2(pointer *, size_t *, size_t, size_t, unsigned);
int cuMemAllocManaged(pointer *, size_t, unsigned);
int cuMemAllocAsync(pointer *, size_t, object);
int cuMemFreeAsync(pointer, object);
int cuMemFree_v2(pointer);
int cuMemHostAlloc(void **, size_t, unsigned);
int cuMemFreeHost(void *);
int cuMemHostRegister_v2(void *, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(pointer *, void *, unsigned);
int cuMemHostUnregister(void *);
int cuMemGetInfo_v2(size_t *, size_t *);
int cuMemGetAddressRange_v2(pointer *, size_t *, pointer);
int cuPointerGetAttribute(void *, int, pointer);
int cuPointerGetAttributes(unsigned, int *, void **, pointer);
int cuMemGetAllocationGranularity(size_t *, const void *, int);
int cuMemAddressReserve(pointer *, size_t, size_t, pointer, unsigned long long);
int cuMemCreate(unsigned long long *, size_t, const void *, unsigned long long);
int cuMemMap(pointer, size_t, size_t, unsigned long long, unsigned long long);
int cuMemSetAccess(pointer, size_t, const void *, size_t);
int cuMemUnmap(pointer, size_t);
int cuMemRelease(unsigned long long);
int cuMemAddressFree(pointer, size_t);

int cuMemcpyHtoD_v2(pointer, const void *, size_t);
int cuMemcpyDtoH_v2(void *, pointer, size_t);
int cuMemcpyDtoD_v2(pointer, pointer, size_t);
int cuMemcpyHtoDAsync_v2(pointer, const void *, size_t, object);
int cuMemcpyDtoHAsync_v2(void *, pointer, size_t, object);
int cuMemcpy(pointer, pointer, size_t);
int cuMemcpy2D_v2(const void *);
int cuMemcpy3D_v2(const void *);
int cuMemcpyHtoA_v2(object, size_t, const void *, size_t);
int cuMemcpyAtoH_v2(void *, object, size_t, size_t);
int cuMemsetD8_v2(pointer, unsigned char, size_t);
int cuMemsetD16_v2(pointer, unsigned short, size_t);
int cuMemsetD32Async(pointer, unsigned, size_t, object);
int cuMemsetD2D32_v2(pointer, size_t, unsigned, size_t, size_t);

int cuStreamCreate(object *, unsigned);
int cuStreamSynchronize(object);
int cuStreamQuery(object);
int cuStreamWaitEvent(object, object, unsigned);
int cuStreamDestroy_v2(object);
int cuEventCreate(object *, unsigned);
int cuEventRecord(object, object);
int cuEventSynchronize(object);
int cuEventQuery(object);
int cuEventElapsedTime(float *, object, object);
int cuEventDestroy_v2(object);

int cuArrayCreate_v2(object *, const void *);
int cuArray3DCreate_v2(object *, const void *);
int cuArray3DGetDescriptor_v2(void *, object);
int cuArrayDestroy(object);
int cuTexObjectCreate(unsigned long long *, const void *, const void *, const void *);
int cuTexObjectDestroy(unsigned long long);
int cuSurfObjectCreate(unsigned long long *, const void *);
int cuSurfObjectDestroy(unsigned long long);

int cuStreamBeginCapture_v2(object, int);
int cuStreamIsCapturing(object, int *);
int cuStreamEndCapture(object, object *);
int cuGraphCreate(object *, unsigned);
int cuGraphAddKernelNode_v2(object *, object, const object *, size_t, const void *);
int cuGraphAddMemcpyNode(object *, object, const object *, size_t, const void *, object);
int cuGraphAddMemsetNode(object *, object, const object *, size_t, const void *, object);
int cuGraphAddHostNode(object *, object, const object *, size_t, const void *);
int cuGraphAddEmptyNode(object *, object, const object *, size_t);
int cuGraphExecKernelNodeSetParams_v2(object, object, const void *);
int cuGraphGetNodes(object, object *, size_t *);
int cuGraphInstantiateWithFlags(object *, object, unsigned long long);
int cuGraphLaunch(object, object);
int cuGraphExecDestroy(object);
int cuGraphDestroy(object);
int cuIpcGetMemHandle(void *, pointer);

/* Rectangles and boxes of bytes: 1 in memory of the host, 2 of the device, 3 in an array. */
typedef struct {
  size_t from_x, from_y;
  int from_kind;
  const void *from_host;
  pointer from_device;
  object from_array;
  size_t from_pitch, to_x, to_y;
  int to_kind;
  void *to_host;
  pointer to_device;
  object to_array;
  size_t to_pitch, width, height;
} rectangle;
typedef struct {
  size_t from_x, from_y, from_z, from_level;
  int from_kind;
  const void *from_host;
  pointer from_device;
  object from_array;
  void *from_reserved;
  size_t from_pitch, from_height, to_x, to_y, to_z, to_level;
  int to_kind;
  void *to_host;
  pointer to_device;
  object to_array;
  void *to_reserved;
  size_t to_pitch, to_height, width, height, depth;
} box;

/* A current context, and a function of the file of kernels that the program was given. */
static inline object started(void) {
  int device;
  object context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuCtxCreate_v2(&context, 0, device));
  return context;
}
static inline object loaded(const char *path, const char *name) {
  object module, function;
  CHECK(cuModuleLoad(&module, path));
  CHECK(cuModuleGetFunction(&function, module, name));
  return function;
}
