// Red phase of a red/black successive over-relaxation (SOR) sweep for Laplace's equation.
//
// The twin of sor.cu, where the layout of the matrices is told. A work-group stages its black
// elements, with their halo, in local memory.

#define WIDTH 64
#define HEIGHT 4

__kernel void sor_red(
    __global double *red, __global const double *black, double omega, double one_minus_omega,
    int columns, int pitch)
{
    __local double tile[HEIGHT + 2][WIDTH + 2];
    const int x = get_local_id(0), y = get_local_id(1);
    const int first = get_group_id(0) * WIDTH;
    const int column = first + x;
    const int row = get_group_id(1) * HEIGHT + y + 1;
    const int is_odd = row & 1;
    const int position = row * pitch + column;

    if (column < columns) {
        tile[y + 1][x + 1] = black[position];
        if (y == 0)
            tile[y][x + 1] = black[position - pitch];
        if (y == HEIGHT - 1)
            tile[y + 2][x + 1] = black[position + pitch];
    }
    if (x == 0) {
        // Clamped at the edges of the mesh, where no interior element reads it.
        const int beside = is_odd ? min(first + WIDTH, columns - 1) : max(first - 1, 0);
        tile[y + 1][is_odd ? WIDTH + 1 : 0] = black[row * pitch + beside];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Interior red columns: 1 .. columns - 1 in even rows, 0 .. columns - 2 in odd rows.
    if ((unsigned)(column - 1 + is_odd) < (unsigned)(columns - 1)) {
        __local const double *const left = &tile[y + 1][x];
        const double sum = tile[y][x + 1] + tile[y + 2][x + 1] + left[1] + left[2 * is_odd];
        red[position] = one_minus_omega * red[position] + omega * sum / 4.0;
    }
}
