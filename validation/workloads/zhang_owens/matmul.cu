// C = A B, all column-major, as Volkov and Demmel (SC 2008) multiply: a thread block of 64 threads
// makes a tile of C of 64 rows and kSide columns. Only a kSide x kSide sub-matrix of B is in shared
// memory, one column longer than needed so that its columns fall to different banks; elements of A
// are read when they are used, and each thread keeps one row of the tile in registers.
//
// A is order x order, stored [column][row]; B and C likewise. The order is a multiple of 64.

constexpr int kThreads = 64;

template <int kSide>
__device__ __forceinline__ void multiply(const float *a, const float *b, float *c, int order)
{
    __shared__ float part[kSide][kSide + 1];
    const int thread = threadIdx.x;
    const int inner = thread % kSide, column = thread / kSide;
    const int first_row = blockIdx.x * kThreads, first_column = blockIdx.y * kSide;

    a += first_row + thread;
    b += inner + (first_column + column) * order;
    c += first_row + thread + first_column * order;
    const float *end = b + order;
    float sum[kSide] = {};
#pragma unroll 1
    do {
#pragma unroll
        for (int i = 0; i < kSide; i += kThreads / kSide)
            part[inner][column + i] = b[i * order];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kSide; ++k, a += order) {
            const float element = *a;
#pragma unroll
            for (int i = 0; i < kSide; ++i)
                sum[i] += element * part[k][i];
        }
        b += kSide;
        __syncthreads();
    } while (b < end);
#pragma unroll
    for (int i = 0; i < kSide; ++i, c += order)
        *c = sum[i];
}

extern "C" __global__ void matmul_8(const float *a, const float *b, float *c, int order)
{
    multiply<8>(a, b, c, order);
}

extern "C" __global__ void matmul_16(const float *a, const float *b, float *c, int order)
{
    multiply<16>(a, b, c, order);
}

extern "C" __global__ void matmul_32(const float *a, const float *b, float *c, int order)
{
    multiply<32>(a, b, c, order);
}
