// Star of 5 points on a mesh of height x width floats, row-major: a weighted sum of each inner
// point and its four neighbours. Points at the edge are left alone.

extern "C" __global__ void star5_2d(
    float *__restrict__ to, const float *__restrict__ from, float centre, float beside,
    int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x >= width - 1 || y >= height - 1)
        return;
    const int i = y * width + x;
    to[i] = centre * from[i] +
            beside * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
}
