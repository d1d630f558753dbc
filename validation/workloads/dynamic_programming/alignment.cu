// Scores of sequence alignments by dynamic programming, with a penalty per gap:
// score[i][j] = max(score[i - 1][j - 1] + substitution[first[i - 1]][second[j - 1]],
//                   score[i - 1][j] - gap, score[i][j - 1] - gap),
// and not less than 0 in a local alignment (Smith-Waterman; without it: Needleman-Wunsch).
//
// score is (rows + 1) x (columns + 1), row-major. One launch computes one wave: the tiles of
// kTile x kTile scores on one anti-diagonal of tiles, each from the scores above and to the left of
// it. A thread block of one warp takes a tile, a thread a column of it, and they walk through its
// anti-diagonals in shared memory. Symbols are numbers below kSymbols.

constexpr int kTile = 32;
constexpr int kSymbols = 24;

template <bool IS_LOCAL>
__device__ __forceinline__ void align_tile(
    const int *first, const int *second, const int *substitution, int *score, int rows,
    int columns, int wave, int gap)
{
    __shared__ int tile[kTile + 1][kTile + 1];
    __shared__ int symbols[kTile];
    const int x = threadIdx.x;
    const int tiles_down = (rows + kTile - 1) / kTile;
    const int tile_column = max(wave - (tiles_down - 1), 0) + blockIdx.x;
    const int top = (wave - tile_column) * kTile, left = tile_column * kTile;
    const int column = left + x;
    const size_t pitch = columns + 1;
    const bool is_row = top + x < rows, is_column = column < columns;

    tile[0][x + 1] = is_column ? score[top * pitch + column + 1] : 0;
    tile[x + 1][0] = is_row ? score[(top + x + 1) * pitch + left] : 0;
    if (x == 0)
        tile[0][0] = score[top * pitch + left];
    symbols[x] = is_row ? first[top + x] : 0;
    const int symbol = is_column ? second[column] : 0;
    __syncthreads();

#pragma unroll 1
    for (int diagonal = 0; diagonal < 2 * kTile - 1; ++diagonal) {
        const int y = diagonal - x;
        if (y >= 0 && y < kTile) {
            const int matched = tile[y][x] + substitution[symbols[y] * kSymbols + symbol];
            const int gapped = max(tile[y][x + 1], tile[y + 1][x]) - gap;
            const int best = max(matched, gapped);
            tile[y + 1][x + 1] = IS_LOCAL ? max(best, 0) : best;
        }
        __syncthreads();
    }

    if (is_column)
        for (int y = 0; y < min(kTile, rows - top); ++y)
            score[(top + y + 1) * pitch + column + 1] = tile[y + 1][x + 1];
}

extern "C" __global__ void needle(
    const int *first, const int *second, const int *substitution, int *score, int rows,
    int columns, int wave, int gap)
{
    align_tile<false>(first, second, substitution, score, rows, columns, wave, gap);
}

extern "C" __global__ void smith_waterman(
    const int *first, const int *second, const int *substitution, int *score, int rows,
    int columns, int wave, int gap)
{
    align_tile<true>(first, second, substitution, score, rows, columns, wave, gap);
}
