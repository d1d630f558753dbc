// LU decomposition by tiles of kTile x kTile, without pivoting, in place: L below the diagonal (its
// diagonal of ones is not stored), U on and above it. Matrices are row-major.
//
// lud_diagonal decomposes diagonal tile number `step` of every matrix of a batch [count][n][n], one
// matrix per thread block, one element per thread.
//
// lud_internal updates the rest of one n x n matrix after the row and column of tiles number `step`
// are done: A[i][j] -= sum over k of L[i][k] U[k][j], k = the columns and rows of step `step`.

constexpr int kTile = 16;

extern "C" __global__ void lud_diagonal(float *matrices, int n, int step)
{
    __shared__ float tile[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t row = static_cast<size_t>(blockIdx.x) * n + step * kTile + y;
    float *const element = matrices + row * n + step * kTile + x;
    tile[y][x] = *element;
    __syncthreads();

#pragma unroll 1
    for (int pivot = 0; pivot < kTile - 1; ++pivot) {
        if (x == pivot && y > pivot)
            tile[y][x] /= tile[pivot][pivot];
        __syncthreads();
        if (x > pivot && y > pivot)
            tile[y][x] -= tile[y][pivot] * tile[pivot][x];
        __syncthreads();
    }
    *element = tile[y][x];
}

extern "C" __global__ void lud_internal(float *matrix, int n, int step)
{
    __shared__ float lower[kTile][kTile];
    __shared__ float upper[kTile][kTile];
    const int x = threadIdx.x, y = threadIdx.y;
    const int done = step * kTile;
    const int row = done + (blockIdx.y + 1) * kTile + y;
    const int column = done + (blockIdx.x + 1) * kTile + x;

    lower[y][x] = row < n ? matrix[row * n + done + x] : 0.0f;
    upper[y][x] = column < n ? matrix[(done + y) * n + column] : 0.0f;
    __syncthreads();

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < kTile; ++k)
        sum += lower[y][k] * upper[k][x];
    if (row < n && column < n)
        matrix[row * n + column] -= sum;
}
