"""One update of Algorithm 2 in JAX: a single jitted function per length t; only the draws differ from torch."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.linalg import solve_triangular
from jax.scipy.special import logsumexp

import adais
from adais import D, D_CODE

UPPER = np.triu_indices(4, 1)
EYE = np.eye(D, dtype=np.float32)


def apply(A, x):
    """(a, 4, M) × (4, M), written out so that XLA fuses it."""
    return sum(A[:, j] * x[j] for j in range(4))


def product(P, Q):
    """(a, 4, M) × (4, c, M)."""
    return sum(P[:, j, None] * Q[None, j] for j in range(4))


def cayley(g):
    """(6, M) → (4, 4, M): (I - S)(I + S)⁻¹ in closed form."""
    S = jnp.zeros((4, 4, g.shape[1])).at[UPPER].set(g).at[UPPER[::-1]].set(-g)
    a, pfaffian2 = (g * g).sum(0), (g[0] * g[5] - g[1] * g[4] + g[2] * g[3]) ** 2
    eye, S2 = jnp.eye(4)[:, :, None], product(S, S)
    top = (1 + a - pfaffian2) * eye + 2 * S2 - 2 * product(S, S2 + (1 + a) * eye)
    return top / (1 + a + pfaffian2)


def rollout(z, weights, n_time):
    """(4, M) codes → (T, M) mean outputs."""
    W1, c1, W2, c2 = weights
    feature = jnp.concatenate([z, jnp.sin(z), jnp.cos(z), jnp.sqrt((z * z).sum(0, keepdims=True))])
    theta = W2 @ jax.nn.sigmoid(W1 @ feature + c1) + c2
    A = jnp.tanh(theta[:4])[:, None] * cayley(theta[4:10])
    B, C = jax.nn.sigmoid(theta[10:14]) * jnp.tanh(theta[14:18]), theta[18:22]
    return lax.scan(lambda x, _: (apply(A, x), (C * x).sum(0)), B, None, length=n_time)[1]


def log_target(u, y, weights):
    """Log likelihood plus log prior of (D, M) draws, up to a constant."""
    means = rollout(u[:D_CODE], weights, y.shape[0])
    log_std = adais.LOG_STD_MEAN + adais.LOG_STD_STD * u[D_CODE]
    error = ((y[:, None] - means) ** 2).sum(0)
    return -0.5 * error * jnp.exp(-2 * log_std) - y.shape[0] * log_std - 0.5 * (u * u).sum(0)


def component_log_density(u, mixture):
    """(J, M): log π_j + log N(u | μ_j, Σ_j)."""
    weight, mean, cov = mixture
    chol = jnp.linalg.cholesky(cov)
    inverse = jax.vmap(lambda c: solve_triangular(c, EYE, lower=True))(chol)
    r = inverse @ (u - mean[:, :, None])
    log_det = jnp.log(jnp.diagonal(chol, axis1=1, axis2=2)).sum(1)
    constant = jnp.log(weight) - log_det - 0.5 * D * math.log(2 * math.pi)
    return constant[:, None] - 0.5 * (r * r).sum(1)


def draw(key, mixture, n):
    """(D, n) draws."""
    weight, mean, cov = mixture
    component_key, normal_key = jax.random.split(key)
    cumulative = jnp.cumsum(weight)
    component = (jax.random.uniform(component_key, (n,)) * cumulative[-1] >= cumulative[:-1, None]).sum(0)
    u = mean[:, :, None] + jnp.linalg.cholesky(cov) @ jax.random.normal(normal_key, (D, n))
    return sum(jnp.where(component == j, u[j], 0.0) for j in range(u.shape[0]))


def importance(key, mixture, y, weights, n):
    """Draws (D, n), normalised weights (n,), ESS."""
    u = draw(key, mixture, n)
    w = jax.nn.softmax(log_target(u, y, weights) - logsumexp(component_log_density(u, mixture), 0))
    return u, w, 1 / (w * w).sum()


def weighted_em(u, w, ess, mixture):
    """EM on weighted draws; the mixture before it counts as one pseudo-draw per component."""
    _, mean0, cov0 = mixture
    n_effective = jnp.maximum(ess, D + 2.0)
    for _ in range(adais.EM_ITERATIONS):
        r = jax.nn.softmax(component_log_density(u, mixture), 0) * (w * n_effective)
        n = r.sum(1) + 1
        mean = (r @ u.T + mean0) / n[:, None]
        d, d0 = u - mean[:, :, None], mean0 - mean
        scatter = (r[:, None] * d) @ d.transpose(0, 2, 1) + cov0 + d0[:, :, None] * d0[:, None]
        mixture = n / n.sum(), mean, scatter / n[:, None, None] + adais.JITTER * EYE
    return mixture


def kmeans_start(key, u, w):
    """A mixture from k-means on draws resampled by weight."""
    resample_key, centre_key = jax.random.split(key)
    n_draws, J = u.shape[1], adais.N_COMPONENTS
    at = jax.random.uniform(resample_key, (n_draws,)) * w.sum()
    x = u[:, jnp.searchsorted(jnp.cumsum(w), at).clip(0, n_draws - 1)]
    start = x[:, jax.random.permutation(centre_key, n_draws)[:J]]

    def nearest(centre):
        return ((x[:, :, None] - centre[:, None]) ** 2).sum(0).argmin(1)

    def body(state):
        i, centre, label, _ = state
        member = jax.nn.one_hot(label, J)
        centre = (x @ member + 1e-3 * centre) / (member.sum(0) + 1e-3)
        after = nearest(centre)
        return i + 1, centre, after, jnp.any(after != label)

    def moving(state):
        return (state[0] < adais.KMEANS_ITERATIONS) & state[3]

    _, centre, label, _ = lax.while_loop(moving, body, (0, start, nearest(start), True))
    member = jax.nn.one_hot(label, J)
    n = member.sum(0) + 1
    d = x[None] - centre.T[:, :, None]
    scatter = (d * member.T[:, None]) @ d.transpose(0, 2, 1) + 0.1 * EYE
    return n / n.sum(), centre.T, scatter / n[:, None, None]


@functools.partial(jax.jit, static_argnames="first")
def one_attempt(key, mixture, y, weights, limits, first):
    """Adaptation and final draws, from a mixture already tilted; limits = (tilt, ess_stop)."""
    tilt, ess_stop = limits
    first_key, kmeans_key, loop_key, final_key = jax.random.split(key, 4)
    if not first:
        mixture = mixture[0], mixture[1], mixture[2] * tilt
    u, w, ess = importance(first_key, mixture, y, weights, adais.M_FIRST)
    if first:
        mixture = kmeans_start(kmeans_key, u, w)
    mixture = weighted_em(u, w, ess, mixture)

    def body(state):
        n, key, mixture, _ = state
        key, pass_key = jax.random.split(key)
        u, w, ess = importance(pass_key, mixture, y, weights, adais.M)
        return n + 1, key, weighted_em(u, w, ess, mixture), ess > ess_stop * adais.M

    def going(state):
        return (state[0] < adais.N_PASSES) & ~state[3]

    n, _, mixture, _ = lax.while_loop(going, body, (1, loop_key, mixture, ess > ess_stop * adais.M_FIRST))
    u, w, ess = importance(final_key, mixture, y, weights, adais.M_FINAL)
    return mixture, u, w, ess, n


class Engine:
    """See adais.OnlineUpdate."""

    def __init__(self, weights, seed):
        self.weights = tuple(jnp.asarray(a) for a in weights)
        self.key = jax.random.PRNGKey(seed)

    def prior(self):
        return jnp.ones(1), jnp.zeros((1, D)), jnp.asarray(EYE)[None]

    def outputs(self, y):
        return jnp.asarray(y)

    def update(self, before, y, first, ess_stop):
        tilt, passes = adais.TILT, 0
        for _ in range(adais.N_RETRIES + 1):
            self.key, key = jax.random.split(self.key)
            mixture, u, w, ess, n = one_attempt(key, before, y, self.weights, (tilt, ess_stop), first=first)
            passes, ess = passes + int(n), float(ess)  # waits for the result
            if ess >= adais.MIN_ESS:
                break
            tilt *= adais.TILT_GROWTH
        return mixture, (u, w, ess, passes)

    def summary(self, result):
        u, w, ess, passes = result
        z, w = np.asarray(u[:D_CODE], np.float64), np.asarray(w, np.float64)
        mean = z @ w
        var = (z - mean[:, None]) ** 2 @ w
        return {"mean": mean.tolist(), "std_dev": np.sqrt(var).tolist(), "ess": ess, "passes": passes}
