// One kernel per feature that the compiler writes in its own way.

struct Wave {
    double amplitude;
    int period;
    char tag;
    float phase[3];
};

__constant__ float weights[9] = {1.f, 2.f, 1.f};
__constant__ unsigned char letters[8] = {'a', 'b'};
__device__ int counter = 7;
__device__ int *where = &counter;
__device__ double table[4] = {0.5, 1.5};
extern __shared__ unsigned char pool[];

__global__ void scale(float *y, const float *__restrict__ x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void __launch_bounds__(128, 2) tile_sum(double *out, const double *in, int n)
{
    __shared__ double tile[128];
    __shared__ int flag;
    int t = threadIdx.x;
    double s = 0;
    for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128)
        s += in[i];
    tile[t] = s;
    if (t == 0)
        flag = 1;
    __syncthreads();
    for (int h = 64; h > 0; h >>= 1) {
        if (t < h)
            tile[t] += tile[t + h];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = tile[0] * flag;
}

__global__ void by_struct(Wave w, short *q, int which)
{
    q[threadIdx.x] = (short)(w.amplitude * w.period + w.phase[which] + w.tag);
}

__global__ void histogram(unsigned *bins, const unsigned char *data, int n, int *seen)
{
    unsigned *own = (unsigned *)pool;
    int t = threadIdx.x;
    own[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        atomicAdd(&own[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[t], own[t]);
    atomicMax(seen, t);
    atomicCAS(seen + 1, t, 3);
    atomicExch(where, 4);
    __threadfence();
}

__global__ void stack_array(int *out, int k, signed char c, unsigned short u)
{
    int a[12];
    for (int i = 0; i < 12; i++)
        a[i] = out[i] * k + c - u;
    out[threadIdx.x] = a[k & 7] + a[(k + 1) % 12];
}

__global__ void vectors(float4 *a, int2 *b, uchar4 *c, double2 *d, long long *e)
{
    int i = threadIdx.x;
    float4 v = a[i];
    v.x += v.w;
    a[i] = v;
    int2 w = b[i];
    b[i] = make_int2(w.y, w.x);
    uchar4 u = c[i];
    u.x = u.y;
    c[i] = u;
    d[i].x = d[i].y * table[i & 3];
    e[i] = __double_as_longlong(d[i].x) / (e[i] | 1);
}

__global__ void maths(float *f, double *g, int *h)
{
    int i = threadIdx.x;
    float x = f[i];
    f[i] = sinf(x) + __expf(x) + sqrtf(x) / (x + 1.5f) + rsqrtf(x) + fminf(x, 0.f) + fabsf(x)
        + floorf(x) + weights[i % 9];
    double y = g[i];
    g[i] = sqrt(y) / (y - 1.) + fma(y, y, 2.0) + (double)(int)y;
    h[i] = __popc(h[i]) + __clz(h[i]) + (h[i] >> 3) + min(h[i], 5) + __float2int_rn(x)
        + letters[h[i] & 7] + (int)__umulhi(h[i], 77) + __float_as_int(x) % 13;
}

__global__ void grid(int *out, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z + threadIdx.z * gridDim.y;
    volatile int *o = out;
    if ((x ^ y) & 1) {
        o[y * w + x] = z;
    } else if (x > y || z == 3) {
        while (o[x] < y)
            o[x]++;
    } else {
        switch (w) {
        case 0:
            o[0] = 1;
            break;
        case 1:
            o[2] = 4;
            break;
        case 2:
            o[4] = 9;
            return;
        default:
            __trap();
        }
    }
}

__device__ __noinline__ int helper(int a, int b)
{
    return a * b + a / b;
}

__global__ void caller(int *a)
{
    a[threadIdx.x] = helper(a[0], a[1]);
}

__global__ void shuffler(int *a)
{
    a[threadIdx.x] = __shfl_down_sync(~0u, a[threadIdx.x], 1);
}

__device__ __forceinline__ int count_down(int from)
{
    int result;
    asm volatile("{ .reg .pred p; .reg .b32 t; setp.ne.s32 p, %1, 0; mov.u32 t, 5;\n"
                 "  LOOP: sub.s32 t, t, 1; setp.gt.s32 p, t, 0; @p bra LOOP; mov.u32 %0, t; }"
                 : "=r"(result) : "r"(from));
    return result;
}

__global__ void inline_asm(int *a)
{
    int r;
    asm volatile("{ .reg .pred p; .reg .b32 t; setp.ne.s32 p, %1, 0; mov.u32 t, 5; "
                 "@p add.s32 t, t, 1; mov.u32 %0, t; }"
                 : "=r"(r) : "r"(a[0]));
    a[threadIdx.x] = r + count_down(a[1]) + count_down(a[2]);
}
