// C = A B in single precision, row-major: A is m x k, B is k x n. One element of C a work-item.
//
// A work-group computes a TILE x TILE tile of C from a row of tiles of A and a column of tiles of B,
// a pair of which is in local memory at a time. Tiles are filled up with zeros at the edges.

#ifndef TILE
#define TILE 32 // 16 for devices with work-groups of at most 256
#endif

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1)))
void gemm_tiled(
    __global const float *a, __global const float *b, __global float *c, int m, int n, int k)
{
    __local float a_tile[TILE][TILE];
    __local float b_tile[TILE][TILE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = get_group_id(0) * TILE + x;
    const int row = get_group_id(1) * TILE + y;

    float sum = 0.0f;
    for (int first = 0; first < k; first += TILE) {
        const bool is_in_a = row < m && first + x < k;
        const bool is_in_b = first + y < k && column < n;
        a_tile[y][x] = is_in_a ? a[row * k + first + x] : 0.0f;
        b_tile[y][x] = is_in_b ? b[(first + y) * n + column] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += a_tile[y][i] * b_tile[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}
