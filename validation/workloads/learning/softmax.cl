// OpenCL twin of softmax.cu: one row per work-group of 256 work-items, trees in local memory.

#define THREADS 256

float largest_of_all(__local float *partial, float value)
{
    const int thread = get_local_id(0);
    partial[thread] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int active = THREADS / 2; active > 0; active /= 2) {
        if (thread < active)
            partial[thread] = fmax(partial[thread], partial[thread + active]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float result = partial[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}

float sum_of_all(__local float *partial, float value)
{
    const int thread = get_local_id(0);
    partial[thread] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll 1
    for (int active = THREADS / 2; active > 0; active /= 2) {
        if (thread < active)
            partial[thread] += partial[thread + active];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const float result = partial[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return result;
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void softmax(__global const float *x, __global float *y, int columns)
{
    __local float partial[THREADS];
    __global const float *const row = x + get_group_id(0) * (size_t)columns;
    __global float *const out = y + get_group_id(0) * (size_t)columns;

    float largest = -INFINITY;
    for (int c = get_local_id(0); c < columns; c += THREADS)
        largest = fmax(largest, row[c]);
    largest = largest_of_all(partial, largest);

    float sum = 0.0f;
    for (int c = get_local_id(0); c < columns; c += THREADS)
        sum += exp(row[c] - largest);
    sum = sum_of_all(partial, sum);

    for (int c = get_local_id(0); c < columns; c += THREADS)
        out[c] = exp(row[c] - largest) / sum;
}
