// One explicit step of heat conduction in a stack of layers, a stencil of seven points:
// t' = centre * t + in_row * (west + east) + in_column * (north + south)
//        + in_stack * (below + above) + power_gain * power.
// Beyond the edges of the stack lies a copy of its outermost cells.
//
// Volumes are [layers][rows][columns]. One thread per column of the stack walks through the layers
// and keeps the temperatures below, of and above the current layer in registers.

extern "C" __global__ void hotspot3d(
    const float *temperature, const float *power, float *result, int columns, int rows, int layers,
    float centre_weight, float row_weight, float column_weight, float stack_weight,
    float power_gain)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    const int layer_size = rows * columns;
    const int west = column > 0 ? -1 : 0, east = column < columns - 1 ? 1 : 0;
    const int north = row > 0 ? -columns : 0, south = row < rows - 1 ? columns : 0;

    int position = row * columns + column;
    float centre = temperature[position];
    float below = centre;
#pragma unroll 1
    for (int layer = 0; layer < layers; ++layer) {
        const float above = layer < layers - 1 ? temperature[position + layer_size] : centre;
        result[position] = centre_weight * centre
            + row_weight * (temperature[position + west] + temperature[position + east])
            + column_weight * (temperature[position + north] + temperature[position + south])
            + stack_weight * (below + above) + power_gain * power[position];
        below = centre;
        centre = above;
        position += layer_size;
    }
}
