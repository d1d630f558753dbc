// c = a b for n x n matrices by rows: 64 x 64 tiles, a 16 x 16 thread block, and 4 x 4 results a
// thread in registers; n is a multiple of 64.

constexpr int kThreads = 16;
constexpr int kEach = 4;
constexpr int kTile = kThreads * kEach;
constexpr int kDepth = 16;

extern "C" __global__ void sgemm_register(const float *a, const float *b, float *c, int n)
{
    __shared__ float tile_a[kDepth][kTile];
    __shared__ float tile_b[kDepth][kTile];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * kTile, column = blockIdx.x * kTile;

    float sum[kEach][kEach] = {};
    for (int first = 0; first < n; first += kDepth) {
#pragma unroll
        for (int part = 0; part < kEach; part++) {
            const int line = part * kThreads;
            tile_a[tx][line + ty] = a[(row + line + ty) * n + first + tx];
            tile_b[ty][line + tx] = b[(first + ty) * n + column + line + tx];
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < kDepth; k++) {
            float left[kEach], right[kEach];
#pragma unroll
            for (int i = 0; i < kEach; i++) {
                left[i] = tile_a[k][i * kThreads + ty];
                right[i] = tile_b[k][i * kThreads + tx];
            }
#pragma unroll
            for (int i = 0; i < kEach; i++)
#pragma unroll
                for (int j = 0; j < kEach; j++)
                    sum[i][j] += left[i] * right[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < kEach; i++)
#pragma unroll
        for (int j = 0; j < kEach; j++)
            c[(row + i * kThreads + ty) * n + column + j * kThreads + tx] = sum[i][j];
}
