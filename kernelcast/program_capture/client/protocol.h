/* What a captured program and `kernelcast capture` say to each other over a Unix socket.

   A request is a header, as many words as its kind has, and bytes. An answer is a header, words and
   bytes. Kinds with KC_NO_ANSWER get none; what went wrong there comes with the next answer.
   kernelcast/program_capture/protocol.py is the other side; a test compares the two. */
#ifndef KERNELCAST_PROTOCOL_H
#define KERNELCAST_PROTOCOL_H
#include <stdint.h>

#define KC_PROTOCOL_VERSION 1
#define KC_NO_ANSWER 0x80000000u

typedef struct {
  uint32_t kind;
  uint32_t bytes;   /* of words and bytes that follow */
  uint64_t host_ns; /* time that the program spent outside of this library so far */
} kc_request_header;

typedef struct {
  int32_t status; /* a CUresult; the runtime's errors have the same numbers */
  uint32_t bytes;
  uint32_t action; /* a kc_action */
  uint32_t unused;
} kc_answer_header;

/* What the program is to do before its answer comes: it does it and sends KC_DONE. */
typedef enum {
  KC_ANSWERED = 0,
  KC_ACT_COPY = 1,  /* words of KC_COPY: copies them */
  KC_ACT_CALL = 2,  /* function, data: calls it */
  KC_ACT_PRINT = 3, /* bytes: writes them to standard output */
} kc_action;

typedef enum {
  KC_HELLO = 1,            /* version, process, API; name of the program */
  KC_DONE = 2,             /* after an action */
  KC_ALLOCATE = 3,         /* size, kc_space */
  KC_FREE = 4,             /* address, kc_space */
  KC_REGISTER = 5,         /* address, size: of pages of the host */
  KC_UNREGISTER = 6,       /* address */
  KC_COPY = 7,             /* see kc_copy */
  KC_FILL = 8,             /* address, pitch, value, element bytes, width, height, stream, is async */
  KC_MODULE = 9,           /* image */
  KC_MODULE_UNLOAD = 10,   /* module */
  KC_FUNCTION = 11,        /* module; name */
  KC_VARIABLE = 12,        /* module; name */
  KC_LAUNCH = 13,          /* see kc_launch; parameters */
  KC_LAUNCH_FAILED = 14,   /* function, status: a launch that was not made */
  KC_SYNCHRONIZE = 15,     /* stream or KC_ALL_STREAMS */
  KC_STREAM_CREATE = 16,   /* flags, priority */
  KC_STREAM_DESTROY = 17,  /* stream */
  KC_STREAM_WAIT = 18,     /* stream, event */
  KC_EVENT_CREATE = 19,    /* flags */
  KC_EVENT_DESTROY = 20,   /* event */
  KC_EVENT_RECORD = 21,    /* event, stream */
  KC_EVENT_SYNCHRONIZE = 22, /* event */
  KC_EVENT_ELAPSED = 23,   /* first, second */
  KC_CALL = 24,            /* function, data, stream */
  KC_ATTRIBUTE = 25,       /* number of a CUdevice_attribute */
  KC_PROPERTIES = 26,      /* major version of the runtime whose structure it is */
  KC_MEMORY_INFO = 27,
  KC_OCCUPANCY = 28,       /* function, threads, dynamic shared bytes */
  KC_POINTER = 29,         /* address */
  KC_FUNCTION_SET = 30,    /* function, attribute, value */
  KC_REFUSED = 31,         /* name of a function that kernelcast does not have; address, file */
  KC_CAPTURE_BEGIN = 32,   /* stream, graph to extend or 0 */
  KC_CAPTURE_END = 33,     /* stream */
  KC_CAPTURE_STATUS = 34,  /* stream */
  KC_GRAPH_CREATE = 35,
  KC_GRAPH_DESTROY = 36,   /* graph */
  KC_GRAPH_ADD = 37,       /* graph, kind of request, dependencies, each of them; the request */
  KC_GRAPH_INSTANTIATE = 38, /* graph */
  KC_GRAPH_EXEC_DESTROY = 39, /* executable graph */
  KC_GRAPH_LAUNCH = 40,    /* executable graph, stream */
  KC_GRAPH_NODES = 41,     /* graph, whether only nodes that come after no other */
  KC_GRAPH_SET = 42,       /* executable graph, node, kind of request; the request */
  KC_GRAPH_DEPEND = 43,    /* graph, dependencies, each: from, to */
  KC_TEXTURE_CREATE = 44,  /* see kc_texture */
  KC_TEXTURE_DESTROY = 45, /* texture or surface */
  KC_TIME = 46,            /* predicted nanoseconds since the program began */
  KC_GOODBYE = 47,
  KC_LINK = 48,            /* PTX texts, each ended by a zero byte */
  KC_SHARE = 49,           /* name of a variable that the host reaches, too, before its place is asked for */
  KC_UNITS = 50,           /* count, bytes of each; fat binaries of units, and what was linked of them */
  KC_TENSOR_MAP = 51,      /* see kc_tensor_map */
  KC_STREAM_INFO = 52,     /* stream: its flags and priority */
  KC_RESET = 53,           /* frees all allocations and variables; failures are forgiven */
  KC_CL_DEVICE = 60,       /* what OpenCL says of the device: number, bytes, value of each */
  KC_CL_BUILD = 61,        /* whether it is SPIR-V; options, folder, source, two zero bytes between */
  KC_CL_KERNEL = 62,       /* module, global offset; name */
  KC_CL_MOVE = 63,         /* kind, bytes, stream, is page-locked: a copy that the program has done */
  KC_CL_EVENT = 64,        /* stream, is a mark: an event behind the last command, and its times */
  KC_CL_IMAGE = 65,        /* address, type, order, channels, 3 sizes, layers, 2 pitches */
  KC_CL_SAMPLER = 66,      /* is normalized, addressing, filter */
} kc_kind;

typedef enum { KC_DEVICE = 0, KC_MANAGED = 1, KC_HOST = 2, KC_ARRAY = 3 } kc_space;

#define KC_ALL_STREAMS UINT64_MAX

/* Rows of bytes, each `pitch` after the one before, and slices of rows, each `slice` after. */
typedef struct {
  uint64_t to, to_pitch, to_slice, from, from_pitch, from_slice, width, height, depth, kind, stream,
      is_async;
} kc_copy;

typedef struct {
  uint64_t function, grid[3], block[3], shared_bytes, stream, cluster[3], is_cooperative;
} kc_launch;

/* Sizes, box and steps from the innermost dimension on, strides in bytes of all but that one; kinds
   have the numbers of CUDA's enumerations, corners are signed. */
typedef struct {
  uint64_t address, rank, element, interleave, swizzle, fill, channels, pixels, strides[4], sizes[5],
      box[5], steps[5], lower[3], upper[3];
} kc_tensor_map;

/* A texture, or with `is_surface` a surface. `shape`: 0 linear memory, 1 to 3 dimensions; kinds and
   modes have the numbers of CUDA's enumerations. */
typedef struct {
  uint64_t is_surface, address, shape, width, height, depth, pitch, layers, channels, channel_bits,
      channel_kind, address_mode[3], filter_mode, read_mode, is_normalized, levels, is_cubemap;
} kc_texture;
#endif
