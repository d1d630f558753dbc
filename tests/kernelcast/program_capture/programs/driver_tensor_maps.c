/* A tile of a matrix comes to shared memory by a tensor map that is a parameter of the kernel. */
#include "driver.h"

int cuTensorMapEncodeTiled(void *, unsigned, uint32_t, pointer, const uint64_t *, const uint64_t *,
                           const uint32_t *, const uint32_t *, unsigned, unsigned, unsigned, unsigned);

enum { WIDTH = 32, HEIGHT = 16, TILE_WIDTH = 8, TILE_HEIGHT = 4 };

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry tile(.param .align 64 .b8 map[128], .param .u64 out)\n{\n"
    ".shared .align 128 .b8 tile[128];\n.shared .align 8 .b64 arrived;\n"
    ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<6>;\n"
    "mov.b64 %rd1, map;\ncvta.param.u64 %rd2, %rd1;\nld.param.u64 %rd3, [out];\n"
    "mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\nmov.u32 %r2, arrived;\nmov.u32 %r3, tile;\n"
    "@!%p1 mbarrier.init.shared::cta.b64 [%r2], 1;\nbar.sync 0;\n@%p1 bra WAIT;\n"
    "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;\n"
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
    "[%r3], [%rd2, {28, 2}], [%r2];\n"
    "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;\n@!%p2 bra WAIT;\n"
    "mad.lo.u32 %r4, %r1, 4, %r3;\nld.shared.u32 %r5, [%r4];\n"
    "mad.wide.u32 %rd4, %r1, 4, %rd3;\nst.global.u32 [%rd4], %r5;\nret;\n}\n";

int main(void) {
  static unsigned matrix[HEIGHT][WIDTH], found[TILE_HEIGHT][TILE_WIDTH];
  object module, function;
  pointer in, out;
  char map[128] __attribute__((aligned(64)));
  const uint64_t sizes[] = {WIDTH, HEIGHT}, strides[] = {4 * WIDTH}, uneven[] = {4 * WIDTH + 4};
  const uint32_t tile[] = {TILE_WIDTH, TILE_HEIGHT}, steps[] = {1, 1};
  started();
  for (unsigned y = 0; y < HEIGHT; y++)
    for (unsigned x = 0; x < WIDTH; x++) matrix[y][x] = 100 * y + x + 1;
  CHECK(cuModuleLoadData(&module, text));
  CHECK(cuModuleGetFunction(&function, module, "tile"));
  CHECK(cuMemAlloc_v2(&in, sizeof matrix));
  CHECK(cuMemAlloc_v2(&out, sizeof found));
  CHECK(cuMemcpyHtoD_v2(in, matrix, sizeof matrix));
  EXPECT(cuTensorMapEncodeTiled(map, 2, 2, in, sizes, uneven, tile, steps, 0, 0, 0, 0) == 1);
  CHECK(cuTensorMapEncodeTiled(map, 2, 2, in, sizes, strides, tile, steps, 0, 0, 0, 0));
  void *arguments[] = {map, &out};
  CHECK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
  CHECK(cuMemcpyDtoH_v2(found, out, sizeof found));
  for (unsigned y = 0; y < TILE_HEIGHT; y++)
    for (unsigned x = 0; x < TILE_WIDTH; x++) /* four columns are outside of the matrix */
      EXPECT(found[y][x] == (x < 4 ? matrix[y + 2][x + 28] : 0));
  puts("all right");
  return 0;
}
