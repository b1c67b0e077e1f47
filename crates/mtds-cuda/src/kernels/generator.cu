// The generator: codes -> hidden layers -> the parameters of a base model, for all pairs of a sequence and a code at once.
//
//   h_l = f(W_l h_{l-1} + b_l)      theta_i = W_L h + b_L [+ W_s z]   where the code adapts it, shared or fixed elsewhere
//
// source[i] says where theta_i comes from: row a of the last layer (a >= 0), shared number -1 - source (down to -n_shared), or,
// below that, fixed[i].

// A hidden layer: out[pair][unit].
extern "C" __global__ void hidden_layer(
    const float* weights, const float* bias, const float* in, float* out, int n_pairs, int n_in, int n_out, int form) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_pairs * n_out) return;
    int pair = i / n_out, unit = i % n_out;
    float sum = bias[unit];
    for (int j = 0; j < n_in; j++) sum += weights[(long long)unit * n_in + j] * in[(long long)pair * n_in + j];
    out[i] = activate(sum, form);
}

// theta[pair][i], 8 pairs a thread; `shifts`, if there are any, are added to log s.
extern "C" __global__ void last_layer(
    const float* weights, const float* bias, const float* skip, const float* shared, const float* fixed, const int* source, const float* in,
    const float* codes, const float* shifts, float* theta, int n_pairs, int n_in, int n_code, int n_shared, int n_theta) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, pair0 = blockIdx.y * 8;
    if (i >= n_theta) return;
    int from = source[i], n = min(8, n_pairs - pair0);
    float sums[8];
    float first = from >= 0 ? bias[from] : from >= -n_shared ? shared[-1 - from] : fixed[i];
#pragma unroll
    for (int p = 0; p < 8; p++) sums[p] = first;
    if (from >= 0) {
        for (int j = 0; j < n_in; j++) {
            float w = weights[(long long)from * n_in + j];
#pragma unroll
            for (int p = 0; p < 8; p++)
                if (p < n) sums[p] += w * in[(long long)(pair0 + p) * n_in + j];
        }
        if (skip)
            for (int j = 0; j < n_code; j++) {
                float w = skip[(long long)from * n_code + j];
#pragma unroll
                for (int p = 0; p < 8; p++)
                    if (p < n) sums[p] += w * codes[(long long)(pair0 + p) * n_code + j];
            }
    }
#pragma unroll
    for (int p = 0; p < 8; p++) {
        if (p >= n) continue;
        if (shifts && i >= AT_NOISE && i < AT_NOISE + P) sums[p] += shifts[pair0 + p];
        theta[(long long)(pair0 + p) * n_theta + i] = sums[p];
    }
}

// What is pulled at the shift of log s.
extern "C" __global__ void shift_gradient(const float* d_theta, float* d_shifts, int n_pairs) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= n_pairs) return;
    float sum = 0.0f;
    for (int d = 0; d < P; d++) sum += d_theta[(long long)pair * N_THETA + AT_NOISE + d];
    d_shifts[pair] = sum;
}

// Gradients of the last layer: row a of weights (n_in), bias and skip weights (n_code), and of shared numbers. Adds where pairs come in
// several blocks. place[a] is the i that row a is for.
extern "C" __global__ void last_layer_gradient(
    const float* d_theta, const int* place, const float* in, const float* codes, float* d_weights, float* d_bias, float* d_skip, int n_pairs,
    int n_in, int n_code, int n_adapted, int n_theta) {
    int width = n_in + 1 + (d_skip ? n_code : 0);
    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= (long long)n_adapted * width) return;
    int row = at / width, j = at % width;
    const float* d = d_theta + place[row];
    float sum = 0.0f;
    for (int p = 0; p < n_pairs; p++) {
        float x = j < n_in ? in[(long long)p * n_in + j] : j == n_in ? 1.0f : codes[(long long)p * n_code + j - n_in - 1];
        sum += d[(long long)p * n_theta] * x;
    }
    float* to = j < n_in ? d_weights + (long long)row * n_in + j : j == n_in ? d_bias + row : d_skip + (long long)row * n_code + j - n_in - 1;
    *to += sum;
}

extern "C" __global__ void shared_gradient(const float* d_theta, const int* source, float* d_shared, int n_pairs, int n_shared, int n_theta) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_theta || source[i] >= 0 || source[i] < -n_shared) return;
    float sum = 0.0f;
    for (int p = 0; p < n_pairs; p++) sum += d_theta[(long long)p * n_theta + i];
    d_shared[-1 - source[i]] += sum;
}

// What the last layer pulls at its input, part by part of theta: parts[part][pair][j], j over n_in and, with skip, n_code more.
extern "C" __global__ void last_layer_pull(
    const float* weights, const float* skip, const int* place, const float* d_theta, float* parts, int n_pairs, int n_in, int n_code,
    int n_adapted, int n_theta) {
    int width = n_in + (skip ? n_code : 0), pair = blockIdx.y, per_part = (n_adapted + gridDim.x - 1) / gridDim.x;
    int first = blockIdx.x * per_part, last = min(n_adapted, first + per_part);
    const float* d = d_theta + (long long)pair * n_theta;
    for (int j0 = 0; j0 < width; j0 += 8) {
        float sums[8] = {};
        for (int row = first + threadIdx.x; row < last; row += blockDim.x) {
            float x = d[place[row]];
#pragma unroll
            for (int e = 0; e < 8; e++) {
                int j = j0 + e;
                if (j < width) sums[e] += x * (j < n_in ? weights[(long long)row * n_in + j] : skip[(long long)row * n_code + j - n_in]);
            }
        }
        for (int e = 0; e < 8 && j0 + e < width; e++) {
            float sum = block_sum(sums[e]);
            if (threadIdx.x == 0) parts[((long long)blockIdx.x * n_pairs + pair) * width + j0 + e] = sum;
        }
    }
}

// Adds up the parts of columns `at` ... `at + n_out`: times the slope of the layer that they are the values of, or added to what is there.
extern "C" __global__ void add_pulls(
    const float* parts, int n_parts, int width, int at, const float* values, int form, float* out, int n_pairs, int n_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_pairs * n_out) return;
    int pair = i / n_out, j = i % n_out;
    float sum = 0.0f;
    for (int s = 0; s < n_parts; s++) sum += parts[((long long)s * n_pairs + pair) * width + at + j];
    if (values) out[i] = sum * slope(values[i], form);
    else out[i] += sum;
}

// A hidden layer back: gradients of its weights and bias, added.
extern "C" __global__ void hidden_layer_gradient(
    const float* d_inner, const float* in, float* d_weights, float* d_bias, int n_pairs, int n_in, int n_out) {
    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (at >= (long long)n_out * (n_in + 1)) return;
    int unit = at / (n_in + 1), j = at % (n_in + 1);
    float sum = 0.0f;
    for (int p = 0; p < n_pairs; p++) sum += d_inner[(long long)p * n_out + unit] * (j < n_in ? in[(long long)p * n_in + j] : 1.0f);
    if (j < n_in) d_weights[(long long)unit * n_in + j] += sum;
    else d_bias[unit] += sum;
}

// And at its input: times the slope of the layer whose values that is, or, at the code, added to what is there.
extern "C" __global__ void hidden_layer_pull(
    const float* weights, const float* d_inner, const float* values, int form, float* d_in, int n_pairs, int n_in, int n_out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_pairs * n_in) return;
    int pair = i / n_in, j = i % n_in;
    float sum = 0.0f;
    for (int u = 0; u < n_out; u++) sum += weights[(long long)u * n_in + j] * d_inner[(long long)pair * n_out + u];
    if (values) d_in[i] = sum * slope(values[i], form);
    else d_in[i] += sum;
}
