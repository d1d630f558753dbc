// Cheapest way through a grid of costs, several rows in one launch:
// result[c] = cost[step][c] + min(previous[c - 1], previous[c], previous[c + 1]).
//
// A thread block loads kThreads columns and computes kThreads - 2 * steps of them; what it knows
// loses a column on each side in each step. A step ends with a copy between two barriers.

constexpr int kThreads = 256;

extern "C" __global__ void pathfinder(
    int steps, int *costs, int *previous, int *result, int columns, int first_row)
{
    __shared__ int now[kThreads], next[kThreads];
    const int x = threadIdx.x;
    const int left = (kThreads - 2 * steps) * static_cast<int>(blockIdx.x) - steps;
    const int column = left + x;
    const int first = max(-left, 0), last = min(columns - 1 - left, kThreads - 1);
    const int west = max(x - 1, first), east = min(x + 1, last);

    if (column >= 0 && column < columns)
        now[x] = previous[column];
    __syncthreads();
    bool is_new = false;
    for (int step = 0; step < steps; ++step) {
        is_new = x > step && x < kThreads - 1 - step && x >= first && x <= last;
        if (is_new)
            next[x] = min(min(now[west], now[x]), now[east])
                + costs[columns * (first_row + step) + column];
        __syncthreads();
        if (step == steps - 1)
            break;
        if (is_new)
            now[x] = next[x];
        __syncthreads();
    }
    if (is_new)
        result[column] = next[x];
}
