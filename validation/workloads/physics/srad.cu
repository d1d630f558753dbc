// Speckle reducing anisotropic diffusion of an image of positive intensities, one step in two
// phases.
//
// srad_coefficient: with g = sum over the four neighbours n of (J_n - J)^2 / J^2 and
// l = sum of (J_n - J) / J, the squared coefficient of variation of the speckle is
// q2 = (g / 2 - l^2 / 16) / (1 + l / 4)^2 and the diffusion coefficient
// 1 / (1 + (q2 - q02) / (q02 (1 + q02))), cut to the range from 0 to 1.
//
// srad_update: J' = J + rate / 4 * divergence; the coefficient on an edge between two cells is
// that of the cell to the south or east of it.
//
// Images are row-major. Beyond their edges lies a copy of the outermost cells.

struct Neighbours {
    int north, south, west, east;
};

__device__ __forceinline__ Neighbours neighbours(int column, int row, int columns, int rows)
{
    const int position = row * columns + column;
    return {
        row > 0 ? position - columns : position, row < rows - 1 ? position + columns : position,
        column > 0 ? position - 1 : position, column < columns - 1 ? position + 1 : position};
}

extern "C" __global__ void srad_coefficient(
    const float *image, float *coefficient, int columns, int rows, float q02)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    const int position = row * columns + column;
    const Neighbours at = neighbours(column, row, columns, rows);
    const float centre = image[position];
    const float north = image[at.north] - centre, south = image[at.south] - centre;
    const float west = image[at.west] - centre, east = image[at.east] - centre;

    const float g =
        (north * north + south * south + west * west + east * east) / (centre * centre);
    const float l = (north + south + west + east) / centre;
    const float spread = 1.0f + 0.25f * l;
    const float q2 = (0.5f * g - 0.0625f * l * l) / (spread * spread);
    const float c = 1.0f / (1.0f + (q2 - q02) / (q02 * (1.0f + q02)));
    coefficient[position] = fminf(fmaxf(c, 0.0f), 1.0f);
}

extern "C" __global__ void srad_update(
    const float *image, const float *coefficient, float *updated, int columns, int rows, float rate)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    const int position = row * columns + column;
    const Neighbours at = neighbours(column, row, columns, rows);
    const float centre = image[position];
    const float here = coefficient[position];

    const float divergence = here * (image[at.north] - centre)
        + coefficient[at.south] * (image[at.south] - centre) + here * (image[at.west] - centre)
        + coefficient[at.east] * (image[at.east] - centre);
    updated[position] = centre + 0.25f * rate * divergence;
}
