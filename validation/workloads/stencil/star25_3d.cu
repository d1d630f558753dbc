// Star of 25 points, four on each side in x, y and z, on a mesh of depth x height x width floats, x
// fastest. Points less than four from the edge are left alone.
//
// A thread block marches through a part of z. It keeps the current plane of its tile, with a halo,
// in shared memory, and each thread its column of nine points in registers.

constexpr int kRadius = 4;
constexpr int kWidth = 32;
constexpr int kHeight = 8;

struct Weights {
    float centre;
    float beside[kRadius]; // by distance less one
};

extern "C" __global__ void __launch_bounds__(kWidth *kHeight) star25_3d(
    float *__restrict__ to, const float *__restrict__ from, Weights weights,
    int width, int height, int depth, int planes)
{
    __shared__ float tile[kHeight + 2 * kRadius][kWidth + 2 * kRadius];
    const int x = threadIdx.x, y = threadIdx.y;
    const int first_x = blockIdx.x * kWidth; // of the tile with its halo
    const int first_y = blockIdx.y * kHeight;
    const int mesh_x = first_x + x + kRadius;
    const int mesh_y = first_y + y + kRadius;
    const bool is_inside = mesh_x < width - kRadius && mesh_y < height - kRadius;
    const int first_z = blockIdx.z * planes + kRadius;
    const int last_z = min(first_z + planes, depth - kRadius);
    const int plane = width * height;
    int i = first_z * plane + mesh_y * width + mesh_x;

    float column[2 * kRadius + 1]; // from z - 4 to z + 4
    for (int k = 0; k < 2 * kRadius; ++k)
        column[k + 1] = is_inside ? from[i + (k - kRadius) * plane] : 0.0f;

    for (int z = first_z; z < last_z; ++z, i += plane) {
        for (int k = 0; k < 2 * kRadius; ++k)
            column[k] = column[k + 1];
        if (is_inside)
            column[2 * kRadius] = from[i + kRadius * plane];

        for (int row = y; row < kHeight + 2 * kRadius; row += kHeight)
            for (int place = x; place < kWidth + 2 * kRadius; place += kWidth)
                if (first_x + place < width && first_y + row < height)
                    tile[row][place] = from[z * plane + (first_y + row) * width + first_x + place];
        __syncthreads();

        float sum = weights.centre * column[kRadius];
#pragma unroll
        for (int k = 1; k <= kRadius; ++k)
            sum += weights.beside[k - 1] *
                   (column[kRadius - k] + column[kRadius + k] +
                    tile[y + kRadius][x + kRadius - k] + tile[y + kRadius][x + kRadius + k] +
                    tile[y + kRadius - k][x + kRadius] + tile[y + kRadius + k][x + kRadius]);
        if (is_inside)
            to[i] = sum;
        __syncthreads();
    }
}
