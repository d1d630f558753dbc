// to = from^T, row-major: `from` is rows x columns floats, `to` columns x rows.
//
// A work-group of 32 x 8 moves a tile of 32 x 32, each work-item four elements of a column, by way of
// local memory. The tile is padded by a column, which spreads its columns over all banks.

#define TILE 32
#define ROWS_AT_ONCE 8

__kernel __attribute__((reqd_work_group_size(TILE, ROWS_AT_ONCE, 1)))
void transpose_tiled(__global float *to, __global const float *from, int rows, int columns)
{
    __local float tile[TILE][TILE + 1];
    const int x = get_local_id(0), y = get_local_id(1);
    const int first_column = get_group_id(0) * TILE;
    const int first_row = get_group_id(1) * TILE;

#pragma unroll
    for (int down = 0; down < TILE; down += ROWS_AT_ONCE) {
        const int row = first_row + y + down;
        if (row < rows && first_column + x < columns)
            tile[y + down][x] = from[row * columns + first_column + x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int down = 0; down < TILE; down += ROWS_AT_ONCE) {
        const int column = first_column + y + down;
        if (column < columns && first_row + x < rows)
            to[column * rows + first_row + x] = tile[x][y + down];
    }
}
