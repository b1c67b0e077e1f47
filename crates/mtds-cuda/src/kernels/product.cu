// Dense products of row-major matrices on tensor cores.
//
//   C (m x n) = op(A) op(B) + bias        A: m x k, or k x m read transposed;  B: k x n, or n x k read transposed
//
// A block computes 128 x 64 of C, its eight warps 32 x 32 each; tiles of A and B, 16 deep, come through three stages of shared
// memory. gridDim.z = several products of one form x parts of k; parts are written side by side and added up in order.

#define TILE_M 128
#define TILE_N 64
#define TILE_K 16
#define STAGES 3
// Rows of a tile in shared memory lie so far apart that a warp reads all banks.
#define A_ROWS 20
#define A_COLUMNS 136
#define B_ROWS 20
#define B_COLUMNS 72

struct Product {
    const float* a;
    const float* b;
    const float* bias;
    float* c;
    int m, n, k, lda, ldb, ldc;
    int a_is_transposed, b_is_transposed;
    // Whether rows may be read 16 bytes at a time.
    int wide_a, wide_b;
    int count, parts;
    // Of each of up to four products.
    long long a_at[4], c_at[4];
    // Between the parts of k.
    long long part_step;
};

DEVICE void copy_4(float* to, const float* from, bool there) {
    u32 at = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(there ? 4 : 0));
}

DEVICE void copy_16(float* to, const float* from, bool there) {
    u32 at = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(from), "r"(there ? 16 : 0));
}

// A tile of `rows` x `columns` of a matrix from (row, column) on; beyond its ends zeros.
template <int rows, int columns>
DEVICE void load_tile(float* tile, int tile_ld, const float* matrix, int ld, int row, int column, int n_rows, int n_columns, bool wide) {
    if (wide) {
        for (int i = threadIdx.x; i < rows * columns / 4; i += 256) {
            int r = i / (columns / 4), c = i % (columns / 4) * 4;
            bool there = row + r < n_rows && column + c < n_columns;
            copy_16(tile + r * tile_ld + c, there ? matrix + (long long)(row + r) * ld + column + c : matrix, there);
        }
    } else {
        for (int i = threadIdx.x; i < rows * columns; i += 256) {
            int r = i / columns, c = i % columns;
            bool there = row + r < n_rows && column + c < n_columns;
            copy_4(tile + r * tile_ld + c, there ? matrix + (long long)(row + r) * ld + column + c : matrix, there);
        }
    }
}

template <int a_is_transposed, int b_is_transposed>
DEVICE void product_of(const Product& p) {
    __shared__ __align__(16) float a_tiles[STAGES][TILE_M * A_ROWS];
    __shared__ __align__(16) float b_tiles[STAGES][TILE_N * B_ROWS];
    const int which = blockIdx.z / p.parts, part = blockIdx.z % p.parts;
    const float* a = p.a + p.a_at[which];
    const int m0 = blockIdx.y * TILE_M, n0 = blockIdx.x * TILE_N;
    const int n_tiles = (p.k + TILE_K - 1) / TILE_K, per_part = (n_tiles + p.parts - 1) / p.parts;
    const int first = part * per_part, last = min(n_tiles, first + per_part);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int warp_m = warp / 2 * 32, warp_n = warp % 2 * 32;
    float c[2][4][4] = {};

    auto load = [&](int tile) {
        int k0 = tile * TILE_K, stage = (tile - first) % STAGES;
        if (a_is_transposed)
            load_tile<TILE_K, TILE_M>(a_tiles[stage], A_COLUMNS, a, p.lda, k0, m0, p.k, p.m, p.wide_a);
        else
            load_tile<TILE_M, TILE_K>(a_tiles[stage], A_ROWS, a, p.lda, m0, k0, p.m, p.k, p.wide_a);
        if (b_is_transposed)
            load_tile<TILE_N, TILE_K>(b_tiles[stage], B_ROWS, p.b, p.ldb, n0, k0, p.n, p.k, p.wide_b);
        else
            load_tile<TILE_K, TILE_N>(b_tiles[stage], B_COLUMNS, p.b, p.ldb, k0, n0, p.k, p.n, p.wide_b);
    };
    for (int s = 0; s < STAGES - 1; s++) {
        if (first + s < last) load(first + s);
        asm volatile("cp.async.commit_group;");
    }
    for (int tile = first; tile < last; tile++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
        __syncthreads();
        if (tile + STAGES - 1 < last) load(tile + STAGES - 1);
        asm volatile("cp.async.commit_group;");
        const float* as = a_tiles[(tile - first) % STAGES];
        const float* bs = b_tiles[(tile - first) % STAGES];
#pragma unroll
        for (int k = 0; k < TILE_K; k += 8) {
            Left left[2];
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    int row = warp_m + i * 16 + g + e % 2 * 8, column = k + t + e / 2 * 4;
                    left[i].set(e, a_is_transposed ? as[column * A_COLUMNS + row] : as[row * A_ROWS + column]);
                }
#pragma unroll
            for (int j = 0; j < 4; j++) {
                int column = warp_n + j * 8 + g;
                float b0 = b_is_transposed ? bs[column * B_ROWS + k + t] : bs[(k + t) * B_COLUMNS + column];
                float b1 = b_is_transposed ? bs[column * B_ROWS + k + t + 4] : bs[(k + t + 4) * B_COLUMNS + column];
#pragma unroll
                for (int i = 0; i < 2; i++) multiply_add(c[i][j], left[i], b0, b1);
            }
        }
    }
    float* out = p.c + p.c_at[which] + part * p.part_step;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            for (int e = 0; e < 4; e++) {
                int row = m0 + warp_m + i * 16 + g + e / 2 * 8, column = n0 + warp_n + j * 8 + 2 * t + e % 2;
                if (row < p.m && column < p.n)
                    out[(long long)row * p.ldc + column] = c[i][j][e] + (p.bias ? p.bias[column] : 0.0f);
            }
}

extern "C" __global__ void __launch_bounds__(256) product_plain(Product p) {
    product_of<0, 0>(p);
}
extern "C" __global__ void __launch_bounds__(256) product_right_transposed(Product p) {
    product_of<0, 1>(p);
}
extern "C" __global__ void __launch_bounds__(256) product_left_transposed(Product p) {
    product_of<1, 0>(p);
}

// out (row-major, ld) = sum of parts of m x n numbers each, in their order; blockIdx.y: which of several products, `out_step` apart.
extern "C" __global__ void add_parts(const float* parts, int n_parts, int m, int n, float* out, int ld, int out_step) {
    parts += (long long)blockIdx.y * n_parts * m * n, out += (long long)blockIdx.y * out_step;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i >= (long long)m * n) return;
    float sum = 0.0f;
    for (int s = 0; s < n_parts; s++) sum += parts[(long long)s * m * n + i];
    out[i / n * ld + i % n] = sum;
}

struct ColumnSums {
    // By blockIdx.y: where the columns begin, and where their sums go.
    long long from[8], to[8];
};

// out[c] = sum over rows of m[row][c]: a block has 32 columns, its eight warps take turns with the rows.
extern "C" __global__ void __launch_bounds__(256)
    column_sums(const float* m, int n_rows, int n_columns, int ld, float* out, ColumnSums places) {
    __shared__ float sums[8][32];
    const float* from = m + places.from[blockIdx.y];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, c = blockIdx.x * 32 + lane;
    float sum = 0.0f;
    if (c < n_columns)
        for (int row = warp; row < n_rows; row += 8) sum += from[(long long)row * ld + c];
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && c < n_columns) {
        for (int w = 1; w < 8; w++) sum += sums[w][lane];
        out[places.to[blockIdx.y] + c] = sum;
    }
}
