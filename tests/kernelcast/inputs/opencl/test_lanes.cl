// Functions of sub-groups, which are of OpenCL 2.
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
__kernel void lanes(__global const int *a, __global int *p, __global float *f, __global long *w) {
  int i = get_global_id(0), x = a[i];
  p += 8 * i;
  p[0] = get_sub_group_local_id() + 100 * get_sub_group_id() + 1000 * get_num_sub_groups();
  p[1] = get_sub_group_size(), p[2] = sub_group_reduce_add(x), p[3] = sub_group_scan_exclusive_max(x);
  p[4] = sub_group_broadcast(x, 5u), p[5] = sub_group_any(x > 2000000000) + 2 * sub_group_all(x != 1);
  p[6] = sub_group_scan_inclusive_add(x), p[7] = sub_group_reduce_min((uint)x);
  f[i] = sub_group_reduce_max((float)x);
  w[i] = sub_group_scan_inclusive_add((long)x << 20);
}
