// LU decomposition of an n x n matrix by tiles of kTile x kTile, without pivoting, in place: three
// kernels for each tile on the diagonal, number `step`. Matrices are row-major.
//
// lud_diagonal decomposes that tile with one thread a column, half a warp.
// lud_perimeter: a thread block of two halves, of which one solves for a tile to the right of it, a
// column a thread, the other for the tile below it, a row a thread.
// lud_internal subtracts the products of these from the tiles that are left, an element a thread.

constexpr int kTile = 16;

extern "C" __global__ void lud_diagonal(float *matrix, int n, int step)
{
    __shared__ float tile[kTile][kTile];
    const int thread = threadIdx.x;
    float *const corner = matrix + step * kTile * n + step * kTile;

    for (int row = 0; row < kTile; ++row)
        tile[row][thread] = corner[row * n + thread];
    __syncthreads();
    for (int pivot = 0; pivot < kTile - 1; ++pivot) {
        if (thread > pivot) {
            for (int k = 0; k < pivot; ++k)
                tile[thread][pivot] -= tile[thread][k] * tile[k][pivot];
            tile[thread][pivot] /= tile[pivot][pivot];
        }
        __syncthreads();
        if (thread > pivot)
            for (int k = 0; k < pivot + 1; ++k)
                tile[pivot + 1][thread] -= tile[pivot + 1][k] * tile[k][thread];
        __syncthreads();
    }
    for (int row = 1; row < kTile; ++row)
        corner[row * n + thread] = tile[row][thread];
}

extern "C" __global__ void lud_perimeter(float *matrix, int n, int step)
{
    __shared__ float diagonal[kTile][kTile], right[kTile][kTile], below[kTile][kTile];
    const bool is_right = threadIdx.x < kTile;
    const int i = is_right ? threadIdx.x : threadIdx.x - kTile;
    float *const corner = matrix + step * kTile * n + step * kTile;
    float *const row_tile = corner + (blockIdx.x + 1) * kTile;
    float *const column_tile = corner + (blockIdx.x + 1) * kTile * n;

    if (is_right) {
        for (int row = 0; row < kTile / 2; ++row)
            diagonal[row][i] = corner[row * n + i];
        for (int row = 0; row < kTile; ++row)
            right[row][i] = row_tile[row * n + i];
    } else {
        for (int row = kTile / 2; row < kTile; ++row)
            diagonal[row][i] = corner[row * n + i];
        for (int row = 0; row < kTile; ++row)
            below[row][i] = column_tile[row * n + i];
    }
    __syncthreads();
    if (is_right) {
        for (int row = 1; row < kTile; ++row)
            for (int k = 0; k < row; ++k)
                right[row][i] -= diagonal[row][k] * right[k][i];
    } else {
        for (int column = 0; column < kTile; ++column) {
            for (int k = 0; k < column; ++k)
                below[i][column] -= below[i][k] * diagonal[k][column];
            below[i][column] /= diagonal[column][column];
        }
    }
    __syncthreads();
    if (is_right) {
        for (int row = 1; row < kTile; ++row)
            row_tile[row * n + i] = right[row][i];
    } else {
        for (int row = 0; row < kTile; ++row)
            column_tile[row * n + i] = below[row][i];
    }
}

extern "C" __global__ void lud_internal(float *matrix, int n, int step)
{
    __shared__ float right[kTile][kTile], below[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    float *const corner = matrix + step * kTile * n + step * kTile;
    const int row = (blockIdx.y + 1) * kTile, column = (blockIdx.x + 1) * kTile;

    right[y][x] = corner[y * n + column + x];
    below[y][x] = corner[(row + y) * n + x];
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < kTile; ++k)
        sum += below[y][k] * right[k][x];
    corner[(row + y) * n + column + x] -= sum;
}
