// Cycles of instructions in one SM: throughput of many warps, and what one warp waits for.
//
//     nvcc -arch=native -o instructions instructions.cu && ./instructions > instructions.csv
//
// Each kernel reads the clock before and after a loop; the slowest warp counts, less what an empty
// loop of as many rounds takes. Cycles are those of an instruction of a warp on a whole SM.

#include "measuring.cuh"

namespace {

constexpr int kRounds = 64;
constexpr int kUnrolled = 32;

__device__ int64_t now() {
    int64_t cycles;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
    return cycles;
}

struct Operands {
    uint32_t shared;     // address of 4 KiB of shared memory, per lane
    uint32_t first;      // the same address for all lanes
    uint64_t own;        // global memory, an element per lane and warp
    uint64_t one;        // global memory, one element for all
    uint64_t own16;      // as `own`, 16 bytes each
    int lane;
    uint64_t round;
    uint64_t mask;       // of the steps whose addresses differ
};

// A step must not depend on the step before it unless its name says so.
#define STEP(NAME, STATEMENT)                                                            \
    struct NAME {                                                                        \
        static __device__ void take(const Operands& at, float (&f)[4], double (&d)[4],   \
                                    uint32_t (&u)[4], int turn) {                        \
            STATEMENT;                                                                   \
        }                                                                                \
    };

namespace steps {

#define F f[turn % 4]
#define D d[turn % 4]
#define U u[turn % 4]
STEP(empty, )
STEP(ffma, asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(F)))
STEP(fadd, asm volatile("add.rn.f32 %0, %0, %0;" : "+f"(F)))
STEP(dfma, asm volatile("fma.rn.f64 %0, %0, %0, %0;" : "+d"(D)))
STEP(hfma2, asm volatile("fma.rn.f16x2 %0, %0, %0, %0;" : "+r"(U)))
STEP(imad, asm volatile("mad.lo.u32 %0, %0, %0, %0;" : "+r"(U)))
STEP(iadd3, asm volatile("{.reg .u32 t; add.u32 t, %0, %1; add.u32 %0, t, %1;}" : "+r"(U) : "r"(at.lane)))
STEP(lop3, asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(U) : "r"(u[(turn + 1) % 4])))
STEP(shf, asm volatile("shf.l.wrap.b32 %0, %0, %1, %0;" : "+r"(U) : "r"(at.lane)))
STEP(prmt, asm volatile("prmt.b32 %0, %0, %1, %0;" : "+r"(U) : "r"(at.lane)))
STEP(popc, asm volatile("popc.b32 %0, %0;" : "+r"(U)))
STEP(flo, asm volatile("bfind.u32 %0, %0;" : "+r"(U)))
STEP(brev, asm volatile("brev.b32 %0, %0;" : "+r"(U)))
STEP(mufu_ex2, asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(F)))
STEP(mufu_rsq, asm volatile("rsqrt.approx.ftz.f32 %0, %0;" : "+f"(F)))
STEP(f2i, asm volatile("{.reg .s32 t; cvt.rni.s32.f32 t, %0; mov.b32 %0, t;}" : "+f"(F)))
STEP(i2f, asm volatile("{.reg .s32 t; mov.b32 t, %0; cvt.rn.f32.s32 %0, t;}" : "+f"(F)))
STEP(f2f_64_and_back, asm volatile("{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}" : "+f"(F)))
STEP(f2f_half, asm volatile("{.reg .b16 t; cvt.rn.f16.f32 t, %0; cvt.f32.f16 %0, t;}" : "+f"(F)))
STEP(shfl, asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(U)))
STEP(vote, asm volatile("{.reg .pred p; setp.ne.u32 p, %0, 0; vote.sync.ballot.b32 %0, p, 0xffffffff;}" : "+r"(U)))
STEP(match_any, asm volatile("match.any.sync.b32 %0, %0, 0xffffffff;" : "+r"(U)))
STEP(redux, asm volatile("redux.sync.add.u32 %0, %0, 0xffffffff;" : "+r"(U)))
STEP(lds_32, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(U) : "r"(at.shared)))
STEP(lds_64, asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(u[turn % 2]), "=r"(u[2 + turn % 2]) : "r"(at.shared * 2)))
STEP(lds_128, asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(u[0]), "=r"(u[1]), "=r"(u[2]), "=r"(u[3]) : "r"(at.shared * 4)))
STEP(lds_one_word, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(U) : "r"(at.first)))
STEP(lds_conflict_2, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(U) : "r"(at.shared * 2)))
STEP(lds_conflict_4, asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(U) : "r"(at.shared * 4)))
STEP(sts_32, asm volatile("st.volatile.shared.u32 [%1], %0;" ::"r"(U), "r"(at.shared)))
STEP(sts_128, asm volatile("st.volatile.shared.v4.u32 [%4], {%0, %1, %2, %3};" ::"r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3]), "r"(at.shared * 4)))
STEP(sts_conflict_4, asm volatile("st.volatile.shared.u32 [%1], %0;" ::"r"(U), "r"(at.shared * 4)))
STEP(atoms_add_own, asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(U) : "r"(at.shared)))
STEP(atoms_add_one, asm volatile("atom.shared.add.u32 %0, [%1], 1;" : "=r"(U) : "r"(at.first)))
STEP(reds_add_own, asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at.shared)))
STEP(reds_add_one, asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(at.first)))
STEP(reds_add_one_f32, asm volatile("red.shared.add.f32 [%0], 0f3f800000;" ::"r"(at.first)))
STEP(red_add_own, asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at.own)))
STEP(red_add_one, asm volatile("red.global.add.u32 [%0], 1;" ::"l"(at.one)))
STEP(red_add_one_f32, asm volatile("red.global.add.f32 [%0], 0f3f800000;" ::"l"(at.one)))
STEP(atom_add_one, asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(U) : "l"(at.one)))
STEP(atom_add_own, asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(U) : "l"(at.own)))
STEP(ldg_32, asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(U) : "l"(at.own)))
STEP(ldg_ca_32, asm volatile("{.reg .u32 t; ld.global.ca.u32 t, [%1]; xor.b32 %0, %0, t;}" : "+r"(U) : "l"(at.own + ((at.round * kUnrolled + turn) & at.mask) * 4096)))
STEP(ldg_ca_128, asm volatile("{.reg .u32 t<4>; ld.global.ca.v4.u32 {t0, t1, t2, t3}, [%4]; xor.b32 %0, %0, t0; xor.b32 %1, %1, t1; xor.b32 %2, %2, t2; xor.b32 %3, %3, t3;}" : "+r"(u[0]), "+r"(u[1]), "+r"(u[2]), "+r"(u[3]) : "l"(at.own16 + ((at.round * kUnrolled + turn) & (at.mask / 4)) * 16384)))
STEP(ldg_ca_one, asm volatile("{.reg .u32 t; ld.global.ca.u32 t, [%1]; xor.b32 %0, %0, t;}" : "+r"(U) : "l"(at.one + ((at.round * kUnrolled + turn) & at.mask) * 4)))
STEP(stg_32, asm volatile("st.volatile.global.u32 [%1], %0;" ::"r"(U), "l"(at.own)))
STEP(s2r_smid, asm volatile("{.reg .u32 t; mov.u32 t, %%smid; xor.b32 %0, %0, t;}" : "+r"(U)))
STEP(barrier, asm volatile("bar.sync 0;"))
STEP(warp_sync, asm volatile("bar.warp.sync 0xffffffff;"))
STEP(fence_block, asm volatile("membar.cta;"))
STEP(fence_gpu, asm volatile("membar.gl;"))
STEP(branch_uniform, asm volatile("{.reg .pred p; setp.eq.u32 p, %0, 77777; @p bra.uni L%=; add.u32 %0, %0, 1; L%=: }" : "+r"(u[0])))
STEP(branch_taken, asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 64; @p bra A%=; membar.sys; A%=: add.u32 %0, %0, 1; }" : "+r"(u[0]) : "r"(at.lane)))
STEP(branch_divergent, asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 16; @p bra A%=; bar.warp.sync 0xffff0000; bra B%=; A%=: bar.warp.sync 0x0000ffff; B%=: bar.warp.sync 0xffffffff; }" : "+r"(u[0]) : "r"(at.lane)))
STEP(mma_f16, asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3])))
STEP(mma_tf32, asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(u[0]), "r"(u[1]), "r"(u[2]), "r"(u[3])))
STEP(mma_s8, asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" : "+r"(u[0]), "+r"(u[1]), "+r"(u[2]), "+r"(u[3]) : "r"(at.lane)))
STEP(mma_f64, asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d[0]), "+d"(d[1]) : "d"(d[2]), "d"(d[3])))
#undef F
#undef D
#undef U

__constant__ uint32_t constants[1024];

// Constant memory at `distinct` addresses of a warp, by an address in a register.
template <int distinct>
struct ldc {
    static __device__ void take(const Operands& at, float (&)[4], double (&)[4],
                                uint32_t (&u)[4], int turn) {
        u[turn % 4] = constants[(at.lane % distinct) * 32 + (u[turn % 4] & 1)];
    }
};

}  // namespace steps

template <typename Step>
__global__ void __launch_bounds__(1024) timed(int64_t* cycles, uint32_t* memory, float* kept,
                                               uint64_t mask) {
    __shared__ uint32_t buffer[4096 + 2048];
    int thread = threadIdx.x;
    for (int i = thread; i < 6144; i += blockDim.x) buffer[i] = 0;
    Operands at;
    uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(buffer));
    at.lane = thread % kWarp;
    // an address that stays in the buffer when it is doubled or quadrupled
    at.first = base;
    at.shared = base + at.lane * 4;
    at.own = reinterpret_cast<uint64_t>(memory + 64 + blockIdx.x * 1024 + thread);
    at.own16 = reinterpret_cast<uint64_t>(memory + (blockIdx.x * 1024 + thread) * 4);
    at.mask = mask;
    at.one = reinterpret_cast<uint64_t>(memory);
    float f[4] = {1.0f, 0.5f, 0.25f, 0.125f};
    double d[4] = {1.0, 0.5, 0.25, 0.125};
    uint32_t u[4] = {memory[thread], memory[thread + 1], memory[thread + 2], memory[thread + 3]};
    int64_t taken = 0;
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {  // the first one loads the code
        __syncthreads();
        int64_t start = now();
#pragma unroll 1
        for (int round = 0; round < kRounds; ++round) {
            at.round = round;
#pragma unroll
            for (int step = 0; step < kUnrolled; ++step) Step::take(at, f, d, u, step);
        }
        // what loads bring must have arrived
        if (u[0] + u[1] + u[2] + u[3] == 0xdeadbeef || f[0] + f[1] + f[2] + f[3] == 3e33f ||
            d[0] + d[1] + d[2] + d[3] == 3e33)
            kept[0] = 1;
        taken = now() - start;
    }
    cycles[blockIdx.x * blockDim.x + thread] = taken;
}

// A loop that the assembler leaves a loop: a branch back after `body` multiply-adds.
template <int body>
__global__ void loop(int64_t* cycles, float* kept, int rounds) {
    float x = kept[threadIdx.x], y = x + 1, z = x + 2, w = x + 3;
    int64_t taken = 0;
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
        __syncthreads();
        int64_t start = now();
#pragma unroll 1
        for (int round = 0; round < rounds; ++round) {
#pragma unroll
            for (int i = 0; i < body / 4; ++i) {
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(y));
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(z));
                asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(w));
            }
        }
        taken = now() - start;
    }
    kept[threadIdx.x] = x + y + z + w;
    cycles[threadIdx.x] = taken;
}

struct Buffers {
    int64_t* cycles;
    uint32_t* memory;
    float* kept;
};

template <typename Step>
double cycles_of(const Buffers& buffers, int blocks, int threads) {
    std::vector<double> found;
    std::vector<int64_t> all(static_cast<size_t>(blocks) * threads);
    for (int turn = 0; turn < 3; ++turn) {
        timed<Step><<<blocks, threads>>>(buffers.cycles, buffers.memory, buffers.kept, 15);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(all.data(), buffers.cycles, all.size() * 8, cudaMemcpyDeviceToHost));
        found.push_back(static_cast<double>(*std::max_element(all.begin(), all.end())));
    }
    return *std::min_element(found.begin(), found.end());
}

// Cycles of a step of a warp, on one SM that executes `threads`, or on `blocks` SMs.
template <typename Step>
void show(const Buffers& buffers, const char* name, int threads, int blocks = 1) {
    double loop = cycles_of<steps::empty>(buffers, blocks, threads);
    double all = cycles_of<Step>(buffers, blocks, threads) - loop;
    char settings[64];
    std::snprintf(settings, sizeof settings, "threads=%d blocks=%d", threads, blocks);
    double warps = threads / static_cast<double>(kWarp);
    row(name, settings, all / (kRounds * kUnrolled), "cycles of a step");
    row(name, settings, all / (kRounds * kUnrolled * warps), "cycles of an SM for each warp's step");
}

template <typename Step>
void sweep(const Buffers& buffers, const char* name) {
    for (int threads : {32, 128, 256, 512, 1024}) show<Step>(buffers, name, threads);
}

template <int body>
void show_loop(const Buffers& buffers) {
    constexpr int kTurns = 1024;
    for (int threads : {32, 128, 256, 512, 1024}) {
        std::vector<int64_t> all(threads);
        loop<body><<<1, threads>>>(buffers.cycles, buffers.kept, kTurns);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(all.data(), buffers.cycles, all.size() * 8, cudaMemcpyDeviceToHost));
        char settings[64];
        std::snprintf(settings, sizeof settings, "body=%d threads=%d", body, threads);
        row("loop", settings, *std::max_element(all.begin(), all.end()) / double(kTurns), "cycles of a round");
    }
}

}  // namespace

int main() {
    header();
    int sms = multiprocessors();
    Buffers buffers{allocate<int64_t>(1 << 20), allocate<uint32_t>(1 << 20), allocate<float>(1024)};
#define SWEEP(NAME) sweep<steps::NAME>(buffers, #NAME)
    SWEEP(ffma); SWEEP(fadd); SWEEP(dfma); SWEEP(hfma2); SWEEP(imad); SWEEP(iadd3); SWEEP(lop3);
    SWEEP(shf); SWEEP(prmt); SWEEP(popc); SWEEP(flo); SWEEP(brev); SWEEP(mufu_ex2);
    SWEEP(mufu_rsq); SWEEP(f2i); SWEEP(i2f); SWEEP(f2f_64_and_back); SWEEP(f2f_half); SWEEP(shfl);
    SWEEP(vote); SWEEP(match_any); SWEEP(redux);
    SWEEP(lds_32); SWEEP(lds_64); SWEEP(lds_128); SWEEP(lds_one_word); SWEEP(lds_conflict_2);
    SWEEP(lds_conflict_4); SWEEP(sts_32); SWEEP(sts_128); SWEEP(sts_conflict_4);
    SWEEP(atoms_add_own); SWEEP(atoms_add_one); SWEEP(reds_add_own); SWEEP(reds_add_one);
    SWEEP(reds_add_one_f32); SWEEP(ldg_32); SWEEP(ldg_ca_32); SWEEP(ldg_ca_128);
    SWEEP(ldg_ca_one); SWEEP(stg_32); SWEEP(barrier); SWEEP(warp_sync); SWEEP(fence_block);
    SWEEP(fence_gpu);
    SWEEP(s2r_smid);
    SWEEP(branch_uniform); SWEEP(branch_taken); SWEEP(branch_divergent);
    SWEEP(mma_f16); SWEEP(mma_tf32); SWEEP(mma_s8); SWEEP(mma_f64);
    sweep<steps::ldc<1>>(buffers, "ldc_1");
    sweep<steps::ldc<2>>(buffers, "ldc_2");
    sweep<steps::ldc<8>>(buffers, "ldc_8");
    sweep<steps::ldc<32>>(buffers, "ldc_32");
    show_loop<4>(buffers);
    show_loop<8>(buffers);
    show_loop<16>(buffers);
    show_loop<64>(buffers);
    for (int blocks : {1, 8, sms}) {
        show<steps::red_add_own>(buffers, "red_add_own", 1024, blocks);
        show<steps::red_add_one>(buffers, "red_add_one", 1024, blocks);
        show<steps::red_add_one_f32>(buffers, "red_add_one_f32", 1024, blocks);
        show<steps::atom_add_own>(buffers, "atom_add_own", 1024, blocks);
        show<steps::atom_add_one>(buffers, "atom_add_one", 1024, blocks);
        show<steps::atom_add_one>(buffers, "atom_add_one", 32, blocks);
        show<steps::atom_add_own>(buffers, "atom_add_own", 32, blocks);
    }
    return 0;
}
