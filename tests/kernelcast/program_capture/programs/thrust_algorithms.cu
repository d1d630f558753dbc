// Sort, reduce, scan and transform of thrust: launches that the program does not write itself.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

#include <algorithm>

#include "check.h"

struct Squared {
  __host__ __device__ int operator()(int x) const { return x * x; }
};

int main() {
  const int n = 2000;
  thrust::host_vector<int> host(n);
  unsigned state = 1;
  for (int i = 0; i < n; i++) host[i] = (state = state * 1664525u + 1013904223u) >> 20;
  thrust::device_vector<int> device = host, scanned(n);
  int sum = thrust::reduce(device.begin(), device.end()), expected = 0;
  for (int value : host) expected += value;
  EXPECT(sum == expected);
  thrust::sort(device.begin(), device.end());
  std::sort(host.begin(), host.end());
  thrust::host_vector<int> found = device;
  EXPECT(std::equal(host.begin(), host.end(), found.begin()));
  thrust::inclusive_scan(device.begin(), device.end(), scanned.begin());
  found = scanned;
  for (int i = 0, so_far = 0; i < n; i++) EXPECT(found[i] == (so_far += host[i]));
  thrust::transform(device.begin(), device.end(), device.begin(), Squared());
  found = device;
  for (int i = 0; i < n; i++) EXPECT(found[i] == host[i] * host[i]);
}
