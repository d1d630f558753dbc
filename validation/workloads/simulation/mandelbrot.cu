// Steps until z = z^2 + c leaves the circle of radius 2, for every pixel's c; `limit` if it stays.
//
// The iteration magnifies rounding errors without bound, so products and sums are rounded each for
// itself: contracted to multiply-adds they would give other, equally valid counts.

extern "C" __global__ void mandelbrot(
    int *steps, int width, int height, float left, float top, float pixel, int limit)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height)
        return;
    const float real = __fadd_rn(left, __fmul_rn(column, pixel));
    const float imaginary = __fadd_rn(top, __fmul_rn(row, -pixel));

    float x = 0.0f;
    float y = 0.0f;
    int step = 0;
    while (step < limit) {
        const float xx = __fmul_rn(x, x);
        const float yy = __fmul_rn(y, y);
        if (__fadd_rn(xx, yy) > 4.0f)
            break;
        const float xy = __fmul_rn(x, y);
        y = __fadd_rn(__fadd_rn(xy, xy), imaginary);
        x = __fadd_rn(__fsub_rn(xx, yy), real);
        ++step;
    }
    steps[row * width + column] = step;
}
