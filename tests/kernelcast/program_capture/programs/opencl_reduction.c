/* Reductions with local memory, which the host or the kernel makes, and with atomics. */
#include "opencl.h"

static const char *source =
    "__kernel void partial(__global const float *in, __global float *out, __local float *part, uint n) {\n"
    "  uint i = get_global_id(0), l = get_local_id(0);\n"
    "  part[l] = i < n ? in[i] : 0.0f;\n"
    "  for (uint step = get_local_size(0) / 2; step; step /= 2) {\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l < step) part[l] += part[l + step];\n"
    "  }\n"
    "  if (!l) out[get_group_id(0)] = part[0];\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1)))\n"
    "void count(__global const float *in, __global uint *bins, uint n) {\n"
    "  __local uint mine[8];\n"
    "  uint l = get_local_id(0);\n"
    "  if (l < 8) mine[l] = 0;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  for (uint i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "    atomic_inc(&mine[(uint)in[i] % 8]);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (l < 8) atomic_add(&bins[l], mine[l]);\n"
    "}\n";

enum { COUNT = 10000, GROUP = 256, GROUPS = (COUNT + GROUP - 1) / GROUP };
static float in[COUNT], parts[GROUPS];

int main(void) {
  begin();
  object program = built(source, "-cl-mad-enable -cl-std=CL1.2");
  object partial = kernel_of(program, "partial"), counts = kernel_of(program, "count");
  double whole = 0, found = 0;
  for (int i = 0; i < COUNT; i++) in[i] = (float)(i % 37), whole += in[i];
  object x = buffer(READ_ONLY | COPY_HOST_PTR, sizeof in, in), y = buffer(READ_WRITE, sizeof parts, NULL);
  word n = COUNT;
  ARGUMENT(partial, 0, x);
  ARGUMENT(partial, 1, y);
  CHECK(clSetKernelArg(partial, 2, GROUP * sizeof(float), NULL));
  ARGUMENT(partial, 3, n);
  flags bytes;
  CHECK(clGetKernelWorkGroupInfo(partial, device, 0x11B2, sizeof bytes, &bytes, NULL));
  EXPECT(bytes == GROUP * sizeof(float));
  launch(partial, GROUPS * GROUP, GROUP);
  CHECK(clEnqueueReadBuffer(queue, y, 1, 0, sizeof parts, parts, 0, NULL, NULL));
  for (int i = 0; i < GROUPS; i++) found += parts[i];
  EXPECT(found == whole);

  word bins[8] = {0}, expected[8] = {0};
  for (int i = 0; i < COUNT; i++) expected[i % 37 % 8]++;
  object z = buffer(READ_WRITE | COPY_HOST_PTR, sizeof bins, bins);
  ARGUMENT(counts, 0, x);
  ARGUMENT(counts, 1, z);
  ARGUMENT(counts, 2, n);
  size_t needs[3], most;
  CHECK(clGetKernelWorkGroupInfo(counts, device, 0x11B1, sizeof needs, needs, NULL));
  EXPECT(needs[0] == 64 && needs[1] == 1 && needs[2] == 1);
  CHECK(clGetKernelWorkGroupInfo(partial, device, 0x11B0, sizeof most, &most, NULL));
  EXPECT(most >= 256);
  launch(counts, 640, 0);
  CHECK(clEnqueueReadBuffer(queue, z, 1, 0, sizeof bins, bins, 0, NULL, NULL));
  EXPECT(!memcmp(bins, expected, sizeof bins));
  CHECK(clReleaseKernel(partial));
  CHECK(clReleaseKernel(counts));
  CHECK(clReleaseProgram(program));
  end();
}
