// c = a b for n x n matrices by rows, 16 x 16 tiles in shared memory; n is a multiple of 16.

constexpr int kTile = 16;

extern "C" __global__ void sgemm_tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * kTile + ty;
    const int column = blockIdx.x * kTile + tx;

    float sum = 0.0f;
    for (int first = 0; first < n; first += kTile) {
        tile_a[ty][tx] = a[row * n + first + tx];
        tile_b[ty][tx] = b[(first + ty) * n + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTile; k++)
            sum += tile_a[ty][k] * tile_b[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
