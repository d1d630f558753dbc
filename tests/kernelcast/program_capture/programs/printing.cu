// What kernels print stands between what the program prints, in the order of the program.
#include "check.h"

__global__ void tell(int number, const char *what) {
  printf("kernel %d thread %d: %s %5.2f %c %llx\n", number, threadIdx.x, "text", 1.5 * number, 'c',
         0xabcdefull + threadIdx.x);
}
__global__ void quiet(int *x) { *x = 1; }

int main() {
  int *x;
  CHECK(cudaMalloc(&x, sizeof(int)));
  printf("host 1\n");
  tell<<<1, 2>>>(1, nullptr);
  CHECK(cudaDeviceSynchronize());
  printf("host 2\n");
  tell<<<1, 1>>>(2, nullptr);
  quiet<<<1, 1>>>(x);
  EXPECT(to_host(x, 1)[0] == 1);
  printf("host 3\n");
  tell<<<1, 1>>>(3, nullptr);  // nothing waits for it but the end of the program
}
