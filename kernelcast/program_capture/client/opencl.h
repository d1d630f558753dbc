/* What the parts of the OpenCL library have in common. Names of functions, numbers and layouts are
   those of OpenCL 3.0 and of its extension cl_khr_icd, under which loaders find the library.

   Everything is done when it is given to a queue; when it would have been done on the GPU, the
   server knows. */
#ifndef KERNELCAST_OPENCL_H
#define KERNELCAST_OPENCL_H
#include <stddef.h>
#include <stdint.h>

#include "client.h"
#include "opencl_numbers.h"

#define API KC_PUBLIC

typedef int32_t status;
typedef enum { PLATFORM = 1, DEVICE, CONTEXT, QUEUE, MEMORY, SAMPLER, PROGRAM, KERNEL, EVENT } kind;

/* What every object begins with: loaders call functions by way of the first word. */
typedef struct {
  const void *functions;
  kind kind;
  int32_t references;
} head;

typedef struct { head head; } platform;
typedef struct { head head; } device;

typedef struct callback {
  struct callback *next;
  void *function, *data;
  int32_t status; /* of an event: which one it waits for */
} callback;

typedef struct {
  head head;
  intptr_t *properties;
  size_t property_bytes;
  callback *callbacks;
} context;

typedef struct {
  head head;
  context *in;
  uint64_t flags, stream;
  uint64_t *properties;
  size_t property_bytes;
} queue;

typedef struct { uint32_t order, type; } image_format;
typedef struct {
  uint32_t type;
  size_t width, height, depth, layers, row_pitch, slice_pitch;
  uint32_t levels, samples;
  struct memory *memory;
} image_description;

typedef struct mapping {
  struct mapping *next;
  char *pointer, *bytes; /* for the program, and in the memory object */
  uint64_t flags;
  size_t size, row_pitch, slice_pitch, rows, slices; /* rows of `size` bytes */
} mapping;

typedef struct memory {
  head head;
  context *in;
  uint64_t flags;
  uint32_t type;
  char *bytes; /* where it begins in memory that kernels see */
  size_t size, origin;
  struct memory *parent;
  void *host;
  mapping *mappings;
  callback *callbacks;
  image_format format;
  image_description image;
  size_t texel_bytes;
  uint64_t object; /* what stands for an image in the arguments of kernels */
  int is_svm;
} memory;

typedef struct {
  head head;
  context *in;
  uint32_t is_normalized, addressing, filter;
  uint64_t object;
} sampler;

typedef struct {
  head head;
  context *in;
  char *text; /* the source, or with `is_il` SPIR-V */
  size_t bytes;
  int is_il, is_compiled_only;
  int32_t build_status;
  uint64_t module;
  char *options, *log, *names; /* `names` of kernels, each followed by a semicolon but the last */
  uint64_t kernel_count;
} program;

typedef enum { VALUE, POINTER, LOCAL, IMAGE, OF_SAMPLER } argument_kind;

typedef struct {
  uint64_t kind, offset, size;
  const char *name;
  int is_set;
} argument;

typedef struct {
  head head;
  program *of;
  char *name, *texts;
  uint64_t id, max_threads, shared_bytes, private_bytes, required[3], count, end;
  argument *arguments;
  char *block; /* the values of all arguments, as kernels find them */
  size_t offset[3];
  uint64_t offset_id; /* the function for the last global offset that was not 0 */
} kernel;

typedef struct {
  head head;
  context *in;
  queue *on; /* NULL for events of the program */
  uint32_t command;
  int32_t status;
  uint64_t number, times[4];
  callback *callbacks;
} event;

extern platform the_platform;
extern device the_device;

/* ---- objects ---- */

/* A new object of `bytes`, with one reference. */
void *make(kind what, size_t bytes);
/* Whether a handle of the program is an object of that kind. */
int is(const void *object, kind what);
/* What is left of the references; the object is to be freed at 0. */
int drop(void *object);
status retain(void *object, kind what, status otherwise);
/* Puts an answer where the program wants it: CL_INVALID_VALUE where it does not fit. */
status give(const void *value, size_t bytes, size_t room, void *to, size_t *needed);
status give_text(const char *text, size_t room, void *to, size_t *needed);
#define GIVE(type, value) \
  give(&(const type){value}, sizeof(type), room, to, needed)
/* The OpenCL error for a status of the server. */
status error_of(int found);
/* Says once that something is not supported: the error. */
status refuse(const char *what, status error);
/* Sets an error for functions that return an object. */
void *failed(status *to, status error);
callback *add_callback(callback **to, void *function, void *data, int32_t status);

void release_context(context *it);
void release_queue(queue *it);
void release_memory(memory *it);
void release_program(program *it);

/* ---- commands ---- */

typedef struct { uint32_t count; event *const *list; } waits;

/* Whether a command may be given: its queue and what it waits for; its queue then waits. */
status begin_command(const queue *on, waits before);
/* The event of the command that was just given, where one is asked for. */
status end_command(queue *on, uint32_t command, int is_blocking, event **to);
typedef enum { NOTHING, TO_DEVICE, TO_HOST, ON_DEVICE, FILL } movement;
/* Puts a copy or fill into the time line. `host`: the pointer of the program, if there is one. */
status move(const queue *on, movement how, size_t bytes, const void *host);
void run_event_callbacks(event *it);
/* Rows of `width` bytes, `height` of them in each of `depth` slices. */
void copy_box(char *to, const size_t *to_pitches, const char *from, const size_t *from_pitches,
              const size_t *region);
mapping *add_mapping(memory *of, const mapping *given);
#endif
