/* Programs that were built for streams of each thread call functions with these endings, in which the
   default stream is one that the thread has for itself. */
#include "cudart.h"

static uint64_t thread_count;
static __thread uint64_t mine;
enum { OF_THREAD = 2 };
#define FIRST_OF_THREADS ((uint64_t)1 << 40) /* behind all numbers that the server gives */

static stream_handle own(stream_handle stream) {
  if (stream && number(stream) != OF_THREAD) return stream;
  if (!mine) mine = FIRST_OF_THREADS + __atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED);
  return handle(mine);
}

#define WITH_OWN(name, declared, passed) \
  extern status name declared;           \
  API status name##_ptsz declared { return name passed; }

WITH_OWN(cudaLaunchKernel,
         (const void *host, dim3 grid, dim3 block, void **arguments, size_t bytes, stream_handle stream),
         (host, grid, block, arguments, bytes, own(stream)))
WITH_OWN(__cudaLaunchKernel,
         (void *kernel, dim3 grid, dim3 block, void **arguments, size_t bytes, stream_handle stream),
         (kernel, grid, block, arguments, bytes, own(stream)))
WITH_OWN(cudaLaunchCooperativeKernel,
         (const void *host, dim3 grid, dim3 block, void **arguments, size_t bytes, stream_handle stream),
         (host, grid, block, arguments, bytes, own(stream)))
extern status cudaLaunchKernelExC(const launch_configuration *how, const void *host, void **arguments);
API status cudaLaunchKernelExC_ptsz(const launch_configuration *how, const void *host, void **arguments) {
  launch_configuration changed = *how;
  changed.stream = own(how->stream);
  return cudaLaunchKernelExC(&changed, host, arguments);
}
WITH_OWN(cudaLaunchHostFunc, (stream_handle stream, void (*called)(void *), void *data),
         (own(stream), called, data))
WITH_OWN(cudaStreamAddCallback,
         (stream_handle stream, void (*called)(stream_handle, status, void *), void *data, unsigned flags),
         (own(stream), called, data, flags))
WITH_OWN(cudaGraphLaunch, (exec_handle graph, stream_handle stream), (graph, own(stream)))

WITH_OWN(cudaStreamSynchronize, (stream_handle stream), (own(stream)))
WITH_OWN(cudaStreamQuery, (stream_handle stream), (own(stream)))
WITH_OWN(cudaStreamWaitEvent, (stream_handle stream, event_handle event, unsigned flags),
         (own(stream), event, flags))
WITH_OWN(cudaEventRecord, (event_handle event, stream_handle stream), (event, own(stream)))
WITH_OWN(cudaEventRecordWithFlags, (event_handle event, stream_handle stream, unsigned flags),
         (event, own(stream), flags))
WITH_OWN(cudaStreamBeginCapture, (stream_handle stream, int mode), (own(stream), mode))
WITH_OWN(cudaStreamEndCapture, (stream_handle stream, graph_handle *to), (own(stream), to))
WITH_OWN(cudaStreamIsCapturing, (stream_handle stream, int *is_capturing), (own(stream), is_capturing))

WITH_OWN(cudaMemcpyAsync, (void *to, const void *from, size_t size, int kind, stream_handle stream),
         (to, from, size, kind, own(stream)))
WITH_OWN(cudaMemcpy2DAsync,
         (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
          int kind, stream_handle stream),
         (to, to_pitch, from, from_pitch, width, height, kind, own(stream)))
WITH_OWN(cudaMemcpy3DAsync, (const copy_3d *how, stream_handle stream), (how, own(stream)))
WITH_OWN(cudaMemcpyToSymbolAsync,
         (const void *symbol, const void *from, size_t size, size_t offset, int kind, stream_handle stream),
         (symbol, from, size, offset, kind, own(stream)))
WITH_OWN(cudaMemcpyFromSymbolAsync,
         (void *to, const void *symbol, size_t size, size_t offset, int kind, stream_handle stream),
         (to, symbol, size, offset, kind, own(stream)))
WITH_OWN(cudaMemsetAsync, (void *to, int value, size_t size, stream_handle stream),
         (to, value, size, own(stream)))
WITH_OWN(cudaMemset2DAsync,
         (void *to, size_t pitch, int value, size_t width, size_t height, stream_handle stream),
         (to, pitch, value, width, height, own(stream)))

/* Copies that the host waits for are asynchronous ones and a wait. */
static status waited(status failure) {
  return failure ? failure : cudaStreamSynchronize(own(NULL));
}
API status cudaMemcpy_ptds(void *to, const void *from, size_t size, int kind) {
  return waited(cudaMemcpyAsync_ptsz(to, from, size, kind, NULL));
}
API status cudaMemset_ptds(void *to, int value, size_t size) {
  return cudaMemsetAsync_ptsz(to, value, size, NULL);
}
