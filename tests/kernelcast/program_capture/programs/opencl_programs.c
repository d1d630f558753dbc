/* Programs: options, headers, logs, binaries, linking, kernels and what they say of themselves. */
#include "opencl.h"

static const char *source =
    "#include \"opencl_value.clh\"\n"
    "__kernel void first(__global int *out) { *out = VALUE + MORE; }\n"
    "__kernel void second(__global int *numbers, __local float *part, int4 by) {\n"
    "  printf(\"by %d\\n\", by.z); *numbers = by.z; }\n";

static int told;

static void note(object program, void *data) {
  EXPECT(program && data == &told);
  told++;
}

static int first_of(object program) {
  int found = 0;
  object out = buffer(READ_WRITE, sizeof found, NULL), kernel = kernel_of(program, "first");
  ARGUMENT(kernel, 0, out);
  CHECK(clEnqueueTask(queue, kernel, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, out, 1, 0, sizeof found, &found, 0, NULL, NULL));
  CHECK(clReleaseKernel(kernel));
  CHECK(clReleaseMemObject(out));
  return found;
}

static void kernels(object program) {
  object both[2];
  char text[64];
  word count, space;
  CHECK(clCreateKernelsInProgram(program, 2, both, &count));
  EXPECT(count == 2);
  CHECK(clGetKernelInfo(both[1], 0x1190, sizeof text, text, NULL));
  EXPECT(!strcmp(text, "second"));
  CHECK(clGetKernelInfo(both[1], 0x1191, sizeof count, &count, NULL));
  EXPECT(count == 3);
  CHECK(clGetKernelArgInfo(both[1], 0, 0x119A, sizeof text, text, NULL));
  EXPECT(!strcmp(text, "numbers"));
  CHECK(clGetKernelArgInfo(both[1], 1, 0x1196, sizeof space, &space, NULL));
  EXPECT(space == 0x119C);
  object out = buffer(READ_WRITE, 4, NULL);
  int by[] = {1, 2, 3, 4}, found;
  ARGUMENT(both[1], 0, out);
  CHECK(clSetKernelArg(both[1], 1, 16, NULL));
  ARGUMENT(both[1], 2, by);
  launch(both[1], 1, 1);
  CHECK(clEnqueueReadBuffer(queue, out, 1, 0, 4, &found, 0, NULL, NULL));
  EXPECT(found == 3);
}

static void failures(void) {
  const char *wrong = "__kernel void bad(__global int *p) { *p = missing; }";
  int error;
  char log[1024];
  object program = clCreateProgramWithSource(context, 1, &wrong, NULL, &error);
  EXPECT(clBuildProgram(program, 0, NULL, "", NULL, NULL) == -11);
  CHECK(clGetProgramBuildInfo(program, device, 0x1183, sizeof log, log, NULL));
  EXPECT(strstr(log, "missing"));
  CHECK(clGetProgramBuildInfo(program, device, 0x1181, sizeof error, &error, NULL));
  EXPECT(error == -2);
  EXPECT(!clCreateKernel(program, "bad", &error) && error == -45);
}

int main(int count, char **arguments) {
  EXPECT(count == 2);
  begin();
  int error;
  char options[1024];
  snprintf(options, sizeof options, "-I %s -DMORE=2 -cl-nv-verbose -Werror", arguments[1]);
  object program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  CHECK(clBuildProgram(program, 1, &device, options, note, &told));
  EXPECT(told == 1 && first_of(program) == 42);
  kernels(program);
  EXPECT(!clCreateKernel(program, "third", &error) && error == -46);

  size_t size;
  CHECK(clGetProgramInfo(program, 0x1165, sizeof size, &size, NULL));
  unsigned char *binary = malloc(size);
  CHECK(clGetProgramInfo(program, 0x1166, sizeof binary, &binary, NULL));
  object again = clCreateProgramWithBinary(context, 1, &device, &size, (const unsigned char **)&binary,
                                           NULL, &error);
  CHECK(error);
  CHECK(clBuildProgram(again, 1, &device, "", NULL, NULL));
  EXPECT(first_of(again) == 42);

  object compiled = clCreateProgramWithSource(context, 1, &source, NULL, &error);
  CHECK(clCompileProgram(compiled, 0, NULL, options, 0, NULL, NULL, NULL, NULL));
  object linked = clLinkProgram(context, 0, NULL, NULL, 1, &compiled, NULL, NULL, &error);
  CHECK(error);
  EXPECT(first_of(linked) == 42);
  failures();
  end();
}
