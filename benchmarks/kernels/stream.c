/* Copy and triad of floats as in STREAM, on all threads. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { COPY, TRIAD };
static float *a, *b, *c;
static size_t count;
static int threads, operation;

static void *part(void *number)
{
    const size_t first = count / threads * (size_t)number, end = first + count / threads;
    if (operation == COPY)
        for (size_t i = first; i < end; ++i)
            c[i] = a[i];
    else
        for (size_t i = first; i < end; ++i)
            c[i] = a[i] + 3.0f * b[i];
    return 0;
}

static void run(void)
{
    pthread_t others[64];
    for (int i = 1; i < threads; ++i)
        pthread_create(&others[i], 0, part, (void *)(size_t)i);
    part(0);
    for (int i = 1; i < threads; ++i)
        pthread_join(others[i], 0);
}

int prepare(size_t size, int n)
{
    count = size / sizeof(float), threads = n;
    a = malloc(size), b = malloc(size), c = malloc(size);
    if (!a || !b || !c || n > 64)
        return 1;
    for (size_t i = 0; i < count; ++i)
        a[i] = i & 7, b[i] = i & 3, c[i] = 0;
    return 0;
}

double seconds(int which)
{
    struct timespec start, end;
    operation = which;
    clock_gettime(CLOCK_MONOTONIC, &start);
    run();
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
}

double checksum(void)
{
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += c[i];
    return sum;
}
