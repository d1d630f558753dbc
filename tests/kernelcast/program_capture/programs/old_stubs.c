/* What nvcc 11 and 12 put into programs: kernels and variables are registered before main and launched
   by the address of their stub. Compiled with -DMAJOR=11 or 12, without headers of CUDA. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned x, y, z; } dim3;
typedef int status;
extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *,
                                   void *, void *, int *);
extern void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
extern unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
extern status __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
extern status cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
extern status cudaMalloc(void **, size_t), cudaFree(void *), cudaGetLastError(void);
extern status cudaMemcpy(void *, const void *, size_t, int), cudaDeviceSynchronize(void);
extern status cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int);
extern status cudaRuntimeGetVersion(int *), cudaFuncGetAttributes(void *, const void *);
extern status cudaStreamCreate(void **), cudaStreamBeginCapture(void *, int);
extern status cudaStreamEndCapture(void *, void **), cudaGraphLaunch(void *, void *);
#if MAJOR == 11
extern status cudaGetDeviceProperties(void *, int);
extern status cudaGraphInstantiate(void **, void *, void **, char *, size_t);
#define PROPERTIES cudaGetDeviceProperties
#define INSTANTIATE(to, graph) cudaGraphInstantiate(to, graph, NULL, NULL, 0)
enum { PROPERTIES_BYTES = 728, ATTRIBUTES_BYTES = 56 };
#else
extern status cudaGetDeviceProperties_v2(void *, int);
extern status cudaGraphInstantiate(void **, void *, unsigned long long);
#define PROPERTIES cudaGetDeviceProperties_v2
#define INSTANTIATE(to, graph) cudaGraphInstantiate(to, graph, 0)
enum { PROPERTIES_BYTES = 1032, ATTRIBUTES_BYTES = 144 };
#endif

#define EXPECT(condition)                                                     \
  if (!(condition)) {                                                         \
    fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    exit(1);                                                                  \
  }

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .u32 factor = 2;\n"
    ".visible .entry multiply(.param .u64 data, .param .u32 count) {\n"
    ".reg .pred %p; .reg .b32 %r<5>; .reg .b64 %d<3>;\n"
    "ld.param.u64 %d0, [data]; cvta.to.global.u64 %d0, %d0; ld.param.u32 %r0, [count];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
    "setp.ge.u32 %p, %r1, %r0; @%p ret;\n"
    "mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1; ld.global.u32 %r4, [%d0];\n"
    "ld.const.u32 %r2, [factor]; mul.lo.u32 %r4, %r4, %r2; st.global.u32 [%d0], %r4; ret;\n}\n";

/* A fat binary with one text of PTX: headers as NVIDIA's tools write them. */
static struct {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;
  uint16_t kind, entry_version;
  uint32_t entry_bytes;
  uint64_t padded_bytes;
  uint32_t compressed_bytes, unused[2], architecture, name_offset, name_bytes;
  uint64_t flags, more, plain_bytes;
  char text[(sizeof ptx + 7) / 8 * 8];
} fat_binary = {0xBA55ED50, 1, 16, 64 + (sizeof ptx + 7) / 8 * 8, 1, 0x101, 64, (sizeof ptx + 7) / 8 * 8,
                0, {0, 0}, 70, 0, 0, 0x11, 0, 0, ""};
static struct { int magic, version; const void *data; void *name; } wrapper = {0x466243b1, 1, &fat_binary,
                                                                               NULL};
static void **registered;
static unsigned factor; /* what stands for the variable in the program */

static void multiply(unsigned *data, unsigned count) {
  void *arguments[] = {&data, &count};
  dim3 grid, block;
  size_t shared_bytes;
  void *stream;
  if (__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream)) return;
  cudaLaunchKernel((void *)multiply, grid, block, arguments, shared_bytes, stream);
}

__attribute__((constructor)) static void enroll(void) {
  memcpy(fat_binary.text, ptx, sizeof ptx);
  registered = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(registered, (const char *)multiply, (char *)"multiply", "multiply", -1, NULL,
                         NULL, NULL, NULL, NULL);
  __cudaRegisterVar(registered, (char *)&factor, (char *)"factor", "factor", 0, 4, 1, 0);
  __cudaRegisterFatBinaryEnd(registered);
}
__attribute__((destructor)) static void leave(void) { __cudaUnregisterFatBinary(registered); }

static void launch(unsigned *data, unsigned count, void *stream) {
  dim3 grid = {(count + 63) / 64, 1, 1}, block = {64, 1, 1};
  if (!__cudaPushCallConfiguration(grid, block, 0, stream)) multiply(data, count);
  EXPECT(!cudaGetLastError());
}

int main(void) {
  enum { COUNT = 100, TO_DEVICE = 1, TO_HOST = 2 };
  unsigned host[COUNT], seven = 7;
  int version;
  EXPECT(!cudaRuntimeGetVersion(&version) && version / 1000 == MAJOR);
  char facts[PROPERTIES_BYTES + 16];
  memset(facts, 0x55, sizeof facts);
  EXPECT(!PROPERTIES(facts, 0) && strstr(facts, "A100"));
  EXPECT(facts[PROPERTIES_BYTES] == 0x55);
  int numbers[3]; /* warp size, major, minor, at their places in the header */
  memcpy(numbers, facts + 308, 4), memcpy(numbers + 1, facts + 360, 8);
  EXPECT(numbers[0] == 32 && numbers[1] == 8 && numbers[2] == 0);
  memset(facts, 0x55, sizeof facts);
  EXPECT(!cudaFuncGetAttributes(facts, (void *)multiply));
  EXPECT(facts[ATTRIBUTES_BYTES] == 0x55 && facts[ATTRIBUTES_BYTES - 1] != 0x55);
  for (unsigned i = 0; i < COUNT; i++) host[i] = i;
  unsigned *data;
  EXPECT(!cudaMalloc((void **)&data, sizeof host));
  EXPECT(!cudaMemcpy(data, host, sizeof host, TO_DEVICE));
  launch(data, COUNT, NULL);
  EXPECT(!cudaMemcpyToSymbol(&factor, &seven, sizeof seven, 0, TO_DEVICE));
  launch(data, COUNT, NULL);
  void *stream, *graph, *executable;
  EXPECT(!cudaStreamCreate(&stream) && !cudaStreamBeginCapture(stream, 0));
  launch(data, COUNT, stream);
  EXPECT(!cudaStreamEndCapture(stream, &graph) && !INSTANTIATE(&executable, graph));
  EXPECT(!cudaGraphLaunch(executable, stream));
  EXPECT(!cudaDeviceSynchronize());
  EXPECT(!cudaMemcpy(host, data, sizeof host, TO_HOST));
  for (unsigned i = 0; i < COUNT; i++) EXPECT(host[i] == i * 2 * 7 * 7);
  EXPECT(!cudaFree(data));
  return 0;
}
