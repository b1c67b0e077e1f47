// A tanh network whose parameters are those of one code, over one sequence, for all pairs of both.
//
//   x_t = tanh(W x_{t-1} + V v_t + b)     e_t = y_t - (C x_t + D v_t + d)     l = sum over what is scored: -(e / s)^2 / 2 - log s - log(2 pi) / 2
//
// N: states; M: what drives them, P: outputs; theta: W, V, b, C, D, d, log s, x_0 one behind the other. v lies by step, then sequence;
// everything else by pair, then step. Sequence of a pair: pair / draws. A missing output is NaN; what is not scored has the error 0.

#define AT_V (N * N)
#define AT_B (AT_V + N * M)
#define AT_C (AT_B + N)
#define AT_D (AT_C + P * N)
#define AT_OFFSET (AT_D + P * M)
#define AT_NOISE (AT_OFFSET + P)
#define AT_START (AT_NOISE + P)
#define N_THETA (AT_START + N)
// Steps that a block takes at a time, where steps do not wait for each other.
#define STEPS 8
#define HALF_LOG_2_PI 0.91893853320467274

struct Sequences {
    // All outputs, a row of P per step; the first row of each sequence, and how many.
    const float* outputs;
    const int* first_row;
    const int* n_rows;
    // Steps of the longest; first steps that are not scored; sequences; codes of each; the pair that a kernel begins with.
    int n_time, unscored, n_seq, draws, first_pair;
    DEVICE int sequence_of(int pair) const {
        return (first_pair + pair) / draws;
    }
};

DEVICE float output(const Sequences& s, int i, int t, int d) {
    bool there = t >= s.unscored && t < s.n_rows[i];
    return there ? s.outputs[((long long)s.first_row[i] + t) * P + d] : nanf("");
}

// inputs of steps and sequences to their places: to[(t n_seq + i) ld + c], zero beyond the end of a sequence.
extern "C" __global__ void gather_inputs(
    const float* inputs, Sequences s, int width, float* to, int ld, float* also_to, int also_ld) {
    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= (long long)s.n_time * s.n_seq * width) return;
    int c = at % width, i = at / width % s.n_seq, t = at / width / s.n_seq;
    float x = t < s.n_rows[i] ? inputs[((long long)s.first_row[i] + t) * width + c] : 0.0f;
    if (to) to[((long long)t * s.n_seq + i) * ld + c] = x;
    if (also_to) also_to[((long long)t * s.n_seq + i) * also_ld + c] = x;
}

// driven[pair][t] = V v_t + b.
extern "C" __global__ void __launch_bounds__(128) head_drive(const float* theta, const float* features, Sequences s, float* driven) {
    __shared__ float v[STEPS][M > 0 ? M : 1];
    int pair = blockIdx.y, i = s.sequence_of(pair), t0 = blockIdx.x * STEPS, steps = min(STEPS, s.n_time - t0);
    theta += (long long)pair * N_THETA;
    for (int at = threadIdx.x; at < steps * M; at += blockDim.x) v[at / M][at % M] = features[((long long)(t0 + at / M) * s.n_seq + i) * M + at % M];
    for (int at = steps * M + threadIdx.x; at < STEPS * M; at += blockDim.x) v[at / M][at % M] = 0.0f;
    __syncthreads();
    for (int unit = threadIdx.x; unit < N; unit += blockDim.x) {
        float sums[STEPS];
        float b = theta[AT_B + unit];
        for (int t = 0; t < STEPS; t++) sums[t] = b;
        for (int c = 0; c < M; c++) {
            float w = theta[AT_V + unit * M + c];
#pragma unroll
            for (int t = 0; t < STEPS; t++) sums[t] += w * v[t][c];
        }
        for (int t = 0; t < steps; t++) driven[((long long)pair * s.n_time + t0 + t) * N + unit] = sums[t];
    }
}

#define IN_REGISTERS (N <= 128)
#if IN_REGISTERS
#define UNIT_THREADS ((N + 31) / 32 * 32)
#else
#define UNIT_THREADS 1024
#endif
#define N_PADDED ((N + 3) / 4 * 4)

// W x or W^T x for a block of UNIT_THREADS; x and result in shared memory, of N_PADDED numbers that are zero beyond N.
struct Recurrent {
#if IN_REGISTERS
    float w[N_PADDED];
    DEVICE void load(const float* weights, bool transposed) {
#pragma unroll
        for (int k = 0; k < N_PADDED; k++)
            w[k] = k < N && threadIdx.x < N ? (transposed ? weights[k * N + threadIdx.x] : weights[threadIdx.x * N + k]) : 0.0f;
    }
    DEVICE void multiply(const float* x, float* out) {
        float sums[4] = {};
#pragma unroll
        for (int k = 0; k < N_PADDED; k += 4) {
            float4 four = *(const float4*)(x + k);
            sums[0] += w[k] * four.x, sums[1] += w[k + 1] * four.y, sums[2] += w[k + 2] * four.z, sums[3] += w[k + 3] * four.w;
        }
        if (threadIdx.x < N) out[threadIdx.x] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    }
#else
    const float* weights;
    bool transposed;
    DEVICE void load(const float* from, bool how) {
        weights = from, transposed = how;
    }
    DEVICE void multiply(const float* x, float* out) {
        if (transposed) {
            for (int unit = threadIdx.x; unit < N; unit += blockDim.x) {
                float sum = 0.0f;
                for (int k = 0; k < N; k++) sum += weights[(long long)k * N + unit] * x[k];
                out[unit] = sum;
            }
        } else {
            for (int unit = threadIdx.x / 32; unit < N; unit += blockDim.x / 32) {
                float sum = 0.0f;
                for (int k = threadIdx.x % 32; k < N; k += 32) sum += weights[(long long)unit * N + k] * x[k];
                for (int by = 16; by > 0; by /= 2) sum += __shfl_down_sync(0xffffffffu, sum, by);
                if (threadIdx.x % 32 == 0) out[unit] = sum;
            }
        }
        __syncthreads();
    }
#endif
};

// states[pair][t + 1]; the start is states[pair][0].
extern "C" __global__ void __launch_bounds__(UNIT_THREADS) head_forward(const float* theta, const float* driven, Sequences s, float* states) {
    __shared__ __align__(16) float x[N_PADDED], product[N_PADDED];
    int pair = blockIdx.x;
    theta += (long long)pair * N_THETA, driven += (long long)pair * s.n_time * N, states += (long long)pair * (s.n_time + 1) * N;
    Recurrent recurrent;
    recurrent.load(theta, false);
    for (int unit = threadIdx.x; unit < N_PADDED; unit += blockDim.x) {
        x[unit] = unit < N ? theta[AT_START + unit] : 0.0f;
        if (unit < N) states[unit] = x[unit];
    }
    __syncthreads();
    for (int t = 0; t < s.n_time; t++) {
        recurrent.multiply(x, product);
        __syncthreads();
        for (int unit = threadIdx.x; unit < N; unit += blockDim.x) {
            float next = tanhf(product[unit] + driven[t * N + unit]);
            x[unit] = next;
            states[(long long)(t + 1) * N + unit] = next;
        }
        __syncthreads();
    }
}

// errors[pair][t][d], and this block's part of the log likelihood of the pair.
extern "C" __global__ void __launch_bounds__(256)
    head_errors(const float* theta, const float* features, const float* states, Sequences s, float* errors, double* parts) {
    __shared__ float x[STEPS][N], v[STEPS][M > 0 ? M : 1];
    int pair = blockIdx.y, i = s.sequence_of(pair), t0 = blockIdx.x * STEPS, steps = min(STEPS, s.n_time - t0);
    theta += (long long)pair * N_THETA;
    for (int at = threadIdx.x; at < STEPS * N; at += blockDim.x)
        x[at / N][at % N] = at < steps * N ? states[((long long)pair * (s.n_time + 1) + t0 + 1) * N + at] : 0.0f;
    for (int at = threadIdx.x; at < STEPS * M; at += blockDim.x)
        v[at / M][at % M] = at < steps * M ? features[((long long)(t0 + at / M) * s.n_seq + i) * M + at % M] : 0.0f;
    __syncthreads();
    // A warp takes an output, its lanes share out states and inputs: rows of C and D are read side by side.
    const int lane = threadIdx.x % 32;
    double log_likelihood = 0.0;
    for (int d = threadIdx.x / 32; d < P; d += blockDim.x / 32) {
        float sums[STEPS] = {}, own = 0.0f;
        for (int k = lane; k < N; k += 32) {
            float c = theta[AT_C + d * N + k];
#pragma unroll
            for (int t = 0; t < STEPS; t++) sums[t] += c * x[t][k];
        }
        for (int k = lane; k < M; k += 32) {
            float c = theta[AT_D + d * M + k];
#pragma unroll
            for (int t = 0; t < STEPS; t++) sums[t] += c * v[t][k];
        }
#pragma unroll
        for (int t = 0; t < STEPS; t++) {
            for (int by = 16; by > 0; by /= 2) sums[t] += __shfl_xor_sync(0xffffffffu, sums[t], by);
            if (lane == t) own = sums[t];
        }
        if (lane < steps) {
            float y = output(s, i, t0 + lane, d), error = isnan(y) ? 0.0f : y - theta[AT_OFFSET + d] - own;
            errors[((long long)pair * s.n_time + t0 + lane) * P + d] = error;
            if (!isnan(y)) {
                float log_s = theta[AT_NOISE + d], scaled = error * expf(-log_s);
                log_likelihood -= 0.5 * (double)(scaled * scaled) + (double)log_s + HALF_LOG_2_PI;
            }
        }
    }
    log_likelihood = block_sum(log_likelihood);
    if (threadIdx.x == 0) parts[(long long)pair * gridDim.x + blockIdx.x] = log_likelihood;
}

extern "C" __global__ void pair_totals(const double* parts, int n_parts, double* log_likelihoods, int n_pairs) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n_pairs) return;
    double sum = 0.0;
    for (int i = 0; i < n_parts; i++) sum += parts[(long long)pair * n_parts + i];
    log_likelihoods[pair] = sum;
}

// pulled[pair][t] = C^T of the gradient at the outputs, weight e / s^2.
extern "C" __global__ void __launch_bounds__(128)
    head_pull_errors(const float* theta, const float* errors, const float* weights, Sequences s, float* pulled) {
    __shared__ float d_output[STEPS][P];
    int pair = blockIdx.y, t0 = blockIdx.x * STEPS, steps = min(STEPS, s.n_time - t0);
    theta += (long long)pair * N_THETA;
    for (int at = threadIdx.x; at < STEPS * P; at += blockDim.x) {
        int t = at / P, d = at % P;
        float e = t < steps ? errors[((long long)pair * s.n_time + t0 + t) * P + d] : 0.0f;
        d_output[t][d] = weights[pair] * e * expf(-2.0f * theta[AT_NOISE + d]);
    }
    __syncthreads();
    for (int unit = threadIdx.x; unit < N; unit += blockDim.x) {
        float sums[STEPS] = {};
        for (int d = 0; d < P; d++) {
            float c = theta[AT_C + d * N + unit];
#pragma unroll
            for (int t = 0; t < STEPS; t++) sums[t] += c * d_output[t][d];
        }
        for (int t = 0; t < steps; t++) pulled[((long long)pair * s.n_time + t0 + t) * N + unit] = sums[t];
    }
}

// Turns what is pulled at the states into what is pulled inside the tanh, last step first, and writes that of the start.
extern "C" __global__ void __launch_bounds__(UNIT_THREADS)
    head_backward(const float* theta, const float* states, Sequences s, float* pulled, float* d_theta) {
    __shared__ __align__(16) float inner[N_PADDED], product[N_PADDED];
    int pair = blockIdx.x;
    theta += (long long)pair * N_THETA, d_theta += (long long)pair * N_THETA;
    pulled += (long long)pair * s.n_time * N, states += (long long)pair * (s.n_time + 1) * N;
    Recurrent recurrent;
    recurrent.load(theta, true);
    for (int unit = threadIdx.x; unit < N_PADDED; unit += blockDim.x) inner[unit] = 0.0f;
    __syncthreads();
    for (int t = s.n_time - 1; t >= -1; t--) {
        recurrent.multiply(inner, product);
        __syncthreads();
        for (int unit = threadIdx.x; unit < N; unit += blockDim.x) {
            if (t < 0) {
                d_theta[AT_START + unit] = product[unit];
            } else {
                float x = states[(long long)(t + 1) * N + unit];
                float d = (pulled[t * N + unit] + product[unit]) * (1.0f - x * x);
                inner[unit] = d;
                pulled[t * N + unit] = d;
            }
        }
        __syncthreads();
    }
}

// All other gradients of theta: sums over the steps of products of two numbers.
extern "C" __global__ void head_gradient(
    const float* theta, const float* features, const float* states, const float* errors, const float* weights, const float* inner, Sequences s,
    float* d_theta) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, pair = blockIdx.y, i = s.sequence_of(pair);
    if (at >= AT_START) return;
    theta += (long long)pair * N_THETA, d_theta += (long long)pair * N_THETA;
    inner += (long long)pair * s.n_time * N, states += (long long)pair * (s.n_time + 1) * N, errors += (long long)pair * s.n_time * P;
    const float* v = features + (long long)i * M;
    const long long v_step = (long long)s.n_seq * M;
    float sum = 0.0f;
    if (at < AT_V) {
        int row = at / N, k = at % N;
        for (int t = 0; t < s.n_time; t++) sum += inner[t * N + row] * states[t * N + k];
    } else if (at < AT_B) {
        int row = (at - AT_V) / (M > 0 ? M : 1), c = (at - AT_V) % (M > 0 ? M : 1);
        for (int t = 0; t < s.n_time; t++) sum += inner[t * N + row] * v[t * v_step + c];
    } else if (at < AT_C) {
        for (int t = 0; t < s.n_time; t++) sum += inner[t * N + at - AT_B];
    } else {
        int d = at < AT_D ? (at - AT_C) / N : at < AT_OFFSET ? (at - AT_D) / (M > 0 ? M : 1) : (at - AT_OFFSET) % P;
        float precision = expf(-2.0f * theta[AT_NOISE + d]), count = 0.0f;
        if (at < AT_D) {
            int k = (at - AT_C) % N;
            for (int t = 0; t < s.n_time; t++) sum += errors[t * P + d] * states[(t + 1) * N + k];
        } else if (at < AT_OFFSET) {
            int c = (at - AT_D) % (M > 0 ? M : 1);
            for (int t = 0; t < s.n_time; t++) sum += errors[t * P + d] * v[t * v_step + c];
        } else if (at < AT_NOISE) {
            for (int t = 0; t < s.n_time; t++) sum += errors[t * P + d];
        } else {
            for (int t = 0; t < s.n_time; t++) {
                sum += errors[t * P + d] * errors[t * P + d];
                count += isnan(output(s, i, t, d)) ? 0.0f : 1.0f;
            }
        }
        sum = weights[pair] * (sum * precision - count);
    }
    d_theta[at] = sum;
}

// d_features[t][i] += sum over the codes of sequence i, as far as they are here, of V^T inner + D^T of the gradient at the outputs.
extern "C" __global__ void head_pull_features(
    const float* theta, const float* errors, const float* weights, const float* inner, Sequences s, int n_pairs, float* d_features) {
    __shared__ float precision[P];
    int t = blockIdx.x * blockDim.y + threadIdx.y, i = s.sequence_of(0) + blockIdx.y;
    int first = max(i * s.draws - s.first_pair, 0), last = min((i + 1) * s.draws - s.first_pair, n_pairs);
    for (int pair = first; pair < last; pair++) {
        const float* own = theta + (long long)pair * N_THETA;
        const float* a = inner + ((long long)pair * s.n_time + t) * N;
        const float* e = errors + ((long long)pair * s.n_time + t) * P;
        __syncthreads();
        for (int d = threadIdx.y * blockDim.x + threadIdx.x; d < P; d += blockDim.x * blockDim.y)
            precision[d] = weights[pair] * expf(-2.0f * own[AT_NOISE + d]);
        __syncthreads();
        if (t >= s.n_time) continue;
        for (int c = threadIdx.x; c < M; c += blockDim.x) {
            float sum = 0.0f;
            for (int unit = 0; unit < N; unit++) sum += own[AT_V + unit * M + c] * a[unit];
            for (int d = 0; d < P; d++) sum += own[AT_D + d * M + c] * e[d] * precision[d];
            d_features[((long long)t * s.n_seq + i) * M + c] += sum;
        }
    }
}
