/* Memory of all kinds, copies of all shapes, fills, and what is known about pointers. */
#include "driver.h"

enum { WIDTH = 24, HEIGHT = 5, DEPTH = 3 };

static unsigned char host[DEPTH][HEIGHT][WIDTH], back[DEPTH][HEIGHT][WIDTH];

static void lines(void) {
  pointer first, second;
  unsigned words[4];
  CHECK(cuMemAlloc_v2(&first, 64));
  CHECK(cuMemAlloc_v2(&second, 64));
  EXPECT(cuMemAlloc_v2(&second, 0) == 1);
  CHECK(cuMemcpyHtoD_v2(first, host, 64));
  CHECK(cuMemcpyDtoD_v2(second + 8, first, 32));
  CHECK(cuMemcpy((pointer)back, second + 8, 32));
  EXPECT(!memcmp(back, host, 32));
  EXPECT(cuMemcpyHtoD_v2(first + 40, host, 64) == 1);
  CHECK(cuMemsetD16_v2(second, 0xABCD, 4));
  CHECK(cuMemsetD32Async(second + 8, 0x12345678, 2, NULL));
  CHECK(cuMemcpyDtoH_v2(words, second, 16));
  EXPECT(words[0] == 0xABCDABCD && words[1] == 0xABCDABCD);
  EXPECT(words[2] == 0x12345678 && words[3] == 0x12345678);
  CHECK(cuMemFree_v2(first));
  CHECK(cuMemFree_v2(second));
  EXPECT(cuMemFree_v2(second) == 1);
}

static void rectangles(void) {
  pointer memory;
  size_t pitch;
  unsigned row[4];
  CHECK(cuMemAllocPitch_v2(&memory, &pitch, WIDTH, HEIGHT, 4));
  EXPECT(pitch >= WIDTH);
  rectangle to = {.from_kind = 1, .from_host = host, .from_pitch = WIDTH, .to_kind = 2,
                  .to_device = memory, .to_pitch = pitch, .width = WIDTH, .height = HEIGHT};
  CHECK(cuMemcpy2D_v2(&to));
  rectangle from = {.from_x = 4, .from_y = 1, .from_kind = 2, .from_device = memory,
                    .from_pitch = pitch, .to_kind = 1, .to_host = back, .to_pitch = WIDTH,
                    .width = 16, .height = 3};
  memset(back, 0, sizeof back);
  CHECK(cuMemcpy2D_v2(&from));
  for (int y = 0; y < 3; y++) EXPECT(!memcmp(back[0][y], &host[0][y + 1][4], 16));
  CHECK(cuMemsetD2D32_v2(memory, pitch, 77, 2, HEIGHT));
  CHECK(cuMemcpyDtoH_v2(row, memory + 2 * pitch, 16));
  EXPECT(row[0] == 77 && row[1] == 77 && row[2] != 77);
  CHECK(cuMemFree_v2(memory));
}

static void boxes(void) {
  object array;
  struct { size_t width, height, depth; int format; unsigned channels, flags; }
  how = {WIDTH / 4, HEIGHT, DEPTH, 3, 1, 0}, told;
  CHECK(cuArray3DCreate_v2(&array, &how));
  CHECK(cuArray3DGetDescriptor_v2(&told, array));
  EXPECT(!memcmp(&told, &how, sizeof how));
  box to = {.from_kind = 1, .from_host = host, .from_pitch = WIDTH, .from_height = HEIGHT,
            .to_kind = 3, .to_array = array, .width = WIDTH, .height = HEIGHT, .depth = DEPTH};
  CHECK(cuMemcpy3D_v2(&to));
  memset(back, 0, sizeof back);
  box from = {.from_x = 8, .from_y = 1, .from_z = 1, .from_kind = 3, .from_array = array, .to_kind = 1,
              .to_host = back, .to_pitch = WIDTH, .to_height = HEIGHT, .width = 12, .height = 2,
              .depth = 2};
  CHECK(cuMemcpy3D_v2(&from));
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 2; y++) EXPECT(!memcmp(back[z][y], &host[z + 1][y + 1][8], 12));
  CHECK(cuArrayDestroy(array));
}

static void pointers(void) {
  pointer memory, base, told;
  size_t size, all;
  int kind, ordinal = 9;
  object context = NULL;
  CHECK(cuMemAlloc_v2(&memory, 1000));
  CHECK(cuMemGetAddressRange_v2(&base, &size, memory + 100));
  EXPECT(base == memory && size == 1000);
  CHECK(cuPointerGetAttribute(&kind, 2, memory));
  EXPECT(kind == 2);
  CHECK(cuPointerGetAttribute(&told, 3, memory + 4));
  EXPECT(told == memory + 4);
  int attributes[] = {1, 9};
  void *values[] = {&context, &ordinal};
  CHECK(cuPointerGetAttributes(2, attributes, values, memory));
  EXPECT(context && ordinal == 0);
  EXPECT(cuPointerGetAttribute(&kind, 2, (pointer)host) == 1);
  CHECK(cuMemGetInfo_v2(&size, &all));
  EXPECT(size < all && size + 4096 > all);
  CHECK(cuMemFree_v2(memory));
}

static void registered(const char *path) {
  object function = loaded(path, "scaled");
  unsigned *mine = aligned_alloc(4096, 4096), count = 100;
  pointer seen;
  for (unsigned i = 0; i < count; i++) mine[i] = i;
  CHECK(cuMemHostRegister_v2(mine, 4096, 0));
  CHECK(cuMemHostGetDevicePointer_v2(&seen, mine, 0));
  void *arguments[] = {&seen, &seen, &count};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuCtxSynchronize());
  for (unsigned i = 0; i < count; i++) EXPECT(mine[i] == 10 * i + 3);
  CHECK(cuMemHostUnregister(mine));
  EXPECT(mine[99] == 993);
}

static void reserved(void) {
  struct { int type, handles, place, id; void *security; char flags[8]; } how = {.type = 1, .place = 1};
  struct { int type, id, flags; } access = {1, 0, 3};
  size_t unit;
  pointer at;
  unsigned long long memory;
  unsigned word = 5;
  CHECK(cuMemGetAllocationGranularity(&unit, &how, 0));
  CHECK(cuMemAddressReserve(&at, 2 * unit, 0, 0, 0));
  CHECK(cuMemCreate(&memory, 2 * unit, &how, 0));
  CHECK(cuMemMap(at, 2 * unit, 0, memory, 0));
  CHECK(cuMemSetAccess(at, 2 * unit, &access, 1));
  CHECK(cuMemcpyHtoD_v2(at + unit, &word, 4));
  word = 0;
  CHECK(cuMemcpyDtoH_v2(&word, at + unit, 4));
  EXPECT(word == 5);
  CHECK(cuMemUnmap(at, 2 * unit));
  CHECK(cuMemRelease(memory));
  CHECK(cuMemAddressFree(at, 2 * unit));
}

int main(int count, char **words) {
  EXPECT(count == 2);
  for (unsigned i = 0; i < sizeof host; i++) host[0][0][i] = (unsigned char)(i * 7 + 1);
  started();
  lines();
  rectangles();
  boxes();
  pointers();
  registered(words[1]);
  reserved();
  puts("all right");
  return 0;
}
