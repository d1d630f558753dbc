/* All functions of OpenCL in the order that cl_khr_icd has given them, and by name. */
#include <string.h>

#include "client.h"
#include "opencl_functions.h"

/* `F` is a function of this library, `N` one of an extension that it does not have. */
#define OPENCL_1_0(F, N)                                                                          \
  F(clGetPlatformIDs) F(clGetPlatformInfo) F(clGetDeviceIDs) F(clGetDeviceInfo)                   \
  F(clCreateContext) F(clCreateContextFromType) F(clRetainContext) F(clReleaseContext)            \
  F(clGetContextInfo) F(clCreateCommandQueue) F(clRetainCommandQueue) F(clReleaseCommandQueue)    \
  F(clGetCommandQueueInfo) F(clSetCommandQueueProperty) F(clCreateBuffer) F(clCreateImage2D)      \
  F(clCreateImage3D) F(clRetainMemObject) F(clReleaseMemObject) F(clGetSupportedImageFormats)     \
  F(clGetMemObjectInfo) F(clGetImageInfo) F(clCreateSampler) F(clRetainSampler)                   \
  F(clReleaseSampler) F(clGetSamplerInfo) F(clCreateProgramWithSource)                            \
  F(clCreateProgramWithBinary) F(clRetainProgram) F(clReleaseProgram) F(clBuildProgram)           \
  F(clUnloadCompiler) F(clGetProgramInfo) F(clGetProgramBuildInfo) F(clCreateKernel)              \
  F(clCreateKernelsInProgram) F(clRetainKernel) F(clReleaseKernel) F(clSetKernelArg)              \
  F(clGetKernelInfo) F(clGetKernelWorkGroupInfo) F(clWaitForEvents) F(clGetEventInfo)             \
  F(clRetainEvent) F(clReleaseEvent) F(clGetEventProfilingInfo) F(clFlush) F(clFinish)            \
  F(clEnqueueReadBuffer) F(clEnqueueWriteBuffer) F(clEnqueueCopyBuffer) F(clEnqueueReadImage)     \
  F(clEnqueueWriteImage) F(clEnqueueCopyImage) F(clEnqueueCopyImageToBuffer)                      \
  F(clEnqueueCopyBufferToImage) F(clEnqueueMapBuffer) F(clEnqueueMapImage)                        \
  F(clEnqueueUnmapMemObject) F(clEnqueueNDRangeKernel) F(clEnqueueTask) F(clEnqueueNativeKernel)  \
  F(clEnqueueMarker) F(clEnqueueWaitForEvents) F(clEnqueueBarrier)                                \
  F(clGetExtensionFunctionAddress)                                                                \
  N(clCreateFromGLBuffer) N(clCreateFromGLTexture2D) N(clCreateFromGLTexture3D)                   \
  N(clCreateFromGLRenderbuffer) N(clGetGLObjectInfo) N(clGetGLTextureInfo)                        \
  N(clEnqueueAcquireGLObjects) N(clEnqueueReleaseGLObjects) N(clGetGLContextInfoKHR)              \
  N(clGetDeviceIDsFromD3D10KHR) N(clCreateFromD3D10BufferKHR) N(clCreateFromD3D10Texture2DKHR)    \
  N(clCreateFromD3D10Texture3DKHR) N(clEnqueueAcquireD3D10ObjectsKHR)                             \
  N(clEnqueueReleaseD3D10ObjectsKHR)
#define OPENCL_1_1_AND_1_2(F, N)                                                                  \
  F(clSetEventCallback) F(clCreateSubBuffer) F(clSetMemObjectDestructorCallback)                  \
  F(clCreateUserEvent) F(clSetUserEventStatus) F(clEnqueueReadBufferRect)                         \
  F(clEnqueueWriteBufferRect) F(clEnqueueCopyBufferRect)                                          \
  N(clCreateSubDevicesEXT) N(clRetainDeviceEXT) N(clReleaseDeviceEXT)                             \
  N(clCreateEventFromGLsyncKHR)                                                                   \
  F(clCreateSubDevices) F(clRetainDevice) F(clReleaseDevice) F(clCreateImage)                     \
  F(clCreateProgramWithBuiltInKernels) F(clCompileProgram) F(clLinkProgram)                       \
  F(clUnloadPlatformCompiler) F(clGetKernelArgInfo) F(clEnqueueFillBuffer) F(clEnqueueFillImage)  \
  F(clEnqueueMigrateMemObjects) F(clEnqueueMarkerWithWaitList) F(clEnqueueBarrierWithWaitList)    \
  F(clGetExtensionFunctionAddressForPlatform)                                                     \
  N(clCreateFromGLTexture) N(clGetDeviceIDsFromD3D11KHR) N(clCreateFromD3D11BufferKHR)            \
  N(clCreateFromD3D11Texture2DKHR) N(clCreateFromD3D11Texture3DKHR)                               \
  N(clCreateFromDX9MediaSurfaceKHR) N(clEnqueueAcquireD3D11ObjectsKHR)                            \
  N(clEnqueueReleaseD3D11ObjectsKHR) N(clGetDeviceIDsFromDX9MediaAdapterKHR)                      \
  N(clEnqueueAcquireDX9MediaSurfacesKHR) N(clEnqueueReleaseDX9MediaSurfacesKHR)                   \
  N(clCreateFromEGLImageKHR) N(clEnqueueAcquireEGLObjectsKHR) N(clEnqueueReleaseEGLObjectsKHR)    \
  N(clCreateEventFromEGLSyncKHR)
#define OPENCL_2_AND_3(F, N)                                                                      \
  F(clCreateCommandQueueWithProperties) F(clCreatePipe) F(clGetPipeInfo) F(clSVMAlloc)            \
  F(clSVMFree) F(clEnqueueSVMFree) F(clEnqueueSVMMemcpy) F(clEnqueueSVMMemFill)                   \
  F(clEnqueueSVMMap) F(clEnqueueSVMUnmap) F(clCreateSamplerWithProperties)                        \
  F(clSetKernelArgSVMPointer) F(clSetKernelExecInfo) N(clGetKernelSubGroupInfoKHR)                \
  F(clCloneKernel) F(clCreateProgramWithIL) F(clEnqueueSVMMigrateMem) F(clGetDeviceAndHostTimer)  \
  F(clGetHostTimer) F(clGetKernelSubGroupInfo) F(clSetDefaultDeviceCommandQueue)                  \
  F(clSetProgramReleaseCallback) F(clSetProgramSpecializationConstant)                            \
  F(clCreateBufferWithProperties) F(clCreateImageWithProperties) F(clSetContextDestructorCallback)

#define NOTHING(name)
#define DECLARE(name) extern void name(void);
OPENCL_1_0(DECLARE, NOTHING)
OPENCL_1_1_AND_1_2(DECLARE, NOTHING)
OPENCL_2_AND_3(DECLARE, NOTHING)
DECLARE(clIcdGetPlatformIDsKHR)

#define PLACE(name) name,
#define NO_PLACE(name) 0,
const cl_function cl_functions[] = {
    OPENCL_1_0(PLACE, NO_PLACE) OPENCL_1_1_AND_1_2(PLACE, NO_PLACE) OPENCL_2_AND_3(PLACE, NO_PLACE)};

#define NAME(name) {#name, name},
static const struct { const char *name; cl_function function; } by_name[] = {
    NAME(clIcdGetPlatformIDsKHR) OPENCL_1_0(NAME, NOTHING) OPENCL_1_1_AND_1_2(NAME, NOTHING)
    OPENCL_2_AND_3(NAME, NOTHING)};

cl_function cl_function_named(const char *name) {
  for (size_t i = 0; i < sizeof by_name / sizeof *by_name; i++)
    if (!strcmp(by_name[i].name, name)) return by_name[i].function;
  return 0;
}
