// A particle filter that follows a bright disk through a video, one frame: all in double precision.
//
// particle_likelihood: every particle moves by normal random numbers (Box and Muller, from a linear
// congruential generator each) and is weighted by how much the pixels below its disk look like the
// disk (228) and not like the background (100); a thread block adds its weights up in shared memory.
// particle_sum: one thread adds the sums of the thread blocks up.
// particle_normalise: weights divided by their sum; one thread adds up their running sums; evenly
// spaced numbers from `first` on.
// particle_draw: for each of them the first particle whose running sum reaches it.

constexpr int kThreads = 512;
constexpr double kPi = 3.1415926535897932;

__device__ __forceinline__ double uniform(int *seed, int i)
{
    constexpr int kModulus = 2147483647, kFactor = 1103515245, kStep = 12345;
    const int next = static_cast<int>(
        static_cast<unsigned>(kFactor) * static_cast<unsigned>(seed[i]) + kStep);
    seed[i] = next % kModulus;
    return fabs(seed[i] / static_cast<double>(kModulus));
}

__device__ double normal(int *seed, int i)
{
    const double u = uniform(seed, i), v = uniform(seed, i);
    const double cosine = cos(2 * kPi * v);
    return sqrt(-2 * log(u)) * cosine;
}

__device__ __forceinline__ double whole(double value)
{
    return static_cast<int>(value);
}

extern "C" __global__ void particle_likelihood(
    double *place_x, double *place_y, double *drawn_x, double *drawn_y, int *pixels,
    int *disk, double *likelihood, unsigned char *video, double *weights, int particles,
    int disk_pixels, int video_pixels, int frame, int height, int frames, int *seed,
    double *partial)
{
    __shared__ double staged[kThreads];
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < particles) {
        place_x[i] = drawn_x[i];
        place_y[i] = drawn_y[i];
        weights[i] = 1 / static_cast<double>(particles);
        place_x[i] = place_x[i] + 1.0 + 5.0 * normal(seed, i);
        place_y[i] = place_y[i] - 2.0 + 2.0 * normal(seed, i);
    }
    __syncthreads();
    if (i < particles) {
        for (int k = 0; k < disk_pixels; ++k) {
            const int x = whole(place_x[i]) + disk[2 * k + 1];
            const int y = whole(place_y[i]) + disk[2 * k];
            pixels[i * disk_pixels + k] = abs(x * height * frames + y * frames + frame);
            if (pixels[i * disk_pixels + k] >= video_pixels)
                pixels[i * disk_pixels + k] = 0;
        }
        double sum = 0.0;
        for (int k = 0; k < disk_pixels; ++k)
            sum += (pow(static_cast<double>(video[pixels[i * disk_pixels + k]] - 100), 2)
                    - pow(static_cast<double>(video[pixels[i * disk_pixels + k]] - 228), 2))
                / 50.0;
        likelihood[i] = sum;
        likelihood[i] = likelihood[i] / disk_pixels;
        weights[i] = weights[i] * exp(likelihood[i]);
    }
    staged[threadIdx.x] = 0.0;
    __syncthreads();
    if (i < particles)
        staged[threadIdx.x] = weights[i];
    __syncthreads();
    for (unsigned active = blockDim.x / 2; active > 0; active >>= 1) {
        if (threadIdx.x < active)
            staged[threadIdx.x] += staged[threadIdx.x + active];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = staged[0];
    __syncthreads();
}

extern "C" __global__ void particle_sum(double *partial, int particles)
{
    if (blockDim.x * blockIdx.x + threadIdx.x != 0)
        return;
    const int count = ceil(static_cast<double>(particles) / static_cast<double>(kThreads));
    double sum = 0.0;
    for (int k = 0; k < count; ++k)
        sum += partial[k];
    partial[0] = sum;
}

extern "C" __global__ void particle_normalise(
    double *weights, int particles, double *partial, double *running, double *draws, double first)
{
    __shared__ double total, start;
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0)
        total = partial[0];
    __syncthreads();
    if (i < particles)
        weights[i] = weights[i] / total;
    __syncthreads();
    if (i == 0) {
        running[0] = weights[0];
        for (int k = 1; k < particles; ++k)
            running[k] = weights[k] + running[k - 1];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        start = first;
    __syncthreads();
    if (i < particles)
        draws[i] = start + i / static_cast<double>(particles);
}

extern "C" __global__ void particle_draw(
    double *place_x, double *place_y, double *running, double *draws, double *drawn_x,
    double *drawn_y, int particles)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < particles) {
        int found = -1;
        for (int k = 0; k < particles; ++k)
            if (running[k] >= draws[i]) {
                found = k;
                break;
            }
        if (found == -1)
            found = particles - 1;
        drawn_x[i] = place_x[found];
        drawn_y[i] = place_y[found];
    }
    __syncthreads();
}
