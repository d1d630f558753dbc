// Seven-point stencil on an n x n x n grid: every thread walks one column along z and carries the
// three values of its column in registers.

extern "C" __global__ void stencil3d(const float *in, float *out, float centre, float side, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int plane = n * n;
    int at = y * n + x;
    float below = in[at];
    at += plane;
    float here = in[at];
#pragma unroll 1
    for (int z = 1; z < n - 1; z++) {
        const float above = in[at + plane];
        const float sides = in[at - 1] + in[at + 1] + in[at - n] + in[at + n];
        out[at] = centre * here + side * (sides + below + above);
        below = here;
        here = above;
        at += plane;
    }
}
