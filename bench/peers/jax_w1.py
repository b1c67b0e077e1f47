"""W1 in JAX: the same step as torch_w1, one jitted function with scans over time."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import inputs


def gru(p, u):
    """(T, B, 32) → (T, B, hidden)."""
    n = p["whh"].shape[1]
    driven = u @ p["wih"].T + p["bih"]

    def cell(h, a):
        c = h @ p["whh"].T + p["bhh"]
        r, z = jax.nn.sigmoid(a[:, :n] + c[:, :n]), jax.nn.sigmoid(a[:, n : 2 * n] + c[:, n : 2 * n])
        new = jnp.tanh(a[:, 2 * n :] + r * c[:, 2 * n :])
        h = new + z * (h - new)
        return h, h

    return lax.scan(cell, jnp.zeros((u.shape[1], n)), driven)[1]


def loss(p, data):
    """As in torch_w1."""
    n, m = inputs.W1_STATES, inputs.W1_BOTTLENECK
    theta = p["z"] @ p["Wz"].T + p["bz"]
    A, B, C, d = jnp.split(theta, np.cumsum(inputs.w1_blocks())[:-1], 1)
    A, B, C = A.reshape(-1, n, n), B.reshape(-1, n, m), C.reshape(-1, inputs.W1_OUTPUTS, n)
    drive = jnp.einsum("tbk,bnk->tbn", gru(p, data["inputs"]) @ p["H"].T, B) + data["bias"]

    def cell(x, v):
        x = jnp.tanh(jnp.einsum("bij,bj->bi", A, x) + v)
        return x, x

    states = lax.scan(cell, jnp.zeros(drive.shape[1:]), drive)[1]
    means = jnp.einsum("bij,tbj->tbi", C, states) + d
    return ((means - data["outputs"]) ** 2).mean()


def adam_step(state, data):
    """One step of Adam from (parameters, first moment, second moment, steps done)."""
    p, m, v, t = state
    value, g = jax.value_and_grad(loss)(p, data)
    t = t + 1
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)

    def move(p, m, v):
        return p - inputs.LEARNING_RATE * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8)

    return (jax.tree.map(move, p, m, v), m, v, t), value


class TrainingStep:
    """W1, jit + scan; a request may name other sizes than the paper's."""

    def __init__(self):
        self.step = jax.jit(adam_step, donate_argnums=0)
        self.size = None

    def warm_up(self):
        """Nothing before the size is known; `prepare` warms up."""

    def prepare(self, request):
        """Three rounds at a size that is new, then back to step 0."""
        if self.size != inputs.w1_size(request):
            self.restart(inputs.w1_size(request))
            for _ in range(3):
                self.round()
            self.restart(self.size)

    def restart(self, size):
        """Step 0 at a size."""
        self.size = size
        self.data = {name: jnp.asarray(a) for name, a in inputs.w1_data(size).items()}
        p = {name: jnp.asarray(a) for name, a in inputs.w1_parameters(size).items()}
        zeros = jax.tree.map(jnp.zeros_like, p)
        self.state = (p, zeros, jax.tree.map(jnp.zeros_like, p), jnp.float32(0))

    def round(self, request=None):
        self.state, value = self.step(self.state, self.data)
        value.block_until_ready()

    def check(self, request):
        """Loss and gradient norms at step 0."""
        self.restart(inputs.w1_size(request))
        value, g = jax.jit(jax.value_and_grad(loss))(self.state[0], self.data)
        norms = {name: float(np.linalg.norm(np.asarray(a, np.float64))) for name, a in g.items()}
        self.size = None
        return {"loss": float(value), "gradient_norms": norms}
