/* Sub-buffers, mapped buffers, buffers over the program's own memory, shared virtual memory. */
#include "opencl.h"

static const char *source =
    "__kernel void scale(__global int *v, int by) { v[get_global_id(0)] *= by; }\n";

enum { COUNT = 256, BYTES = COUNT * sizeof(int) };
static int gone;

static void note(object memory, void *data) {
  (void)memory;
  *(int *)data += 1;
}

static void scale(object kernel, object what, int by, size_t count) {
  ARGUMENT(kernel, 0, what);
  ARGUMENT(kernel, 1, by);
  launch(kernel, count, 64);
}

static void sub_buffers(object kernel) {
  int error, *values;
  object whole = buffer(READ_WRITE | ALLOC_HOST_PTR, BYTES, NULL);
  values = clEnqueueMapBuffer(queue, whole, 1, MAP_INVALIDATE, 0, BYTES, 0, NULL, NULL, &error);
  CHECK(error);
  for (int i = 0; i < COUNT; i++) values[i] = i;
  word mapped;
  CHECK(clGetMemObjectInfo(whole, 0x1104, sizeof mapped, &mapped, NULL));
  EXPECT(mapped == 1);
  CHECK(clEnqueueUnmapMemObject(queue, whole, values, 0, NULL, NULL));
  size_t region[] = {512, 256}, odd[] = {4, 64}, offset;
  object part = clCreateSubBuffer(whole, READ_WRITE, 0x1220, region, &error), parent;
  CHECK(error);
  EXPECT(!clCreateSubBuffer(whole, READ_WRITE, 0x1220, odd, &error) && error == -13);
  EXPECT(!clCreateSubBuffer(part, READ_WRITE, 0x1220, odd, &error) && error == -38);
  CHECK(clGetMemObjectInfo(part, 0x1108, sizeof offset, &offset, NULL));
  EXPECT(offset == 512);
  CHECK(clGetMemObjectInfo(part, 0x1107, sizeof parent, &parent, NULL));
  EXPECT(parent == whole);
  scale(kernel, part, 10, 64);
  values = clEnqueueMapBuffer(queue, whole, 1, MAP_READ, 0, BYTES, 0, NULL, NULL, &error);
  CHECK(error);
  for (int i = 0; i < COUNT; i++) EXPECT(values[i] == (i >= 128 && i < 192 ? 10 * i : i));
  CHECK(clEnqueueUnmapMemObject(queue, whole, values, 0, NULL, NULL));
  EXPECT(clEnqueueUnmapMemObject(queue, whole, values, 0, NULL, NULL) == -30);
  CHECK(clSetMemObjectDestructorCallback(whole, note, &gone));
  CHECK(clReleaseMemObject(whole));
  EXPECT(!gone);
  CHECK(clReleaseMemObject(part));
  EXPECT(gone == 1);
}

static void own_memory(object kernel) {
  static int mine[COUNT];
  int error;
  for (int i = 0; i < COUNT; i++) mine[i] = i + 1;
  object made = buffer(READ_WRITE | USE_HOST_PTR, BYTES, mine);
  scale(kernel, made, 3, COUNT);
  int *seen = clEnqueueMapBuffer(queue, made, 1, MAP_READ | MAP_WRITE, 0, BYTES, 0, NULL, NULL, &error);
  CHECK(error);
  EXPECT(seen == mine);
  for (int i = 0; i < COUNT; i++) EXPECT(mine[i] == 3 * (i + 1));
  mine[7] = -1;
  CHECK(clEnqueueUnmapMemObject(queue, made, seen, 0, NULL, NULL));
  scale(kernel, made, 2, COUNT);
  CHECK(clEnqueueReadBuffer(queue, made, 1, 7 * sizeof(int), sizeof error, &error, 0, NULL, NULL));
  EXPECT(error == -2);
  CHECK(clReleaseMemObject(made));
  EXPECT(!clCreateBuffer(context, USE_HOST_PTR, BYTES, NULL, &error) && error == -37);
  EXPECT(!clCreateBuffer(context, READ_WRITE, 0, NULL, &error) && error == -61);
}

static void shared_memory(object kernel) {
  int by = 5, *values = clSVMAlloc(context, READ_WRITE, BYTES, 0);
  EXPECT(values);
  for (int i = 0; i < COUNT; i++) values[i] = i;
  CHECK(clSetKernelArgSVMPointer(kernel, 0, values + 64));
  ARGUMENT(kernel, 1, by);
  launch(kernel, 64, 64);
  CHECK(clFinish(queue));
  for (int i = 0; i < COUNT; i++) EXPECT(values[i] == (i >= 64 && i < 128 ? 5 * i : i));
  clSVMFree(context, values);
}

int main(void) {
  begin();
  object program = built(source, NULL), kernel = kernel_of(program, "scale");
  sub_buffers(kernel);
  own_memory(kernel);
  shared_memory(kernel);
  end();
}
