// Red phase of a red/black successive over-relaxation (SOR) sweep for Laplace's equation.
//
// The (n + 2) x (n + 2) mesh, boundary included, is stored as two matrices, one for each colour:
// mesh point (i, j) of row j lies in column i / 2 of the red matrix when i + j is even, of the
// black one otherwise. A red point's neighbours are then the black elements of its own column in
// the rows above, below and its own, and one more to the left (even rows) or right (odd rows).
//
// A thread block stages its black elements, with their halo, in shared memory.

constexpr int kWidth = 64;
constexpr int kHeight = 4;

extern "C" __global__ void sor_red(
    double *red, const double *black, double omega, double one_minus_omega, int columns, int pitch)
{
    __shared__ double tile[kHeight + 2][kWidth + 2];
    const int x = threadIdx.x, y = threadIdx.y;
    const int first = blockIdx.x * kWidth;
    const int column = first + x;
    const int row = blockIdx.y * kHeight + y + 1;
    const int is_odd = row & 1;
    const int position = row * pitch + column;

    if (column < columns) {
        tile[y + 1][x + 1] = black[position];
        if (y == 0)
            tile[y][x + 1] = black[position - pitch];
        if (y == kHeight - 1)
            tile[y + 2][x + 1] = black[position + pitch];
    }
    if (x == 0) {
        // Clamped at the edges of the mesh, where no interior element reads it.
        const int beside = is_odd ? min(first + kWidth, columns - 1) : max(first - 1, 0);
        tile[y + 1][is_odd ? kWidth + 1 : 0] = black[row * pitch + beside];
    }
    __syncthreads();

    // Interior red columns: 1 .. columns - 1 in even rows, 0 .. columns - 2 in odd rows.
    if (static_cast<unsigned>(column - 1 + is_odd) < static_cast<unsigned>(columns - 1)) {
        const double *const left = &tile[y + 1][x];
        const double sum = tile[y][x + 1] + tile[y + 2][x + 1] + left[1] + left[2 * is_odd];
        red[position] = one_minus_omega * red[position] + omega * sum / 4.0;
    }
}
