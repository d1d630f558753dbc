// One program for many mistakes: the first argument says which. It believes no return code, as many
// programs do, and ends with status 0 unless something kills it.
#include <csignal>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void fill(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}
__global__ void check(const int *x) { assert(x[threadIdx.x] == 0); }
__global__ void forever(volatile int *x) {
  while (*x >= 0) *x = (*x + 1) & 0xffff;
}
__global__ void shift(char *x) { *(int *)(x + 1) = 5; }

static void say(const char *what, cudaError_t found) {
  printf("%s: %s\n", what, cudaGetErrorName(found));
  fflush(stdout);
}

int main(int, char **arguments) {
  const char *which = arguments[1];
  const int n = 256;
  int *x = nullptr, *y = nullptr;
  say("malloc", cudaMalloc(&x, n * sizeof(int)));
  cudaMalloc(&y, n * sizeof(int));
  fill<<<1, n>>>(y, n);
  if (!strcmp(which, "use_after_free")) {
    cudaFree(x);
    fill<<<1, n>>>(x, n);
  } else if (!strcmp(which, "out_of_bounds")) {
    fill<<<2, n>>>(x, 2 * n);
  } else if (!strcmp(which, "assert")) {
    check<<<1, n>>>(y);
  } else if (!strcmp(which, "misaligned")) {
    shift<<<1, 1>>>((char *)x);
  } else if (!strcmp(which, "too_many_threads")) {
    fill<<<1, 2048>>>(x, n);
    say("launch", cudaGetLastError());
    fill<<<1, n>>>(x, n);
  } else if (!strcmp(which, "too_much_shared_memory")) {
    fill<<<1, n, 50 << 10>>>(x, n);
    say("launch", cudaGetLastError());
  } else if (!strcmp(which, "no_thread_blocks")) {
    fill<<<0, n>>>(x, n);
    say("launch", cudaGetLastError());
  } else if (!strcmp(which, "out_of_memory")) {
    void *much;
    say("malloc", cudaMalloc(&much, 30ull << 30));
    say("malloc", cudaMalloc(&much, 30ull << 30));
  } else if (!strcmp(which, "double_free")) {
    say("free", cudaFree(x));
    say("free", cudaFree(x));
    say("free", cudaFree(y + 1));
  } else if (!strcmp(which, "dereference")) {
    printf("%d\n", y[0]);
  } else if (!strcmp(which, "killed")) {
    cudaDeviceSynchronize();
    raise(SIGKILL);
  } else if (!strcmp(which, "fork")) {
    cudaDeviceSynchronize();
    pid_t child = fork();
    if (!child) _exit(cudaMalloc(&x, 4) == cudaSuccess ? 0 : 1);
    int status;
    waitpid(child, &status, 0);
    printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
  } else if (!strcmp(which, "forever")) {
    cudaMemset(x, 0, n * sizeof(int));
    printf("begins\n");
    fflush(stdout);
    forever<<<1, 1>>>(x);
  } else if (!strcmp(which, "host_forever")) {
    cudaDeviceSynchronize();
    printf("begins\n");
    fflush(stdout);
    for (volatile long i = 0;; i++) {
    }
  }
  say("synchronize", cudaDeviceSynchronize());
  say("malloc", cudaMalloc(&y, 4));
  return 0;
}
