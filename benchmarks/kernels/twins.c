// The benchmark kernels as a C programmer writes them for this CPU, one function each with the
// kernel's own arguments. gcc -O3 -march=native -fopenmp -shared -fPIC.

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Vectors as wide as the CPU has.
#ifdef __AVX512F__
#pragma GCC target("prefer-vector-width=512")
#endif

void saxpy(int n, float a, const float *restrict x, float *restrict y)
{
#pragma omp parallel for simd schedule(static)
    for (int i = 0; i < n; i++)
        y[i] = a * x[i] + y[i];
}

void stencil2d(const double *restrict in, double *restrict out, int n)
{
#pragma omp parallel for schedule(static)
    for (int y = 1; y < n - 1; y++) {
        const double *row = in + (size_t)y * n;
        double *target = out + (size_t)y * n;
#pragma omp simd
        for (int x = 1; x < n - 1; x++)
            target[x] = 0.5 * row[x] + 0.125 * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n]);
    }
}

void stencil3d(const float *restrict in, float *restrict out, float centre, float side, int n)
{
    const size_t plane = (size_t)n * n;
#pragma omp parallel for collapse(2) schedule(static)
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++) {
            const float *row = in + z * plane + (size_t)y * n;
            float *target = out + z * plane + (size_t)y * n;
#pragma omp simd
            for (int x = 1; x < n - 1; x++)
                target[x] = centre * row[x]
                    + side * (row[x - 1] + row[x + 1] + row[x - n] + row[x + n]
                              + row[x - (ptrdiff_t)plane] + row[x + plane]);
        }
}

enum { TILE = 16, ROWS = 8, STRIP = 32 };

// HEIGHT x WIDTH results stay in registers: gcc wants constants to see that they fit. `strip` holds
// WIDTH columns of b without gaps, of which c has the first `used`.
#define SGEMM_TILE(NAME, HEIGHT, WIDTH)                                                            \
    static void NAME(const float *restrict a, const float *restrict strip, float *restrict c,      \
                     int n, int used)                                                              \
    {                                                                                              \
        float sum[HEIGHT][WIDTH] = {{0}}, result[HEIGHT][WIDTH];                                   \
        for (int k = 0; k < n; k++)                                                                \
            for (int i = 0; i < HEIGHT; i++)                                                       \
                _Pragma("omp simd") for (int j = 0; j < WIDTH; j++)                                \
                    sum[i][j] += a[(size_t)i * n + k] * strip[(size_t)k * WIDTH + j];              \
        for (int i = 0; i < HEIGHT; i++)                                                           \
            _Pragma("omp simd") for (int j = 0; j < WIDTH; j++) result[i][j] = sum[i][j];          \
        for (int i = 0; i < HEIGHT; i++)                                                           \
            memcpy(c + (size_t)i * n, result[i], used * sizeof(float));                            \
    }

SGEMM_TILE(sgemm_16x16, TILE, TILE)
SGEMM_TILE(sgemm_1x16, 1, TILE)
SGEMM_TILE(sgemm_8x32, ROWS, STRIP)
SGEMM_TILE(sgemm_1x32, 1, STRIP)

typedef void sgemm_tile(const float *restrict, const float *restrict, float *restrict, int, int);

// Strips of b are packed, columns beyond n as zeros; rows beyond the last whole tile go one by one.
static void sgemm(const float *restrict a, const float *restrict b, float *restrict c, int n,
                  int height, int width, sgemm_tile *tile, sgemm_tile *row_tile)
{
#pragma omp parallel
    {
        float *strip = aligned_alloc(64, (size_t)n * width * sizeof *strip);
#pragma omp for schedule(static)
        for (int column = 0; column < n; column += width) {
            const int used = n - column < width ? n - column : width;
            for (int k = 0; k < n; k++) {
                memcpy(strip + (size_t)k * width, b + (size_t)k * n + column, used * sizeof *b);
                for (int j = used; j < width; j++)
                    strip[(size_t)k * width + j] = 0.0f;
            }
            int row = 0;
            for (; row + height <= n; row += height)
                tile(a + (size_t)row * n, strip, c + (size_t)row * n + column, n, used);
            for (; row < n; row++)
                row_tile(a + (size_t)row * n, strip, c + (size_t)row * n + column, n, used);
        }
        free(strip);
    }
}

void sgemm_naive(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
    sgemm(a, b, c, n, ROWS, STRIP, sgemm_8x32, sgemm_1x32);
}

// The kernel's own tiles.
void sgemm_tiled(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
    sgemm(a, b, c, n, TILE, TILE, sgemm_16x16, sgemm_1x16);
}

void sgemm_register(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
    sgemm(a, b, c, n, ROWS, STRIP, sgemm_8x32, sgemm_1x32);
}

void reduction(const float *restrict values, float *restrict sums, int n)
{
    enum { PART = 512 };
#pragma omp parallel for schedule(static)
    for (int part = 0; part < (n + PART - 1) / PART; part++) {
        const int first = part * PART;
        const int end = n - first < PART ? n : first + PART;
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (int i = first; i < end; i++)
            sum += values[i];
        sums[part] = sum;
    }
}

void spmv(const int *restrict row_start, const int *restrict columns, const float *restrict values,
          const float *restrict x, float *restrict y, int rows)
{
#pragma omp parallel for schedule(static)
    for (int row = 0; row < rows; row++) {
        float sum = 0.0f;
        for (int at = row_start[row]; at < row_start[row + 1]; at++)
            sum += values[at] * x[columns[at]];
        y[row] = sum;
    }
}

// Four private histograms a thread, so that equal neighbours do not wait for each other.
void histogram(const unsigned *restrict values, unsigned *restrict counts, int n)
{
    enum { BINS = 256, COPIES = 4 };
#pragma omp parallel
    {
        unsigned partial[COPIES][BINS] = {{0}};
#pragma omp for schedule(static) nowait
        for (int i = 0; i < n / COPIES; i++)
            for (int copy = 0; copy < COPIES; copy++)
                partial[copy][values[i * COPIES + copy] & (BINS - 1)]++;
#pragma omp single nowait
        for (int i = n / COPIES * COPIES; i < n; i++)
            partial[0][values[i] & (BINS - 1)]++;
#pragma omp critical
        for (int copy = 0; copy < COPIES; copy++)
            for (int bin = 0; bin < BINS; bin++)
                counts[bin] += partial[copy][bin];
    }
}

// Newton's iteration from the bits of the float: unlike 1 / sqrtf(x), which may set errno, gcc
// vectorises it. Three steps give single precision.
static inline float reciprocal_sqrt(float x)
{
    uint32_t bits;
    float y;
    memcpy(&bits, &x, sizeof bits);
    bits = 0x5f3759df - (bits >> 1);
    memcpy(&y, &bits, sizeof y);
    const float half = 0.5f * x;
    y *= 1.5f - half * y * y;
    y *= 1.5f - half * y * y;
    y *= 1.5f - half * y * y;
    return y;
}

// Bodies are n x (x, y, z, mass); they are taken apart first, so that loads are contiguous.
void nbody(const float *restrict bodies, float *restrict acceleration, float softening, int n)
{
    float *part = aligned_alloc(64, ((size_t)n * 4 * sizeof *part + 63) / 64 * 64);
    for (int i = 0; i < n; i++)
        for (int of = 0; of < 4; of++)
            part[(size_t)of * n + i] = bodies[4 * (size_t)i + of];
    const float *x = part, *y = x + n, *z = y + n, *mass = z + n;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
        for (int j = 0; j < n; j++) {
            const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
            const float inverse = reciprocal_sqrt(dx * dx + dy * dy + dz * dz + softening);
            const float pull = mass[j] * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        acceleration[3 * (size_t)i] = ax;
        acceleration[3 * (size_t)i + 1] = ay;
        acceleration[3 * (size_t)i + 2] = az;
    }
    free(part);
}

// Tiles are copied by rows and written by columns; the odd row length keeps columns out of one set
// of the cache.
static void transpose(const float *restrict in, float *restrict out, int n)
{
    enum { SIDE = 64 };
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < n; y += SIDE)
        for (int x = 0; x < n; x += SIDE) {
            float tile[SIDE][SIDE + 1];
            const int rows = n - y < SIDE ? n - y : SIDE, columns = n - x < SIDE ? n - x : SIDE;
            for (int row = 0; row < rows; row++)
                memcpy(tile[row], in + (size_t)(y + row) * n + x, columns * sizeof(float));
            for (int column = 0; column < columns; column++)
#pragma omp simd
                for (int row = 0; row < rows; row++)
                    out[(size_t)(x + column) * n + y + row] = tile[row][column];
        }
}

void transpose_naive(const float *restrict in, float *restrict out, int n)
{
    transpose(in, out, n);
}

void transpose_tiled(const float *restrict in, float *restrict out, int n)
{
    transpose(in, out, n);
}

// Sixty-four sequences at a time, each lane under a mask of its own.
void collatz(int *restrict steps, int n)
{
    enum { LANES = 64 };
#pragma omp parallel for schedule(dynamic, 64)
    for (int first = 0; first < n; first += LANES) {
        uint64_t value[LANES], count[LANES], running;
        for (int lane = 0; lane < LANES; lane++) {
            value[lane] = first + lane < n ? first + lane + 1ull : 1;
            count[lane] = 0;
        }
        do {
            running = 0;
#pragma omp simd reduction(| : running)
            for (int lane = 0; lane < LANES; lane++) {
                const uint64_t old = value[lane], active = old != 1;
                const uint64_t next = old & 1 ? 3 * old + 1 : old >> 1;
                value[lane] = active ? next : old;
                count[lane] += active;
                running |= active;
            }
        } while (running);
        for (int lane = 0; lane < LANES && first + lane < n; lane++)
            steps[first + lane] = (int)count[lane];
    }
}
