// Star of 7 points on a mesh of depth x height x width doubles, x fastest: a weighted sum of each
// inner point and its six neighbours. Points at the edge are left alone.
//
// A thread computes two points that lie one above the other in y, which share two of their reads.

constexpr int kFold = 2;

extern "C" __global__ void star7_3d_folded(
    double *__restrict__ to, const double *__restrict__ from, double centre, double beside,
    int width, int height, int depth)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    const int first_y = (blockIdx.y * blockDim.y + threadIdx.y) * kFold + 1;
    const int z = blockIdx.z * blockDim.z + threadIdx.z + 1;
    if (x >= width - 1 || z >= depth - 1)
        return;
    const int plane = width * height;
#pragma unroll
    for (int fold = 0; fold < kFold; ++fold) {
        const int y = first_y + fold;
        if (y < height - 1) {
            const int i = z * plane + y * width + x;
            to[i] = centre * from[i] +
                    beside * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] +
                              from[i - plane] + from[i + plane]);
        }
    }
}
