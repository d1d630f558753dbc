// Ages a picture: each colour becomes a weighted sum of red, green and blue, at most 255.

extern "C" __global__ void sepia(const float *from, float *to, int width, int height)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const int pixel = 3 * (y * width + x);
    const float red = from[pixel];
    const float green = from[pixel + 1];
    const float blue = from[pixel + 2];
    to[pixel] = fminf(0.393f * red + 0.769f * green + 0.189f * blue, 255.0f);
    to[pixel + 1] = fminf(0.349f * red + 0.686f * green + 0.168f * blue, 255.0f);
    to[pixel + 2] = fminf(0.272f * red + 0.534f * green + 0.131f * blue, 255.0f);
}
