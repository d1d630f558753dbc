// Star of 7 points on a mesh of depth x height x width doubles, x fastest: a weighted sum of each
// inner point and its six neighbours, one point a thread. Points at the edge are left alone.

extern "C" __global__ void star7_3d(
    double *__restrict__ to, const double *__restrict__ from, double centre, double beside,
    int width, int height, int depth)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    const int z = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (x >= width - 1 || y >= height - 1 || z >= depth - 1)
        return;
    const int plane = width * height;
    const int i = z * plane + y * width + x;
    to[i] = centre * from[i] +
            beside * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] +
                      from[i - plane] + from[i + plane]);
}
