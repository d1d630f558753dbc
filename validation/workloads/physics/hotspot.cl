// OpenCL twin of hotspot.cu, the kernel of one step: a work-group of 16 x 16 work-items computes
// 14 x 14 cells, the others load the halo.

#define SIDE 16
#define INNER (SIDE - 2)

__kernel __attribute__((reqd_work_group_size(SIDE, SIDE, 1)))
void hotspot(
    __global const float *temperature, __global const float *power, __global float *result,
    int columns, int rows, float power_gain, float row_gain, float column_gain, float ambient_gain,
    float ambient_temperature)
{
    __local float tile[SIDE][SIDE];
    const int x = get_local_id(0), y = get_local_id(1);
    const int column = (int)get_group_id(0) * INNER + x - 1;
    const int row = (int)get_group_id(1) * INNER + y - 1;
    const bool is_cell = column >= 0 && column < columns && row >= 0 && row < rows;
    const int position = row * columns + column;

    const float heat = is_cell ? power[position] : 0.0f;
    if (is_cell)
        tile[y][x] = temperature[position];
    barrier(CLK_LOCAL_MEM_FENCE);

    const int north = row > 0 ? y - 1 : y, south = row < rows - 1 ? y + 1 : y;
    const int west = column > 0 ? x - 1 : x, east = column < columns - 1 ? x + 1 : x;
    const bool is_inner = x >= 1 && x < SIDE - 1 && y >= 1 && y < SIDE - 1;
    if (is_cell && is_inner) {
        const float centre = tile[y][x];
        result[position] = centre + power_gain * heat
            + row_gain * (tile[north][x] + tile[south][x] - 2.0f * centre)
            + column_gain * (tile[y][west] + tile[y][east] - 2.0f * centre)
            + ambient_gain * (ambient_temperature - centre);
    }
}
