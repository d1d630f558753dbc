// The errors of HIP: most have the numbers of CUDA's.
#ifndef KERNELCAST_HIP_ERRORS_H
#define KERNELCAST_HIP_ERRORS_H
#define KC_HIP_ERRORS(E)                                                                    \
  E(hipSuccess, 0)                                                                          \
  E(hipErrorInvalidValue, 1)                                                                \
  E(hipErrorOutOfMemory, 2)                                                                 \
  E(hipErrorNotInitialized, 3)                                                              \
  E(hipErrorDeinitialized, 4)                                                               \
  E(hipErrorProfilerDisabled, 5)                                                            \
  E(hipErrorInvalidConfiguration, 9)                                                        \
  E(hipErrorInvalidPitchValue, 12)                                                          \
  E(hipErrorInvalidSymbol, 13)                                                              \
  E(hipErrorInvalidDevicePointer, 17)                                                       \
  E(hipErrorInvalidMemcpyDirection, 21)                                                     \
  E(hipErrorInsufficientDriver, 35)                                                         \
  E(hipErrorMissingConfiguration, 52)                                                       \
  E(hipErrorPriorLaunchFailure, 53)                                                         \
  E(hipErrorInvalidDeviceFunction, 98)                                                      \
  E(hipErrorNoDevice, 100)                                                                  \
  E(hipErrorInvalidDevice, 101)                                                             \
  E(hipErrorInvalidImage, 200)                                                              \
  E(hipErrorInvalidContext, 201)                                                            \
  E(hipErrorNoBinaryForGpu, 209)                                                            \
  E(hipErrorUnsupportedLimit, 215)                                                          \
  E(hipErrorPeerAccessUnsupported, 217)                                                     \
  E(hipErrorInvalidKernelFile, 218)                                                         \
  E(hipErrorFileNotFound, 301)                                                              \
  E(hipErrorInvalidHandle, 400)                                                             \
  E(hipErrorNotFound, 500)                                                                  \
  E(hipErrorNotReady, 600)                                                                  \
  E(hipErrorIllegalAddress, 700)                                                            \
  E(hipErrorLaunchOutOfResources, 701)                                                      \
  E(hipErrorLaunchTimeOut, 702)                                                             \
  E(hipErrorPeerAccessAlreadyEnabled, 704)                                                  \
  E(hipErrorPeerAccessNotEnabled, 705)                                                      \
  E(hipErrorAssert, 710)                                                                    \
  E(hipErrorHostMemoryAlreadyRegistered, 712)                                               \
  E(hipErrorHostMemoryNotRegistered, 713)                                                   \
  E(hipErrorLaunchFailure, 719)                                                             \
  E(hipErrorCooperativeLaunchTooLarge, 720)                                                 \
  E(hipErrorNotSupported, 801)                                                              \
  E(hipErrorStreamCaptureUnsupported, 900)                                                  \
  E(hipErrorStreamCaptureInvalidated, 901)                                                  \
  E(hipErrorUnknown, 999)

#define KC_HIP_ERROR(name, number) name = number,
typedef enum { KC_HIP_ERRORS(KC_HIP_ERROR) hipErrorTbd } hipError_t;
#undef KC_HIP_ERROR
#define hipErrorMemoryAllocation hipErrorOutOfMemory
#define hipErrorInitializationError hipErrorNotInitialized
#define hipErrorInvalidResourceHandle hipErrorInvalidHandle
#define hipErrorMapFailed hipErrorInvalidValue

static inline const char *hipGetErrorName(hipError_t error) {
  switch ((int)error) {
#define KC_HIP_NAME(name, number) \
  case number: return #name;
    KC_HIP_ERRORS(KC_HIP_NAME)
#undef KC_HIP_NAME
    default: return "hipErrorUnknown";
  }
}
static inline const char *hipGetErrorString(hipError_t error) {
  return cudaGetErrorString((cudaError_t)error);
}
static inline hipError_t kc_hip_error(cudaError_t found) { return (hipError_t)found; }
#endif
