/* Images: sampled reads, writes, copies, fills and mappings. */
#include "opencl.h"

static const char *source =
    "__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "__kernel void turn(__read_only image2d_t in, __write_only image2d_t out) {\n"
    "  int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imagef(out, (int2)(at.y, at.x), read_imagef(in, nearest, at));\n"
    "}\n"
    "__kernel void middle(__read_only image2d_t in, sampler_t how, __global float4 *out) {\n"
    "  out[get_global_id(0)] = read_imagef(in, how, (float2)((get_global_id(0) + 1.0f) / 8.0f, 0.5f / 4.0f));\n"
    "}\n";

enum { WIDTH = 8, HEIGHT = 4 };
static float in[HEIGHT][WIDTH][4], out[WIDTH][HEIGHT][4], line[WIDTH][4];

int main(void) {
  begin();
  int error;
  object program = built(source, NULL), turn = kernel_of(program, "turn"), middle = kernel_of(program, "middle");
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++)
      for (int i = 0; i < 4; i++) in[y][x][i] = (float)(100 * y + 10 * x + i);
  image_format format = {0x10B5, 0x10DE};
  image_description shape = {.type = 0x10F1, .width = HEIGHT, .height = WIDTH};
  object from = clCreateImage2D(context, READ_ONLY | COPY_HOST_PTR, &format, WIDTH, HEIGHT, 0, in, &error);
  CHECK(error);
  object to = clCreateImage(context, READ_WRITE, &format, &shape, NULL, &error);
  CHECK(error);
  const size_t origin[] = {0, 0, 0}, turned[] = {HEIGHT, WIDTH, 1}, items[] = {WIDTH, HEIGHT};
  ARGUMENT(turn, 0, from);
  ARGUMENT(turn, 1, to);
  CHECK(clEnqueueNDRangeKernel(queue, turn, 2, NULL, items, NULL, 0, NULL, NULL));
  CHECK(clEnqueueReadImage(queue, to, 1, origin, turned, 0, 0, out, 0, NULL, NULL));
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) EXPECT(!memcmp(out[x][y], in[y][x], sizeof out[x][y]));

  object linear = clCreateSampler(context, 1, 0x1131, 0x1141, &error), b = buffer(READ_WRITE, sizeof line, NULL);
  CHECK(error);
  ARGUMENT(middle, 0, from);
  ARGUMENT(middle, 1, linear);
  ARGUMENT(middle, 2, b);
  launch(middle, WIDTH, 0);
  CHECK(clEnqueueReadBuffer(queue, b, 1, 0, sizeof line, line, 0, NULL, NULL));
  for (int x = 0; x < WIDTH - 1; x++) EXPECT(line[x][1] > 10 * x + 5.9f && line[x][1] < 10 * x + 6.1f);

  /* Two images in turn, again and again: each launch reads its own. */
  float negative[HEIGHT][WIDTH][4];
  for (int i = 0; i < HEIGHT * WIDTH * 4; i++) negative[0][0][i] = -in[0][0][i];
  object other = clCreateImage2D(context, READ_ONLY | COPY_HOST_PTR, &format, WIDTH, HEIGHT, 0, negative, &error);
  CHECK(error);
  for (int round = 0; round < 6; round++) {
    float sign = round % 2 ? -1.0f : 1.0f;
    ARGUMENT(middle, 0, *(round % 2 ? &other : &from));
    launch(middle, WIDTH, 0);
    CHECK(clEnqueueReadBuffer(queue, b, 1, 0, sizeof line, line, 0, NULL, NULL));
    for (int x = 0; x < WIDTH - 1; x++) EXPECT(sign * line[x][1] > 10 * x + 5.9f && sign * line[x][1] < 10 * x + 6.1f);
  }
  CHECK(clReleaseMemObject(other));

  const float color[] = {1, 2, 3, 4};
  const size_t place[] = {1, 2, 0}, two[] = {2, 2, 1};
  size_t pitch;
  CHECK(clEnqueueFillImage(queue, to, color, place, two, 0, NULL, NULL));
  char *seen = clEnqueueMapImage(queue, to, 1, MAP_READ, place, two, &pitch, NULL, 0, NULL, NULL, &error);
  CHECK(error);
  EXPECT(((float *)(seen + pitch))[7] == 4);
  CHECK(clEnqueueUnmapMemObject(queue, to, seen, 0, NULL, NULL));
  CHECK(clEnqueueCopyImageToBuffer(queue, from, b, origin, (const size_t[]){WIDTH, 1, 1}, 0, 0, NULL, NULL));
  CHECK(clEnqueueReadBuffer(queue, b, 1, 0, sizeof line, line, 0, NULL, NULL));
  EXPECT(!memcmp(line, in[0], sizeof line));
  word formats;
  CHECK(clGetSupportedImageFormats(context, READ_WRITE, 0x10F1, 0, NULL, &formats));
  EXPECT(formats > 20);
  CHECK(clReleaseSampler(linear));
  CHECK(clReleaseMemObject(from));
  CHECK(clReleaseMemObject(to));
  end();
}
