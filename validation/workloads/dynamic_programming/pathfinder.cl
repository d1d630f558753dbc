// OpenCL twin of pathfinder.cu: work-groups of 256 work-items, halo of `steps` columns.

#define THREADS 256

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void pathfinder(
    __global const int *previous, __global const int *costs, __global int *result, int columns,
    int steps)
{
    __local int line[2][THREADS];
    const int x = get_local_id(0);
    const int column = (int)get_group_id(0) * (THREADS - 2 * steps) + x - steps;
    const bool is_column = column >= 0 && column < columns;
    const int left = column > 0 ? x - 1 : x, right = column < columns - 1 ? x + 1 : x;

    if (is_column)
        line[0][x] = previous[column];
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int step = 0; step < steps; ++step) {
        __local const int *const above = line[step % 2];
        if (is_column && x > step && x < THREADS - 1 - step) {
            const int cheapest = min(above[x], min(above[left], above[right]));
            line[(step + 1) % 2][x] = cheapest + costs[(size_t)step * columns + column];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (is_column && x >= steps && x < THREADS - steps)
        result[column] = line[steps % 2][x];
}
