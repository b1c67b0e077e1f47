// The generator for many codes side by side, and back. Column c of a matrix is code c, so that threads of a warp read neighbouring numbers;
// rows lie `ld` apart.
//
//   features -> h_l = f(W_l h_{l-1} + b_l) -> W_L h + b_L [+ W_s z]: the adapted numbers of theta, a row each
//
// The first D_CODE features are the code itself.

#define TILE_I 32
#define TILE_J 64
#define TILE_K 16
#define N_FEATURES (TRIGONOMETRIC ? 3 * D_CODE + 1 : D_CODE)

// Adds to a tile of C = A B, TILE_I x TILE_J, the products of k in [first, last). A block has 256 threads; thread (y, x) of 8 x 32 has rows
// 4 y ... 4 y + 3 of columns x and x + 32. a(i, k) and b(k, j) read; where k is what lies side by side, they say so. The next tile is on
// its way while one is multiplied.
template <bool a_along_k, bool b_along_k, class A, class B>
DEVICE void add_product(float (&sums)[4][2], int first, int last, A a, B b) {
    __shared__ float4 a_tile[TILE_K][TILE_I / 4 + 1];
    __shared__ float b_tile[TILE_K][TILE_J + 1];
    const int thread = threadIdx.x, x = thread % 32, y = thread / 32;
    float next_a[2], next_b[4];
    auto fetch = [&](int k0) {
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int i = a_along_k ? thread / TILE_K + e * 16 : thread % TILE_I, k = a_along_k ? thread % TILE_K : thread / TILE_I + e * 8;
            next_a[e] = k0 + k < last ? a(i, k0 + k) : 0.0f;
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int j = b_along_k ? thread / TILE_K + e * 16 : thread % TILE_J, k = b_along_k ? thread % TILE_K : thread / TILE_J + e * 4;
            next_b[e] = k0 + k < last ? b(k0 + k, j) : 0.0f;
        }
    };
    fetch(first);
    for (int k0 = first; k0 < last; k0 += TILE_K) {
        __syncthreads();
#pragma unroll
        for (int e = 0; e < 2; e++) {
            int i = a_along_k ? thread / TILE_K + e * 16 : thread % TILE_I, k = a_along_k ? thread % TILE_K : thread / TILE_I + e * 8;
            ((float*)a_tile[k])[i] = next_a[e];
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int j = b_along_k ? thread / TILE_K + e * 16 : thread % TILE_J, k = b_along_k ? thread % TILE_K : thread / TILE_J + e * 4;
            b_tile[k][j] = next_b[e];
        }
        __syncthreads();
        if (k0 + TILE_K < last) fetch(k0 + TILE_K);
#pragma unroll
        for (int k = 0; k < TILE_K; k++) {
            float4 four = a_tile[k][y];
            float b0 = b_tile[k][x], b1 = b_tile[k][x + 32];
            sums[0][0] += four.x * b0, sums[1][0] += four.y * b0, sums[2][0] += four.z * b0, sums[3][0] += four.w * b0;
            sums[0][1] += four.x * b1, sums[1][1] += four.y * b1, sums[2][1] += four.z * b1, sums[3][1] += four.w * b1;
        }
    }
}

// What this thread has of a tile that begins at (i0, j0), within n_i x n_j.
template <class Put>
DEVICE void put_tile(const float (&sums)[4][2], int i0, int j0, int n_i, int n_j, Put put) {
    const int x = threadIdx.x % 32, y = threadIdx.x / 32;
#pragma unroll
    for (int r = 0; r < 4; r++) {
#pragma unroll
        for (int s = 0; s < 2; s++) {
            int i = i0 + 4 * y + r, j = j0 + x + 32 * s;
            if (i < n_i && j < n_j) put(i, j, sums[r][s]);
        }
    }
}

// codes[c][d] to features[f][c].
extern "C" __global__ void code_features(const float* codes, float* features, int ld, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    float square = 0.0f;
    for (int d = 0; d < D_CODE; d++) {
        float z = codes[(long long)c * D_CODE + d];
        features[(long long)d * ld + c] = z;
#if TRIGONOMETRIC
        features[(long long)(D_CODE + d) * ld + c] = sinf(z);
        features[(long long)(2 * D_CODE + d) * ld + c] = cosf(z);
        square += z * z;
#endif
    }
#if TRIGONOMETRIC
    features[(long long)(3 * D_CODE) * ld + c] = sqrtf(square);
#endif
}

// What features pull at the codes: d_codes[c][d] += ...
extern "C" __global__ void code_pull(const float* features, int ld, const float* d_features, float* d_codes, int n) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= n) return;
    for (int d = 0; d < D_CODE; d++) {
        float sum = d_features[(long long)d * n + c];
#if TRIGONOMETRIC
        float z = features[(long long)d * ld + c];
        float sine = features[(long long)(D_CODE + d) * ld + c], cosine = features[(long long)(2 * D_CODE + d) * ld + c];
        // At z = 0, where the norm has no derivative, its share is zero.
        float norm = fmaxf(features[(long long)(3 * D_CODE) * ld + c], 1e-30f);
        sum += d_features[(long long)(D_CODE + d) * n + c] * cosine - d_features[(long long)(2 * D_CODE + d) * n + c] * sine;
        sum += d_features[(long long)(3 * D_CODE) * n + c] * (z / norm);
#endif
        d_codes[(long long)c * D_CODE + d] += sum;
    }
}

// A layer: out[unit][c]; without a bias, added to what is there.
extern "C" __global__ void __launch_bounds__(256)
    layer(const float* weights, const float* bias, const float* in, float* out, int ld, int n, int n_in, int n_out, int form) {
    const int i0 = blockIdx.y * TILE_I, j0 = blockIdx.x * TILE_J;
    float sums[4][2] = {};
    add_product<true, false>(
        sums, 0, n_in, [=](int i, int k) { return i0 + i < n_out ? weights[(long long)(i0 + i) * n_in + k] : 0.0f; },
        [=](int k, int j) { return j0 + j < n ? in[(long long)k * ld + j0 + j] : 0.0f; });
    put_tile(sums, i0, j0, n_out, n, [=](int unit, int c, float sum) {
        float* to = out + (long long)unit * ld + c;
        *to = bias ? activate(sum + bias[unit], form) : *to + sum;
    });
}

// What a layer pulls at its input, n columns side by side: times the slope of the layer whose values (ld apart) that is; or, without
// values, as it is; added to what is there if `adds`.
extern "C" __global__ void __launch_bounds__(256) layer_pull(
    const float* weights, const float* d_out, const float* values, int ld, float* d_in, int n, int n_in, int n_out, int form, int adds) {
    const int i0 = blockIdx.y * TILE_I, j0 = blockIdx.x * TILE_J;
    float sums[4][2] = {};
    add_product<false, false>(
        sums, 0, n_out, [=](int i, int k) { return i0 + i < n_in ? weights[(long long)k * n_in + i0 + i] : 0.0f; },
        [=](int k, int j) { return j0 + j < n ? d_out[(long long)k * n + j0 + j] : 0.0f; });
    put_tile(sums, i0, j0, n_in, n, [=](int unit, int c, float sum) {
        float* to = d_in + (long long)unit * n + c;
        if (values) sum *= slope(values[(long long)unit * ld + c], form);
        *to = adds ? *to + sum : sum;
    });
}

// Gradients of a layer's weights and, in one column more, of its bias, part by part of the codes: parts[part][unit][j], j over n_in + 1.
extern "C" __global__ void __launch_bounds__(256)
    layer_gradient(const float* d_out, const float* in, int ld, float* parts, int n, int n_in, int n_out, int per_part) {
    const int i0 = blockIdx.y * TILE_I, j0 = blockIdx.x * TILE_J, first = blockIdx.z * per_part;
    float sums[4][2] = {};
    add_product<true, true>(
        sums, first, min(n, first + per_part), [=](int i, int c) { return i0 + i < n_out ? d_out[(long long)(i0 + i) * n + c] : 0.0f; },
        [=](int c, int j) { return j0 + j < n_in ? in[(long long)(j0 + j) * ld + c] : j0 + j == n_in ? 1.0f : 0.0f; });
    float* own = parts + (long long)blockIdx.z * n_out * (n_in + 1);
    put_tile(sums, i0, j0, n_out, n_in + 1, [=](int unit, int j, float sum) { own[(long long)unit * (n_in + 1) + j] = sum; });
}

// Adds the parts up, in order, to what is there. Rows from n_out on are those of shared numbers, which have the column of the bias alone.
extern "C" __global__ void add_gradient(
    const float* parts, int n_parts, int n_in, int n_rows, int n_out, float* d_weights, float* d_bias, float* d_shared) {
    long long at = blockIdx.x * (long long)blockDim.x + threadIdx.x, size = (long long)n_rows * (n_in + 1);
    if (at >= size) return;
    int row = at / (n_in + 1), j = at % (n_in + 1);
    float* to = row < n_out ? (j < n_in ? d_weights + (long long)row * n_in + j : d_bias ? d_bias + row : nullptr)
                            : (j == n_in ? d_shared + (row - n_out) : nullptr);
    if (!to) return;
    float sum = 0.0f;
    for (int part = 0; part < n_parts; part++) sum += parts[part * size + at];
    *to += sum;
}

// to[row][q] = from[row][columns[q]].
extern "C" __global__ void gather_columns(const float* from, int ld, const int* columns, float* to, int n, int n_rows) {
    int q = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (q < n) to[(long long)row * n + q] = from[(long long)row * ld + columns[q]];
}
