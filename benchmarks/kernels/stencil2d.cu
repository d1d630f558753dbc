// One Jacobi step of Laplace's equation on an n x n grid in double precision; the rim is kept.

extern "C" __global__ void stencil2d(const double *in, double *out, int n)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    const int at = y * n + x;
    out[at] = 0.5 * in[at] + 0.125 * (in[at - 1] + in[at + 1] + in[at - n] + in[at + n]);
}
