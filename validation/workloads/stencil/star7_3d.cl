// Star of 7 points on a mesh of depth x height x width doubles, x fastest: a weighted sum of each
// inner point and its six neighbours, one point a work-item. Points at the edge are left alone.

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel __attribute__((reqd_work_group_size(32, 4, 2)))
void star7_3d(
    __global double *restrict to, __global const double *restrict from, double centre,
    double beside, int width, int height, int depth)
{
    const int x = get_global_id(0) + 1;
    const int y = get_global_id(1) + 1;
    const int z = get_global_id(2) + 1;
    if (x >= width - 1 || y >= height - 1 || z >= depth - 1)
        return;
    const int plane = width * height;
    const int i = z * plane + y * width + x;
    to[i] = centre * from[i] +
            beside * (from[i - 1] + from[i + 1] + from[i - width] + from[i + width] +
                      from[i - plane] + from[i + plane]);
}
