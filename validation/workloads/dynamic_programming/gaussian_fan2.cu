// Gaussian elimination of one unknown: with the multipliers m of column `pivot` known, every row i
// below row `pivot` becomes row[i] - m[i] * row[pivot], and the right-hand side likewise.
//
// matrix is n x n, row-major. One thread per element from column `pivot` on.

extern "C" __global__ void gaussian_fan2(
    float *matrix, float *right_side, const float *multipliers, int n, int pivot)
{
    const int column = pivot + blockIdx.x * blockDim.x + threadIdx.x;
    const int row = pivot + 1 + blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    const float multiplier = multipliers[row];
    matrix[row * n + column] -= multiplier * matrix[pivot * n + column];
    if (column == pivot)
        right_side[row] -= multiplier * right_side[pivot];
}
