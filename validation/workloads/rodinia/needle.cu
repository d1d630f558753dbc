// One wave of a Needleman-Wunsch alignment: the tiles of kTile x kTile scores on one anti-diagonal,
// score = max(upper left + pair, left - gap, above - gap). `pairs` holds what aligning the two
// symbols of each cell scores; both matrices have rows of `pitch` cells, the first row and column
// are the border. A thread block of kTile threads, half a warp, takes a tile; its threads move down
// an anti-diagonal each step.

constexpr int kTile = 16;

extern "C" __global__ void needle(
    int *pairs, int *score, int pitch, int gap, int wave, int tiles_down)
{
    __shared__ int tile[kTile + 1][kTile + 1];
    __shared__ int pair[kTile][kTile];
    const int x = threadIdx.x;
    const int tile_column = max(wave - (tiles_down - 1), 0) + blockIdx.x;
    const int corner = pitch * kTile * (wave - tile_column) + kTile * tile_column;
    const int first = corner + pitch + 1 + x;

    if (x == 0)
        tile[0][0] = score[corner];
    int loaded[kTile]; // all loads are on their way at a time, as in the machine code
    for (int y = 0; y < kTile; ++y)
        loaded[y] = pairs[first + pitch * y];
    for (int y = 0; y < kTile; ++y)
        pair[y][x] = loaded[y];
    __syncthreads();
    tile[x + 1][0] = score[corner + pitch + pitch * x];
    __syncthreads();
    tile[0][x + 1] = score[corner + 1 + x];
    __syncthreads();

    for (int diagonal = 0; diagonal < kTile; ++diagonal) {
        if (x <= diagonal) {
            const int column = x + 1, row = diagonal - x + 1;
            tile[row][column] =
                max(max(tile[row - 1][column - 1] + pair[row - 1][column - 1],
                        tile[row][column - 1] - gap),
                    tile[row - 1][column] - gap);
        }
        __syncthreads();
    }
    for (int diagonal = kTile - 2; diagonal >= 0; --diagonal) {
        if (x <= diagonal) {
            const int column = x + kTile - diagonal, row = kTile - x;
            tile[row][column] =
                max(max(tile[row - 1][column - 1] + pair[row - 1][column - 1],
                        tile[row][column - 1] - gap),
                    tile[row - 1][column] - gap);
        }
        __syncthreads();
    }
    for (int y = 0; y < kTile; ++y)
        score[first + pitch * y] = tile[y + 1][x + 1];
}
