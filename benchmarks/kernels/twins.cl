// The benchmark kernels in OpenCL C, for a comparison with simulators that take OpenCL: the same
// work-groups, arguments and order of operations as the CUDA sources beside this file and in examples/.

kernel void saxpy(int n, float a, global const float *x, global float *y)
{
    const int i = get_global_id(0);
    if (i < n)
        y[i] = a * x[i] + y[i];
}

kernel void stencil2d(global const double *in, global double *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int at = y * n + x;
    out[at] = 0.5 * in[at] + 0.125 * (in[at - 1] + in[at + 1] + in[at - n] + in[at + n]);
}

kernel void stencil3d(global const float *in, global float *out, float centre, float side, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int plane = n * n;
    int at = y * n + x;
    float below = in[at];
    at += plane;
    float here = in[at];
    for (int z = 1; z < n - 1; z++) {
        const float above = in[at + plane];
        const float sides = in[at - 1] + in[at + 1] + in[at - n] + in[at + n];
        out[at] = centre * here + side * (sides + below + above);
        below = here;
        here = above;
        at += plane;
    }
}

kernel void sgemm_naive(global const float *a, global const float *b, global float *c, int n)
{
    const int column = get_global_id(0), row = get_global_id(1);
    if (row >= n || column >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

kernel void sgemm_tiled(global const float *a, global const float *b, global float *c, int n)
{
    local float tile_a[16][16];
    local float tile_b[16][16];
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int row = get_group_id(1) * 16 + ty, column = get_group_id(0) * 16 + tx;
    float sum = 0.0f;
    for (int first = 0; first < n; first += 16) {
        tile_a[ty][tx] = a[row * n + first + tx];
        tile_b[ty][tx] = b[(first + ty) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int k = 0; k < 16; k++)
            sum += tile_a[ty][k] * tile_b[k][tx];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

kernel void sgemm_register(global const float *a, global const float *b, global float *c, int n)
{
    local float tile_a[16][64];
    local float tile_b[16][64];
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int row = get_group_id(1) * 64, column = get_group_id(0) * 64;
    float sum[4][4] = {{0.0f}};
    for (int first = 0; first < n; first += 16) {
#pragma unroll
        for (int line = 0; line < 64; line += 16) {
            tile_a[tx][line + ty] = a[(row + line + ty) * n + first + tx];
            tile_b[ty][line + tx] = b[(first + ty) * n + column + line + tx];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
        for (int k = 0; k < 16; k++) {
            float left[4], right[4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                left[i] = tile_a[k][i * 16 + ty];
                right[i] = tile_b[k][i * 16 + tx];
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    sum[i][j] += left[i] * right[j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            c[(row + i * 16 + ty) * n + column + j * 16 + tx] = sum[i][j];
}

kernel void reduction(global const float *values, global float *sums, int n)
{
    local float partial[256];
    const int thread = get_local_id(0), first = get_group_id(0) * 512 + thread;
    float sum = 0.0f;
    if (first < n)
        sum = values[first];
    if (first + 256 < n)
        sum += values[first + 256];
    partial[thread] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int active = 128; active > 0; active /= 2) {
        if (thread < active)
            partial[thread] += partial[thread + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        sums[get_group_id(0)] = partial[0];
}

kernel void spmv(global const int *row_start, global const int *columns,
                 global const float *values, global const float *x, global float *y, int rows)
{
    const int row = get_global_id(0);
    if (row >= rows)
        return;
    const int end = row_start[row + 1];
    float sum = 0.0f;
    for (int at = row_start[row]; at < end; at++)
        sum += values[at] * x[columns[at]];
    y[row] = sum;
}

kernel void histogram(global const uint *values, global uint *counts, int n)
{
    local uint partial[256];
    const int thread = get_local_id(0);
    partial[thread] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int i = get_group_id(0) * (256 * 16) + thread;
    for (int part = 0; part < 16 && i < n; part++, i += 256)
        atomic_add(&partial[values[i] & 255], 1u);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&counts[thread], partial[thread]);
}

kernel void nbody(global const float *bodies, global float *acceleration, float softening, int n)
{
    local float staged[4][128];
    const int thread = get_local_id(0), i = get_global_id(0);
    const float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int first = 0; first < n; first += 128) {
#pragma unroll
        for (int part = 0; part < 4; part++)
            staged[part][thread] = bodies[4 * (first + thread) + part];
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 4
        for (int j = 0; j < 128; j++) {
            const float dx = staged[0][j] - x, dy = staged[1][j] - y, dz = staged[2][j] - z;
            const float inverse = rsqrt(dx * dx + dy * dy + dz * dz + softening);
            const float pull = staged[3][j] * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    acceleration[3 * i] = ax;
    acceleration[3 * i + 1] = ay;
    acceleration[3 * i + 2] = az;
}

kernel void transpose_naive(global const float *in, global float *out, int n)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n)
        out[x * n + y] = in[y * n + x];
}

kernel void transpose_tiled(global const float *in, global float *out, int n)
{
    local float tile[32][33];
    const int tx = get_local_id(0), ty = get_local_id(1);
    const int x = get_group_id(0) * 32, y = get_group_id(1) * 32;
#pragma unroll
    for (int row = 0; row < 32; row += 8)
        tile[ty + row][tx] = in[(y + ty + row) * n + x + tx];
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
    for (int row = 0; row < 32; row += 8)
        out[(x + ty + row) * n + y + tx] = tile[tx][ty + row];
}

kernel void collatz(global int *steps, int n)
{
    const int i = get_global_id(0);
    if (i >= n)
        return;
    ulong value = i + 1ul;
    int count = 0;
    while (value != 1) {
        value = value & 1 ? 3 * value + 1 : value >> 1;
        count++;
    }
    steps[i] = count;
}
