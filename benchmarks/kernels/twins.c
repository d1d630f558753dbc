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

void saxpy(const float *restrict x, float *restrict y, float a, int n)
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

enum { ROWS = 8, STRIP = 32, TILE = 16 };

// A stretch of a row of c stays in registers; the last one may be shorter.
void sgemm_naive(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
    enum { WIDTH = 128 };
#pragma omp parallel for schedule(static)
    for (int column = 0; column < n; column += WIDTH) {
        const int width = n - column < WIDTH ? n - column : WIDTH;
        for (int i = 0; i < n; i++) {
            float sum[WIDTH] = {0};
            if (width == WIDTH)
                for (int k = 0; k < n; k++)
#pragma omp simd
                    for (int j = 0; j < WIDTH; j++)
                        sum[j] += a[(size_t)i * n + k] * b[(size_t)k * n + column + j];
            else
                for (int k = 0; k < n; k++)
                    for (int j = 0; j < width; j++)
                        sum[j] += a[(size_t)i * n + k] * b[(size_t)k * n + column + j];
            memcpy(c + (size_t)i * n + column, sum, width * sizeof *sum);
        }
    }
}

// n is a multiple of TILE; a TILE x TILE tile of c stays in registers.
void sgemm_tiled(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
#pragma omp parallel for schedule(static)
    for (int column = 0; column < n; column += TILE)
        for (int row = 0; row < n; row += TILE) {
            float sum[TILE][TILE] = {{0}};
            for (int k = 0; k < n; k++)
                for (int i = 0; i < TILE; i++)
#pragma omp simd
                    for (int j = 0; j < TILE; j++)
                        sum[i][j] += a[(size_t)(row + i) * n + k] * b[(size_t)k * n + column + j];
            for (int i = 0; i < TILE; i++)
                memcpy(c + (size_t)(row + i) * n + column, sum[i], sizeof sum[i]);
        }
}

// n is a multiple of STRIP: strips of b are packed, ROWS x STRIP results stay in registers.
void sgemm_register(const float *restrict a, const float *restrict b, float *restrict c, int n)
{
#pragma omp parallel
    {
        float *strip = aligned_alloc(64, (size_t)n * STRIP * sizeof *strip);
#pragma omp for schedule(static)
        for (int column = 0; column < n; column += STRIP) {
            for (int k = 0; k < n; k++)
                memcpy(strip + (size_t)k * STRIP, b + (size_t)k * n + column, STRIP * sizeof *b);
            for (int row = 0; row < n; row += ROWS) {
                float sum[ROWS][STRIP] = {{0}};
                for (int k = 0; k < n; k++)
                    for (int i = 0; i < ROWS; i++)
#pragma omp simd
                        for (int j = 0; j < STRIP; j++)
                            sum[i][j] += a[(size_t)(row + i) * n + k] * strip[(size_t)k * STRIP + j];
                for (int i = 0; i < ROWS; i++)
                    memcpy(c + (size_t)(row + i) * n + column, sum[i], sizeof sum[i]);
            }
        }
        free(strip);
    }
}

void reduction(const float *restrict values, float *restrict sums, int n)
{
    enum { THREADS = 256 };
#pragma omp parallel for schedule(static)
    for (int part = 0; part < (n + THREADS - 1) / THREADS; part++) {
        const int first = part * THREADS;
        const int end = first + THREADS < n ? first + THREADS : n;
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

static void transpose(const float *restrict in, float *restrict out, int n)
{
    enum { SIDE = 32 };
#pragma omp parallel for collapse(2) schedule(static)
    for (int y = 0; y < n; y += SIDE)
        for (int x = 0; x < n; x += SIDE) {
            float tile[SIDE][SIDE];
            const int rows = n - y < SIDE ? n - y : SIDE, columns = n - x < SIDE ? n - x : SIDE;
            for (int row = 0; row < rows; row++)
                for (int column = 0; column < columns; column++)
                    tile[column][row] = in[(size_t)(y + row) * n + x + column];
            for (int column = 0; column < columns; column++)
                memcpy(out + (size_t)(x + column) * n + y, tile[column], rows * sizeof(float));
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
