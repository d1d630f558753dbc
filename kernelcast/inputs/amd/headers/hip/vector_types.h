// Vectors of one to four numbers, with arithmetic element by element.
#ifndef KERNELCAST_HIP_VECTOR_TYPES_H
#define KERNELCAST_HIP_VECTOR_TYPES_H
#define KC_HIP_BOTH __host__ __device__ __attribute__((always_inline)) inline

template <typename T, unsigned n> struct HIP_vector_type;
template <typename T> struct HIP_vector_type<T, 1> {
  using value_type = T;
  T x;
};
template <typename T> struct alignas(2 * sizeof(T)) HIP_vector_type<T, 2> {
  using value_type = T;
  T x, y;
};
template <typename T> struct HIP_vector_type<T, 3> {
  using value_type = T;
  T x, y, z;
};
template <typename T> struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) HIP_vector_type<T, 4> {
  using value_type = T;
  T x, y, z, w;
};

#define KC_HIP_VECTORS(name, T)                                                           \
  using name##1 = HIP_vector_type<T, 1>;                                                  \
  using name##2 = HIP_vector_type<T, 2>;                                                  \
  using name##3 = HIP_vector_type<T, 3>;                                                  \
  using name##4 = HIP_vector_type<T, 4>;                                                  \
  KC_HIP_BOTH name##1 make_##name##1(T x) { return {x}; }                                 \
  KC_HIP_BOTH name##2 make_##name##2(T x, T y) { return {x, y}; }                         \
  KC_HIP_BOTH name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                 \
  KC_HIP_BOTH name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
KC_HIP_VECTORS(char, signed char)
KC_HIP_VECTORS(uchar, unsigned char)
KC_HIP_VECTORS(short, short)
KC_HIP_VECTORS(ushort, unsigned short)
KC_HIP_VECTORS(int, int)
KC_HIP_VECTORS(uint, unsigned)
KC_HIP_VECTORS(long, long)
KC_HIP_VECTORS(ulong, unsigned long)
KC_HIP_VECTORS(longlong, long long)
KC_HIP_VECTORS(ulonglong, unsigned long long)
KC_HIP_VECTORS(float, float)
KC_HIP_VECTORS(double, double)
#undef KC_HIP_VECTORS

// For templates that are for numbers only.
template <typename T> struct kc_hip_number_only;
#define KC_HIP_NUMBER(T)                   \
  template <> struct kc_hip_number_only<T> { \
    using type = void;                     \
  };
KC_HIP_NUMBER(bool) KC_HIP_NUMBER(char) KC_HIP_NUMBER(signed char) KC_HIP_NUMBER(unsigned char)
KC_HIP_NUMBER(short) KC_HIP_NUMBER(unsigned short) KC_HIP_NUMBER(int) KC_HIP_NUMBER(unsigned)
KC_HIP_NUMBER(long) KC_HIP_NUMBER(unsigned long) KC_HIP_NUMBER(long long)
KC_HIP_NUMBER(unsigned long long) KC_HIP_NUMBER(float) KC_HIP_NUMBER(double)
KC_HIP_NUMBER(_Float16) KC_HIP_NUMBER(__fp16)
#undef KC_HIP_NUMBER
template <typename T> using kc_hip_if_number = typename kc_hip_number_only<T>::type;

// A number that goes with a vector takes its type; it says nothing of it.
template <typename T> struct kc_hip_same {
  using type = T;
};
template <typename T> using kc_hip_number = typename kc_hip_same<T>::type;
template <typename T, unsigned n> KC_HIP_BOTH HIP_vector_type<T, n> kc_hip_filled(T value) {
  HIP_vector_type<T, n> to;
  to.x = value;
  if constexpr (n > 1) to.y = value;
  if constexpr (n > 2) to.z = value;
  if constexpr (n > 3) to.w = value;
  return to;
}
#define KC_HIP_OPERATOR(op)                                                                       \
  template <typename T>                                                                           \
  KC_HIP_BOTH HIP_vector_type<T, 1> operator op(HIP_vector_type<T, 1> a, HIP_vector_type<T, 1> b) { \
    return {(T)(a.x op b.x)};                                                                     \
  }                                                                                               \
  template <typename T>                                                                           \
  KC_HIP_BOTH HIP_vector_type<T, 2> operator op(HIP_vector_type<T, 2> a, HIP_vector_type<T, 2> b) { \
    return {(T)(a.x op b.x), (T)(a.y op b.y)};                                                    \
  }                                                                                               \
  template <typename T>                                                                           \
  KC_HIP_BOTH HIP_vector_type<T, 3> operator op(HIP_vector_type<T, 3> a, HIP_vector_type<T, 3> b) { \
    return {(T)(a.x op b.x), (T)(a.y op b.y), (T)(a.z op b.z)};                                   \
  }                                                                                               \
  template <typename T>                                                                           \
  KC_HIP_BOTH HIP_vector_type<T, 4> operator op(HIP_vector_type<T, 4> a, HIP_vector_type<T, 4> b) { \
    return {(T)(a.x op b.x), (T)(a.y op b.y), (T)(a.z op b.z), (T)(a.w op b.w)};                  \
  }                                                                                               \
  template <typename T, unsigned n>                                                               \
  KC_HIP_BOTH HIP_vector_type<T, n> operator op(HIP_vector_type<T, n> a, kc_hip_number<T> b) {    \
    return a op kc_hip_filled<T, n>(b);                                                           \
  }                                                                                               \
  template <typename T, unsigned n>                                                               \
  KC_HIP_BOTH HIP_vector_type<T, n> operator op(kc_hip_number<T> a, HIP_vector_type<T, n> b) {    \
    return kc_hip_filled<T, n>(a) op b;                                                           \
  }                                                                                               \
  template <typename T, unsigned n, typename U>                                                   \
  KC_HIP_BOTH HIP_vector_type<T, n> &operator op##=(HIP_vector_type<T, n> &a, const U &b) {       \
    return a = a op b;                                                                            \
  }
KC_HIP_OPERATOR(+)
KC_HIP_OPERATOR(-)
KC_HIP_OPERATOR(*)
KC_HIP_OPERATOR(/)
#undef KC_HIP_OPERATOR
template <typename T, unsigned n> KC_HIP_BOTH HIP_vector_type<T, n> operator-(HIP_vector_type<T, n> a) {
  return kc_hip_filled<T, n>(T(0)) - a;
}
template <typename T, unsigned n>
KC_HIP_BOTH bool operator==(HIP_vector_type<T, n> a, HIP_vector_type<T, n> b) {
  bool is_equal = a.x == b.x;
  if constexpr (n > 1) is_equal = is_equal && a.y == b.y;
  if constexpr (n > 2) is_equal = is_equal && a.z == b.z;
  if constexpr (n > 3) is_equal = is_equal && a.w == b.w;
  return is_equal;
}
template <typename T, unsigned n>
KC_HIP_BOTH bool operator!=(HIP_vector_type<T, n> a, HIP_vector_type<T, n> b) {
  return !(a == b);
}

struct dim3 {
  unsigned x, y, z;
  KC_HIP_BOTH constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
#endif
