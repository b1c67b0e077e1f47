// What all kernels share: products on tensor cores, a barrier for a whole grid, sums in a fixed order.
//
// EXACT = 1: a product of two f32 is three of their halves in tf32 (a = a1 + a2: a1 b1 + a1 b2 + a2 b1), which loses about
// as little as f32 does. EXACT = 0: a1 b1 alone, ten bits of each factor.

typedef unsigned int u32;

#define DEVICE __device__ __forceinline__
// Reads what no kernel writes while this one runs.
#define READ(p) __ldg(p)

DEVICE u32 to_tf32(float x) {
    u32 bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

// c (16 x 8) += a (16 x 8) b (8 x 8). Lane l has, with g = l / 4 and t = l % 4:
// a: (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4);  b: (t, g), (t + 4, g);  c: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
#if EXACT
// As to_tf32, made anew each time: kept from loop to loop, both halves of all weights would not fit into registers (1.68 ms a step
// at the paper's size, where this takes 1.38).
DEVICE u32 to_tf32_anew(float x) {
    u32 bits;
    asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}
#else
#define to_tf32_anew to_tf32
#endif

DEVICE void multiply_add_tf32(float* c, const u32* a, const u32* b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The left factor, split once and used for several right ones.
struct Left {
    u32 high[4];
#if EXACT
    u32 low[4];
#endif
    DEVICE void set(int i, float x) {
        high[i] = to_tf32(x);
#if EXACT
        low[i] = to_tf32(x - __uint_as_float(high[i]));
#endif
    }
};

DEVICE void multiply_add(float* c, const Left& a, float b0, float b1) {
    u32 high[2] = {to_tf32_anew(b0), to_tf32_anew(b1)};
#if EXACT
    u32 low[2] = {to_tf32(b0 - __uint_as_float(high[0])), to_tf32(b1 - __uint_as_float(high[1]))};
    multiply_add_tf32(c, a.low, high);
    multiply_add_tf32(c, a.high, low);
#endif
    multiply_add_tf32(c, a.high, high);
}

// Waits until all blocks of the grid have come here `arrivals / gridDim.x` times; `arrived` was 0 when the kernel began.
DEVICE void wait_for_grid(u32* arrived, u32 arrivals) {
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
        u32 seen;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
        } while (seen < arrivals);
    }
    __syncthreads();
}

DEVICE float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}

// Sum over a block of up to 1024 threads, in an order that does not depend on anything; thread 0 has it.
template <typename T>
DEVICE T block_sum(T x) {
    __shared__ T parts[32];
    for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(0xffffffffu, x, by);
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    int warps = (blockDim.x + 31) / 32;
    x = (int)threadIdx.x < warps ? parts[threadIdx.x] : T(0);
    if (threadIdx.x < 32)
        for (int by = 16; by > 0; by /= 2) x += __shfl_down_sync(0xffffffffu, x, by);
    return x;
}
