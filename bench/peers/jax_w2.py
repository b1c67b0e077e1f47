"""W2 in JAX: the same step as torch_w2, one jitted function with a scan over time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import inputs

DATA = {name: jnp.asarray(a) for name, a in inputs.w2_data().items()}
BASIS = inputs.skew_basis()


def product(P, Q):
    """Batched 4 × 4 product, written as a sum so that XLA fuses it."""
    return (P[:, :, :, None] * Q[:, None, :, :]).sum(2)


def cayley(s):
    """(I - S)(I + S)⁻¹ of a 4 × 4 skew S, in closed form."""
    S = (s @ BASIS).reshape(-1, 4, 4)
    S2 = product(S, S)
    S3 = product(S2, S)
    a = (s**2).sum(1)[:, None, None]
    pfaffian2 = ((s[:, 0] * s[:, 5] - s[:, 1] * s[:, 4] + s[:, 2] * s[:, 3]) ** 2)[:, None, None]
    top = (1 + a - pfaffian2) * jnp.eye(4) - 2 * (1 + a) * S + 2 * S2 - 2 * S3
    return top / (1 + a + pfaffian2)


def rollout(p, z):
    """(M, 4) codes → (M, 80) mean outputs; particles last inside, so that they fill the vector lanes."""
    length = jnp.sqrt((z**2).sum(1, keepdims=True))
    feature = jnp.concatenate([z, jnp.sin(z), jnp.cos(z), length], 1)
    theta = jax.nn.sigmoid(feature @ p["W1"].T + p["b1"]) @ p["W2"].T + p["b2"]
    A = (jnp.tanh(theta[:, :4])[:, :, None] * cayley(theta[:, 4:10])).transpose(1, 2, 0)
    B = (jax.nn.sigmoid(theta[:, 10:14]) * jnp.tanh(theta[:, 14:18])).T
    C, x0 = theta[:, 18:22].T, theta[:, 22:26].T

    def step(x):
        return (A * x[None]).sum(1)

    _, means = lax.scan(lambda x, _: (step(x), (C * x).sum(0)), step(x0) + B, None, length=inputs.N_TIME)
    return means.T


def loss(p):
    """As in torch_w2."""
    scale = 0.5 / inputs.NOISE_STD**2
    y = DATA["outputs"]
    means = lax.stop_gradient(rollout(p, DATA["codes"]))
    error = (means**2).sum(1)[None] - 2 * y @ means.T
    cumulative = jnp.cumsum(jax.nn.softmax(-scale * error, 1), 1)
    chosen = jax.vmap(jnp.searchsorted)(cumulative, DATA["uniforms"]).clip(0, inputs.N_PARTICLE - 1)
    means = rollout(p, DATA["codes"][chosen.reshape(-1)])
    means = means.reshape(inputs.N_SEQ, inputs.N_RESAMPLED, inputs.N_TIME)
    return ((means - y[:, None]) ** 2).sum(2).mean() * scale


def adam_step(state):
    """One step of Adam from (parameters, first moment, second moment, steps done)."""
    p, m, v, t = state
    value, g = jax.value_and_grad(loss)(p)
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)

    def move(p, m, v):
        return p - inputs.LEARNING_RATE * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)

    return (jax.tree.map(move, p, m, v), m, v, t), value


class TrainingStep:
    """W2, jit + scan."""

    def __init__(self):
        self.step = jax.jit(adam_step, donate_argnums=0)
        self.restart()

    def restart(self):
        """Back to step 0."""
        p = {name: jnp.asarray(a) for name, a in inputs.w2_parameters().items()}
        zeros = jax.tree.map(jnp.zeros_like, p)
        self.state = (p, zeros, jax.tree.map(jnp.zeros_like, p), jnp.float32(0))

    def warm_up(self):
        for _ in range(3):
            self.round()
        self.restart()

    def prepare(self, request):
        """Nothing: the state carries over from round to round."""

    def round(self, request=None):
        self.state, value = self.step(self.state)
        value.block_until_ready()

    def check(self, request):
        """Loss and gradient norms at step 0."""
        p = {name: jnp.asarray(a) for name, a in inputs.w2_parameters().items()}
        value, g = jax.jit(jax.value_and_grad(loss))(p)
        norms = {name: float(np.linalg.norm(np.asarray(a, np.float64))) for name, a in g.items()}
        return {"loss": float(value), "gradient_norms": norms}
