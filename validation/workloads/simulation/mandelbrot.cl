// Steps until z = z^2 + c leaves the circle of radius 2, for every pixel's c; `limit` if it stays:
// the algorithm of mandelbrot.cu, without contraction to multiply-adds as there.

#pragma OPENCL FP_CONTRACT OFF

__kernel void mandelbrot(
    __global int *steps, int width, int height, float left, float top, float pixel, int limit)
{
    const int column = get_global_id(0);
    const int row = get_global_id(1);
    if (column >= width || row >= height)
        return;
    const float real = left + column * pixel;
    const float imaginary = top + row * -pixel;

    float x = 0.0f;
    float y = 0.0f;
    int step = 0;
    while (step < limit) {
        const float xx = x * x;
        const float yy = y * y;
        if (xx + yy > 4.0f)
            break;
        const float xy = x * y;
        y = xy + xy + imaginary;
        x = xx - yy + real;
        ++step;
    }
    steps[row * width + column] = step;
}
