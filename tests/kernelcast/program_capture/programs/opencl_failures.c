/* What is wrong or not supported: the program is told of each, and goes on. */
#include "opencl.h"

static const char *source =
    "__kernel void far(__global int *out, int at) { out[at] = 1; }\n"
    "__kernel void plain(__global int *out) { out[get_global_id(0)] = 1; }\n";

int main(void) {
  begin();
  int error, at = 1 << 20;
  object program = built(source, NULL), plain = kernel_of(program, "plain"), far = kernel_of(program, "far");
  object out = buffer(READ_WRITE, 4096, NULL);
  const size_t items = 4096, group = 4096, odd = 100, nothing = 0;
  EXPECT(clEnqueueNDRangeKernel(queue, plain, 1, NULL, &items, NULL, 0, NULL, NULL) == -52);
  ARGUMENT(plain, 0, out);
  EXPECT(clEnqueueNDRangeKernel(queue, plain, 1, NULL, &items, &group, 0, NULL, NULL) == -55);
  EXPECT(clEnqueueNDRangeKernel(queue, plain, 1, NULL, &items, &odd, 0, NULL, NULL) == -54);
  EXPECT(clEnqueueNDRangeKernel(queue, plain, 1, NULL, &nothing, NULL, 0, NULL, NULL) == -63);
  EXPECT(clEnqueueNDRangeKernel(queue, plain, 4, NULL, &items, NULL, 0, NULL, NULL) == -53);
  EXPECT(clEnqueueNDRangeKernel(queue, out, 1, NULL, &items, NULL, 0, NULL, NULL) == -48);

  const unsigned char *machine_code = (const unsigned char *)"\177ELF of some other GPU";
  size_t size = 24;
  EXPECT(!clCreateProgramWithBinary(context, 1, &device, &size, &machine_code, NULL, &error));
  EXPECT(error == -42);
  EXPECT(clCreateSubDevices(device, NULL, 0, NULL, NULL) == -18);
  object mine = clCreateUserEvent(context, &error);
  EXPECT(clEnqueueReadBuffer(queue, out, 0, 0, 4, &at, 1, &mine, NULL) == -57);
  EXPECT(!clCreateBuffer(context, READ_WRITE, (size_t)1 << 45, NULL, &error) && error == -4);

  ARGUMENT(far, 0, out);
  ARGUMENT(far, 1, at);
  EXPECT(clEnqueueTask(queue, far, 0, NULL, NULL) == -5);
  EXPECT(clFinish(queue) == -5);
  puts("all told");
}
