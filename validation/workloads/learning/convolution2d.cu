// 3 x 3 convolution of an image, zero beyond its edges, without mirroring the weights:
// out[y][x] = sum of weights[j][i] * in[y + j - 1][x + i - 1].
//
// Images are row-major, width elements a row. One thread per element; the weights come as a kernel
// parameter, which lies in constant memory.

struct Weights {
    float value[3][3];
};

extern "C" __global__ void convolution2d(
    const float *in, float *out, Weights weights, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 3; ++j) {
        const int row = y + j - 1;
        if (row < 0 || row >= height)
            continue;
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            const int column = x + i - 1;
            if (column >= 0 && column < width)
                sum += weights.value[j][i] * in[row * width + column];
        }
    }
    out[y * width + x] = sum;
}
