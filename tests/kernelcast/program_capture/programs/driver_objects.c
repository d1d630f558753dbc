/* Textures and surfaces, graphs, captured streams, and modules that are linked. */
#include "driver.h"

enum { COUNT = 64, BYTES = 4 * COUNT };

typedef struct {
  int kind;
  union {
    object array;
    struct { pointer at; int format; unsigned channels; size_t width, height, pitch; } rows;
    int reserved[32];
  };
  unsigned flags;
} resource;
typedef struct { object function; unsigned grid[3], block[3], shared_bytes; void **arguments, **extra;
                 object kernel, context; } kernel_node;
typedef struct { pointer to; size_t pitch; unsigned value, element_bytes; size_t width, height; } fill_node;
typedef struct { void (*function)(void *); void *data; } host_node;

static unsigned back[COUNT];

static void textures(const char *path) {
  object function = loaded(path, "sampled"), draw = loaded(path, "drawn"), array;
  struct { size_t width, height; int format; unsigned channels; } floats = {16, 4, 0x20, 1},
                                                                  whole = {16, 4, 3, 1};
  float texels[COUNT], found[COUNT];
  unsigned long long texture, surface;
  int how[24] = {1, 1, 1};
  pointer out;
  for (int i = 0; i < COUNT; i++) texels[i] = 0.5f * (float)i;
  CHECK(cuMemAlloc_v2(&out, BYTES));
  CHECK(cuArrayCreate_v2(&array, &floats));
  CHECK(cuMemcpyHtoA_v2(array, 0, texels, BYTES));
  resource of = {.kind = 0, .array = array};
  CHECK(cuTexObjectCreate(&texture, &of, how, NULL));
  void *arguments[] = {&out, &texture};
  CHECK(cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuMemcpyDtoH_v2(found, out, BYTES));
  EXPECT(!memcmp(found, texels, BYTES));
  CHECK(cuTexObjectDestroy(texture));
  CHECK(cuArrayDestroy(array));

  unsigned char bytes[COUNT];
  pointer rows;
  for (int i = 0; i < COUNT; i++) bytes[i] = (unsigned char)(4 * i);
  CHECK(cuMemAlloc_v2(&rows, 4 * 32));
  for (int y = 0; y < 4; y++) CHECK(cuMemcpyHtoD_v2(rows + 32 * (pointer)y, bytes + 16 * y, 16));
  resource fractions = {.kind = 3, .rows = {rows, 1, 1, 16, 4, 32}};
  CHECK(cuTexObjectCreate(&texture, &fractions, how, NULL));
  CHECK(cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuMemcpyDtoH_v2(found, out, BYTES));
  for (int i = 0; i < COUNT; i++) EXPECT(found[i] == (float)bytes[i] / 255);
  CHECK(cuTexObjectDestroy(texture));

  CHECK(cuArrayCreate_v2(&array, &whole));
  resource drawn = {.kind = 0, .array = array};
  CHECK(cuSurfObjectCreate(&surface, &drawn));
  void *target[] = {&surface};
  CHECK(cuLaunchKernel(draw, 1, 1, 1, COUNT, 1, 1, 0, NULL, target, NULL));
  CHECK(cuMemcpyAtoH_v2(back, array, 0, BYTES));
  for (unsigned i = 0; i < COUNT; i++) EXPECT(back[i] == i);
  CHECK(cuSurfObjectDestroy(surface));
  CHECK(cuArrayDestroy(array));
  CHECK(cuMemFree_v2(out));
}

static void add_one(void *data) { ++*(int *)data; }

static void graphs(const char *path) {
  object function = loaded(path, "scaled"), graph, ready, nodes[5], found[8];
  pointer memory;
  unsigned count = COUNT, few = 1;
  int calls = 0;
  size_t known = 8;
  CHECK(cuMemAlloc_v2(&memory, BYTES));
  CHECK(cuGraphCreate(&graph, 0));
  fill_node fill = {memory, BYTES, 2, 4, COUNT, 1};
  CHECK(cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill, NULL));
  void *arguments[] = {&memory, &memory, &count}, *other[] = {&memory, &memory, &few};
  kernel_node kernel = {function, {1, 1, 1}, {COUNT, 1, 1}, 0, arguments, NULL, NULL, NULL};
  CHECK(cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &kernel));
  box copy = {.from_kind = 2, .from_device = memory, .to_kind = 1, .to_host = back, .width = BYTES,
              .height = 1, .depth = 1};
  CHECK(cuGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &copy, NULL));
  host_node call = {add_one, &calls};
  CHECK(cuGraphAddHostNode(&nodes[3], graph, &nodes[2], 1, &call));
  CHECK(cuGraphAddEmptyNode(&nodes[4], graph, &nodes[3], 1));
  CHECK(cuGraphGetNodes(graph, found, &known));
  EXPECT(known == 5);
  CHECK(cuGraphInstantiateWithFlags(&ready, graph, 0));
  CHECK(cuGraphLaunch(ready, NULL));
  CHECK(cuCtxSynchronize());
  for (unsigned i = 0; i < COUNT; i++) EXPECT(back[i] == 23);
  EXPECT(calls == 1);
  kernel.arguments = other;
  CHECK(cuGraphExecKernelNodeSetParams_v2(ready, nodes[1], &kernel));
  CHECK(cuGraphLaunch(ready, NULL));
  CHECK(cuCtxSynchronize());
  EXPECT(back[0] == 23 && back[1] == 2 && calls == 2);
  CHECK(cuGraphExecDestroy(ready));
  CHECK(cuGraphDestroy(graph));
  CHECK(cuMemFree_v2(memory));
}

static void captured(const char *path) {
  object function = loaded(path, "scaled"), stream, graph, ready;
  pointer memory;
  unsigned count = COUNT;
  int is_capturing;
  CHECK(cuMemAlloc_v2(&memory, BYTES));
  CHECK(cuMemsetD8_v2(memory, 0, BYTES));
  CHECK(cuStreamCreate(&stream, 1));
  CHECK(cuStreamBeginCapture_v2(stream, 0));
  CHECK(cuStreamIsCapturing(stream, &is_capturing));
  EXPECT(is_capturing == 1);
  void *arguments[] = {&memory, &memory, &count};
  CHECK(cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, stream, arguments, NULL));
  CHECK(cuLaunchKernel(function, 1, 1, 1, COUNT, 1, 1, 0, stream, arguments, NULL));
  CHECK(cuStreamEndCapture(stream, &graph));
  CHECK(cuGraphInstantiateWithFlags(&ready, graph, 0));
  CHECK(cuGraphLaunch(ready, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemcpyDtoH_v2(back, memory, BYTES));
  for (unsigned i = 0; i < COUNT; i++) EXPECT(back[i] == 33);
  CHECK(cuMemFree_v2(memory));
}

#define HEADER ".version 7.0\n.target sm_75\n.address_size 64\n"

static void linked(void) {
  static const char caller[] = HEADER
      ".extern .func (.param .b32 result) of_other (.param .b32 value);\n"
      ".global .align 4 .u32 own = 5;\n"
      ".visible .entry called(.param .u64 out)\n{\n"
      ".reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [out];\nld.global.u32 %r1, [own];\n"
      "{\n.param .b32 passed;\nst.param.b32 [passed], %r1;\n.param .b32 returned;\n"
      "call.uni (returned), of_other, (passed);\nld.param.b32 %r2, [returned];\n}\n"
      "st.global.u32 [%rd1], %r2;\nret;\n}\n";
  static const char callee[] = HEADER
      ".global .align 4 .u32 own = 7;\n"
      ".visible .func (.param .b32 result) of_other (.param .b32 value)\n{\n"
      ".reg .b32 %r<4>;\nld.param.b32 %r1, [value];\nld.global.u32 %r2, [own];\n"
      "mul.lo.u32 %r3, %r1, %r2;\nst.param.b32 [result], %r3;\nret;\n}\n";
  object link, module, function;
  void *image;
  size_t size;
  pointer out;
  unsigned found;
  CHECK(cuLinkCreate_v2(0, NULL, NULL, &link));
  CHECK(cuLinkAddData_v2(link, 1, caller, sizeof caller, "caller", 0, NULL, NULL));
  CHECK(cuLinkAddData_v2(link, 1, callee, sizeof callee, "callee", 0, NULL, NULL));
  CHECK(cuLinkComplete(link, &image, &size));
  CHECK(cuModuleLoadData(&module, image));
  CHECK(cuLinkDestroy(link));
  CHECK(cuModuleGetFunction(&function, module, "called"));
  CHECK(cuMemAlloc_v2(&out, 4));
  void *arguments[] = {&out};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuMemcpyDtoH_v2(&found, out, 4));
  EXPECT(found == 35);
  CHECK(cuModuleUnload(module));
}

int main(int count, char **words) {
  EXPECT(count == 2);
  started();
  textures(words[1]);
  graphs(words[1]);
  captured(words[1]);
  linked();
  puts("all right");
  return 0;
}
