// Softmax of the rows of a matrix, in the shapes of PyTorch's cunn_SoftMaxForward<4>,
// cunn_SoftMaxForwardSmem<4> and softmax_warp_forward, written anew.
//
// The first two give a row to a thread block: largest element, sum of the exponentials, quotients.
// Elements are visited by 16 bytes where as many as four a thread are left from a multiple of 16
// bytes on, one by one before and after. `softmax` reads the row in every pass, `softmax_shared`
// once. `softmax_warp` gives rows of up to 1024 elements to a warp, which holds them in registers.

constexpr int kLanes = 32;
constexpr int kPerLane = 32;

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

template <typename Combine>
__device__ __forceinline__ float of_warp(float value, Combine combine)
{
#pragma unroll
    for (int distance = kLanes / 2; distance > 0; distance /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, distance));
    return value;
}

// The threads' values combined; every thread gets the result. `neutral` changes nothing.
template <typename Combine>
__device__ __forceinline__ float of_thread_block(float value, float neutral, Combine combine)
{
    __shared__ float partial[kLanes];
    const int lane = threadIdx.x % kLanes;
    const int warp = threadIdx.x / kLanes;
    value = of_warp(value, combine);
    __syncthreads();
    if (lane == 0)
        partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        value = lane < blockDim.x / kLanes ? partial[lane] : neutral;
        value = of_warp(value, combine);
        if (lane == 0)
            partial[0] = value;
    }
    __syncthreads();
    return partial[0];
}

// Calls visitor.four(e) and visitor.one(e) so that each element of the row is visited once. The row
// begins `shift` elements after a multiple of 16 bytes.
template <typename Visitor>
__device__ __forceinline__ void visit(int shift, int columns, Visitor &visitor)
{
    const int thread = threadIdx.x;
    const int threads = blockDim.x;
    int begin = 0;
    if (shift > 0) {
        if (thread >= shift)
            visitor.one(thread - shift);
        begin = threads - shift;
    }
    const int end = columns - (columns - begin) % (4 * threads);
    for (int e = begin + 4 * thread; e < end; e += 4 * threads)
        visitor.four(e);
    for (int e = end + thread; e < columns; e += threads)
        visitor.one(e);
}

__device__ __forceinline__ float4 four_of(const float *row, int element)
{
    return *reinterpret_cast<const float4 *>(row + element);
}

struct FindLargest {
    const float *row;
    float largest;
    __device__ void one(int e) { largest = fmaxf(largest, row[e]); }
    __device__ void four(int e)
    {
        const float4 x = four_of(row, e);
        largest = fmaxf(fmaxf(fmaxf(fmaxf(largest, x.x), x.y), x.z), x.w);
    }
};

struct AddExponentials {
    const float *row;
    float largest;
    float sum;
    __device__ void one(int e) { sum += expf(row[e] - largest); }
    __device__ void four(int e)
    {
        const float4 x = four_of(row, e);
        sum += expf(x.x - largest);
        sum += expf(x.y - largest);
        sum += expf(x.z - largest);
        sum += expf(x.w - largest);
    }
};

struct WriteQuotients {
    const float *row;
    float *out;
    float largest;
    float sum;
    __device__ float of(float x) const { return expf(x - largest) / sum; }
    __device__ void one(int e) { out[e] = of(row[e]); }
    __device__ void four(int e)
    {
        const float4 x = four_of(row, e);
        *reinterpret_cast<float4 *>(out + e) = make_float4(of(x.x), of(x.y), of(x.z), of(x.w));
    }
};

extern "C" __global__ void softmax(const float *x, float *y, int columns)
{
    const size_t start = static_cast<size_t>(blockIdx.x) * columns;
    const float *const row = x + start;
    const int shift = static_cast<int>(reinterpret_cast<size_t>(row) % sizeof(float4) / sizeof(float));

    FindLargest first{row, -INFINITY};
    visit(shift, columns, first);
    const float largest = of_thread_block(first.largest, -INFINITY, Larger());

    AddExponentials second{row, largest, 0.0f};
    visit(shift, columns, second);
    const float sum = of_thread_block(second.sum, 0.0f, Sum());

    WriteQuotients third{row, y + start, largest, sum};
    visit(shift, columns, third);
}

// Rows of whole 16 bytes, which fit into shared memory.
extern "C" __global__ void softmax_shared(const float *x, float *y, int columns)
{
    extern __shared__ float4 kept[];
    const size_t start = static_cast<size_t>(blockIdx.x) * columns;
    const int fours = columns / 4;

    FindLargest first{x + start, -INFINITY};
    for (int i = threadIdx.x; i < fours; i += blockDim.x) {
        const float4 found = four_of(first.row, 4 * i);
        kept[i] = found;
        first.largest =
            fmaxf(fmaxf(fmaxf(fmaxf(first.largest, found.x), found.y), found.z), found.w);
    }
    const float largest = of_thread_block(first.largest, -INFINITY, Larger());

    const float *const row = reinterpret_cast<const float *>(kept);
    AddExponentials second{row, largest, 0.0f};
    for (int i = threadIdx.x; i < fours; i += blockDim.x)
        second.four(4 * i);
    const float sum = of_thread_block(second.sum, 0.0f, Sum());

    WriteQuotients third{row, y + start, largest, sum};
    for (int i = threadIdx.x; i < fours; i += blockDim.x)
        third.four(4 * i);
}

extern "C" __global__ void softmax_warp(const float *x, float *y, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    const int lane = threadIdx.x;
    if (row >= rows)
        return;
    const float *const in = x + static_cast<size_t>(row) * columns;
    float *const out = y + static_cast<size_t>(row) * columns;

    float element[kPerLane];
#pragma unroll
    for (int i = 0; i < kPerLane; i++)
        element[i] = lane + i * kLanes < columns ? in[lane + i * kLanes] : -INFINITY;

    float largest = element[0];
#pragma unroll
    for (int i = 1; i < kPerLane; i++)
        largest = fmaxf(largest, element[i]);
    largest = of_warp(largest, Larger());

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < kPerLane; i++) {
        element[i] = expf(element[i] - largest);
        sum += element[i];
    }
    sum = of_warp(sum, Sum());

#pragma unroll
    for (int i = 0; i < kPerLane; i++) {
        if (lane + i * kLanes < columns)
            out[lane + i * kLanes] = element[i] / sum;
    }
}
