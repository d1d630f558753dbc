/* Chains of multiply-adds in registers, on all threads: SCALAR, BYTES a vector, CHAINS. */
#include <pthread.h>
#include <time.h>

typedef SCALAR vector __attribute__((vector_size(BYTES)));
enum { LANES = BYTES / sizeof(SCALAR) };

static volatile SCALAR operands[2] = {-1, 3};
static volatile SCALAR ends[64];
static long count;

static void *chains(void *number)
{
    vector a, b, x[CHAINS];
    for (int i = 0; i < LANES; ++i)
        a[i] = operands[0], b[i] = operands[1];
    for (int i = 0; i < CHAINS; ++i)
        x[i] = b * (SCALAR)i;
    for (long n = 0; n < count; ++n)
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; ++i)
            x[i] = x[i] * a + b;
    SCALAR sum = 0;
    for (int i = 0; i < CHAINS; ++i)
        for (int j = 0; j < LANES; ++j)
            sum += x[i][j];
    ends[(long)number] = sum;
    return 0;
}

double seconds(int threads, long iterations)
{
    struct timespec start, end;
    pthread_t others[64];
    count = iterations;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 1; i < threads; ++i)
        pthread_create(&others[i], 0, chains, (void *)i);
    chains(0);
    for (long i = 1; i < threads; ++i)
        pthread_join(others[i], 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
}

double checksum(int thread) { return ends[thread]; }
