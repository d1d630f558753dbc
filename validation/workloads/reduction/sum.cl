// Partial sums of `values`, one for each work-group.
//
// The work-items of the whole range stride over the array as the CUDA threads of sum.cu do.
// OpenCL 1.2 has no shuffles: a tree in local memory adds a work-group's sums.

#define THREADS 256

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void partial_sums(__global const float *values, __global float *sums, int n)
{
    __local float partial[THREADS];
    const int thread = get_local_id(0);

    float sum = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0))
        sum += values[i];
    partial[thread] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int active = THREADS / 2; active > 0; active /= 2) {
        if (thread < active)
            partial[thread] += partial[thread + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (thread == 0)
        sums[get_group_id(0)] = partial[0];
}
