// Speckle reducing anisotropic diffusion of an image of positive intensities, one step in two
// kernels, from tiles of kSide x kSide cells in shared memory.
//
// srad_coefficient: with the differences n, s, w, e of a cell J to its neighbours,
// g = (n^2 + s^2 + w^2 + e^2) / J^2 and l = (n + s + w + e) / J, the squared coefficient of variation
// of the speckle is q2 = (g / 2 - l^2 / 16) / (1 + l / 4)^2 and the diffusion coefficient
// 1 / (1 + (q2 - q02) / (q02 (1 + q02))), cut to the range from 0 to 1. The differences are kept.
//
// srad_update: J' = J + rate / 4 * (c n + c_south s + c w + c_east e).
//
// As in Rodinia a tile's four neighbours in each direction are staged in arrays of the tile's size,
// of which the edges are read, and the constants are double precision. Beyond the image's edges lies
// a copy of the outermost cells; its sides are multiples of kSide.

constexpr int kSide = 16;

__device__ __forceinline__ int cell(int column, int row, int columns)
{
    return row * columns + column;
}

extern "C" __global__ void srad_coefficient(
    float *to_east, float *to_west, float *to_north, float *to_south, float *image,
    float *coefficient, int columns, int rows, float q02)
{
    __shared__ float tile[kSide][kSide], cut[kSide][kSide];
    __shared__ float above[kSide][kSide], below[kSide][kSide];
    __shared__ float right[kSide][kSide], left[kSide][kSide];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * kSide + x, row = blockIdx.y * kSide + y;
    const int first_column = blockIdx.x * kSide, first_row = blockIdx.y * kSide;
    const int position = cell(column, row, columns);

    above[y][x] = image[cell(column, first_row > 0 ? first_row - 1 : 0, columns)];
    below[y][x] = image[cell(column, min(first_row + kSide, rows - 1), columns)];
    __syncthreads();
    left[y][x] = image[cell(first_column > 0 ? first_column - 1 : 0, row, columns)];
    right[y][x] = image[cell(min(first_column + kSide, columns - 1), row, columns)];
    __syncthreads();
    tile[y][x] = image[position];
    __syncthreads();

    const float centre = tile[y][x];
    float north, south, west, east;
    if (y == 0)
        north = above[y][x] - centre;
    else
        north = tile[y - 1][x] - centre;
    if (y == kSide - 1)
        south = below[y][x] - centre;
    else
        south = tile[y + 1][x] - centre;
    if (x == 0)
        west = left[y][x] - centre;
    else
        west = tile[y][x - 1] - centre;
    if (x == kSide - 1)
        east = right[y][x] - centre;
    else
        east = tile[y][x + 1] - centre;

    const float g =
        (north * north + south * south + west * west + east * east) / (centre * centre);
    const float l = (north + south + west + east) / centre;
    const float numerator = 0.5 * g - 1.0 / 16.0 * (l * l);
    const float spread = 1 + 0.25 * l;
    const float q2 = numerator / (spread * spread);
    const float excess = (q2 - q02) / (q02 * (1 + q02));
    const float c = 1.0 / (1.0 + excess);
    if (c < 0)
        cut[y][x] = 0;
    else if (c > 1)
        cut[y][x] = 1;
    else
        cut[y][x] = c;
    __syncthreads();
    coefficient[position] = cut[y][x];
    to_east[position] = east;
    to_west[position] = west;
    to_south[position] = south;
    to_north[position] = north;
}

extern "C" __global__ void srad_update(
    float *to_east, float *to_west, float *to_north, float *to_south, float *image,
    float *coefficient, int columns, int rows, float rate)
{
    __shared__ float below[kSide][kSide], right[kSide][kSide];
    __shared__ float tile[kSide][kSide], intensity[kSide][kSide], updated[kSide][kSide];
    const int x = threadIdx.x, y = threadIdx.y;
    const int column = blockIdx.x * kSide + x, row = blockIdx.y * kSide + y;
    const int first_column = blockIdx.x * kSide, first_row = blockIdx.y * kSide;
    const int position = cell(column, row, columns);

    intensity[y][x] = image[position];
    __syncthreads();
    below[y][x] = coefficient[cell(column, min(first_row + kSide, rows - 1), columns)];
    __syncthreads();
    right[y][x] = coefficient[cell(min(first_column + kSide, columns - 1), row, columns)];
    __syncthreads();
    tile[y][x] = coefficient[position];
    __syncthreads();

    const float here = tile[y][x];
    float south, east;
    if (y == kSide - 1)
        south = below[y][x];
    else
        south = tile[y + 1][x];
    if (x == kSide - 1)
        east = right[y][x];
    else
        east = tile[y][x + 1];
    const float divergence = here * to_north[position] + south * to_south[position]
        + here * to_west[position] + east * to_east[position];
    updated[y][x] = intensity[y][x] + 0.25 * rate * divergence;
    __syncthreads();
    image[position] = updated[y][x];
}
