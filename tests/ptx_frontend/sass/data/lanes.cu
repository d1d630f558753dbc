// nvcc 13.5: nvcc -arch=compute_75 --ptx lanes.cu
#define EVERYBODY 0xffffffffu

extern "C" {

__global__ void scan(int *p) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int x = p[i];
  for (int o = 1; o < 32; o *= 2) {
    int y = __shfl_up_sync(EVERYBODY, x, o);
    if ((threadIdx.x & 31) >= o) x += y;
  }
  p[i] = x;
}

// loops of different length, left early, then exchanges, then early exits
__global__ void trips(int *p) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int x = p[i], s = 0;
  for (int k = 0; k < x % 7; k++) {
    s += k * x;
    if (s % 11 == 3) break;
  }
  s = __shfl_xor_sync(EVERYBODY, s, 5) + __ballot_sync(EVERYBODY, s & 1);
  if (x % 5 == 0) return;
  p[i] = s;
}

// two groups of lanes at one instruction, then apart
__global__ void two_groups(int *p) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int x = p[i], lane = threadIdx.x & 31;
  unsigned mine = lane < 12 ? 0xfffu : 0xfffff000u;
  int v = __shfl_sync(mine, x, lane < 12 ? 3 : 17);
  v += __any_sync(mine, x % 9 == 0) * 100 + __popc(__ballot_sync(mine, x & 1));
  if (lane < 12) {
    for (int k = 0; k < x % 4; k++) v += k;
    v += __shfl_down_sync(0xfffu, v, 2);
  } else {
    v ^= __shfl_up_sync(0xfffff000u, v, 3);
  }
  p[i] = v;
}

__global__ void by_value(int *p) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned same = __match_any_sync(EVERYBODY, p[i] % 5);
  int s = __shfl_sync(same, p[i], __ffs(same) - 1);
  int odd = __popc(__ballot_sync(same, p[i] & 1));
  __syncwarp(same);
  p[i] = s * 100 + odd;
}

__global__ void lock_of_blocks(int *p, int *lock) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
  }
  __syncthreads();
  p[threadIdx.x] = p[threadIdx.x] * 2 + 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(lock, 0);
}

__global__ void lock_of_lanes(int *p, int *lock) {
  bool done = false;
  int v = 0;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      v = p[0];
      for (int k = 0; k < v % 3; k++) v += k & 1;
      p[0] = p[0] + threadIdx.x;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
  unsigned all = __ballot_sync(EVERYBODY, v >= 0);
  p[1 + threadIdx.x + blockIdx.x * blockDim.x] = all;
}

__global__ void hash_table(unsigned *keys, unsigned *counts, const unsigned *given, int n,
                           int size) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  unsigned found = 0;
  if (i < n) {
    unsigned k = given[i], h = k * 2654435761u % size;
    while (true) {
      unsigned old = atomicCAS(&keys[h], EVERYBODY, k);
      if (old == EVERYBODY || old == k) {
        atomicAdd(&counts[h], 1);
        found = 1;
        break;
      }
      h = (h + 1) % size;
    }
  }
  unsigned all = __ballot_sync(EVERYBODY, found);
  if ((threadIdx.x & 31) == 0) atomicAdd(&counts[size], __popc(all));
}

// the last thread block adds what all blocks found
__global__ void last_block(float *p, float *out, unsigned *count) {
  __shared__ float s[64];
  __shared__ bool last;
  s[threadIdx.x] = p[threadIdx.x + blockIdx.x * blockDim.x];
  __syncthreads();
  for (int o = 32; o; o /= 2) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    out[blockIdx.x] = s[0];
    __threadfence();
    last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float t = 0;
    for (int b = 0; b < gridDim.x; b++) t += ((volatile float *)out)[b];
    out[gridDim.x] = t;
  }
}

// odd lanes of one thread block wait long for the other one, all others for them
__global__ void wait_then_shuffle(volatile int *flag, int *p, int n) {
  int x = 0;
  if (blockIdx.x == 1) {
    if (threadIdx.x == 5) {
      int s = 0;
      for (int k = 0; k < n; k++) s += p[64 + ((s + k) & 7)] + k;
      p[80] = s;
      __threadfence();
      *flag = 1;
    }
  } else if (threadIdx.x & 1) {
    while (*flag == 0) {
    }
    x = threadIdx.x;
  } else {
    x = 3;
  }
  x += __shfl_xor_sync(EVERYBODY, x, 1);
  unsigned large = __ballot_sync(EVERYBODY, x > 7);
  p[threadIdx.x + blockIdx.x * blockDim.x] = x + large;
}

// the flag is in shared memory, where machine code does not say that it is volatile
__global__ void shared_flag(int *p) {
  __shared__ volatile int go;
  if (threadIdx.x == 0) go = 0;
  __syncthreads();
  if (threadIdx.x == 40) {
    for (int k = 0; k < 100; k++) p[100 + k % 8] += k;
    go = 1;
  }
  int x = 0;
  if (threadIdx.x < 32 && (threadIdx.x & 1)) {
    while (go == 0) {
    }
    x = threadIdx.x;
  }
  unsigned some = __ballot_sync(EVERYBODY, x > 0);
  p[threadIdx.x] = x + some;
}

__global__ void bitonic_sort(int *p, int n) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = p[t];
  __syncthreads();
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j; j /= 2) {
      int o = t ^ j;
      if (o > t && (s[t] > s[o]) == ((t & k) == 0)) {
        int x = s[t];
        s[t] = s[o];
        s[o] = x;
      }
      __syncthreads();
    }
  p[t] = s[t];
}

// one bit of a radix sort: those without the bit first
__global__ void radix_pass(unsigned *p, unsigned *q, int bit) {
  __shared__ unsigned counts[4];
  int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  unsigned x = p[t];
  bool late = (x >> bit) & 1;
  unsigned early = __ballot_sync(EVERYBODY, !late);
  if (lane == 0) counts[warp] = __popc(early);
  __syncthreads();
  int before = 0, all = 0;
  for (int k = 0; k < 4; k++) {
    if (k < warp) before += counts[k];
    all += counts[k];
  }
  before += __popc(early & ((1u << lane) - 1));
  q[late ? all + t - before : before] = x;
}
}
