// Functions of OpenCL C that have definitions of ours, in and out of vectors.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

__kernel void conversions(__global const float4 *a, __global const int4 *n, __global uchar4 *b,
                          __global short4 *c, __global int4 *d, __global ulong4 *e) {
  int i = get_global_id(0);
  b[2 * i] = convert_uchar4_sat(a[i] * 20.0f);
  b[2 * i + 1] = convert_uchar4_sat(n[i]);
  c[2 * i] = convert_short4_sat_rte(a[i] * 9000.0f);
  c[2 * i + 1] = convert_short4_sat(n[i]);
  d[3 * i] = convert_int4_rtp(a[i]);
  d[3 * i + 1] = convert_int4_sat_rtn(convert_double4(a[i]) * 1e9);
  d[3 * i + 2].xyz = convert_int3_rte(a[i].wzy);
  e[i] = convert_ulong4_sat(convert_long4(n[i]) << 33);
}
__kernel void integers(__global int *a, __global uint *b, __global long *c, __global char4 *d) {
  int i = get_global_id(0), x = a[i];
  uint y = b[i];
  __global int *p = a + 128 + 16 * i;
  p[0] = add_sat(x, a[i + 1]);
  p[1] = sub_sat(x, a[i + 1]);
  p[2] = mad_sat(x, 3, a[i + 1]);
  p[3] = mad_hi(x, a[i + 1], 5);
  p[4] = abs_diff((int2)(x, 3), (int2)(a[i + 1], x)).y;
  p[5] = bitselect(x, a[i + 1], 0x0FF0F00F);
  p[6] = any((char4)(x, x >> 8, x >> 16, 1)) + 2 * all((short2)(x, x >> 16));
  p[7] = mul_hi((short)x, (short)y) + mul_hi((uchar)x, (uchar)y);
  b[128 + 2 * i] = add_sat(y, b[i + 1]);
  b[129 + 2 * i] = sub_sat(y, b[i + 1]) ^ mad_sat(y, 3u, b[i + 1]);
  c[i + 128] = upsample(x, y) ^ (mul_hi(c[i], c[i + 1]) + add_sat(c[i], c[i + 1]));
  d[i + 128] = shuffle(d[i], (uchar4)(3, 2, 1, 0)) + shuffle2(d[i], d[i + 1], (uchar4)(0, 4, 1, 5));
  d[i + 256] = add_sat(d[i], d[i + 1]) - sub_sat(d[i + 1], d[i]);
}
__kernel void relations(__global const float *a, __global int *p, __global float4 *f) {
  int i = get_global_id(0);
  float x = a[i], y = a[i + 1];
  p += 12 * i;
  p[0] = isless(x, y) + 2 * isgreaterequal(x, y) + 4 * isequal(x, x) + 8 * isnotequal(x, y);
  p[1] = isordered(x, y) + 2 * isunordered(x, y) + 4 * isnormal(x) + 8 * islessgreater(x, y);
  int4 less = isless((float4)(x), (float4)(y, 0, 1, x));
  p[2] = less.x, p[3] = less.y, p[4] = less.z, p[5] = less.w;
  f[i] = select((float4)(x, y, 1, 2), (float4)(3, 4, x, y), as_uint4(less));
}
__kernel void mathematics(__global const float *a, __global float *p) {
  int i = get_global_id(0), e;
  float x = a[i], t;
  p += 48 * i;
  p[0] = fract(x, &t), p[1] = t, p[2] = modf(x, &t), p[3] = t, p[4] = frexp(x, &e), p[5] = e;
  float2 whole;
  float2 rest = modf((float2)(x, 2.5f), &whole);
  p[6] = rest.x, p[7] = whole.y, p[8] = rootn(fabs(x), 3), p[9] = pown((float2)(x, 2), (int2)(3, 4)).y;
  p[10] = maxmag(x, 2.0f), p[11] = minmag(x, 2.0f), p[12] = ilogb(x), p[13] = logb(x);
  p[14] = asinpi(x * 0.1f), p[15] = acospi(x * 0.1f), p[16] = atanpi(x), p[17] = atan2pi(x, 2.0f);
  p[18] = tanpi(x * 0.1f), p[19] = exp10(x), p[20] = log10(fabs(x) + 1), p[21] = log1p(fabs(x));
  p[22] = expm1(x), p[23] = sinh(x), p[24] = cosh(x), p[25] = asinh(x), p[26] = acosh(fabs(x) + 1);
  p[27] = atanh(x * 0.1f), p[28] = sinpi(x), p[29] = cospi(x), p[30] = tgamma(fabs(x) + 1);
  p[31] = lgamma(fabs(x) + 3), p[32] = erfc(x), p[33] = remainder(x, 0.7f), p[34] = nextafter(x, 9.0f);
  p[35] = fdim(x, 1.0f), p[36] = powr(fabs(x) + 1, 0.7f), p[37] = ldexp((float4)(x), 3).z;
  p[38] = isnan(nan(3u)), p[39] = native_recip(x + 9), p[40] = native_sqrt(fabs(x));
  p[41] = half_log2(fabs(x) + 1), p[42] = native_powr(fabs(x) + 1, 1.5f), p[43] = native_tan(x * 0.3f);
}
__kernel void doubles(__global const double *a, __global double *p) {
  int i = get_global_id(0), e;
  double x = a[i], t;
  p += 32 * i;
  p[0] = asin(x * 0.1), p[1] = acos(x * 0.1), p[2] = atan(x), p[3] = atan2(x, -2.0), p[4] = sinh(x);
  p[5] = cosh(x), p[6] = tanh(x), p[7] = exp10(x), p[8] = log1p(fabs(x)), p[9] = cbrt(x);
  p[10] = hypot(x, 2.0), p[11] = erf(x), p[12] = erfc(x), p[13] = tgamma(fabs(x) + 1);
  p[14] = lgamma(fabs(x) + 3), p[15] = remainder(x, 0.7), p[16] = nextafter(x, 9.0);
  p[17] = asinh(x), p[18] = acosh(fabs(x) + 1), p[19] = atanh(x * 0.1), p[20] = sinpi(x);
  p[21] = fract(x, &t), p[22] = frexp(x, &e) + e, p[23] = ilogb(x), p[24] = maxmag(x, 2.0);
}
__kernel void halves(__global half *a, __global half4 *b, __global float *p) {
  int i = get_global_id(0);
  half x = a[i];
  b[i] = b[i] * (half4)(0.5h) + vload4(i, a + 64);
  p[4 * i] = vload_half(i, a), p[4 * i + 1] = vload_half3(i, a + 1).z;
  p[4 * i + 2] = (float)(exp(x * 0.25h) + sqrt(fabs(x))), p[4 * i + 3] = convert_float2((half2)(x, 1)).x;
  vstore_half(p[4 * i] * 3.0f, i, a);
  vstore_half2((float2)(1.5f, p[4 * i]), i, a + 512);
}
__kernel void copies(__global float4 *a, __local float4 *part, __global const float *k) {
  int i = get_local_id(0);
  event_t copied = async_work_group_copy(part, a + 64 * get_group_id(0), (size_t)64, 0);
  wait_group_events(1, &copied);
  a[get_global_id(0)] = part[63 - i] * k[i & 3];
}
