/* Structures of the CUDA runtime's interface, with the layout that programs were compiled with. */
#ifndef KERNELCAST_CUDA_TYPES_H
#define KERNELCAST_CUDA_TYPES_H
#include "arrays.h"

typedef int status;
typedef struct { unsigned x, y, z; } dim3;
typedef void *stream_handle, *event_handle, *graph_handle, *exec_handle, *node_handle;
typedef kc_extent extent;
typedef struct { size_t x, y, z; } position;
typedef struct { void *ptr; size_t pitch, xsize, ysize; } pitched_pointer;
typedef kc_channels channel_format;
typedef kc_array array;
typedef kc_mipmapped_array mipmapped_array;

typedef struct {
  array *src_array;
  position src_pos;
  pitched_pointer src;
  array *dst_array;
  position dst_pos;
  pitched_pointer dst;
  extent size;
  int kind;
} copy_3d;

typedef struct {
  int kind; /* 0 array, 1 mipmapped array, 2 linear, 3 pitched */
  union {
    array *of_array;
    mipmapped_array *of_mipmapped;
    struct { void *ptr; channel_format format; size_t bytes; } linear;
    struct { void *ptr; channel_format format; size_t width, height, pitch; } pitched;
#if CUDART_MAJOR >= 13
    int reserved[32];
  } of;
  unsigned flags;
#else
  } of;
#endif
} resource;

typedef struct {
  int address_mode[3], filter_mode, read_mode, srgb;
  float border[4];
  int is_normalized;
  unsigned anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_low, mipmap_high;
  int no_trilinear;
#if CUDART_MAJOR >= 12
  int seamless;
#endif
} texture_description;

/* A texture reference of CUDA 11 and before, as its header declares it. */
typedef struct {
  int is_normalized, filter_mode, address_mode[3];
  channel_format format;
} texture_reference;

typedef struct {
  size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared_bytes,
      carveout;
#if CUDART_MAJOR >= 12
  int cluster_must_be_set, cluster[3], cluster_policy, non_portable_cluster, reserved[16];
#endif
} function_attributes;

typedef struct {
  int type, device;
  void *device_pointer, *host_pointer;
#if CUDART_MAJOR >= 13
  long reserved[8];
#endif
} pointer_attributes;

typedef struct { void *function; dim3 grid, block; unsigned shared_bytes; void **arguments, **extra; }
kernel_node;
typedef struct { void *to; size_t pitch; unsigned value, element_bytes; size_t width, height; } fill_node;
typedef struct { void (*function)(void *); void *data; } host_node;

typedef struct { int id; char unused[4]; union { char bytes[64]; struct { unsigned x, y, z; } cluster;
                 int value; } value; } launch_attribute;
typedef struct {
  dim3 grid, block;
  size_t shared_bytes;
  stream_handle stream;
  launch_attribute *attributes;
  unsigned attribute_count;
} launch_configuration;

typedef struct { int type, id; } memory_location;
#endif
