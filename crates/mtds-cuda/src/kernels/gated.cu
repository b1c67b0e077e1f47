// A gated recurrent layer over whole sequences in one kernel each way; a grid that waits for itself after every step.
//
//   r = s(x_r + W_r h + b_r)    n = tanh(x_n + r (W_n h + b_n))        x: inputs' part, input biases included
//   z = s(x_z + W_z h + b_z)    h' = (1 - z) n + z h
//
// A block owns eight units. Its part of W (forward 24 rows, backward 8 columns) stays in the registers of its WARPS warps, which
// share out k; sequences come sixteen at a time, as the rows of the left factor.
// H: units; HP: H to the next multiple of 16 WARPS, the distance of rows of states and gates, zero beyond H.

#if H > 0
#define UNITS 8
#define ROWS 16
#define DEEP_FORWARD (HP / WARPS)
#define DEEP_BACKWARD (3 * HP / WARPS)

DEVICE float4 read_shared_by_all(const float* at) {
    return __ldcg((const float4*)at); // other blocks wrote it: past the cache of this multiprocessor
}

// states: (n_time + 1) x n_seq x HP, the start first. gates: n_time x n_seq x 4 HP: r, z, n, and W_n h + b_n.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) gated_forward(
    const float* driven, const float* weights, const float* bias, float* states, float* gates, int n_time, int n_seq, u32* arrived) {
    __shared__ float sums[WARPS][ROWS][3 * UNITS + 1];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int unit0 = blockIdx.x * UNITS, k0 = warp * DEEP_FORWARD + 4 * t;
    float w[DEEP_FORWARD / 16][3][4];
#pragma unroll
    for (int s = 0; s < DEEP_FORWARD / 16; s++)
#pragma unroll
        for (int gate = 0; gate < 3; gate++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int k = k0 + 16 * s + e, unit = unit0 + g;
                w[s][gate][e] = k < H && unit < H ? weights[((long long)gate * H + unit) * H + k] : 0.0f;
            }
    for (int step = 0; step < n_time; step++) {
        for (int first = 0; first < n_seq; first += ROWS) {
            const float* before = states + ((long long)step * n_seq + first) * HP;
            float c[3][4] = {};
            const bool low = first + g < n_seq, high = first + g + 8 < n_seq;
#pragma unroll
            for (int s = 0; s < DEEP_FORWARD / 16; s++) {
                float4 zero = make_float4(0, 0, 0, 0);
                float4 x = low ? read_shared_by_all(before + (long long)g * HP + k0 + 16 * s) : zero;
                float4 y = high ? read_shared_by_all(before + (long long)(g + 8) * HP + k0 + 16 * s) : zero;
                // The order of k within a sum is free: each lane has four in a row instead of every fourth.
                Left one, two;
                one.set(0, x.x), one.set(1, y.x), one.set(2, x.y), one.set(3, y.y);
                two.set(0, x.z), two.set(1, y.z), two.set(2, x.w), two.set(3, y.w);
#pragma unroll
                for (int gate = 0; gate < 3; gate++) {
                    multiply_add(c[gate], one, w[s][gate][0], w[s][gate][1]);
                    multiply_add(c[gate], two, w[s][gate][2], w[s][gate][3]);
                }
            }
            __syncthreads();
#pragma unroll
            for (int gate = 0; gate < 3; gate++)
#pragma unroll
                for (int e = 0; e < 4; e++) sums[warp][g + e / 2 * 8][gate * UNITS + 2 * t + e % 2] = c[gate][e];
            __syncthreads();
            const int row = threadIdx.x / UNITS, unit = unit0 + threadIdx.x % UNITS, i = first + row;
            if (row < ROWS && i < n_seq && unit < H) {
                float from_state[3];
                for (int gate = 0; gate < 3; gate++) {
                    float sum = bias[gate * H + unit];
                    for (int other = 0; other < WARPS; other++) sum += sums[other][row][gate * UNITS + threadIdx.x % UNITS];
                    from_state[gate] = sum;
                }
                const long long at = (long long)step * n_seq + i;
                const float* x = driven + at * 3 * H;
                float r = sigmoid(x[unit] + from_state[0]), z = sigmoid(x[H + unit] + from_state[1]);
                float n = tanhf(x[2 * H + unit] + r * from_state[2]);
                float past = states[at * HP + unit];
                float* out = gates + at * 4 * HP + unit;
                out[0] = r, out[HP] = z, out[2 * HP] = n, out[3 * HP] = from_state[2];
                states[(at + n_seq) * HP + unit] = (1.0f - z) * n + z * past;
            }
        }
        wait_for_grid(arrived, (step + 1) * gridDim.x);
    }
}

// Overwrites gates by their gradients: r, z, n (of the sum inside), and of W_n h + b_n. d_states: n_time x n_seq x H.
// d_start: n_seq x H. carry: n_seq x HP, scratch.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 1) gated_backward(
    const float* weights, const float* states, const float* d_states, float* gates, float* d_start, float* carry, int n_time, int n_seq,
    u32* arrived) {
    __shared__ float sums[WARPS][ROWS][UNITS + 1];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int unit0 = blockIdx.x * UNITS, k0 = warp * DEEP_BACKWARD + 4 * t;
    float w[DEEP_BACKWARD / 16][4];
#pragma unroll
    for (int s = 0; s < DEEP_BACKWARD / 16; s++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int k = k0 + 16 * s + e, gate = k / HP, of = k % HP, unit = unit0 + g;
            w[s][e] = of < H && unit < H ? weights[((long long)gate * H + of) * H + unit] : 0.0f;
        }
    for (int step = n_time - 1; step >= -1; step--) {
        for (int first = 0; first < n_seq; first += ROWS) {
            float c[4] = {};
            if (step + 1 < n_time) {
                const float* after = gates + ((long long)(step + 1) * n_seq + first) * 4 * HP;
                const bool low = first + g < n_seq, high = first + g + 8 < n_seq;
#pragma unroll
                for (int s = 0; s < DEEP_BACKWARD / 16; s++) {
                    int k = k0 + 16 * s;
                    // The state acts on the candidate by W_n h + b_n, the fourth of the gradients.
                    int at = k < 2 * HP ? k : k + HP;
                    float4 zero = make_float4(0, 0, 0, 0);
                    float4 x = low ? read_shared_by_all(after + (long long)g * 4 * HP + at) : zero;
                    float4 y = high ? read_shared_by_all(after + (long long)(g + 8) * 4 * HP + at) : zero;
                    Left one, two;
                    one.set(0, x.x), one.set(1, y.x), one.set(2, x.y), one.set(3, y.y);
                    two.set(0, x.z), two.set(1, y.z), two.set(2, x.w), two.set(3, y.w);
                    multiply_add(c, one, w[s][0], w[s][1]);
                    multiply_add(c, two, w[s][2], w[s][3]);
                }
            }
            __syncthreads();
#pragma unroll
            for (int e = 0; e < 4; e++) sums[warp][g + e / 2 * 8][2 * t + e % 2] = c[e];
            __syncthreads();
            const int row = threadIdx.x / UNITS, unit = unit0 + threadIdx.x % UNITS, i = first + row;
            if (row < ROWS && i < n_seq && unit < H) {
                float d = 0.0f;
                for (int other = 0; other < WARPS; other++) d += sums[other][row][threadIdx.x % UNITS];
                float* kept = carry + (long long)i * HP + unit;
                if (step + 1 < n_time) d += *kept;
                if (step < 0) {
                    d_start[(long long)i * H + unit] = d;
                } else {
                    const long long at = (long long)step * n_seq + i;
                    d += d_states[at * H + unit];
                    float* gate = gates + at * 4 * HP + unit;
                    float r = gate[0], z = gate[HP], n = gate[2 * HP], inner = gate[3 * HP];
                    float d_inner = d * (1.0f - z) * (1.0f - n * n);
                    gate[0] = d_inner * inner * r * (1.0f - r);
                    gate[HP] = d * (states[at * HP + unit] - n) * z * (1.0f - z);
                    gate[2 * HP] = d_inner;
                    gate[3 * HP] = d_inner * r;
                    *kept = d * z;
                }
            }
        }
        if (step >= 0) wait_for_grid(arrived, (n_time - step) * gridDim.x);
    }
}
#endif
