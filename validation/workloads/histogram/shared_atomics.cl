// Histogram of bytes: 256 bins, added to `bins`. The same algorithm as in shared_atomics.cu, with
// local memory.

#define THREADS 256
#define BINS 256

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1)))
void shared_atomics(__global const uint *words, __global uint *bins, int n)
{
    __local uint counts[BINS];
    const int thread = get_local_id(0);
    counts[thread] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int i = get_global_id(0); i < n; i += get_global_size(0)) {
        const uint word = words[i];
        atomic_inc(&counts[word & 0xff]);
        atomic_inc(&counts[(word >> 8) & 0xff]);
        atomic_inc(&counts[(word >> 16) & 0xff]);
        atomic_inc(&counts[word >> 24]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[thread], counts[thread]);
}
