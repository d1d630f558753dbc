// Arithmetic on vectors of two to four numbers, element by element, as HIP has it.
#ifndef KERNELCAST_HIP_VECTOR_OPERATORS_H
#define KERNELCAST_HIP_VECTOR_OPERATORS_H
#include <type_traits>

// How many numbers a type has and which; operators of the program itself go first where it has some.
template <class V> struct kc_hip_vector { static constexpr int size = 0; };
#define KC_HIP_VECTOR(type, number)                                       \
  template <> struct kc_hip_vector<type##2> { using element = number; static constexpr int size = 2; }; \
  template <> struct kc_hip_vector<type##3> { using element = number; static constexpr int size = 3; }; \
  template <> struct kc_hip_vector<type##4> { using element = number; static constexpr int size = 4; };
KC_HIP_VECTOR(char, signed char)
KC_HIP_VECTOR(uchar, unsigned char)
KC_HIP_VECTOR(short, short)
KC_HIP_VECTOR(ushort, unsigned short)
KC_HIP_VECTOR(int, int)
KC_HIP_VECTOR(uint, unsigned)
KC_HIP_VECTOR(float, float)
#undef KC_HIP_VECTOR
// Of eight bytes; CUDA 13 has two kinds of four of them.
#define KC_HIP_WIDE(type, count, number) \
  template <> struct kc_hip_vector<type> { using element = number; static constexpr int size = count; };
#if CUDART_VERSION < 13000
#define KC_HIP_VECTOR(type, number) \
  KC_HIP_WIDE(type##2, 2, number) KC_HIP_WIDE(type##3, 3, number) KC_HIP_WIDE(type##4, 4, number)
#else
#define KC_HIP_VECTOR(type, number)                                         \
  KC_HIP_WIDE(type##2, 2, number) KC_HIP_WIDE(type##3, 3, number)           \
  KC_HIP_WIDE(type##4_16a, 4, number) KC_HIP_WIDE(type##4_32a, 4, number)
#endif
KC_HIP_VECTOR(longlong, long long)
KC_HIP_VECTOR(ulonglong, unsigned long long)
KC_HIP_VECTOR(double, double)
#undef KC_HIP_VECTOR
#undef KC_HIP_WIDE

template <class V>
using kc_hip_element = typename std::enable_if<(kc_hip_vector<V>::size > 0), kc_hip_vector<V>>::type::element;
template <class V, class S>
using kc_hip_if_scalar =
    typename std::enable_if<(kc_hip_vector<V>::size > 0) && std::is_arithmetic<S>::value, V>::type;

#define KC_HIP_EACH(V, to, expression_x, expression_y, expression_z, expression_w) \
  to.x = expression_x, to.y = expression_y;                                         \
  if constexpr (kc_hip_vector<V>::size > 2) to.z = expression_z;                    \
  if constexpr (kc_hip_vector<V>::size > 3) to.w = expression_w;

#define KC_HIP_OPERATOR(op)                                                                      \
  template <class V, class E = kc_hip_element<V>>                                                \
  __host__ __device__ inline V operator op(const V &a, const V &b) {                             \
    V to;                                                                                        \
    KC_HIP_EACH(V, to, (E)(a.x op b.x), (E)(a.y op b.y), (E)(a.z op b.z), (E)(a.w op b.w))       \
    return to;                                                                                   \
  }                                                                                              \
  template <class V, class S>                                                                    \
  __host__ __device__ inline kc_hip_if_scalar<V, S> operator op(const V &a, S b) {               \
    using E = kc_hip_element<V>;                                                                 \
    V to;                                                                                        \
    const E c = (E)b;                                                                            \
    KC_HIP_EACH(V, to, (E)(a.x op c), (E)(a.y op c), (E)(a.z op c), (E)(a.w op c))               \
    return to;                                                                                   \
  }                                                                                              \
  template <class V, class S>                                                                    \
  __host__ __device__ inline kc_hip_if_scalar<V, S> operator op(S a, const V &b) {               \
    using E = kc_hip_element<V>;                                                                 \
    V to;                                                                                        \
    const E c = (E)a;                                                                            \
    KC_HIP_EACH(V, to, (E)(c op b.x), (E)(c op b.y), (E)(c op b.z), (E)(c op b.w))               \
    return to;                                                                                   \
  }                                                                                              \
  template <class V, class T, class E = kc_hip_element<V>>                                       \
  __host__ __device__ inline V &operator op##=(V &a, const T &b) {                               \
    return a = a op b;                                                                           \
  }
KC_HIP_OPERATOR(+)
KC_HIP_OPERATOR(-)
KC_HIP_OPERATOR(*)
KC_HIP_OPERATOR(/)
#undef KC_HIP_OPERATOR

template <class V, class E = kc_hip_element<V>>
__host__ __device__ inline V operator-(const V &a) {
  V to;
  KC_HIP_EACH(V, to, (E)-a.x, (E)-a.y, (E)-a.z, (E)-a.w)
  return to;
}
template <class V, class E = kc_hip_element<V>>
__host__ __device__ inline bool operator==(const V &a, const V &b) {
  bool is_equal = a.x == b.x && a.y == b.y;
  if constexpr (kc_hip_vector<V>::size > 2) is_equal = is_equal && a.z == b.z;
  if constexpr (kc_hip_vector<V>::size > 3) is_equal = is_equal && a.w == b.w;
  return is_equal;
}
template <class V, class E = kc_hip_element<V>>
__host__ __device__ inline bool operator!=(const V &a, const V &b) {
  return !(a == b);
}
#undef KC_HIP_EACH
#endif
