// Linear systems with generated parameters: rollouts of many codes, likelihoods of sequences, and all of it back.
//
//   x_t = A x_{t-1} + B u_t + b     A = diag(tanh v) Q,  Q = (I - S)(I + S)^-1,  S skew     e_t = y_t - (C x_t + D u_t + d)
//   l = sum over what was observed: -(e / s)^2 / 2 - log s - log(2 pi) / 2
//
// N: states; M: inputs, P: outputs; theta: v, S (upper triangle by rows), the gate of B where GATED, B, b, C, D, d, log s, x_0 one behind the
// other. A thread has one code, with its matrices in registers where they are small. A missing output is NaN.

#define AT_ROTATION N
#define AT_GATE (AT_ROTATION + N * (N - 1) / 2)
#define AT_INPUT (AT_GATE + (GATED ? N * M : 0))
#define AT_BIAS (AT_INPUT + N * M)
#define AT_EMISSION (AT_BIAS + N)
#define AT_FEEDTHROUGH (AT_EMISSION + P * N)
#define AT_OFFSET (AT_FEEDTHROUGH + P * M)
#define AT_NOISE (AT_OFFSET + P)
#define AT_START (AT_NOISE + P)
#define AT_LEAST_1(n) ((n) > 0 ? (n) : 1)
#define HALF_LOG_2_PI 0.91893853320467274
// Steps whose squares are added in single precision before they go on in double.
#define RUN 8

// Loops over small matrices are written out, so that these stay in registers; larger ones would take the compiler minutes.
#if N <= 6
#define EACH_STATE _Pragma("unroll")
#else
#define EACH_STATE _Pragma("unroll 1")
#endif
#if N <= 6 && N * M <= 16 && P * M <= 16
#define EACH_INPUT _Pragma("unroll")
#else
#define EACH_INPUT _Pragma("unroll 1")
#endif
#if N <= 6 && P * N <= 24
#define EACH_OUTPUT _Pragma("unroll")
#else
#define EACH_OUTPUT _Pragma("unroll 1")
#endif
// Steps whose states are read together on the way back, so that one wait serves them all.
#define AHEAD (N <= 6 ? 4 : 2)

// Numbers of theta, by code. source[i] says where number i comes from: row a of what the generator made (a >= 0), shared number
// -1 - source (down to -N_SHARED), or, below that, fixed[i]. What is shifted is log s, by code.
struct Theta {
    const float* adapted;
    const float* shared;
    const float* fixed;
    const int* source;
    const float* shifts;
    // Between the rows of what the generator made.
    long long ld;
    DEVICE float at(int i, int column) const {
        int from = READ(source + i);
        float value = from >= 0 ? READ(adapted + from * ld + column) : from >= -N_SHARED ? READ(shared + (-1 - from)) : READ(fixed + i);
        return shifts && i >= AT_NOISE && i < AT_NOISE + P ? value + READ(shifts + column) : value;
    }
};

// All sequences: rows of inputs and outputs, where each begins, and how many it has.
struct Sequences {
    const float* inputs;
    const float* outputs;
    const int* input_row;
    const int* output_row;
    const int* n_rows;
    DEVICE const float* inputs_of(int i) const {
        return inputs + (long long)READ(input_row + i) * M;
    }
    DEVICE const float* outputs_of(int i) const {
        return outputs + (long long)READ(output_row + i) * P;
    }
};

// Where gradients of theta go: number i to row to[i], nowhere if that is negative; those of log s also to rows of their own, if
// there are any.
struct Target {
    float* rows;
    const int* to;
    float* noise;
    long long ld;
    DEVICE void put(int i, int column, float value) const {
        int row = READ(to + i);
        if (row >= 0) rows[row * ld + column] = value;
    }
};

// s for |s| <= 8, smoothly to 16 and -16 beyond; and its derivative.
DEVICE float bounded(float s, float* derivative) {
    float t = tanhf(fmaxf(fabsf(s) - 8.0f, 0.0f) / 8.0f);
    *derivative = 1.0f - t * t;
    return s / fmaxf(fabsf(s), 1e-30f) * (fminf(fabsf(s), 8.0f) + 8.0f * t);
}

// The matrices of a code.
struct System {
    float a[N * N], q[N * N], b[N * AT_LEAST_1(M)], bias[N], c[P * N], d[P * AT_LEAST_1(M)], offset[P], log_s[P], start[N];

    DEVICE void load(const Theta& theta, int column) {
        float derivative;
        int k = 0;
        EACH_STATE
        for (int i = 0; i < N; i++) {
            q[i * N + i] = 1.0f;
            EACH_STATE
            for (int j = i + 1; j < N; j++) {
                float s = bounded(theta.at(AT_ROTATION + k++, column), &derivative);
                q[i * N + j] = s, q[j * N + i] = -s;
            }
        }
        invert();
        EACH_STATE
        for (int i = 0; i < N; i++) {
            float sigma = tanhf(theta.at(i, column));
            EACH_STATE
            for (int j = 0; j < N; j++) {
                q[i * N + j] = 2.0f * q[i * N + j] - (i == j ? 1.0f : 0.0f);
                a[i * N + j] = sigma * q[i * N + j];
            }
        }
        EACH_INPUT
        for (int i = 0; i < N * M; i++) b[i] = (GATED ? sigmoid(theta.at(AT_GATE + i, column)) : 1.0f) * tanhf(theta.at(AT_INPUT + i, column));
        EACH_STATE
        for (int i = 0; i < N; i++) bias[i] = theta.at(AT_BIAS + i, column), start[i] = theta.at(AT_START + i, column);
        EACH_OUTPUT
        for (int i = 0; i < P * N; i++) c[i] = theta.at(AT_EMISSION + i, column);
        EACH_INPUT
        for (int i = 0; i < P * M; i++) d[i] = theta.at(AT_FEEDTHROUGH + i, column);
        EACH_OUTPUT
        for (int i = 0; i < P; i++) offset[i] = theta.at(AT_OFFSET + i, column), log_s[i] = theta.at(AT_NOISE + i, column);
    }

    // I + S has a positive definite symmetric part, so elimination needs no pivots.
    DEVICE void invert() {
        EACH_STATE
        for (int c = 0; c < N; c++) {
            float inverse = 1.0f / q[c * N + c];
            q[c * N + c] = 1.0f;
            EACH_STATE
            for (int j = 0; j < N; j++) q[c * N + j] *= inverse;
            EACH_STATE
            for (int r = 0; r < N; r++) {
                if (r == c) continue;
                float factor = -q[r * N + c];
                q[r * N + c] = 0.0f;
                EACH_STATE
                for (int j = 0; j < N; j++) q[r * N + j] += factor * q[c * N + j];
            }
        }
    }

    DEVICE void step(const float* u, float* x) const {
        float next[N];
        EACH_STATE
        for (int i = 0; i < N; i++) {
            next[i] = bias[i];
            EACH_STATE
            for (int j = 0; j < N; j++) next[i] += a[i * N + j] * x[j];
            EACH_INPUT
            for (int j = 0; j < M; j++) next[i] += b[i * M + j] * READ(u + j);
        }
        EACH_STATE
        for (int i = 0; i < N; i++) x[i] = next[i];
    }

    DEVICE float output(int o, const float* u, const float* x) const {
        float y = offset[o];
        EACH_STATE
        for (int j = 0; j < N; j++) y += c[o * N + j] * x[j];
        EACH_INPUT
        for (int j = 0; j < M; j++) y += d[o * M + j] * READ(u + j);
        return y;
    }
};

// Gradients of a code's matrices.
struct Gradient {
    float a[N * N], b[N * AT_LEAST_1(M)], bias[N], c[P * N], d[P * AT_LEAST_1(M)], offset[P], log_s[P], start[N];

    DEVICE void put(const Theta& theta, const System& s, int column, const Target& target, int to) {
        transition(theta, s, column, target, to);
        EACH_INPUT
        for (int i = 0; i < N * M; i++) {
            float t = tanhf(theta.at(AT_INPUT + i, column)), g = GATED ? sigmoid(theta.at(AT_GATE + i, column)) : 1.0f;
            target.put(AT_INPUT + i, to, b[i] * g * (1.0f - t * t));
            if (GATED) target.put(AT_GATE + i, to, b[i] * t * (g - g * g));
        }
        EACH_STATE
        for (int i = 0; i < N; i++) target.put(AT_BIAS + i, to, bias[i]), target.put(AT_START + i, to, start[i]);
        EACH_OUTPUT
        for (int i = 0; i < P * N; i++) target.put(AT_EMISSION + i, to, c[i]);
        EACH_INPUT
        for (int i = 0; i < P * M; i++) target.put(AT_FEEDTHROUGH + i, to, d[i]);
        EACH_OUTPUT
        for (int i = 0; i < P; i++) {
            target.put(AT_OFFSET + i, to, offset[i]), target.put(AT_NOISE + i, to, log_s[i]);
            if (target.noise) target.noise[i * target.ld + to] = log_s[i];
        }
    }

    // From dQ = -(I + Q) dS (I + Q) / 2: the gradient of S is G_ij - G_ji, G = -(I + Q)^T dQ (I + Q)^T / 2.
    DEVICE void transition(const Theta& theta, const System& s, int column, const Target& target, int to) {
        float product[N * N];
        EACH_STATE
        for (int i = 0; i < N; i++) {
            float sigma = tanhf(theta.at(i, column)), d_sigma = 0.0f;
            EACH_STATE
            for (int j = 0; j < N; j++) {
                d_sigma += a[i * N + j] * s.q[i * N + j];
                a[i * N + j] *= sigma;
            }
            target.put(i, to, d_sigma * (1.0f - sigma * sigma));
        }
        EACH_STATE
        for (int i = 0; i < N; i++) {
            EACH_STATE
            for (int j = 0; j < N; j++) {
                float sum = a[i * N + j];
                EACH_STATE
                for (int k = 0; k < N; k++) sum += a[i * N + k] * s.q[j * N + k];
                product[i * N + j] = sum;
            }
        }
        EACH_STATE
        for (int i = 0; i < N; i++) {
            EACH_STATE
            for (int j = 0; j < N; j++) {
                float sum = product[i * N + j];
                EACH_STATE
                for (int k = 0; k < N; k++) sum += s.q[k * N + i] * product[k * N + j];
                a[i * N + j] = -0.5f * sum;
            }
        }
        int k = 0;
        EACH_STATE
        for (int i = 0; i < N; i++) {
            EACH_STATE
            for (int j = i + 1; j < N; j++) {
                float derivative;
                bounded(theta.at(AT_ROTATION + k, column), &derivative);
                target.put(AT_ROTATION + k++, to, (a[i * N + j] - a[j * N + i]) * derivative);
            }
        }
    }
};

// There and back over one stretch of inputs; pull(t, o, predicted) gives the gradient at output o of step t, last step first. States lie at
// states[(t N + i) stride] in between.
template <class Pull>
DEVICE void there_and_back(const System& s, const float* inputs, int n_time, float* states, long long stride, Gradient& g, Pull pull) {
    float x[N], lambda[N];
    EACH_STATE
    for (int i = 0; i < N; i++) x[i] = s.start[i], lambda[i] = 0.0f;
    for (int t = 0; t < n_time; t++) {
        s.step(inputs + (long long)t * M, x);
        EACH_STATE
        for (int i = 0; i < N; i++) states[((long long)t * N + i) * stride] = x[i];
    }
    for (int last = n_time - 1; last >= 0; last -= AHEAD) {
        float before[AHEAD][N];
#pragma unroll
        for (int e = 0; e < AHEAD; e++) {
            EACH_STATE
            for (int i = 0; i < N; i++) before[e][i] = last - e > 0 ? states[((long long)(last - e - 1) * N + i) * stride] : s.start[i];
        }
#pragma unroll
        for (int e = 0; e < AHEAD; e++) {
            int t = last - e;
            if (t < 0) break;
            const float* u = inputs + (long long)t * M;
            EACH_OUTPUT
            for (int o = 0; o < P; o++) {
                float d = pull(t, o, s.output(o, u, x));
                g.offset[o] += d;
                EACH_STATE
                for (int i = 0; i < N; i++) lambda[i] += d * s.c[o * N + i], g.c[o * N + i] += d * x[i];
                EACH_INPUT
                for (int j = 0; j < M; j++) g.d[o * M + j] += d * READ(u + j);
            }
            float next[N];
            EACH_STATE
            for (int i = 0; i < N; i++) {
                g.bias[i] += lambda[i], next[i] = 0.0f;
                EACH_STATE
                for (int j = 0; j < N; j++) g.a[i * N + j] += lambda[i] * before[e][j];
                EACH_INPUT
                for (int j = 0; j < M; j++) g.b[i * M + j] += lambda[i] * READ(u + j);
            }
            EACH_STATE
            for (int i = 0; i < N; i++) {
                EACH_STATE
                for (int j = 0; j < N; j++) next[j] += s.a[i * N + j] * lambda[i];
            }
            EACH_STATE
            for (int i = 0; i < N; i++) lambda[i] = next[i], x[i] = before[e][i];
        }
    }
    EACH_STATE
    for (int i = 0; i < N; i++) g.start[i] += lambda[i];
}

// weight times the log likelihood of a sequence; its gradient is added.
DEVICE double pull_sequence(const System& s, const Sequences& all, int i, float weight, float* states, long long stride, Gradient& g) {
    const float* outputs = all.outputs_of(i);
    float inverse[P], run = 0.0f;
    int seen[P];
    EACH_OUTPUT
    for (int o = 0; o < P; o++) inverse[o] = expf(-s.log_s[o]), seen[o] = 0;
    double total = 0.0;
    auto pull = [&](int t, int o, float predicted) {
        float y = READ(outputs + (long long)t * P + o), d = 0.0f;
        if (!isnan(y)) {
            float error = (y - predicted) * inverse[o];
            run += error * error, seen[o]++;
            g.log_s[o] += weight * (error * error - 1.0f);
            d = weight * error * inverse[o];
        }
        if (o == P - 1 && t % RUN == 0) total += run, run = 0.0f;
        return d;
    };
    there_and_back(s, all.inputs_of(i), READ(all.n_rows + i), states, stride, g, pull);
    total *= -0.5;
    EACH_OUTPUT
    for (int o = 0; o < P; o++) total -= seen[o] * (s.log_s[o] + HALF_LOG_2_PI);
    return weight * total;
}

// Predicted outputs of codes from `first` on, for sequences that share their inputs: outputs[o n_time + t][c], n codes side by side; and log s.
extern "C" __global__ void __launch_bounds__(32)
    roll_out(Theta theta, const float* inputs, int n_time, float* outputs, float* log_std, int first, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    System s;
    s.load(theta, first + c);
    float x[N];
    EACH_STATE
    for (int i = 0; i < N; i++) x[i] = s.start[i];
    for (int t = 0; t < n_time; t++) {
        const float* u = inputs + (long long)t * M;
        s.step(u, x);
        EACH_OUTPUT
        for (int o = 0; o < P; o++) outputs[((long long)o * n_time + t) * n + c] = s.output(o, u, x);
    }
    EACH_OUTPUT
    for (int o = 0; o < P; o++) log_std[o * n + c] = s.log_s[o];
}

// Their scores: scores[i][first + c], ld codes to a row. values[o n_time + t][i] are the outputs of the sequences side by side; behind them
// lie, by output, the sums of squares and how many were observed.
extern "C" __global__ void __launch_bounds__(256) score_shared(
    const float* outputs, const float* log_std, const float* values, int n_time, int n_seq, float* scores, int ld, int first, int n) {
    __shared__ float y[16][TILE_I], predicted[16][TILE_J];
    const int x = threadIdx.x % 32, row = threadIdx.x / 32, i0 = blockIdx.y * TILE_I, c0 = blockIdx.x * TILE_J;
    double totals[4][2] = {};
    for (int o = 0; o < P; o++) {
        double squares[4][2] = {};
        for (int t0 = 0; t0 < n_time; t0 += 16) {
            __syncthreads();
            for (int at = threadIdx.x; at < 16 * TILE_I; at += 256) {
                int t = t0 + at / TILE_I, i = i0 + at % TILE_I;
                y[at / TILE_I][at % TILE_I] = t < n_time && i < n_seq ? values[((long long)o * n_time + t) * n_seq + i] : nanf("");
            }
            for (int at = threadIdx.x; at < 16 * TILE_J; at += 256) {
                int t = t0 + at / TILE_J, c = c0 + at % TILE_J;
                predicted[at / TILE_J][at % TILE_J] = t < n_time && c < n ? outputs[((long long)o * n_time + t) * n + c] : 0.0f;
            }
            __syncthreads();
            float sums[4][2] = {};
#pragma unroll
            for (int t = 0; t < 16; t++) {
                float p[2] = {predicted[t][x], predicted[t][x + 32]};
#pragma unroll
                for (int r = 0; r < 4; r++) {
                    float seen = y[t][4 * row + r];
                    bool there = !isnan(seen);
#pragma unroll
                    for (int s = 0; s < 2; s++) {
                        float error = seen - p[s];
                        if (there) sums[r][s] += error * error;
                    }
                }
            }
#pragma unroll
            for (int r = 0; r < 4; r++) {
#pragma unroll
                for (int s = 0; s < 2; s++) squares[r][s] += sums[r][s];
            }
        }
#pragma unroll
        for (int r = 0; r < 4; r++) {
#pragma unroll
            for (int s = 0; s < 2; s++) {
                int i = i0 + 4 * row + r, c = c0 + x + 32 * s;
                if (i >= n_seq || c >= n) continue;
                float log_s = log_std[(long long)o * n + c], count = values[((long long)P * (n_time + 1) + o) * n_seq + i];
                totals[r][s] -= 0.5 * squares[r][s] * expf(-2.0f * log_s) + count * (log_s + HALF_LOG_2_PI);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int s = 0; s < 2; s++) {
            int i = i0 + 4 * row + r, c = c0 + x + 32 * s;
            if (i < n_seq && c < n) scores[(long long)i * ld + first + c] = totals[r][s];
        }
    }
}

// The score of row r: code r % n_codes on sequence (first + r) / per_sequence, in single precision, in double, or both.
extern "C" __global__ void __launch_bounds__(128)
    score_rows(Theta theta, Sequences all, int n_codes, int per_sequence, int first, int n, float* scores, double* log_likelihoods) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    int i = (first + r) / per_sequence, n_time = READ(all.n_rows + i);
    System s;
    s.load(theta, r % n_codes);
    const float *inputs = all.inputs_of(i), *outputs = all.outputs_of(i);
    float x[N], inverse[P], run = 0.0f;
    int seen[P];
    EACH_STATE
    for (int j = 0; j < N; j++) x[j] = s.start[j];
    EACH_OUTPUT
    for (int o = 0; o < P; o++) inverse[o] = expf(-s.log_s[o]), seen[o] = 0;
    double total = 0.0;
    for (int t = 0; t < n_time; t++) {
        const float* u = inputs + (long long)t * M;
        s.step(u, x);
        EACH_OUTPUT
        for (int o = 0; o < P; o++) {
            float y = READ(outputs + (long long)t * P + o);
            if (isnan(y)) continue;
            float error = (y - s.output(o, u, x)) * inverse[o];
            run += error * error, seen[o]++;
        }
        if (t % RUN == RUN - 1) total += run, run = 0.0f;
    }
    total = -0.5 * (total + run);
    EACH_OUTPUT
    for (int o = 0; o < P; o++) total -= seen[o] * (s.log_s[o] + HALF_LOG_2_PI);
    if (scores) scores[r] = total;
    if (log_likelihoods) log_likelihoods[r] = total;
}

// Row r is code r on one sequence: sequences[r], or r / per_sequence without a list; its weight weights[r], or `weight`.
struct Rows {
    const int* sequences;
    const float* weights;
    float weight;
    int per_sequence;
};

extern "C" __global__ void __launch_bounds__(32)
    pull_rows(Theta theta, Sequences all, Rows rows, Target target, float* states, double* totals, int first, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    int row = first + r;
    System s;
    s.load(theta, r);
    Gradient g = {};
    int i = rows.sequences ? rows.sequences[row] : row / rows.per_sequence;
    totals[r] = pull_sequence(s, all, i, rows.weights ? rows.weights[row] : rows.weight, states + r, n, g);
    g.put(theta, s, r, target, r);
}

// Codes by their weights on all sequences, which come in slices: rows of gradients of a slice lie behind those of the slice before.
extern "C" __global__ void __launch_bounds__(32) pull_weighted(
    Theta theta, Sequences all, Scored scored, Target target, float* states, double* totals, int n_rows, int n, int n_seq, int per_slice) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, slice = blockIdx.y;
    if (c >= n) return;
    System s;
    s.load(theta, c);
    Gradient g = {};
    double total = 0.0;
    long long at = (long long)slice * n + c, stride = (long long)gridDim.y * n;
    for (int i = slice * per_slice; i < min(n_seq, (slice + 1) * per_slice); i++) {
        float weight = scored.weight(i, c);
        if (weight != 0.0f) total += pull_sequence(s, all, i, weight, states + at, stride, g);
    }
    totals[at] = total;
    target.rows += (long long)slice * n_rows * n;
    g.put(theta, s, c, target, c);
}

// Weighted sums over sequences that share their inputs: sums[k][c] = sum of w_ic values[k][i], and masses[k][c] of the weights of those that
// were observed.
extern "C" __global__ void __launch_bounds__(256)
    weigh_shared(const float* values, Scored scored, float* sums, float* masses, int n_rows, int n_seq, int n) {
    __shared__ float y[16][TILE_I + 1], w[16][TILE_J];
    const int x = threadIdx.x % 32, row = threadIdx.x / 32, k0 = blockIdx.y * TILE_I, c0 = blockIdx.x * TILE_J;
    float own[4][2] = {}, mass[4][2] = {};
    for (int i0 = 0; i0 < n_seq; i0 += 16) {
        __syncthreads();
        for (int at = threadIdx.x; at < 16 * TILE_I; at += 256) {
            int k = k0 + at / 16, i = i0 + at % 16;
            y[at % 16][at / 16] = k < n_rows && i < n_seq ? values[(long long)k * n_seq + i] : nanf("");
        }
        for (int at = threadIdx.x; at < 16 * TILE_J; at += 256) {
            int i = i0 + at / TILE_J, c = c0 + at % TILE_J;
            w[at / TILE_J][at % TILE_J] = i < n_seq && c < n ? scored.weight(i, c) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) {
#pragma unroll
            for (int r = 0; r < 4; r++) {
                float seen = y[i][4 * row + r];
                if (isnan(seen)) continue;
#pragma unroll
                for (int s = 0; s < 2; s++) own[r][s] += w[i][x + 32 * s] * seen, mass[r][s] += w[i][x + 32 * s];
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int s = 0; s < 2; s++) {
            int k = k0 + 4 * row + r, c = c0 + x + 32 * s;
            if (k >= n_rows || c >= n) continue;
            sums[(long long)k * n + c] = own[r][s];
            masses[(long long)k * n + c] = mass[r][s];
        }
    }
}

// Codes by those sums.
extern "C" __global__ void __launch_bounds__(32) pull_shared(
    Theta theta, const float* inputs, int n_time, const float* sums, const float* masses, Target target, float* states, double* totals, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    System s;
    s.load(theta, c);
    Gradient g = {};
    float precision[P];
    double residual[P];
    const float* squares = sums + (long long)P * n_time * n;
    EACH_OUTPUT
    for (int o = 0; o < P; o++) precision[o] = expf(-2.0f * s.log_s[o]), residual[o] = squares[(long long)o * n + c];
    auto pull = [&](int t, int o, float predicted) {
        long long at = ((long long)o * n_time + t) * n + c;
        float target = READ(sums + at), error = READ(masses + at) * predicted - target;
        residual[o] += predicted * (error - target);
        return -precision[o] * error;
    };
    there_and_back(s, inputs, n_time, states + c, n, g, pull);
    double total = 0.0;
    EACH_OUTPUT
    for (int o = 0; o < P; o++) {
        double scaled = precision[o] * residual[o], count = squares[(long long)(P + o) * n + c];
        g.log_s[o] += (float)(scaled - count);
        total -= 0.5 * scaled + count * (s.log_s[o] + HALF_LOG_2_PI);
    }
    totals[c] = total;
    g.put(theta, s, c, target, c);
}

// Adds slices 1 ... to the first, in order.
extern "C" __global__ void add_slices(float* slices, int n_slices, int size) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= size) return;
    float sum = slices[at];
    for (int slice = 1; slice < n_slices; slice++) sum += slices[(long long)slice * size + at];
    slices[at] = sum;
}

// What is pulled at the shift of log s, for the codes of rows.
extern "C" __global__ void shift_pull(const float* d_noise, float* d_shifts, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n) return;
    float sum = 0.0f;
    for (int o = 0; o < P; o++) sum += d_noise[(long long)o * n + r];
    d_shifts[r] = sum;
}
