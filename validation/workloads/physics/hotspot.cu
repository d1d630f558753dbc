// Temperature of a chip, one explicit step (hotspot) or two (hotspot_two_steps) of a thermal
// network: every cell exchanges heat with its four neighbours and with the surroundings and
// receives power,
// t' = t + power_gain * power + row_gain * (north + south - 2 t) + column_gain * (west + east - 2 t)
//        + ambient_gain * (ambient - t).
// Beyond the edges of the chip lies a copy of its outermost cells.
//
// Matrices are row-major. A thread block stages its cells with a halo of one cell a step in shared
// memory; threads of the halo load, and compute only what later steps need.

constexpr int kSide = 16;

struct Gains {
    float power, row, column, ambient;
    float ambient_temperature;
};

__device__ __forceinline__ float stepped(
    float centre, float north, float south, float west, float east, float power, const Gains &gains)
{
    return centre + gains.power * power + gains.row * (north + south - 2.0f * centre)
        + gains.column * (west + east - 2.0f * centre)
        + gains.ambient * (gains.ambient_temperature - centre);
}

template <int STEPS>
__device__ __forceinline__ void simulate(
    const float *temperature, const float *power, float *result, int columns, int rows,
    const Gains &gains)
{
    __shared__ float tile[2][kSide][kSide];
    constexpr int kInner = kSide - 2 * STEPS;
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * kInner + x - STEPS;
    const int row = blockIdx.y * kInner + y - STEPS;
    const bool is_cell = column >= 0 && column < columns && row >= 0 && row < rows;
    const int position = row * columns + column;

    const float heat = is_cell ? power[position] : 0.0f;
    if (is_cell)
        tile[0][y][x] = temperature[position];
    __syncthreads();

    const int north = row > 0 ? y - 1 : y, south = row < rows - 1 ? y + 1 : y;
    const int west = column > 0 ? x - 1 : x, east = column < columns - 1 ? x + 1 : x;
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        const int margin = step + 1;
        const bool is_valid = is_cell && x >= margin && x < kSide - margin && y >= margin
            && y < kSide - margin;
        if (is_valid) {
            const float(*now)[kSide] = tile[step % 2];
            const float next = stepped(
                now[y][x], now[north][x], now[south][x], now[y][west], now[y][east], heat, gains);
            if (step == STEPS - 1)
                result[position] = next;
            else
                tile[(step + 1) % 2][y][x] = next;
        }
        if (step < STEPS - 1)
            __syncthreads();
    }
}

extern "C" __global__ void hotspot(
    const float *temperature, const float *power, float *result, int columns, int rows,
    float power_gain, float row_gain, float column_gain, float ambient_gain,
    float ambient_temperature)
{
    const Gains gains = {power_gain, row_gain, column_gain, ambient_gain, ambient_temperature};
    simulate<1>(temperature, power, result, columns, rows, gains);
}

extern "C" __global__ void hotspot_two_steps(
    const float *temperature, const float *power, float *result, int columns, int rows,
    float power_gain, float row_gain, float column_gain, float ambient_gain,
    float ambient_temperature)
{
    const Gains gains = {power_gain, row_gain, column_gain, ambient_gain, ambient_temperature};
    simulate<2>(temperature, power, result, columns, rows, gains);
}
