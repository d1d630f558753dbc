// Prices of European calls and puts by the formula of Black and Scholes, one option a thread.

constexpr float kSqrtHalf = 0.70710678118654752f;

__device__ __forceinline__ float normal_distribution(float x)
{
    return 0.5f * erfcf(-x * kSqrtHalf);
}

extern "C" __global__ void black_scholes(
    const float *prices, const float *strikes, const float *years, float *calls, float *puts,
    float rate, float volatility, int options)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= options)
        return;
    const float price = prices[i];
    const float strike = strikes[i];
    const float time = years[i];

    const float deviation = volatility * sqrtf(time);
    const float drift = (rate + 0.5f * volatility * volatility) * time;
    const float d1 = (logf(price / strike) + drift) / deviation;
    const float d2 = d1 - deviation;
    const float discounted = strike * expf(-rate * time);
    calls[i] = price * normal_distribution(d1) - discounted * normal_distribution(d2);
    puts[i] = discounted * normal_distribution(-d2) - price * normal_distribution(-d1);
}
