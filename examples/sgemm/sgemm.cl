// C = A B, row-major: A is rows x n, B is n x n, C is rows x n.
//
// A work-group computes one TILE x TILE tile of C, one element a work-item. It walks along a row of
// tiles of A and a column of tiles of B and keeps the current pair in local memory. Sizes must be
// multiples of TILE.

#define SGEMM(NAME, TILE)                                                                          \
    __kernel void NAME(                                                                            \
        __global const float *a, __global const float *b, __global float *c, unsigned n)           \
    {                                                                                              \
        __local float a_tile[TILE][TILE];                                                          \
        __local float b_tile[TILE][TILE];                                                          \
        const unsigned x = get_local_id(0), y = get_local_id(1);                                   \
        const unsigned row = get_group_id(1) * TILE + y;                                           \
        const unsigned column = get_group_id(0) * TILE + x;                                        \
                                                                                                   \
        float sum = 0.0f;                                                                          \
        for (unsigned tile = 0; tile < n; tile += TILE) {                                          \
            a_tile[y][x] = a[row * n + tile + x];                                                  \
            b_tile[y][x] = b[(tile + y) * n + column];                                             \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
            _Pragma("unroll") for (unsigned k = 0; k < TILE; ++k)                                  \
                sum += a_tile[y][k] * b_tile[k][x];                                                \
            barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }                                                                                          \
        c[row * n + column] = sum;                                                                 \
    }

SGEMM(sgemm, 32)
SGEMM(sgemm_16x16, 16)
