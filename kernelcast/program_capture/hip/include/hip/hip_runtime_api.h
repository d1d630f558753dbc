// The runtime of HIP on top of CUDA's: types, constants and functions.
#ifndef KERNELCAST_HIP_RUNTIME_API_H
#define KERNELCAST_HIP_RUNTIME_API_H
#include <cuda_runtime.h>
#include <string.h>

#define __HIP_PLATFORM_NVIDIA__ 1
#define __HIP__ 1
#define __HIPCC__ 1
#ifdef __CUDA_ARCH__
#define __HIP_DEVICE_COMPILE__ 1
#endif
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 0
#define HIP_VERSION_PATCH 0
#define HIP_VERSION (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#include <hip/errors.h>
#include <hip/properties.h>
#include <hip/types.h>

#define KC_HIP(name, parameters, call) \
  static inline hipError_t name parameters { return kc_hip_error(call); }

// ---- devices ----
KC_HIP(hipGetLastError, (void), cudaGetLastError())
KC_HIP(hipPeekAtLastError, (void), cudaPeekAtLastError())
KC_HIP(hipDeviceSynchronize, (void), cudaDeviceSynchronize())
KC_HIP(hipDeviceReset, (void), cudaDeviceReset())
KC_HIP(hipSetDevice, (int device), cudaSetDevice(device))
KC_HIP(hipGetDevice, (int *device), cudaGetDevice(device))
KC_HIP(hipGetDeviceCount, (int *count), cudaGetDeviceCount(count))
KC_HIP(hipSetDeviceFlags, (unsigned flags), cudaSetDeviceFlags(flags))
KC_HIP(hipDriverGetVersion, (int *version), cudaDriverGetVersion(version))
KC_HIP(hipRuntimeGetVersion, (int *version), cudaRuntimeGetVersion(version))
KC_HIP(hipDeviceCanAccessPeer, (int *can, int device, int peer), cudaDeviceCanAccessPeer(can, device, peer))
KC_HIP(hipDeviceEnablePeerAccess, (int peer, unsigned flags), cudaDeviceEnablePeerAccess(peer, flags))
KC_HIP(hipDeviceDisablePeerAccess, (int peer), cudaDeviceDisablePeerAccess(peer))
KC_HIP(hipDeviceSetLimit, (hipLimit_t which, size_t value), cudaDeviceSetLimit(which, value))
KC_HIP(hipDeviceGetLimit, (size_t *value, hipLimit_t which), cudaDeviceGetLimit(value, which))
KC_HIP(hipDeviceSetCacheConfig, (hipFuncCache_t which), cudaDeviceSetCacheConfig(which))
KC_HIP(hipDeviceGetStreamPriorityRange, (int *least, int *greatest),
       cudaDeviceGetStreamPriorityRange(least, greatest))
KC_HIP(hipDeviceGetPCIBusId, (char *to, int room, int device), cudaDeviceGetPCIBusId(to, room, device))
static inline hipError_t hipInit(unsigned flags) { return flags ? hipErrorInvalidValue : hipSuccess; }

// ---- streams and events ----
KC_HIP(hipStreamCreate, (hipStream_t *to), cudaStreamCreate(to))
KC_HIP(hipStreamCreateWithFlags, (hipStream_t *to, unsigned flags), cudaStreamCreateWithFlags(to, flags))
KC_HIP(hipStreamCreateWithPriority, (hipStream_t *to, unsigned flags, int priority),
       cudaStreamCreateWithPriority(to, flags, priority))
KC_HIP(hipStreamDestroy, (hipStream_t stream), cudaStreamDestroy(stream))
KC_HIP(hipStreamSynchronize, (hipStream_t stream), cudaStreamSynchronize(stream))
KC_HIP(hipStreamQuery, (hipStream_t stream), cudaStreamQuery(stream))
KC_HIP(hipStreamWaitEvent, (hipStream_t stream, hipEvent_t event, unsigned flags),
       cudaStreamWaitEvent(stream, event, flags))
KC_HIP(hipEventCreate, (hipEvent_t *to), cudaEventCreate(to))
KC_HIP(hipEventCreateWithFlags, (hipEvent_t *to, unsigned flags), cudaEventCreateWithFlags(to, flags & 7))
KC_HIP(hipEventDestroy, (hipEvent_t event), cudaEventDestroy(event))
KC_HIP(hipEventSynchronize, (hipEvent_t event), cudaEventSynchronize(event))
KC_HIP(hipEventQuery, (hipEvent_t event), cudaEventQuery(event))
KC_HIP(hipEventElapsedTime, (float *ms, hipEvent_t first, hipEvent_t second),
       cudaEventElapsedTime(ms, first, second))
KC_HIP(hipLaunchHostFunc, (hipStream_t stream, hipHostFn_t function, void *data),
       cudaLaunchHostFunc(stream, function, data))

// ---- memory ----
KC_HIP(hipFree, (void *pointer), cudaFree(pointer))
KC_HIP(hipFreeAsync, (void *pointer, hipStream_t stream), cudaFreeAsync(pointer, stream))
KC_HIP(hipHostFree, (void *pointer), cudaFreeHost(pointer))
KC_HIP(hipFreeHost, (void *pointer), cudaFreeHost(pointer))
KC_HIP(hipHostRegister, (void *pointer, size_t bytes, unsigned flags),
       cudaHostRegister(pointer, bytes, flags))
KC_HIP(hipHostUnregister, (void *pointer), cudaHostUnregister(pointer))
KC_HIP(hipMemGetInfo, (size_t *free_bytes, size_t *all), cudaMemGetInfo(free_bytes, all))
KC_HIP(hipPointerGetAttributes, (hipPointerAttribute_t *to, const void *pointer),
       cudaPointerGetAttributes(to, pointer))
KC_HIP(hipMalloc3D, (hipPitchedPtr *to, hipExtent size), cudaMalloc3D(to, size))
KC_HIP(hipMemcpy, (void *to, const void *from, size_t bytes, hipMemcpyKind kind),
       cudaMemcpy(to, from, bytes, kind))
KC_HIP(hipMemcpyPeer, (void *to, int device, const void *from, int other, size_t bytes),
       cudaMemcpyPeer(to, device, from, other, bytes))
KC_HIP(hipMemcpy2D, (void *to, size_t pitch, const void *from, size_t from_pitch, size_t width,
                     size_t height, hipMemcpyKind kind),
       cudaMemcpy2D(to, pitch, from, from_pitch, width, height, kind))
KC_HIP(hipMemcpy3D, (const hipMemcpy3DParms *how), cudaMemcpy3D(how))
KC_HIP(hipMemset, (void *to, int value, size_t bytes), cudaMemset(to, value, bytes))
KC_HIP(hipMemset2D, (void *to, size_t pitch, int value, size_t width, size_t height),
       cudaMemset2D(to, pitch, value, width, height))
KC_HIP(hipMemcpyHtoD, (hipDeviceptr_t to, void *from, size_t bytes),
       cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice))
KC_HIP(hipMemcpyDtoH, (void *to, hipDeviceptr_t from, size_t bytes),
       cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost))
KC_HIP(hipMemcpyDtoD, (hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes),
       cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice))
KC_HIP(hipMemsetD8, (hipDeviceptr_t to, unsigned char value, size_t count), cudaMemset(to, value, count))

// ---- arrays, textures, graphs ----
KC_HIP(hipFreeArray, (hipArray_t array), cudaFreeArray(array))
KC_HIP(hipMemcpy2DToArray, (hipArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                            size_t width, size_t height, hipMemcpyKind kind),
       cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind))
KC_HIP(hipMemcpy2DFromArray, (void *to, size_t pitch, hipArray_const_t from, size_t x, size_t y,
                              size_t width, size_t height, hipMemcpyKind kind),
       cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind))
KC_HIP(hipCreateTextureObject, (hipTextureObject_t *to, const hipResourceDesc *of,
                                const hipTextureDesc *how, const struct hipResourceViewDesc *view),
       cudaCreateTextureObject(to, of, how, view))
KC_HIP(hipDestroyTextureObject, (hipTextureObject_t texture), cudaDestroyTextureObject(texture))
KC_HIP(hipStreamBeginCapture, (hipStream_t stream, hipStreamCaptureMode mode),
       cudaStreamBeginCapture(stream, mode))
KC_HIP(hipStreamEndCapture, (hipStream_t stream, hipGraph_t *to), cudaStreamEndCapture(stream, to))
KC_HIP(hipGraphLaunch, (hipGraphExec_t graph, hipStream_t stream), cudaGraphLaunch(graph, stream))
KC_HIP(hipGraphDestroy, (hipGraph_t graph), cudaGraphDestroy(graph))
KC_HIP(hipGraphExecDestroy, (hipGraphExec_t graph), cudaGraphExecDestroy(graph))

// ---- functions whose last parameters may be left out in C++ ----
#ifdef __cplusplus
#define KC_HIP_OR(value) = value
#else
#define KC_HIP_OR(value)
#endif
KC_HIP(hipEventRecord, (hipEvent_t event, hipStream_t stream KC_HIP_OR(0)),
       cudaEventRecord(event, stream))
KC_HIP(hipMemcpyAsync, (void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                        hipStream_t stream KC_HIP_OR(0)),
       cudaMemcpyAsync(to, from, bytes, kind, stream))
KC_HIP(hipMemcpy2DAsync, (void *to, size_t pitch, const void *from, size_t from_pitch, size_t width,
                          size_t height, hipMemcpyKind kind, hipStream_t stream KC_HIP_OR(0)),
       cudaMemcpy2DAsync(to, pitch, from, from_pitch, width, height, kind, stream))
KC_HIP(hipMemcpy3DAsync, (const hipMemcpy3DParms *how, hipStream_t stream KC_HIP_OR(0)),
       cudaMemcpy3DAsync(how, stream))
KC_HIP(hipMemsetAsync, (void *to, int value, size_t bytes, hipStream_t stream KC_HIP_OR(0)),
       cudaMemsetAsync(to, value, bytes, stream))
KC_HIP(hipMallocArray, (hipArray_t *to, const hipChannelFormatDesc *format, size_t width,
                        size_t height KC_HIP_OR(0), unsigned flags KC_HIP_OR(0)),
       cudaMallocArray(to, format, width, height, flags))
static inline hipError_t hipGraphInstantiate(hipGraphExec_t *to, hipGraph_t graph,
                                             hipGraphNode_t *node KC_HIP_OR(0),
                                             char *log KC_HIP_OR(0), size_t room KC_HIP_OR(0)) {
  (void)node, (void)log, (void)room;
#if CUDART_VERSION < 12000
  return kc_hip_error(cudaGraphInstantiate(to, graph, NULL, NULL, 0));
#else
  return kc_hip_error(cudaGraphInstantiate(to, graph, 0));
#endif
}
// Where pages of managed memory are changes no result.
static inline hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                             hipStream_t stream KC_HIP_OR(0)) {
  (void)pointer, (void)bytes, (void)device, (void)stream;
  return hipSuccess;
}
static inline hipError_t hipMemAdvise(const void *pointer, size_t bytes, int advice, int device) {
  (void)pointer, (void)bytes, (void)advice, (void)device;
  return hipSuccess;
}
#undef KC_HIP_OR
#undef KC_HIP

#if defined(__cplusplus) && defined(__CUDACC__)
template <class T>
inline hipChannelFormatDesc hipCreateChannelDesc() { return cudaCreateChannelDesc<T>(); }
inline
#else
static inline
#endif
hipChannelFormatDesc hipCreateChannelDesc(int x, int y, int z, int w, hipChannelFormatKind kind) {
  hipChannelFormatDesc made = {x, y, z, w, kind};
  return made;
}
#endif
