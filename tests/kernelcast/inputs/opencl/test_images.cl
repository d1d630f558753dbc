__constant sampler_t nearest_clamp =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t linear_repeat =
    CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;

__kernel void blur(read_only image2d_t in, __global float4 *out, sampler_t s) {
  int x = get_global_id(0), y = get_global_id(1);
  float2 size = convert_float2(get_image_dim(in));
  float4 sum = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++)
      sum += read_imagef(in, s, ((float2)(x + i, y + j) + 0.25f) / size);
  out[y * get_global_size(0) + x] = sum / 9;
}

__kernel void volume(read_only image3d_t in, __global float *out) {
  int x = get_global_id(0), y = get_global_id(1);
  float sum = 0;
  for (int z = 0; z < get_image_depth(in); z++)
    sum += read_imagef(in, linear_repeat, (float4)(x / 5.0f, y / 7.0f, z / 3.0f, 0)).x;
  out[y * get_global_size(0) + x] = sum;
}

__kernel void transposed(read_only image2d_t in, write_only image2d_t out) {
  int2 at = (int2)(get_global_id(0), get_global_id(1));
  if (at.x < get_image_width(in) && at.y < get_image_height(in))
    write_imageui(out, at.yx, read_imageui(in, nearest_clamp, at) + 1u);
}

__kernel void sobel(read_only image2d_t in, write_only image2d_t out) {
  int x = get_global_id(0), y = get_global_id(1);
  float g[3][3];
  for (int j = 0; j < 3; j++)
    for (int i = 0; i < 3; i++)
      g[j][i] = read_imagef(in, nearest_clamp, (int2)(x + i - 1, y + j - 1)).x;
  float a = g[0][2] + 2 * g[1][2] + g[2][2] - g[0][0] - 2 * g[1][0] - g[2][0];
  float b = g[2][0] + 2 * g[2][1] + g[2][2] - g[0][0] - 2 * g[0][1] - g[0][2];
  write_imagef(out, (int2)(x, y), (float4)(sqrt(a * a + b * b) / 6, 0, 0, 1));
}
