// Surfaces: written by one kernel, read through a texture by the next one; mipmapped arrays.
#include "check.h"

__global__ void draw(cudaSurfaceObject_t to, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height)
    surf2Dwrite(make_float2(x, 10 * y), to, x * sizeof(float2), y);
}
__global__ void mix(cudaSurfaceObject_t at, cudaTextureObject_t from, float *out, int width) {
  int x = threadIdx.x, y = blockIdx.x;
  float2 written, sampled = tex2D<float2>(from, x + 0.5f, y + 0.5f);
  surf2Dread(&written, at, x * sizeof(float2), y);
  if (x < width) out[y * width + x] = written.x + 1000 * sampled.y;
}
__global__ void levels(cudaTextureObject_t from, float *out) {
  out[threadIdx.x] = tex2DLod<float>(from, 0.5f, 0.5f, threadIdx.x);
}

int main() {
  const int width = 20, height = 6;
  cudaChannelFormatDesc pairs = cudaCreateChannelDesc<float2>(), single = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &pairs, width, height, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray, resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  cudaTextureObject_t texture, chain;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  cudaTextureDesc how = {};
  CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
  float *out;
  CHECK(cudaMalloc(&out, width * height * sizeof(float)));
  draw<<<dim3(1, height), 32>>>(surface, width, height);
  mix<<<height, width>>>(surface, texture, out, width);
  std::vector<float> found = to_host(out, width * height);
  for (int i = 0; i < width * height; i++) EXPECT(found[i] == i % width + 10000 * (i / width));
  std::vector<float2> back(width * height);
  CHECK(cudaMemcpy2DFromArray(back.data(), width * sizeof(float2), array, 0, 0,
                              width * sizeof(float2), height, cudaMemcpyDeviceToHost));
  for (int i = 0; i < width * height; i++) EXPECT(back[i].y == 10 * (i / width));
  cudaMipmappedArray_t mipmapped;
  CHECK(cudaMallocMipmappedArray(&mipmapped, &single, make_cudaExtent(8, 8, 0), 3));
  for (int level = 0; level < 3; level++) {
    cudaArray_t one;
    CHECK(cudaGetMipmappedArrayLevel(&one, mipmapped, level));
    std::vector<float> plain(64, level + 1.0f);
    int size = 8 >> level;
    CHECK(cudaMemcpy2DToArray(one, 0, 0, plain.data(), size * 4, size * 4, size, cudaMemcpyDefault));
  }
  resource.resType = cudaResourceTypeMipmappedArray, resource.res.mipmap.mipmap = mipmapped;
  how.normalizedCoords = 1, how.maxMipmapLevelClamp = 2;
  CHECK(cudaCreateTextureObject(&chain, &resource, &how, nullptr));
  levels<<<1, 3>>>(chain, out);
  found = to_host(out, 3);
  EXPECT(found[0] == 1 && found[1] == 2 && found[2] == 3);
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFreeMipmappedArray(mipmapped));
}
