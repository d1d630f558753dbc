// C = alpha A B + beta C in single precision, row-major: A is m x k, B is k x n, C is m x n.
//
// The steps from one element a thread to tiles of warps that S. Boehm describes in "How to Optimize
// a CUDA Matmul Kernel for cuBLAS-like Performance" (2022), with the sizes of tiles that he gives,
// written anew. All but the first two need sizes that are multiples of their tiles.

constexpr int kEdge = 32;

// C(row, column) from global memory alone.
__device__ __forceinline__ void multiply_element(int row, int column, int m, int n, int k,
    float alpha, const float *a, const float *b, float beta, float *c)
{
    if (row >= m || column >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// Threads of a warp in one column of C: their elements of A are a row apart.
extern "C" __global__ void sgemm_naive(int m, int n, int k, float alpha, const float *a,
    const float *b, float beta, float *c)
{
    multiply_element(blockIdx.x * kEdge + threadIdx.x, blockIdx.y * kEdge + threadIdx.y, m, n, k,
        alpha, a, b, beta, c);
}

// Threads of a warp in one row of C.
extern "C" __global__ void sgemm_coalesced(int m, int n, int k, float alpha, const float *a,
    const float *b, float beta, float *c)
{
    multiply_element(blockIdx.x * kEdge + threadIdx.x / kEdge,
        blockIdx.y * kEdge + threadIdx.x % kEdge, m, n, k, alpha, a, b, beta, c);
}

// Tiles of 32 x 32 in shared memory, one element a thread.
extern "C" __global__ void sgemm_shared(int, int n, int k, float alpha, const float *a,
    const float *b, float beta, float *c)
{
    __shared__ float a_tile[kEdge * kEdge];
    __shared__ float b_tile[kEdge * kEdge];
    const int row = threadIdx.x / kEdge;
    const int column = threadIdx.x % kEdge;
    a += blockIdx.x * kEdge * k;
    b += blockIdx.y * kEdge;
    c += blockIdx.x * kEdge * n + blockIdx.y * kEdge;

    float sum = 0.0f;
    for (int first = 0; first < k; first += kEdge) {
        a_tile[row * kEdge + column] = a[row * k + column];
        b_tile[row * kEdge + column] = b[row * n + column];
        __syncthreads();
        a += kEdge;
        b += kEdge * n;
        for (int i = 0; i < kEdge; ++i)
            sum += a_tile[row * kEdge + i] * b_tile[i * kEdge + column];
        __syncthreads();
    }
    c[row * n + column] = alpha * sum + beta * c[row * n + column];
}

// Tiles of 64 x 64 with a depth of 8, eight elements of a column a thread.
extern "C" __global__ void sgemm_rows(int, int n, int k, float alpha, const float *a,
    const float *b, float beta, float *c)
{
    constexpr int kTile = 64, kDepth = 8, kRows = 8;
    __shared__ float a_tile[kTile * kDepth];
    __shared__ float b_tile[kDepth * kTile];
    const int thread = threadIdx.x;
    const int column = thread % kTile;
    const int first_row = thread / kTile * kRows;
    const int a_row = thread / kDepth, a_column = thread % kDepth;
    const int b_row = thread / kTile, b_column = thread % kTile;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    c += blockIdx.y * kTile * n + blockIdx.x * kTile;

    float sums[kRows] = {};
    for (int first = 0; first < k; first += kDepth) {
        a_tile[a_row * kDepth + a_column] = a[a_row * k + a_column];
        b_tile[b_row * kTile + b_column] = b[b_row * n + b_column];
        __syncthreads();
        a += kDepth;
        b += kDepth * n;
        for (int i = 0; i < kDepth; ++i) {
            const float factor = b_tile[i * kTile + column];
            for (int r = 0; r < kRows; ++r)
                sums[r] += a_tile[(first_row + r) * kDepth + i] * factor;
        }
        __syncthreads();
    }
    for (int r = 0; r < kRows; ++r) {
        float &element = c[(first_row + r) * n + column];
        element = alpha * sums[r] + beta * element;
    }
}

constexpr int kTile = 128;
constexpr int kSquare = 8;
constexpr int kSquareThreads = kTile / kSquare * (kTile / kSquare);

// Tiles of 128 x 128 with a depth of 8, 8 x 8 elements a thread.
extern "C" __global__ void __launch_bounds__(kSquareThreads, 1) sgemm_squares(int, int n, int k,
    float alpha, const float *a, const float *b, float beta, float *c)
{
    constexpr int kDepth = 8;
    constexpr int kRowsOfA = kSquareThreads / kDepth, kRowsOfB = kSquareThreads / kTile;
    __shared__ float a_tile[kTile * kDepth];
    __shared__ float b_tile[kDepth * kTile];
    const int thread = threadIdx.x;
    const int first_column = thread % (kTile / kSquare) * kSquare;
    const int first_row = thread / (kTile / kSquare) * kSquare;
    const int a_row = thread / kDepth, a_column = thread % kDepth;
    const int b_row = thread / kTile, b_column = thread % kTile;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    c += blockIdx.y * kTile * n + blockIdx.x * kTile;

    float sums[kSquare * kSquare] = {};
    float rows[kSquare], columns[kSquare];
    for (int first = 0; first < k; first += kDepth) {
        for (int r = 0; r < kTile; r += kRowsOfA)
            a_tile[(a_row + r) * kDepth + a_column] = a[(a_row + r) * k + a_column];
        for (int r = 0; r < kDepth; r += kRowsOfB)
            b_tile[(b_row + r) * kTile + b_column] = b[(b_row + r) * n + b_column];
        __syncthreads();
        a += kDepth;
        b += kDepth * n;
        for (int i = 0; i < kDepth; ++i) {
            for (int r = 0; r < kSquare; ++r)
                rows[r] = a_tile[(first_row + r) * kDepth + i];
            for (int s = 0; s < kSquare; ++s)
                columns[s] = b_tile[i * kTile + first_column + s];
            for (int r = 0; r < kSquare; ++r)
                for (int s = 0; s < kSquare; ++s)
                    sums[r * kSquare + s] += rows[r] * columns[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < kSquare; ++r)
        for (int s = 0; s < kSquare; ++s) {
            float &element = c[(first_row + r) * n + first_column + s];
            element = alpha * sums[r * kSquare + s] + beta * element;
        }
}

__device__ __forceinline__ float4 &four(float *place)
{
    return *reinterpret_cast<float4 *>(place);
}

// Four elements of C at once: c = alpha sums + beta c.
__device__ __forceinline__ void store_four(float *c, const float *sums, float alpha, float beta)
{
    float4 old = four(c);
    old.x = alpha * sums[0] + beta * old.x;
    old.y = alpha * sums[1] + beta * old.y;
    old.z = alpha * sums[2] + beta * old.z;
    old.w = alpha * sums[3] + beta * old.w;
    four(c) = old;
}

// Copies a tile of A, transposed, and a tile of B into shared memory, 16 bytes at a time.
template <int kRowsOfTile, int kColumnsOfTile, int kDepth, int kThreads>
__device__ __forceinline__ void load_tiles(
    float *a, float *b, int n, int k, float *a_tile, float *b_tile)
{
    constexpr int kRowsOfA = kThreads * 4 / kDepth, kRowsOfB = kThreads * 4 / kColumnsOfTile;
    const int thread = threadIdx.x;
    const int a_row = thread / (kDepth / 4), a_column = thread % (kDepth / 4) * 4;
    const int b_row = thread / (kColumnsOfTile / 4), b_column = thread % (kColumnsOfTile / 4) * 4;
    for (int r = 0; r + kRowsOfA <= kRowsOfTile; r += kRowsOfA) {
        const float4 value = four(&a[(a_row + r) * k + a_column]);
        a_tile[(a_column + 0) * kRowsOfTile + a_row + r] = value.x;
        a_tile[(a_column + 1) * kRowsOfTile + a_row + r] = value.y;
        a_tile[(a_column + 2) * kRowsOfTile + a_row + r] = value.z;
        a_tile[(a_column + 3) * kRowsOfTile + a_row + r] = value.w;
    }
    for (int r = 0; r + kRowsOfB <= kDepth; r += kRowsOfB)
        four(&b_tile[(b_row + r) * kColumnsOfTile + b_column]) =
            four(&b[(b_row + r) * n + b_column]);
}

// As sgemm_squares, with accesses of 16 bytes and the tile of A transposed.
template <int kDepth>
__device__ __forceinline__ void multiply_vectors(
    int n, int k, float alpha, float *a, float *b, float beta, float *c)
{
    __shared__ float a_tile[kTile * kDepth];
    __shared__ float b_tile[kDepth * kTile];
    const int first_column = threadIdx.x % (kTile / kSquare) * kSquare;
    const int first_row = threadIdx.x / (kTile / kSquare) * kSquare;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    c += blockIdx.y * kTile * n + blockIdx.x * kTile;

    float sums[kSquare * kSquare] = {};
    float rows[kSquare], columns[kSquare];
    for (int first = 0; first < k; first += kDepth) {
        load_tiles<kTile, kTile, kDepth, kSquareThreads>(a, b, n, k, a_tile, b_tile);
        __syncthreads();
        a += kDepth;
        b += kDepth * n;
        for (int i = 0; i < kDepth; ++i) {
            for (int r = 0; r < kSquare; ++r)
                rows[r] = a_tile[i * kTile + first_row + r];
            for (int s = 0; s < kSquare; ++s)
                columns[s] = b_tile[i * kTile + first_column + s];
            for (int r = 0; r < kSquare; ++r)
                for (int s = 0; s < kSquare; ++s)
                    sums[r * kSquare + s] += rows[r] * columns[s];
        }
        __syncthreads();
    }
    for (int r = 0; r < kSquare; ++r)
        for (int s = 0; s < kSquare; s += 4)
            store_four(&c[(first_row + r) * n + first_column + s], &sums[r * kSquare + s], alpha,
                beta);
}

extern "C" __global__ void sgemm_vectors(int, int n, int k, float alpha, float *a, float *b,
    float beta, float *c)
{
    multiply_vectors<8>(n, k, alpha, a, b, beta, c);
}

// With the depth of 16 that a search over tiles found best.
extern "C" __global__ void __launch_bounds__(kSquareThreads) sgemm_searched(int, int n, int k,
    float alpha, float *a, float *b, float beta, float *c)
{
    multiply_vectors<16>(n, k, alpha, a, b, beta, c);
}

// Tiles of 128 x 128 with a depth of 16, of which a warp has 64 x 64: four strips 16 wide, in each
// of which a thread has 8 x 4 elements.
constexpr int kWarpThreads = 128;
extern "C" __global__ void __launch_bounds__(kWarpThreads) sgemm_warps(int, int n, int k,
    float alpha, float *a, float *b, float beta, float *c)
{
    constexpr int kDepth = 16, kWarpTile = 64, kStrips = 4, kStrip = kWarpTile / kStrips;
    constexpr int kRows = 8, kColumns = 4, kAll = kStrips * kColumns;
    __shared__ float a_tile[kTile * kDepth];
    __shared__ float b_tile[kDepth * kTile];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_row = warp / (kTile / kWarpTile) * kWarpTile;
    const int warp_column = warp % (kTile / kWarpTile) * kWarpTile;
    const int first_row = warp_row + lane / (kStrip / kColumns) * kRows;
    const int first_column = warp_column + lane % (kStrip / kColumns) * kColumns;
    a += blockIdx.y * kTile * k;
    b += blockIdx.x * kTile;
    c += blockIdx.y * kTile * n + blockIdx.x * kTile;

    float sums[kRows * kAll] = {};
    float rows[kRows], columns[kAll];
    for (int first = 0; first < k; first += kDepth) {
        load_tiles<kTile, kTile, kDepth, kWarpThreads>(a, b, n, k, a_tile, b_tile);
        __syncthreads();
        for (int i = 0; i < kDepth; ++i) {
            for (int r = 0; r < kRows; ++r)
                rows[r] = a_tile[i * kTile + first_row + r];
            for (int strip = 0; strip < kStrips; ++strip)
                for (int s = 0; s < kColumns; ++s)
                    columns[strip * kColumns + s] =
                        b_tile[i * kTile + first_column + strip * kStrip + s];
            for (int strip = 0; strip < kStrips; ++strip)
                for (int r = 0; r < kRows; ++r)
                    for (int s = 0; s < kColumns; ++s)
                        sums[r * kAll + strip * kColumns + s] +=
                            rows[r] * columns[strip * kColumns + s];
        }
        a += kDepth;
        b += kDepth * n;
        __syncthreads();
    }
    for (int strip = 0; strip < kStrips; ++strip)
        for (int r = 0; r < kRows; ++r)
            store_four(&c[(first_row + r) * n + first_column + strip * kStrip],
                &sums[r * kAll + strip * kColumns], alpha, beta);
}
