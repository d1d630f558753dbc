/* Structures of the CUDA driver's interface, with the layout that programs were compiled with. */
#ifndef KERNELCAST_DRIVER_TYPES_H
#define KERNELCAST_DRIVER_TYPES_H
#include "arrays.h"
#include "driver.h"
#include "launches.h"

/* Memory of the host, of the device, of an array, or by its address. */
enum { IN_HOST = 1, IN_DEVICE, IN_ARRAY, ANYWHERE };

typedef struct {
  size_t from_x, from_y;
  int from_kind;
  const void *from_host;
  device_pointer from_device;
  kc_array *from_array;
  size_t from_pitch, to_x, to_y;
  int to_kind;
  void *to_host;
  device_pointer to_device;
  kc_array *to_array;
  size_t to_pitch, width, height;
} rectangle_copy;

/* Peers' copies have contexts in the place of what is reserved. */
typedef struct {
  size_t from_x, from_y, from_z, from_level;
  int from_kind;
  const void *from_host;
  device_pointer from_device;
  kc_array *from_array;
  void *from_reserved;
  size_t from_pitch, from_height, to_x, to_y, to_z, to_level;
  int to_kind;
  void *to_host;
  device_pointer to_device;
  kc_array *to_array;
  void *to_reserved;
  size_t to_pitch, to_height, width, height, depth;
} box_copy;

typedef struct { size_t width, height; int format; unsigned channels; } array_description;
typedef struct { size_t width, height, depth; int format; unsigned channels, flags; } box_description;

typedef struct {
  int kind; /* as in the runtime's structure */
  union {
    void *handle;
    struct { device_pointer at; int format; unsigned channels; size_t bytes; } linear;
    struct { device_pointer at; int format; unsigned channels; size_t width, height, pitch; } pitched;
    int reserved[32];
  } of;
  unsigned flags;
} driver_resource;

typedef struct {
  int address_mode[3], filter_mode;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_low, mipmap_high, border[4];
  int reserved[12];
} driver_texture;

typedef struct {
  unsigned grid[3], block[3], shared_bytes;
  stream_handle stream;
  launch_attribute *attributes;
  unsigned attribute_count;
} driver_launch;

/* `kernel` is there since CUDA 12; it counts where there is no function. */
typedef struct {
  function *called;
  unsigned grid[3], block[3], shared_bytes;
  void **arguments, **extra;
  function *kernel;
} driver_kernel_node;

/* Puts the parameters of a launch to its request: `extra` counts where there are no arguments. */
status parameters_of(kc_launch_request *to, const function *called, void **arguments, void **extra);
/* Rows of a copy, without stream. */
kc_copy rows_of(const box_copy *how);
box_copy box_of(const rectangle_copy *how);
#endif
