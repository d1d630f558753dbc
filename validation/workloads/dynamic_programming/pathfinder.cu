// Cheapest way from the first row of a grid of costs downwards, straight or to a diagonal
// neighbour: in each step
// result[c] = cost[step][c] + min(previous[c - 1], previous[c], previous[c + 1]).
//
// costs is [steps][columns]. One launch takes all steps: a thread block of kThreads threads loads
// its columns with a halo of `steps` columns on both sides into shared memory and computes
// kThreads - 2 * steps of them; the halo loses a column on each side in each step.

constexpr int kThreads = 256;

extern "C" __global__ void pathfinder(
    const int *previous, const int *costs, int *result, int columns, int steps)
{
    __shared__ int line[2][kThreads];
    const int x = threadIdx.x;
    const int column = static_cast<int>(blockIdx.x) * (kThreads - 2 * steps) + x - steps;
    const bool is_column = column >= 0 && column < columns;
    const int left = column > 0 ? x - 1 : x, right = column < columns - 1 ? x + 1 : x;

    if (is_column)
        line[0][x] = previous[column];
    __syncthreads();

    for (int step = 0; step < steps; ++step) {
        const int *const above = line[step % 2];
        if (is_column && x > step && x < kThreads - 1 - step) {
            const int cheapest = min(above[x], min(above[left], above[right]));
            const size_t position = static_cast<size_t>(step) * columns + column;
            line[(step + 1) % 2][x] = cheapest + costs[position];
        }
        __syncthreads();
    }
    if (is_column && x >= steps && x < kThreads - steps)
        result[column] = line[steps % 2][x];
}
