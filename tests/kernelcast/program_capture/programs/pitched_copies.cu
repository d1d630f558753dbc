// Copies and fills of rows and boxes, with pitches that differ on both sides.
#include "check.h"

__global__ void twice(char *base, size_t pitch, int width, int height) {
  int x = threadIdx.x, y = blockIdx.x;
  if (x < width && y < height) ((float *)(base + y * pitch))[x] *= 2;
}
__global__ void in_box(cudaPitchedPtr box, int width, int height, int depth) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  char *row = (char *)box.ptr + z * box.pitch * height + y * box.pitch;
  if (x < width && y < height && z < depth) ((int *)row)[x] += 1000 * z;
}

int main() {
  const int width = 37, height = 11, depth = 3, host_width = 50;
  std::vector<float> host(host_width * height), back(width * height, -1);
  for (int i = 0; i < host_width * height; i++) host[i] = i;
  char *rows;
  size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, width * sizeof(float), height));
  EXPECT(pitch >= width * sizeof(float) && pitch % 32 == 0);
  CHECK(cudaMemcpy2D(rows, pitch, host.data(), host_width * 4, width * 4, height,
                     cudaMemcpyHostToDevice));
  twice<<<height, 64>>>(rows, pitch, width, height);
  CHECK(cudaMemset2D(rows + 4 * 5, pitch, 0, 4, height));
  CHECK(cudaMemcpy2DAsync(back.data(), width * 4, rows, pitch, width * 4, height,
                          cudaMemcpyDeviceToHost, 0));
  CHECK(cudaDeviceSynchronize());
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      EXPECT(back[y * width + x] == (x == 5 ? 0 : 2 * (y * host_width + x)));
  EXPECT(cudaMemcpy2D(rows, 16, host.data(), 200, 64, height, cudaMemcpyHostToDevice) ==
         cudaErrorInvalidPitchValue);
  cudaGetLastError();
  std::vector<int> box(width * height * depth), found(2 * 3 * 2, -1);
  for (size_t i = 0; i < box.size(); i++) box[i] = (int)i;
  cudaPitchedPtr device;
  CHECK(cudaMalloc3D(&device, make_cudaExtent(width * 4, height, depth)));
  cudaMemcpy3DParms how = {};
  how.srcPtr = make_cudaPitchedPtr(box.data(), width * 4, width, height);
  how.dstPtr = device, how.extent = make_cudaExtent(width * 4, height, depth);
  how.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&how));
  in_box<<<dim3(height, depth), 64>>>(device, width, height, depth);
  how = {};  // a part of it: 2 by 3 by 2 from (4, 5, 1) on
  how.srcPtr = device, how.srcPos = make_cudaPos(4 * 4, 5, 1);
  how.dstPtr = make_cudaPitchedPtr(found.data(), 2 * 4, 2, 3);
  how.extent = make_cudaExtent(2 * 4, 3, 2), how.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&how));
  for (int z = 0; z < 2; z++)
    for (int y = 0; y < 3; y++)
      for (int x = 0; x < 2; x++)
        EXPECT(found[(z * 3 + y) * 2 + x] ==
               ((z + 1) * height + y + 5) * width + x + 4 + 1000 * (z + 1));
  CHECK(cudaMemset3D(device, 0, make_cudaExtent(width * 4, height, depth)));
  CHECK(cudaMemcpy3D(&how));
  for (int value : found) EXPECT(value == 0);
}
