// nvcc 13.5: nvcc -arch=compute_75 --ptx calls.cu
#include <cassert>
#include <cstdio>

typedef int (*Function)(int);

__device__ __noinline__ int triple(int x) { return x * 3 + 1; }
__device__ __noinline__ int flipped(int x) { return x ^ 0x55; }
__device__ __noinline__ int quarter(int x) { return x >> 2; }
__device__ Function table[3] = {triple, flipped, quarter};

extern "C" __global__ void from_table(int *p) {
  int i = threadIdx.x;
  p[i] = table[(p[i] & 3) % 3](p[i]);
}

extern "C" __global__ void from_pointer(int *p, int n) {
  int i = threadIdx.x;
  Function f = n > 3 ? triple : (n > 2 ? flipped : quarter);
  if (p[i] & 1) f = quarter;
  p[i] = f(p[i] + 1);
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void fibonacci_numbers(int *p) {
  p[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

__device__ __noinline__ void quicksort(int *a, int l, int r) {
  if (l >= r) return;
  int middle = a[(l + r) / 2], i = l, j = r;
  while (i <= j) {
    while (a[i] < middle) i++;
    while (a[j] > middle) j--;
    if (i <= j) {
      int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  quicksort(a, l, j);
  quicksort(a, i, r);
}

extern "C" __global__ void sorted_rows(int *p, int n) {
  quicksort(p + threadIdx.x * n, 0, n - 1);
}

struct Sum {
  int v;
  __device__ Sum(int x) : v(x) {}
  __device__ virtual int of(int x) { return x + v; }
};
struct Product : Sum {
  __device__ Product(int x) : Sum(x) {}
  __device__ virtual int of(int x) { return x * v; }
};
struct Difference : Sum {
  __device__ Difference(int x) : Sum(x) {}
  __device__ virtual int of(int x) { return x - v; }
};

extern "C" __global__ void virtual_functions(int *p, int n) {
  int i = threadIdx.x;
  Sum a(n);
  Product b(n + 1);
  Difference c(i);
  Sum *chosen = p[i] % 3 == 0 ? &a : p[i] % 3 == 1 ? (Sum *)&b : (Sum *)&c;
  p[i] = chosen->of(p[i]);
}

extern "C" __global__ void switched(int *p, int n) {
  int i = threadIdx.x;
  int x = p[i];
  switch (x % 9) {
    case 0: x = x * 7; break;
    case 1: x = x ^ n; break;
    case 2: x = x - n; p[i + 64] = 1; break;
    case 3:
      for (int k = 0; k < x % 5; k++) x += k * n;
      break;
    case 4: x = __popc(x); break;
    case 5: x = x / 3; break;
    case 6: x = min(x, n); break;
    case 7: x = x << 2;
    default: x = ~x;
  }
  p[i] = x;
}

extern "C" __global__ void printed(int *p, int n) {
  int i = threadIdx.x;
  if (i < 3) printf("%d has %f, %s\n", i, p[i] * 0.5, "half");
  if (n == 77 && i == 31) printf("done\n");
}

extern "C" __global__ void on_heap(int *p, int n) {
  int i = threadIdx.x;
  int *m = (int *)malloc(n * 4);
  for (int k = 0; k < n; k++) m[k] = p[i] + k;
  int s = 0;
  for (int k = 0; k < n; k++) s += m[k];
  free(m);
  p[i] = s;
}

extern "C" __global__ void asserted(int *p, int n) {
  assert(p[threadIdx.x] < n);
  p[threadIdx.x]++;
}
