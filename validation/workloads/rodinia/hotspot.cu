// Temperature of a chip, several explicit steps of a thermal network in one launch:
// t' = t + seconds / capacity * (power + (north + south - 2 t) / resistance_y
//        + (west + east - 2 t) / resistance_x + (ambient - t) / resistance_z).
// Beyond the edges of the chip lies a copy of its outermost cells.
//
// A thread block stages kSide x kSide cells, takes `steps` steps in shared memory and keeps the
// kSide - 2 steps inner ones of each direction. As in Rodinia the twos are double precision, so
// that most of the arithmetic is, and each thread divides for the factors itself.

constexpr int kSide = 16;
constexpr float kAmbient = 80.0f;

extern "C" __global__ void hotspot(
    float *power, float *temperature, float *result, int columns, int rows, int steps,
    float capacity, float resistance_x, float resistance_y, float resistance_z, float seconds)
{
    __shared__ float now[kSide][kSide], heat[kSide][kSide], next[kSide][kSide];
    const int x = threadIdx.x, y = threadIdx.y;
    const float rate = seconds / capacity;
    const float per_x = 1 / resistance_x, per_y = 1 / resistance_y, per_z = 1 / resistance_z;
    const int inner = kSide - 2 * steps;
    const int left = inner * static_cast<int>(blockIdx.x) - steps;
    const int top = inner * static_cast<int>(blockIdx.y) - steps;
    const int column = left + x, row = top + y;
    const int position = columns * row + column;

    if (row >= 0 && row < rows && column >= 0 && column < columns) {
        now[y][x] = temperature[position];
        heat[y][x] = power[position];
    }
    __syncthreads();

    const int first_x = max(-left, 0), last_x = min(columns - 1 - left, kSide - 1);
    const int first_y = max(-top, 0), last_y = min(rows - 1 - top, kSide - 1);
    const int west = max(x - 1, first_x), east = min(x + 1, last_x);
    const int north = max(y - 1, first_y), south = min(y + 1, last_y);
    bool is_new = false;
    for (int step = 0; step < steps; ++step) {
        is_new = x > step && x < kSide - 1 - step && y > step && y < kSide - 1 - step
            && x >= first_x && x <= last_x && y >= first_y && y <= last_y;
        if (is_new)
            next[y][x] = now[y][x]
                + rate
                    * (heat[y][x] + (now[south][x] + now[north][x] - 2.0 * now[y][x]) * per_y
                       + (now[y][east] + now[y][west] - 2.0 * now[y][x]) * per_x
                       + (kAmbient - now[y][x]) * per_z);
        __syncthreads();
        if (step == steps - 1)
            break;
        if (is_new)
            now[y][x] = next[y][x];
        __syncthreads();
    }
    if (is_new)
        result[position] = next[y][x];
}
