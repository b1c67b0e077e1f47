// A step of learning around the passes: codes from beliefs, the bound, the gradient of the loss, Adam.
//
//   z = mu + sigma e     bound = tau mean_s l - beta KL     g = -(1/B) d bound + lambda w     ||g|| clipped     Adam     average
//   noise that is matched:     log s <- max(floor, log s + kappa log(r^2 / s^2) / 2),     r^2 / s^2 read off the gradient
//
// Parameters: those of the model, then mu (n_codes x k) and log sigma. What a step is made of comes as one block of 4-byte words.

struct Step {
    // Temperature, weight of the divergence; whether deviations are held.
    float tau, beta;
    int is_hard;
    // Adam's: size of a step without the rate of a group, 1 / sqrt(1 - prod beta2), and the rest.
    float size, root_scale, beta1, beta2, rest1, rest2, epsilon;
    // Of the average: share that is kept. Longest gradient. Least log s of noise that is matched.
    float kept, clip, floor;
};

// What a step came to.
struct Report {
    double total, bound, squares, penalty;
    int is_finite, is_broken;
};

// codes[pair][d]; places: the code of each sequence.
extern "C" __global__ void draw_codes(
    const float* beliefs, const int* places, const float* noise, float* codes, float* weights, const Step* step, int n_codes, int n_seq, int draws,
    int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_seq * draws * k) return;
    int pair = i / k, at = places[pair / draws] * k + i % k;
    codes[i] = beliefs[at] + expf(beliefs[n_codes * k + at]) * noise[i];
    if (i % k == 0) weights[pair] = step->tau / (float)draws;
}

// Gradient of the loss with respect to the beliefs of the codes that take part.
extern "C" __global__ void pull_beliefs(
    const float* beliefs, const int* places, const float* noise, const float* d_codes, const Step* step, float* gradient, int n_codes, int n_seq,
    int draws, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_seq * k) return;
    int of = i / k, d = i % k, at = places[of] * k + d;
    float mean = beliefs[at], rho = beliefs[n_codes * k + at], sigma = expf(rho), d_mean = 0.0f, d_rho = 0.0f;
    for (int s = 0; s < draws; s++) {
        int pair = (of * draws + s) * k + d;
        d_mean += d_codes[pair];
        d_rho += d_codes[pair] * noise[pair] * sigma;
    }
    d_mean -= step->beta * mean;
    d_rho -= step->beta * expm1f(2.0f * rho);
    gradient[at] = -d_mean / (float)n_seq;
    gradient[n_codes * k + at] = step->is_hard ? 0.0f : -d_rho / (float)n_seq;
}

// The bound: total with temperature and weight, and as it is. One block.
extern "C" __global__ void __launch_bounds__(256) add_up_bound(
    const float* beliefs, const int* places, const double* log_likelihoods, const Step* step, Report* report, int n_codes, int n_seq, int draws,
    int k) {
    double total = 0.0, bound = 0.0;
    for (int of = threadIdx.x; of < n_seq; of += blockDim.x) {
        double fit = 0.0, divergence = 0.0;
        for (int s = 0; s < draws; s++) fit += log_likelihoods[of * draws + s];
        fit /= draws;
        for (int d = 0; d < k; d++) {
            double mean = beliefs[places[of] * k + d], rho = beliefs[n_codes * k + places[of] * k + d];
            divergence += 0.5 * (mean * mean + expm1(2.0 * rho)) - rho;
        }
        total += step->tau * fit - step->beta * divergence;
        bound += fit - divergence;
    }
    total = block_sum(total);
    bound = block_sum(bound);
    if (threadIdx.x == 0) report->total = total, report->bound = bound, report->is_broken = 0;
}

struct Groups {
    const int* start;
    const float* rate;
    const float* l2;
    int count;
};

// The last group that begins at or before `at`.
DEVICE int group_of(const Groups& groups, int at) {
    int low = 0, high = groups.count;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (groups.start[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

// Log deviations of the noise that follow the residuals; none if `n` is 0.
struct Matched {
    // Observed values of each output in all sequences; r^2 / s^2 at this step.
    const float* counts;
    float* residuals;
    int start, n;
    float damping;
};

// What the gradient says of the residuals, and takes it out: this noise goes by a rule of its own.
extern "C" __global__ void read_residuals(float* gradient, Matched noise, const Step* step, int n_codes, int n_seq) {
    int d = blockIdx.x * blockDim.x + threadIdx.x;
    if (d >= noise.n) return;
    float* g = gradient + noise.start + d;
    double excess = (double)*g * n_codes / n_seq / fmaxf(step->tau, 1.2e-38f);
    noise.residuals[d] = (float)(1.0 + excess / fmaxf(noise.counts[d], 1.0f));
    *g = 0.0f;
}

#define SHARE 4096

// Gradient of the loss in place of that of the bound, penalties added; sums of squares, and penalties, by block.
extern "C" __global__ void __launch_bounds__(256)
    finish_gradient(const float* parameters, float* gradient, Groups groups, double* parts, int n_model, int n, int n_seq) {
    double squares = 0.0, penalty = 0.0;
    int first = blockIdx.x * SHARE, group = group_of(groups, first);
    for (int at = first + threadIdx.x; at < min(n, first + SHARE); at += blockDim.x) {
        while (group + 1 < groups.count && groups.start[group + 1] <= at) group++;
        float g = gradient[at], l2 = groups.l2[group];
        if (at < n_model) g = -g / (float)n_seq;
        if (l2 > 0.0f) {
            float w = parameters[at];
            g += l2 * w;
            penalty += 0.5 * (double)l2 * (double)w * (double)w;
        }
        gradient[at] = g;
        squares += (double)(g * g); // a square that overflows f32 must not pass: it would freeze its parameter
    }
    squares = block_sum(squares);
    penalty = block_sum(penalty);
    if (threadIdx.x == 0) parts[2 * blockIdx.x] = squares, parts[2 * blockIdx.x + 1] = penalty;
}

extern "C" __global__ void __launch_bounds__(1024) add_up_gradient(const double* parts, int n_parts, Report* report) {
    double squares = 0.0, penalty = 0.0;
    for (int i = threadIdx.x; i < n_parts; i += blockDim.x) squares += parts[2 * i], penalty += parts[2 * i + 1];
    squares = block_sum(squares);
    penalty = block_sum(penalty);
    if (threadIdx.x == 0) {
        report->squares = squares, report->penalty = penalty;
        report->is_finite = isfinite(report->total) && isfinite(report->bound) && isfinite(squares) && isfinite(penalty);
    }
}

struct Optimiser {
    float* parameters;
    float* first_moment;
    float* second_moment;
    float* average; // or nothing
};

// One step of Adam into another state, so that a step that turns out bad is dropped.
extern "C" __global__ void __launch_bounds__(256)
    take_step(Optimiser from, Optimiser to, const float* gradient, Groups groups, const Step* step, Report* report, int n) {
    int first = blockIdx.x * SHARE, group = group_of(groups, first);
    float norm = (float)sqrt(report->squares), shrink = step->clip > 0.0f && norm > step->clip ? step->clip / norm : 1.0f;
    bool is_finite = report->is_finite;
    for (int at = first + threadIdx.x; at < min(n, first + SHARE); at += blockDim.x) {
        while (group + 1 < groups.count && groups.start[group + 1] <= at) group++;
        float g = gradient[at] * shrink;
        float m = step->beta1 * from.first_moment[at] + step->rest1 * g;
        float v = step->beta2 * from.second_moment[at] + step->rest2 * g * g;
        float w = from.parameters[at] - step->size * groups.rate[group] * m / (sqrtf(v) * step->root_scale + step->epsilon);
        to.first_moment[at] = m, to.second_moment[at] = v, to.parameters[at] = w;
        if (is_finite && !isfinite(w)) report->is_broken = 1;
        if (to.average) to.average[at] = step->kept * from.average[at] + (1.0f - step->kept) * w;
    }
}

// Part of the way to the residuals; no step more than halves or doubles s. Comes after `take_step`, which leaves these parameters where they were.
extern "C" __global__ void match_noise(Optimiser from, Optimiser to, Matched noise, const Step* step, Report* report) {
    int d = blockIdx.x * blockDim.x + threadIdx.x, at = noise.start + d;
    if (d >= noise.n) return;
    float by = fminf(fmaxf(0.5f * logf(fmaxf(noise.residuals[d], 1.2e-38f)), -0.7f), 0.7f);
    float w = fmaxf(from.parameters[at] + noise.damping * by, step->floor);
    to.parameters[at] = w;
    if (!isfinite(w)) report->is_broken = 1;
    if (to.average) to.average[at] = step->kept * from.average[at] + (1.0f - step->kept) * w;
}
