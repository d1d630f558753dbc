// Star of 5 points on a mesh of height x width floats, row-major: a weighted sum of each inner
// point and its four neighbours. Points at the edge are left alone.

__kernel __attribute__((reqd_work_group_size(32, 8, 1)))
void star5_2d(
    __global float *restrict to, __global const float *restrict from, float centre, float beside,
    int width, int height)
{
    const int x = get_global_id(0) + 1;
    const int y = get_global_id(1) + 1;
    if (x >= width - 1 || y >= height - 1)
        return;
    const int i = y * width + x;
    to[i] = centre * from[i] +
            beside * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width]);
}
