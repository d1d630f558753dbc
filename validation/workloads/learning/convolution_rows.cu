// Row pass of a separable convolution, zero beyond the edges of the image:
// out[y][x] = sum of weights[i] * in[y][x + i - kRadius], i = 0 .. 2 * kRadius.
//
// Images are row-major, width elements a row. A thread block stages its stretch of four rows, with
// kRadius elements more on both sides, in shared memory. The weights are those of a Gaussian with
// a standard deviation of 3, in constant memory.

constexpr int kRadius = 8;
constexpr int kWidth = 64;
constexpr int kHeight = 4;

__constant__ float kWeights[2 * kRadius + 1] = {
    0.003815529f, 0.008779440f, 0.018076899f, 0.033306279f, 0.054912770f, 0.081015040f,
    0.106955472f, 0.126352961f, 0.133571220f, 0.126352961f, 0.106955472f, 0.081015040f,
    0.054912770f, 0.033306279f, 0.018076899f, 0.008779440f, 0.003815529f};

extern "C" __global__ void convolution_rows(const float *in, float *out, int width, int height)
{
    __shared__ float staged[kHeight][kWidth + 2 * kRadius];
    const int x = blockIdx.x * kWidth + threadIdx.x;
    const int y = blockIdx.y * kHeight + threadIdx.y;
    const float *const row = in + y * width;
    float *const line = staged[threadIdx.y];

    if (y < height)
        for (int i = threadIdx.x; i < kWidth + 2 * kRadius; i += kWidth) {
            const int column = blockIdx.x * kWidth + i - kRadius;
            line[i] = column >= 0 && column < width ? row[column] : 0.0f;
        }
    __syncthreads();

    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i <= 2 * kRadius; ++i)
        sum += kWeights[i] * line[threadIdx.x + i];
    out[y * width + x] = sum;
}
