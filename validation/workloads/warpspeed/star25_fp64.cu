// Star of 25 points, four on each side in x, y and z, on doubles: the stencil by which Ernst et al.
// 2022 (section 5.2) compare shapes of thread blocks. One thread computes one point, or two that
// follow each other in y or in z (thread folding); a thread block has any shape.
//
// width x height x depth points lie in meshes with a halo of four rows and planes. Rows have `pitch`
// doubles, of which the first point is number kLead: rows begin at multiples of 128 bytes where
// `pitch` is a multiple of 16. Height and depth are multiples of what a thread folds.

constexpr int kRadius = 4;
constexpr int kLead = 16;

template <int kFoldY, int kFoldZ>
__device__ void update(
    double *__restrict__ to, const double *__restrict__ from,
    double centre, double near, double second, double third, double far,
    int width, int height, int depth, int pitch)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = (blockIdx.y * blockDim.y + threadIdx.y) * kFoldY;
    const int z = (blockIdx.z * blockDim.z + threadIdx.z) * kFoldZ;
    if (x >= width || y >= height || z >= depth)
        return;
    const int plane = (height + 2 * kRadius) * pitch;
    const int first = (z + kRadius) * plane + (y + kRadius) * pitch + x + kLead;
    const double beside[kRadius] = {near, second, third, far};

    // The same sums for the same point, so that the compiler loads what two points share once.
    const auto at = [&](int dx, int dy, int dz) {
        return from[first + dz * plane + dy * pitch + dx];
    };

#pragma unroll
    for (int fold = 0; fold < kFoldY * kFoldZ; ++fold) {
        const int j = kFoldY > 1 ? fold : 0;
        const int l = kFoldZ > 1 ? fold : 0;
        double sum = centre * at(0, j, l);
#pragma unroll
        for (int k = 1; k <= kRadius; ++k)
            sum += beside[k - 1] * (at(-k, j, l) + at(k, j, l) + at(0, j - k, l) +
                                    at(0, j + k, l) + at(0, j, l - k) + at(0, j, l + k));
        to[first + l * plane + j * pitch] = sum;
    }
}

#define STAR25(NAME, FOLD_Y, FOLD_Z)                                                       \
    extern "C" __global__ void NAME(                                                       \
        double *__restrict__ to, const double *__restrict__ from,                          \
        double centre, double near, double second, double third, double far,               \
        int width, int height, int depth, int pitch)                                       \
    {                                                                                      \
        update<FOLD_Y, FOLD_Z>(to, from, centre, near, second, third, far,                 \
                               width, height, depth, pitch);                               \
    }

STAR25(star25_fp64, 1, 1)
STAR25(star25_fp64_2y, 2, 1)
STAR25(star25_fp64_2z, 1, 2)
