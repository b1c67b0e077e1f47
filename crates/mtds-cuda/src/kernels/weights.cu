// Scores of many codes by sequence, and what becomes of them: evidence, weights, resampled codes.
//
//   w_ic = e^(score_ic) / (n_seq sum over c' of e^(score_ic'))
//
// scores[i][c], ld codes to a row. Sums are in an order that does not depend on anything.

// Weights, relative to the largest of a sequence, that are taken for zero.
#define NEGLIGIBLE 1e-12f

struct Scored {
    const float* scores;
    // By sequence: the largest score, and 1 / (n_seq sum of e^(score - largest)).
    const float* largest;
    const float* factor;
    long long ld;
    DEVICE float weight(int i, int c) const {
        float e = expf(READ(scores + i * ld + c) - READ(largest + i));
        // NaN stays NaN: what is broken must show.
        return (e <= NEGLIGIBLE ? 0.0f : e - NEGLIGIBLE) * READ(factor + i);
    }
};

DEVICE float block_largest(float x) {
    __shared__ float parts[256];
    parts[threadIdx.x] = x;
    __syncthreads();
    for (int by = 128; by > 0; by /= 2) {
        if ((int)threadIdx.x < by) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + by]);
        __syncthreads();
    }
    return parts[0];
}

// A block of 256 for each sequence: log evidence, then effective numbers of codes, in `summary`.
extern "C" __global__ void __launch_bounds__(256)
    summarise(const float* scores, int n, int n_seq, float* largest, float* factor, double* summary) {
    int i = blockIdx.x;
    const float* own = scores + (long long)i * n;
    float most = __uint_as_float(0xff800000u);
    for (int c = threadIdx.x; c < n; c += 256) most = fmaxf(most, own[c]);
    most = block_largest(most);
    double total = 0.0, squares = 0.0;
    for (int c = threadIdx.x; c < n; c += 256) {
        double e = expf(own[c] - most);
        total += e, squares += e * e;
    }
    total = block_sum(total);
    squares = block_sum(squares);
    if (threadIdx.x != 0) return;
    largest[i] = most;
    factor[i] = 1.0 / (n_seq * total);
    summary[i] = most + log(total) - log((double)n);
    summary[n_seq + i] = total * total / squares;
}

// A block of 256 for each sequence: for each of its uniforms the code at which the cumulated weight reaches it.
extern "C" __global__ void __launch_bounds__(256)
    resample(const float* scores, const float* largest, int n, const double* uniforms, int per_sequence, int* picks) {
    __shared__ double reached[2][256];
    const int i = blockIdx.x, thread = threadIdx.x, each = (n + 255) / 256, first = thread * each, last = min(n, first + each);
    const float *own = scores + (long long)i * n, most = largest[i];
    double sum = 0.0;
    for (int c = first; c < last; c++) sum += expf(own[c] - most);
    // Cumulated over the threads, by doubling.
    int now = 0;
    reached[0][thread] = sum;
    __syncthreads();
    for (int by = 1; by < 256; by *= 2, now = 1 - now) {
        reached[1 - now][thread] = reached[now][thread] + (thread >= by ? reached[now][thread - by] : 0.0);
        __syncthreads();
    }
    const double* up_to = reached[now];
    for (int q = thread; q < per_sequence; q += 256) picks[i * per_sequence + q] = n - 1;
    __syncthreads();
    double before = thread > 0 ? up_to[thread - 1] : 0.0;
    for (int q = 0; q < per_sequence; q++) {
        double wanted = uniforms[(long long)i * per_sequence + q] * up_to[255];
        bool is_here = wanted <= up_to[thread] && (thread == 0 || wanted > before);
        if (!is_here || first >= last) continue;
        double rest = wanted - before;
        int picked = first;
        for (int c = first; c < last; c++) {
            float e = expf(own[c] - most);
            if (e > 0.0f) picked = c;
            rest -= e;
            if (rest <= 0.0) break;
        }
        picks[i * per_sequence + q] = picked;
    }
}

// Adds n numbers up, to what is there; one block of 256.
extern "C" __global__ void __launch_bounds__(256) add_up(const double* numbers, int n, double* to) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < n; i += 256) sum += numbers[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) *to += sum;
}
