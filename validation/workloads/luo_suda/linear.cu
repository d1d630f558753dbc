// Mean of the 3 x 3 pixels around each inner pixel of a picture, rows of red, green and blue floats.
// Pixels at the edge are left alone.

extern "C" __global__ void linear(const float *from, float *to, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1)
        return;
    float red = 0.0f, green = 0.0f, blue = 0.0f;
#pragma unroll 1
    for (int row = y - 1; row <= y + 1; ++row)
#pragma unroll 1
        for (int column = x - 1; column <= x + 1; ++column) {
            const int pixel = 3 * (row * width + column);
            red += from[pixel];
            green += from[pixel + 1];
            blue += from[pixel + 2];
        }
    const int pixel = 3 * (y * width + x);
    to[pixel] = red / 9.0f;
    to[pixel + 1] = green / 9.0f;
    to[pixel + 2] = blue / 9.0f;
}
