/* Events: times of commands, order between queues, events of the program, functions that are called. */
#include "opencl.h"

static const char *source =
    "__kernel void spin(__global float *v, int steps) {\n"
    "  float x = v[get_global_id(0)];\n"
    "  for (int i = 0; i < steps; i++) x = x * 0.999f + 0.001f;\n"
    "  v[get_global_id(0)] = x;\n"
    "}\n";

enum { COUNT = 4096, BYTES = COUNT * sizeof(float) };
static float values[COUNT];
static int called;

static flags time_of(object event, word which) {
  flags found;
  CHECK(clGetEventProfilingInfo(event, 0x1280 + which, sizeof found, &found, NULL));
  return found;
}

static flags duration(object event) {
  EXPECT(time_of(event, 0) <= time_of(event, 1) && time_of(event, 1) <= time_of(event, 2));
  EXPECT(time_of(event, 2) < time_of(event, 3));
  return time_of(event, 3) - time_of(event, 2);
}

static void note(object event, int status, void *data) {
  (void)event;
  EXPECT(status <= 0 && data == values);
  called++;
}

static object spin(object on, object kernel, object what, int steps, word count, objects before) {
  object event;
  size_t items = COUNT;
  ARGUMENT(kernel, 0, what);
  ARGUMENT(kernel, 1, steps);
  CHECK(clEnqueueNDRangeKernel(on, kernel, 1, NULL, &items, NULL, count, before, &event));
  return event;
}

int main(void) {
  begin();
  int error, status;
  object kernel = kernel_of(built(source, "-cl-fast-relaxed-math"), "spin");
  const flags properties[] = {0x1093, 0, 0};
  object other = clCreateCommandQueueWithProperties(context, device, properties, &error), written, ends[3];
  CHECK(error);
  object a = buffer(READ_WRITE, BYTES, NULL), b = buffer(READ_WRITE, BYTES, NULL);
  CHECK(clEnqueueWriteBuffer(queue, a, 0, 0, BYTES, values, 0, NULL, &written));
  ends[0] = spin(queue, kernel, a, 10, 1, &written);
  ends[1] = spin(queue, kernel, a, 1000, 0, NULL);
  CHECK(clWaitForEvents(2, ends));
  EXPECT(duration(ends[1]) > 2 * duration(ends[0]));
  EXPECT(time_of(ends[0], 2) >= time_of(written, 3) && time_of(ends[1], 2) >= time_of(ends[0], 3));
  EXPECT(duration(written) > 1000);
  CHECK(clGetEventInfo(ends[1], 0x11D3, sizeof status, &status, NULL));
  EXPECT(status == 0);

  CHECK(clEnqueueFillBuffer(other, b, values, 4, 0, BYTES, 0, NULL, NULL));
  object first = spin(other, kernel, b, 100, 1, &ends[1]), mark;
  flags unused;
  EXPECT(clGetEventProfilingInfo(first, 0x1282, sizeof unused, &unused, NULL) == -7);
  ends[2] = spin(queue, kernel, b, 10, 1, &first);
  CHECK(clEnqueueMarkerWithWaitList(queue, 1, &ends[2], &mark));
  CHECK(clFinish(queue));
  EXPECT(time_of(mark, 3) >= time_of(ends[2], 3));

  object mine = clCreateUserEvent(context, &error);
  CHECK(error);
  CHECK(clSetEventCallback(mine, 0, note, values));
  EXPECT(!called);
  CHECK(clSetUserEventStatus(mine, 0));
  EXPECT(called == 1);
  CHECK(clSetEventCallback(ends[2], 0, note, values));
  EXPECT(called == 2);
  CHECK(clEnqueueReadBuffer(queue, b, 1, 0, BYTES, values, 1, &mine, NULL));
  for (int i = 0; i < COUNT; i++) EXPECT(values[i] > 0.09f && values[i] < 0.11f);
  for (int i = 0; i < 3; i++) CHECK(clReleaseEvent(ends[i]));
  CHECK(clReleaseEvent(mine));
  CHECK(clReleaseCommandQueue(other));
  end();
}
