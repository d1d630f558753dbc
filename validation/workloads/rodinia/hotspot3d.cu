// One explicit step of heat conduction in a stack of layers, a stencil of seven points:
// t' = centre t + row (west + east) + column (north + south) + stack (below + above)
//        + power_gain power + stack ambient.
// Beyond the edges of the stack lies a copy of its outermost cells.
//
// One thread a column of the stack keeps three layers in registers; its first and last layer stand
// outside of the loop. Compiled for debugging (nvcc -G), as Rodinia's makefile does.

constexpr float kAmbient = 80.0f;

extern "C" __global__ void hotspot3d(
    float *power, float *temperature, float *result, int columns, int rows, int layers,
    float row_weight, float column_weight, float stack_weight, float centre_weight,
    float power_gain)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int layer_size = rows * columns;
    int here = column + row * columns;
    int west = column == 0 ? here : here - 1;
    int east = column == columns - 1 ? here : here + 1;
    int north = row == 0 ? here : here - columns;
    int south = row == rows - 1 ? here : here + columns;

    float below, centre, above;
    below = centre = temperature[here];
    above = temperature[here + layer_size];
    result[here] = centre_weight * centre + row_weight * temperature[west]
        + row_weight * temperature[east] + column_weight * temperature[south]
        + column_weight * temperature[north] + stack_weight * below + stack_weight * above
        + power_gain * power[here] + stack_weight * kAmbient;
    here += layer_size;
    west += layer_size;
    east += layer_size;
    north += layer_size;
    south += layer_size;

    for (int layer = 1; layer < layers - 1; ++layer) {
        below = centre;
        centre = above;
        above = temperature[here + layer_size];
        result[here] = centre_weight * centre + row_weight * temperature[west]
            + row_weight * temperature[east] + column_weight * temperature[south]
            + column_weight * temperature[north] + stack_weight * below + stack_weight * above
            + power_gain * power[here] + stack_weight * kAmbient;
        here += layer_size;
        west += layer_size;
        east += layer_size;
        north += layer_size;
        south += layer_size;
    }
    below = centre;
    centre = above;
    result[here] = centre_weight * centre + row_weight * temperature[west]
        + row_weight * temperature[east] + column_weight * temperature[south]
        + column_weight * temperature[north] + stack_weight * below + stack_weight * above
        + power_gain * power[here] + stack_weight * kAmbient;
}
