/* What the programs use of OpenCL: functions and numbers. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void *object;
typedef const object *objects;
typedef uint32_t word;
typedef uint64_t flags;
typedef struct { word order, type; } image_format;
typedef struct {
  word type;
  size_t width, height, depth, layers, row_pitch, slice_pitch;
  word levels, samples;
  object memory;
} image_description;

int clGetPlatformIDs(word, object *, word *);
int clGetPlatformInfo(object, word, size_t, void *, size_t *);
int clGetDeviceIDs(object, flags, word, object *, word *);
int clGetDeviceInfo(object, word, size_t, void *, size_t *);
object clCreateContext(const intptr_t *, word, objects, void *, void *, int *);
object clCreateContextFromType(const intptr_t *, flags, void *, void *, int *);
int clGetContextInfo(object, word, size_t, void *, size_t *);
int clReleaseContext(object);
object clCreateCommandQueue(object, object, flags, int *);
object clCreateCommandQueueWithProperties(object, object, const flags *, int *);
int clGetCommandQueueInfo(object, word, size_t, void *, size_t *);
int clReleaseCommandQueue(object);
int clFlush(object);
int clFinish(object);
object clCreateBuffer(object, flags, size_t, void *, int *);
object clCreateSubBuffer(object, flags, word, const void *, int *);
int clGetMemObjectInfo(object, word, size_t, void *, size_t *);
int clSetMemObjectDestructorCallback(object, void (*)(object, void *), void *);
int clRetainMemObject(object);
int clReleaseMemObject(object);
object clCreateImage(object, flags, const image_format *, const image_description *, void *, int *);
object clCreateImage2D(object, flags, const image_format *, size_t, size_t, size_t, void *, int *);
int clGetSupportedImageFormats(object, flags, word, word, image_format *, word *);
int clGetImageInfo(object, word, size_t, void *, size_t *);
object clCreateSampler(object, word, word, word, int *);
int clReleaseSampler(object);
object clCreateProgramWithSource(object, word, const char **, const size_t *, int *);
object clCreateProgramWithBinary(object, word, objects, const size_t *, const unsigned char **, int *,
                                 int *);
int clBuildProgram(object, word, objects, const char *, void (*)(object, void *), void *);
int clCompileProgram(object, word, objects, const char *, word, objects, const char **, void *, void *);
object clLinkProgram(object, word, objects, const char *, word, objects, void *, void *, int *);
int clGetProgramInfo(object, word, size_t, void *, size_t *);
int clGetProgramBuildInfo(object, object, word, size_t, void *, size_t *);
int clReleaseProgram(object);
object clCreateKernel(object, const char *, int *);
int clCreateKernelsInProgram(object, word, object *, word *);
int clSetKernelArg(object, word, size_t, const void *);
int clGetKernelInfo(object, word, size_t, void *, size_t *);
int clGetKernelArgInfo(object, word, word, size_t, void *, size_t *);
int clGetKernelWorkGroupInfo(object, object, word, size_t, void *, size_t *);
int clReleaseKernel(object);
int clEnqueueNDRangeKernel(object, object, word, const size_t *, const size_t *, const size_t *, word,
                           objects, object *);
int clEnqueueTask(object, object, word, objects, object *);
int clEnqueueReadBuffer(object, object, word, size_t, size_t, void *, word, objects, object *);
int clEnqueueWriteBuffer(object, object, word, size_t, size_t, const void *, word, objects, object *);
int clEnqueueCopyBuffer(object, object, object, size_t, size_t, size_t, word, objects, object *);
int clEnqueueFillBuffer(object, object, const void *, size_t, size_t, size_t, word, objects, object *);
int clEnqueueReadBufferRect(object, object, word, const size_t *, const size_t *, const size_t *,
                            size_t, size_t, size_t, size_t, void *, word, objects, object *);
void *clEnqueueMapBuffer(object, object, word, flags, size_t, size_t, word, objects, object *, int *);
int clEnqueueUnmapMemObject(object, object, void *, word, objects, object *);
int clEnqueueReadImage(object, object, word, const size_t *, const size_t *, size_t, size_t, void *,
                       word, objects, object *);
int clEnqueueWriteImage(object, object, word, const size_t *, const size_t *, size_t, size_t,
                        const void *, word, objects, object *);
int clEnqueueCopyImageToBuffer(object, object, object, const size_t *, const size_t *, size_t, word,
                               objects, object *);
int clEnqueueFillImage(object, object, const void *, const size_t *, const size_t *, word, objects,
                       object *);
void *clEnqueueMapImage(object, object, word, flags, const size_t *, const size_t *, size_t *,
                        size_t *, word, objects, object *, int *);
int clEnqueueMarkerWithWaitList(object, word, objects, object *);
int clWaitForEvents(word, objects);
int clGetEventInfo(object, word, size_t, void *, size_t *);
int clGetEventProfilingInfo(object, word, size_t, void *, size_t *);
object clCreateUserEvent(object, int *);
int clSetUserEventStatus(object, int);
int clSetEventCallback(object, int, void (*)(object, int, void *), void *);
int clReleaseEvent(object);
void *clSVMAlloc(object, flags, size_t, word);
void clSVMFree(object, void *);
int clSetKernelArgSVMPointer(object, word, const void *);
int clCreateSubDevices(object, const intptr_t *, word, object *, word *);

enum { READ_WRITE = 1, WRITE_ONLY = 2, READ_ONLY = 4, USE_HOST_PTR = 8, ALLOC_HOST_PTR = 16,
       COPY_HOST_PTR = 32 };
enum { MAP_READ = 1, MAP_WRITE = 2, MAP_INVALIDATE = 4 };
enum { PROFILING = 2, GPU = 4 };

#define EXPECT(condition)                                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);           \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)
#define CHECK(call)                                                             \
  do {                                                                          \
    int status_ = (call);                                                       \
    if (status_) {                                                              \
      fprintf(stderr, "%s:%d: error %d: %s\n", __FILE__, __LINE__, status_, #call); \
      exit(1);                                                                  \
    }                                                                           \
  } while (0)

static object device, context, queue;

/* The first GPU, with a queue that measures times. */
__attribute__((unused)) static void begin(void) {
  object platform;
  int error;
  CHECK(clGetPlatformIDs(1, &platform, NULL));
  CHECK(clGetDeviceIDs(platform, GPU, 1, &device, NULL));
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  CHECK(error);
  queue = clCreateCommandQueue(context, device, PROFILING, &error);
  CHECK(error);
}

__attribute__((unused)) static void end(void) {
  CHECK(clReleaseCommandQueue(queue));
  CHECK(clReleaseContext(context));
  puts("all right");
}

__attribute__((unused)) static object built(const char *source, const char *options) {
  int error;
  object program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  CHECK(error);
  if (clBuildProgram(program, 1, &device, options, NULL, NULL)) {
    char log[4096];
    clGetProgramBuildInfo(program, device, 0x1183, sizeof log, log, NULL);
    fprintf(stderr, "%s\n", log);
    exit(1);
  }
  return program;
}

__attribute__((unused)) static object kernel_of(object program, const char *name) {
  int error;
  object kernel = clCreateKernel(program, name, &error);
  CHECK(error);
  return kernel;
}

__attribute__((unused)) static object buffer(flags how, size_t bytes, void *host) {
  int error;
  object made = clCreateBuffer(context, how, bytes, host, &error);
  CHECK(error);
  return made;
}

#define ARGUMENT(kernel, number, value) CHECK(clSetKernelArg(kernel, number, sizeof(value), &(value)))

__attribute__((unused)) static void launch(object kernel, size_t items, size_t group) {
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, group ? &group : NULL, 0, NULL, NULL));
}
