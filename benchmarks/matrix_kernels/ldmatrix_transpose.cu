// Transposes 16-bit elements, a warp to a 16 x 16 tile: out by ldmatrix.trans, one corner each by
// movmatrix to the same end (movmatrix of what ldmatrix read plainly).
#include <cuda_fp16.h>

extern "C" __global__ void ldmatrix_transpose(const unsigned short *in, unsigned short *out, int n) {
  __shared__ unsigned short tile[16][24];
  int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 16;
  *(int4 *)&tile[lane / 2][lane % 2 * 8] =
      *(const int4 *)&in[(row + lane / 2) * n + column + lane % 2 * 8];
  __syncwarp();
  unsigned place = (unsigned)__cvta_generic_to_shared(&tile[lane % 16][lane / 16 * 8]);
  unsigned r[4], corner;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(place));
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(corner) : "r"(place));
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(corner));
  r[0] = corner;
  for (int i = 0; i < 4; i++)
    *(unsigned *)&out[(column + i / 2 * 8 + lane / 4) * n + row + i % 2 * 8 + lane % 4 * 2] = r[i];
}
