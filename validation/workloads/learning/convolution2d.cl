// OpenCL twin of convolution2d.cu: 3 x 3 convolution, zero beyond the edges, weights by value.

typedef struct {
    float value[3][3];
} Weights;

__kernel void convolution2d(
    __global const float *in, __global float *out, Weights weights, int width, int height)
{
    const int x = get_global_id(0);
    const int y = get_global_id(1);
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
