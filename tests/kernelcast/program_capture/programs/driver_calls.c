/* Devices, contexts, modules, launches, streams and events, each with the values that they lead to. */
#include "driver.h"

enum { COUNT = 300, BYTES = COUNT * 4 };

static unsigned host[COUNT], back[COUNT];

static void expect_scaled(pointer out, unsigned factor, unsigned bias) {
  CHECK(cuMemcpyDtoH_v2(back, out, BYTES));
  for (unsigned i = 0; i < COUNT; i++) EXPECT(back[i] == host[i] * factor + bias);
  CHECK(cuMemsetD8_v2(out, 0, BYTES));
}

static void devices(void) {
  int count, version, value, minor;
  char name[64];
  size_t bytes;
  CHECK(cuDriverGetVersion(&version));
  EXPECT(version >= 12000);
  CHECK(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  EXPECT(cuDeviceGet(&value, 1) == 101);
  CHECK(cuDeviceGetName(name, sizeof name, 0));
  EXPECT(strstr(name, "A100"));
  CHECK(cuDeviceComputeCapability(&value, &minor, 0));
  EXPECT(value == 8 && minor == 0);
  CHECK(cuDeviceGetAttribute(&value, 16, 0));
  EXPECT(value == 108);
  CHECK(cuDeviceTotalMem_v2(&bytes, 0));
  EXPECT(bytes > (size_t)30 << 30);
}

static void contexts(object first) {
  object second, primary, found;
  int device = 7;
  CHECK(cuCtxCreate_v2(&second, 0, 0));
  CHECK(cuCtxGetCurrent(&found));
  EXPECT(found == second);
  CHECK(cuCtxPopCurrent_v2(&found));
  CHECK(cuCtxGetCurrent(&found));
  EXPECT(found == first);
  CHECK(cuDevicePrimaryCtxRetain(&primary, 0));
  CHECK(cuCtxPushCurrent_v2(primary));
  CHECK(cuCtxGetDevice(&device));
  EXPECT(device == 0);
  CHECK(cuCtxPopCurrent_v2(NULL));
  CHECK(cuDevicePrimaryCtxRelease_v2(0));
  CHECK(cuCtxDestroy_v2(second));
  size_t bytes;
  CHECK(cuCtxSetLimit(0, 4096));
  CHECK(cuCtxGetLimit(&bytes, 0));
  EXPECT(bytes == 4096);
}

static void errors(const char *path) {
  const char *text;
  object module, function;
  void *found;
  CHECK(cuGetErrorName(500, &text));
  EXPECT(!strcmp(text, "CUDA_ERROR_NOT_FOUND"));
  CHECK(cuGetErrorString(1, &text));
  EXPECT(!strcmp(text, "invalid argument"));
  EXPECT(cuGetErrorName(12345, &text) == 1);
  CHECK(cuModuleLoad(&module, path));
  EXPECT(cuModuleGetFunction(&function, module, "nothing") == 500);
  EXPECT(cuModuleLoad(&module, "/nothing.ptx") == 301);
  CHECK(cuGetProcAddress_v2("cuMemAlloc", &found, 12000, 0, NULL));
  EXPECT(found == (void *)cuMemAlloc_v2);
  CHECK(cuGetProcAddress_v2("cuStreamSynchronize", &found, 12000, 0, NULL));
  EXPECT(found == (void *)cuStreamSynchronize);
  CHECK(cuGetProcAddress_v2("cuGraphInstantiate", &found, 12000, 0, NULL));
  EXPECT(found == (void *)cuGraphInstantiateWithFlags);
  EXPECT(cuGetProcAddress_v2("cuNothing", &found, 12000, 0, NULL) == 500 && !found);
}

static void launches(const char *path) {
  object function = loaded(path, "scaled");
  pointer in, out;
  unsigned count = COUNT;
  CHECK(cuMemAlloc_v2(&in, BYTES));
  CHECK(cuMemAlloc_v2(&out, BYTES));
  CHECK(cuMemcpyHtoD_v2(in, host, BYTES));

  void *arguments[] = {&out, &in, &count};
  CHECK(cuLaunchKernel(function, 3, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
  expect_scaled(out, 10, 3);

  struct { pointer out, in; unsigned count; } buffer = {out, in, COUNT};
  size_t bytes = sizeof buffer;
  void *extra[] = {(void *)1, &buffer, (void *)2, &bytes, NULL};
  CHECK(cuLaunchKernel(function, 3, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
  expect_scaled(out, 10, 3);

  CHECK(cuLaunchCooperativeKernel(function, 3, 1, 1, 128, 1, 1, 0, NULL, arguments));
  expect_scaled(out, 10, 3);
  struct { unsigned grid[3], block[3], shared_bytes; object stream; void *attributes; unsigned count; }
  how = {{3, 1, 1}, {128, 1, 1}, 0, NULL, NULL, 0};
  CHECK(cuLaunchKernelEx(&how, function, arguments, NULL));
  expect_scaled(out, 10, 3);

  CHECK(cuFuncSetBlockShape(function, 128, 1, 1));
  CHECK(cuParamSetSize(function, 20));
  CHECK(cuParamSetv(function, 0, &out, 8));
  CHECK(cuParamSetv(function, 8, &in, 8));
  CHECK(cuParamSeti(function, 16, COUNT));
  CHECK(cuLaunchGrid(function, 3, 1));
  expect_scaled(out, 10, 3);
  CHECK(cuMemFree_v2(in));
  CHECK(cuMemFree_v2(out));
}

static void libraries(const char *path) {
  static char text[1 << 14];
  FILE *file = fopen(path, "r");
  EXPECT(file && fread(text, 1, sizeof text - 1, file) > 0);
  fclose(file);
  object library, kernel, function;
  pointer bias, in;
  size_t bytes;
  unsigned seven = 7, count = COUNT;
  const char *name;
  CHECK(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, "scaled"));
  CHECK(cuKernelGetFunction(&function, kernel));
  CHECK(cuFuncGetName(&name, function));
  EXPECT(!strcmp(name, "scaled"));
  size_t offset;
  CHECK(cuFuncGetParamInfo(function, 2, &offset, &bytes));
  EXPECT(offset == 16 && bytes == 4);
  EXPECT(cuFuncGetParamInfo(function, 3, &offset, &bytes) == 1);
  CHECK(cuLibraryGetGlobal(&bias, &bytes, library, "bias"));
  EXPECT(bytes == 4);
  CHECK(cuMemcpyHtoD_v2(bias, &seven, 4));
  CHECK(cuMemAllocManaged(&in, BYTES, 1));
  memcpy((void *)in, host, BYTES);
  void *arguments[] = {&in, &in, &count};
  CHECK(cuLaunchKernel(kernel, 3, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
  expect_scaled(in, 10, 7);

  int value, blocks, threads;
  CHECK(cuFuncGetAttribute(&value, 0, function));
  EXPECT(value == 1024);
  CHECK(cuFuncSetAttribute(function, 8, 65536));
  CHECK(cuFuncGetAttribute(&value, 8, function));
  EXPECT(value == 65536);
  CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 128, 0));
  EXPECT(blocks == 16);
  CHECK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, function, NULL, 0, 0));
  EXPECT(threads == 1024 && blocks == 216);
  CHECK(cuMemFree_v2(in));
  CHECK(cuLibraryUnload(library));

  struct { unsigned magic, version; const void *image; void *file; } wrapped = {0x466243B1, 1, text, NULL};
  CHECK(cuModuleLoadFatBinary(&library, &wrapped));
  CHECK(cuModuleGetFunction(&function, library, "scaled"));
  CHECK(cuModuleUnload(library));
}

static void add_one(void *data) { ++*(int *)data; }

static void streams(const char *path) {
  object function = loaded(path, "scaled"), stream, other, first, second;
  pointer memory;
  unsigned count = COUNT, *pinned;
  int calls = 0;
  float milliseconds = 0;
  CHECK(cuStreamCreate(&stream, 1));
  CHECK(cuStreamCreate(&other, 0));
  CHECK(cuEventCreate(&first, 0));
  CHECK(cuEventCreate(&second, 0));
  CHECK(cuMemAllocAsync(&memory, BYTES, stream));
  CHECK(cuMemHostAlloc((void **)&pinned, BYTES, 0));
  memcpy(pinned, host, BYTES);
  CHECK(cuEventRecord(first, stream));
  CHECK(cuMemcpyHtoDAsync_v2(memory, pinned, BYTES, stream));
  void *arguments[] = {&memory, &memory, &count};
  CHECK(cuLaunchKernel(function, 3, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
  CHECK(cuEventRecord(second, stream));
  CHECK(cuStreamWaitEvent(other, second, 0));
  CHECK(cuMemcpyDtoHAsync_v2(pinned, memory, BYTES, other));
  CHECK(cuLaunchHostFunc(other, add_one, &calls));
  CHECK(cuStreamSynchronize(other));
  EXPECT(calls == 1);
  for (unsigned i = 0; i < COUNT; i++) EXPECT(pinned[i] == host[i] * 10 + 3);
  CHECK(cuEventQuery(second));
  CHECK(cuStreamQuery(stream));
  CHECK(cuEventElapsedTime(&milliseconds, first, second));
  EXPECT(milliseconds > 0.001f && milliseconds < 1);
  CHECK(cuMemFreeAsync(memory, stream));
  CHECK(cuMemFreeHost(pinned));
  CHECK(cuEventDestroy_v2(first));
  CHECK(cuStreamDestroy_v2(stream));
}

int main(int count, char **words) {
  EXPECT(count == 2);
  for (unsigned i = 0; i < COUNT; i++) host[i] = 5 * i + 1;
  object context = started();
  devices();
  contexts(context);
  errors(words[1]);
  launches(words[1]);
  libraries(words[1]);
  streams(words[1]);
  CHECK(cuCtxSynchronize());
  CHECK(cuCtxDestroy_v2(context));
  puts("all right");
  return 0;
}
