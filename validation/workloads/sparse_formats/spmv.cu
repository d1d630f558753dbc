// y = A x, single precision, A in ELLPACK or in blocked ELLPACK with 3 x 3 tiles, after Bell and
// Garland (SC 2009) and Choi, Singh and Vuduc (PPoPP 2010). A slot that a row does not use has
// column -1. Texture variants read x through the read-only cache, the texture cache of old devices.
//
// ELL: a thread a row; `columns` and `values` are [slots][pitch].
// BELL: a thread a row of tiles. The matrix is interleaved (IM): `columns`, of tiles, is
// [slots][pitch] and `values` [slots][row of the tile][column of the tile][pitch]. x and y are as
// they are, or interleaved as well (IV): element 3 i + j stands at [j][i].

constexpr int kSide = 3;

template <bool kTexture> __device__ __forceinline__ float element(const float *x, int at)
{
    return kTexture ? __ldg(x + at) : x[at];
}

template <bool kTexture>
__device__ __forceinline__ void ell(
    const int *columns, const float *values, const float *x, float *y, int rows, int pitch,
    int slots)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
#pragma unroll 1
    for (int at = row, end = row + slots * pitch; at < end; at += pitch) {
        const int column = columns[at];
        if (column >= 0)
            sum += values[at] * element<kTexture>(x, column);
    }
    y[row] = sum;
}

template <bool kInterleaved, bool kTexture>
__device__ __forceinline__ void bell(
    const int *columns, const float *values, const float *x, float *y, int tile_rows, int pitch,
    int slots)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= tile_rows)
        return;
    float sum[kSide] = {};
#pragma unroll 1
    for (int slot = 0; slot < slots; ++slot) {
        const int column = columns[slot * pitch + row];
        if (column < 0)
            continue;
        const float *tile = values + slot * kSide * kSide * pitch + row;
#pragma unroll
        for (int j = 0; j < kSide; ++j) {
            const int at = kInterleaved ? j * pitch + column : kSide * column + j;
            const float entry = element<kTexture>(x, at);
#pragma unroll
            for (int i = 0; i < kSide; ++i)
                sum[i] += tile[(kSide * i + j) * pitch] * entry;
        }
    }
#pragma unroll
    for (int i = 0; i < kSide; ++i)
        y[kInterleaved ? i * pitch + row : kSide * row + i] = sum[i];
}

#define SPMV_PARAMETERS                                                                             \
    const int *columns, const float *values, const float *x, float *y, int rows, int pitch,         \
        int slots
#define SPMV_ARGUMENTS columns, values, x, y, rows, pitch, slots

extern "C" __global__ void spmv_ell(SPMV_PARAMETERS) { ell<false>(SPMV_ARGUMENTS); }

extern "C" __global__ void spmv_ell_texture(SPMV_PARAMETERS) { ell<true>(SPMV_ARGUMENTS); }

extern "C" __global__ void spmv_bell_im(SPMV_PARAMETERS) { bell<false, false>(SPMV_ARGUMENTS); }

extern "C" __global__ void spmv_bell_im_texture(SPMV_PARAMETERS)
{
    bell<false, true>(SPMV_ARGUMENTS);
}

extern "C" __global__ void spmv_bell_imiv(SPMV_PARAMETERS) { bell<true, false>(SPMV_ARGUMENTS); }

extern "C" __global__ void spmv_bell_imiv_texture(SPMV_PARAMETERS)
{
    bell<true, true>(SPMV_ARGUMENTS);
}
