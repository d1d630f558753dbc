// Loads of what nobody writes while the kernel runs.
#ifndef KERNELCAST_HIP_LOADS_H
#define KERNELCAST_HIP_LOADS_H
template <typename T> KC_HIP T __ldg(const T *place) { return *place; }
#endif
