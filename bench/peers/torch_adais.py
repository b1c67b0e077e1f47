"""One update of Algorithm 2 in eager PyTorch; arrays are (feature, draw), so that draws fill the lanes."""

import math

import torch

import adais
from adais import D, D_CODE

UPPER = torch.triu_indices(4, 4, 1)


def product(P, Q):
    """(a, b, M) × (b, c, M)."""
    return (P.unsqueeze(2) * Q.unsqueeze(0)).sum(1)


def cayley(g):
    """(6, M) → (4, 4, M): (I - S)(I + S)⁻¹ in closed form."""
    S = g.new_zeros(4, 4, g.shape[1])
    S[UPPER[0], UPPER[1]] = g
    S[UPPER[1], UPPER[0]] = -g
    a, pfaffian2 = (g * g).sum(0), (g[0] * g[5] - g[1] * g[4] + g[2] * g[3]) ** 2
    eye, S2 = torch.eye(4).unsqueeze(2), product(S, S)
    top = (1 + a - pfaffian2) * eye + 2 * S2 - 2 * product(S, S2 + (1 + a) * eye)
    return top / (1 + a + pfaffian2)


def rollout(z, weights, n_time):
    """(4, M) codes → (T, M) mean outputs."""
    W1, c1, W2, c2 = weights
    feature = torch.cat([z, z.sin(), z.cos(), z.norm(dim=0, keepdim=True)])
    theta = torch.addmm(c2, W2, torch.sigmoid(torch.addmm(c1, W1, feature)))
    A = theta[:4].tanh().unsqueeze(1) * cayley(theta[4:10])
    states = [torch.sigmoid(theta[10:14]) * theta[14:18].tanh()]
    for _ in range(n_time - 1):
        states.append((A * states[-1]).sum(1))
    return (torch.stack(states) * theta[18:22]).sum(1)


def log_target(u, y, weights):
    """Log likelihood plus log prior of (D, M) draws, up to a constant."""
    means = rollout(u[:D_CODE], weights, y.shape[0])
    log_std = adais.LOG_STD_MEAN + adais.LOG_STD_STD * u[D_CODE]
    error = ((y.unsqueeze(1) - means) ** 2).sum(0)
    return -0.5 * error * torch.exp(-2 * log_std) - y.shape[0] * log_std - 0.5 * (u * u).sum(0)


def component_log_density(u, mixture):
    """(J, M): log π_j + log N(u | μ_j, Σ_j)."""
    weight, mean, cov = mixture
    chol = torch.linalg.cholesky_ex(cov)[0]
    inverse = torch.linalg.solve_triangular(chol, torch.eye(D).expand_as(chol), upper=False)
    r = inverse @ (u - mean.unsqueeze(2))
    log_det = torch.diagonal(chol, dim1=1, dim2=2).log().sum(1)
    constant = weight.log() - log_det - 0.5 * D * math.log(2 * math.pi)
    return constant.unsqueeze(1) - 0.5 * (r * r).sum(1)


def draw(mixture, n):
    """(D, n) draws, sorted by component."""
    weight, mean, cov = mixture
    counts = torch.bincount(torch.multinomial(weight, n, replacement=True), minlength=len(weight)).tolist()
    chol = torch.linalg.cholesky(cov)
    normals = torch.randn(D, n).split(counts, 1)
    return torch.cat([mean[j].unsqueeze(1) + chol[j] @ e for j, e in enumerate(normals)], 1)


def weighted_em(u, w, ess, mixture):
    """EM on weighted draws; the mixture before it counts as one pseudo-draw per component."""
    _, mean0, cov0 = mixture
    n_effective = ess.clamp_min(D + 2.0)
    for _ in range(adais.EM_ITERATIONS):
        r = torch.softmax(component_log_density(u, mixture), 0) * (w * n_effective)
        n = r.sum(1) + 1
        mean = (r @ u.t() + mean0) / n.unsqueeze(1)
        d, d0 = u - mean.unsqueeze(2), mean0 - mean
        scatter = (r.unsqueeze(1) * d) @ d.transpose(1, 2) + cov0 + d0.unsqueeze(2) * d0.unsqueeze(1)
        mixture = n / n.sum(), mean, scatter / n[:, None, None] + adais.JITTER * torch.eye(D)
    return mixture


def kmeans_start(u, w):
    """A mixture from k-means on draws resampled by weight."""
    x = u[:, torch.multinomial(w, u.shape[1], replacement=True)]
    centre, label = x[:, torch.randperm(x.shape[1])[: adais.N_COMPONENTS]], None
    for _ in range(adais.KMEANS_ITERATIONS):
        before, label = label, torch.cdist(x.t(), centre.t()).argmin(1)
        if before is not None and torch.equal(label, before):
            break
        member = torch.nn.functional.one_hot(label, adais.N_COMPONENTS).float()
        centre = (x @ member + 1e-3 * centre) / (member.sum(0) + 1e-3)
    n = member.sum(0) + 1
    d = x.unsqueeze(0) - centre.t().unsqueeze(2)
    scatter = (d * member.t().unsqueeze(1)) @ d.transpose(1, 2) + 0.1 * torch.eye(D)
    return n / n.sum(), centre.t().contiguous(), scatter / n[:, None, None]


class Engine:
    """See adais.OnlineUpdate."""

    def __init__(self, weights, seed):
        self.weights = tuple(torch.from_numpy(a) for a in weights)
        torch.manual_seed(seed)

    def prior(self):
        return torch.ones(1), torch.zeros(1, D), torch.eye(D).unsqueeze(0)

    def outputs(self, y):
        return torch.from_numpy(y)

    @torch.inference_mode()
    def update(self, before, y, first, ess_stop):
        tilt, passes = adais.TILT, 0
        for _ in range(adais.N_RETRIES + 1):
            start = before if first else (before[0], before[1], before[2] * tilt)
            mixture, n = self.adapt(start, y, first, ess_stop)
            passes += n
            u, w, ess = self.importance(mixture, y, adais.M_FINAL)
            if ess >= adais.MIN_ESS:
                break
            tilt *= adais.TILT_GROWTH
        return mixture, (u, w, float(ess), passes)

    def adapt(self, mixture, y, first, ess_stop):
        """Importance passes with EM until the ESS is high enough; the mixture and the passes taken."""
        for n in range(1, adais.N_PASSES + 1):
            n_draws = adais.M_FIRST if n == 1 else adais.M
            u, w, ess = self.importance(mixture, y, n_draws)
            if first and n == 1:
                mixture = kmeans_start(u, w)
            mixture = weighted_em(u, w, ess, mixture)
            if ess > ess_stop * n_draws:
                break
        return mixture, n

    def importance(self, mixture, y, n):
        """Draws (D, n), normalised weights (n,), ESS."""
        u = draw(mixture, n)
        log_weight = log_target(u, y, self.weights) - torch.logsumexp(component_log_density(u, mixture), 0)
        w = torch.softmax(log_weight, 0)
        return u, w, 1 / (w * w).sum()

    def summary(self, result):
        u, w, ess, passes = result
        z = u[:D_CODE].double()
        mean = z @ w.double()
        var = (z - mean.unsqueeze(1)) ** 2 @ w.double()
        return {"mean": mean.tolist(), "std_dev": var.sqrt().tolist(), "ess": ess, "passes": passes}
