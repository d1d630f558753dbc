/* Vectors on the device: sums, global offsets, fills, copies and what the device says of itself. */
#include "opencl.h"

static const char *source =
    "__kernel void add(__global const float *a, __global const float *b, __global float *c, int n) {\n"
    "  int i = get_global_id(0);\n"
    "  if (i < n) c[i] = a[i] + b[i];\n"
    "}\n"
    "__kernel void place(__global int *out, int width) {\n"
    "  size_t x = get_global_id(0), y = get_global_id(1);\n"
    "  out[y * width + x] = (int)(get_global_offset(0) * 1000 + get_group_id(1) * 100 + x);\n"
    "}\n"
    "typedef struct { float scale; int3 shift; char unit; } change;\n"
    "__kernel void apply(__global float *v, change how, float4 more, __constant float *table) {\n"
    "  int i = get_global_id(0);\n"
    "  v[i] = v[i] * how.scale + how.shift.y + more.w + table[i % 4] + how.unit;\n"
    "}\n";

enum { COUNT = 1000, PADDED = 1024 };
static float a[COUNT], b[COUNT], c[COUNT];

static void facts(const char *name) {
  char text[256];
  word units;
  flags bytes, type;
  CHECK(clGetDeviceInfo(device, 0x102B, sizeof text, text, NULL));
  EXPECT(strstr(text, name));
  CHECK(clGetDeviceInfo(device, 0x1000, sizeof type, &type, NULL));
  EXPECT(type == GPU);
  CHECK(clGetDeviceInfo(device, 0x1002, sizeof units, &units, NULL));
  EXPECT(units > 50);
  CHECK(clGetDeviceInfo(device, 0x101F, sizeof bytes, &bytes, NULL));
  EXPECT(bytes > (flags)10 << 30);
  EXPECT(clGetDeviceInfo(device, 0x1000, 4, &type, NULL) == -30);
  word count = 9;
  EXPECT(clGetDeviceIDs(NULL, 2, 0, NULL, &count) == -1 && count == 0);
}

static void sums(object program) {
  for (int i = 0; i < COUNT; i++) a[i] = (float)i, b[i] = 0.5f * (float)i;
  object x = buffer(READ_ONLY | COPY_HOST_PTR, sizeof a, a), y = buffer(READ_ONLY, sizeof b, NULL);
  object z = buffer(WRITE_ONLY, sizeof c, NULL), kernel = kernel_of(program, "add");
  int n = COUNT;
  CHECK(clEnqueueWriteBuffer(queue, y, 0, 0, sizeof b, b, 0, NULL, NULL));
  ARGUMENT(kernel, 0, x);
  ARGUMENT(kernel, 1, y);
  ARGUMENT(kernel, 2, z);
  ARGUMENT(kernel, 3, n);
  EXPECT(clSetKernelArg(kernel, 3, 8, &n) == -51);
  EXPECT(clSetKernelArg(kernel, 4, 4, &n) == -49);
  EXPECT(clSetKernelArg(kernel, 0, sizeof n, &n) == -51);
  launch(kernel, PADDED, 128);
  launch(kernel, COUNT, 0);
  CHECK(clEnqueueReadBuffer(queue, z, 1, 0, sizeof c, c, 0, NULL, NULL));
  for (int i = 0; i < COUNT; i++) EXPECT(c[i] == 1.5f * (float)i);
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseMemObject(x));
  CHECK(clReleaseMemObject(y));
  CHECK(clReleaseMemObject(z));
}

static void offsets(object program) {
  enum { WIDTH = 32, HEIGHT = 8 };
  static int found[HEIGHT][WIDTH];
  object out = buffer(READ_WRITE, sizeof found, NULL), kernel = kernel_of(program, "place");
  int width = WIDTH, nothing = -1;
  CHECK(clEnqueueFillBuffer(queue, out, &nothing, sizeof nothing, 0, sizeof found, 0, NULL, NULL));
  ARGUMENT(kernel, 0, out);
  ARGUMENT(kernel, 1, width);
  const size_t offset[] = {8, 2}, items[] = {16, 4}, group[] = {8, 2};
  CHECK(clEnqueueNDRangeKernel(queue, kernel, 2, offset, items, group, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, out, 1, 0, sizeof found, found, 0, NULL, NULL));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      int is_inside = x >= 8 && x < 24 && y >= 2 && y < 6;
      EXPECT(found[y][x] == (is_inside ? 8000 + (y - 2) / 2 * 100 + x : -1));
    }
  int part[4][16];
  const size_t from[] = {8 * sizeof(int), 2, 0}, to[] = {0, 0, 0}, region[] = {sizeof part[0], 4, 1};
  CHECK(clEnqueueReadBufferRect(queue, out, 1, from, to, region, sizeof found[0], 0, sizeof part[0], 0,
                                part, 0, NULL, NULL));
  EXPECT(part[0][0] == 8008 && part[3][15] == 8123);
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseMemObject(out));
}

static void values(object program) {
  struct { float scale; int unused[3]; int shift[4]; char unit; char rest[15]; } how = {2, {0}, {1, 10, 3}, 5, {0}};
  float more[] = {0, 0, 0, 100}, table[] = {1000, 2000, 3000, 4000}, one = 1;
  object v = buffer(READ_WRITE, sizeof a, NULL), w = buffer(READ_WRITE, sizeof a, NULL);
  object t = buffer(READ_ONLY | COPY_HOST_PTR, sizeof table, table);
  object kernel = kernel_of(program, "apply");
  CHECK(clEnqueueFillBuffer(queue, w, &one, sizeof one, 0, sizeof a, 0, NULL, NULL));
  CHECK(clEnqueueCopyBuffer(queue, w, v, 0, 0, sizeof a, 0, NULL, NULL));
  EXPECT(clEnqueueCopyBuffer(queue, w, w, 0, 8, 64, 0, NULL, NULL) == -8);
  ARGUMENT(kernel, 0, v);
  ARGUMENT(kernel, 1, how);
  ARGUMENT(kernel, 2, more);
  ARGUMENT(kernel, 3, t);
  launch(kernel, COUNT, 0);
  CHECK(clEnqueueReadBuffer(queue, v, 1, 0, sizeof c, c, 0, NULL, NULL));
  for (int i = 0; i < COUNT; i++) EXPECT(c[i] == 2 + 10 + 100 + 1000 * (i % 4 + 1) + 5);
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseMemObject(v));
  CHECK(clReleaseMemObject(w));
  CHECK(clReleaseMemObject(t));
}

int main(int count, char **arguments) {
  EXPECT(count == 2);
  begin();
  facts(arguments[1]);
  object program = built(source, "");
  sums(program);
  offsets(program);
  values(program);
  CHECK(clReleaseProgram(program));
  end();
}
