// Texture objects of all shapes: linear memory, arrays of one to three dimensions, pitch, layers.
#include "check.h"

template <class T>
static cudaArray_t filled(const std::vector<T> &from, int width, int height, int depth, unsigned flags) {
  cudaArray_t array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(width, height, depth), flags));
  cudaMemcpy3DParms how = {};
  int rows = height ? height : 1;
  how.srcPtr = make_cudaPitchedPtr((void *)from.data(), width * sizeof(T), width, rows);
  how.dstArray = array, how.kind = cudaMemcpyHostToDevice;
  how.extent = make_cudaExtent(width, rows, depth ? depth : 1);
  CHECK(cudaMemcpy3D(&how));
  return array;
}

static cudaTextureObject_t over(cudaResourceDesc from, cudaTextureFilterMode filter, int normalized,
                                cudaTextureAddressMode mode = cudaAddressModeClamp) {
  cudaTextureDesc how = {};
  how.filterMode = filter, how.normalizedCoords = normalized;
  for (auto &one : how.addressMode) one = mode;
  cudaTextureObject_t made;
  CHECK(cudaCreateTextureObject(&made, &from, &how, nullptr));
  return made;
}

static cudaResourceDesc of(cudaArray_t array) {
  cudaResourceDesc made = {};
  made.resType = cudaResourceTypeArray, made.res.array.array = array;
  return made;
}

__global__ void read(cudaTextureObject_t line, cudaTextureObject_t plane, cudaTextureObject_t pitched,
                     cudaTextureObject_t box, cudaTextureObject_t layers, float *out) {
  int i = threadIdx.x;
  float *mine = out + 5 * i;
  mine[0] = tex1Dfetch<float>(line, i);
  mine[1] = tex2D<float>(plane, i % 8 + 1.0f, i / 8 + 0.5f);  // between two texels
  uchar4 four = tex2D<uchar4>(pitched, (i % 8 + 0.5f) / 8, (i / 8 + 0.5f) / 4 + 1);  // wraps around
  mine[2] = four.x + 256 * four.w;
  mine[3] = tex3D<float>(box, i % 4 + 0.5f, i / 4 % 4 + 0.5f, i / 16 + 0.5f);
  mine[4] = tex2DLayered<float>(layers, i % 4 + 0.5f, i / 4 % 4 + 0.5f, i / 16);
}

int main() {
  const int n = 32;
  std::vector<float> values(n);
  std::vector<uchar4> fours(n);
  for (int i = 0; i < n; i++) {
    values[i] = 3 * i;
    fours[i] = make_uchar4(i, 0, 0, 2 * i);
  }
  cudaResourceDesc linear = {}, rows = {};
  linear.resType = cudaResourceTypeLinear, linear.res.linear.devPtr = on_device(values);
  linear.res.linear.desc = cudaCreateChannelDesc<float>();
  linear.res.linear.sizeInBytes = n * sizeof(float);
  uchar4 *pitched;
  size_t pitch;
  CHECK(cudaMallocPitch(&pitched, &pitch, 8 * sizeof(uchar4), 4));
  CHECK(cudaMemcpy2D(pitched, pitch, fours.data(), 32, 32, 4, cudaMemcpyHostToDevice));
  rows.resType = cudaResourceTypePitch2D, rows.res.pitch2D.devPtr = pitched;
  rows.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  rows.res.pitch2D.width = 8, rows.res.pitch2D.height = 4, rows.res.pitch2D.pitchInBytes = pitch;
  cudaTextureObject_t line = over(linear, cudaFilterModePoint, 0);
  cudaTextureObject_t plane = over(of(filled(values, 8, 4, 0, 0)), cudaFilterModeLinear, 0);
  cudaTextureObject_t four = over(rows, cudaFilterModePoint, 1, cudaAddressModeWrap);
  cudaTextureObject_t box = over(of(filled(values, 4, 4, 2, 0)), cudaFilterModePoint, 0);
  cudaTextureObject_t layers =
      over(of(filled(values, 4, 4, 2, cudaArrayLayered)), cudaFilterModePoint, 0);
  float *out;
  CHECK(cudaMalloc(&out, 5 * n * sizeof(float)));
  read<<<1, n>>>(line, plane, four, box, layers, out);
  std::vector<float> found = to_host(out, 5 * n);
  for (int i = 0; i < n; i++) {
    EXPECT(found[5 * i] == 3 * i);
    EXPECT(found[5 * i + 1] == 3 * i + (i % 8 < 7 ? 1.5f : 0));
    EXPECT(found[5 * i + 2] == i + 512 * i);
    EXPECT(found[5 * i + 3] == 3 * i && found[5 * i + 4] == 3 * i);
  }
  CHECK(cudaDestroyTextureObject(plane));
}
