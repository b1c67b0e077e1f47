"""The single-task posterior of one oscillator by NUTS in NumPyro: the work `stl-nuts`.

    x_1 = B, x_{t+1} = A x_t, y_t ~ N(C x_t, s²)     A = diag(tanh v) Q, Q = (I - S)(I + S)⁻¹, B = tanh b

19 numbers u ~ N(0, I): v 4, upper triangle of S 6, b 4, C 4, and e with log s = -2 + 0.2 e. A round is one
posterior after `at` outputs: the best of 10 climbs by Adam with e = 0, 1 000 draws of warm-up with a dense
mass matrix, 600 draws. Programs are compiled once per length, before anything is timed. Double precision.

A request carries: problem (path of a JSON file with sequences), at, n_seq (how many of them), seed.
"""

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from numpyro.infer.hmc import hmc

jax.config.update("jax_enable_x64", True)

D = 19
LOG_STD_MEAN, LOG_STD_STD = -2.0, 0.2
N_RESTARTS, N_CLIMB = 10, 3000
N_WARMUP, N_DRAWS = 1000, 600
TARGET_ACCEPT, MAX_DEPTH = 0.8, 10
HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
UPPER = np.triu_indices(4, 1)
# All but e, which the climbs hold at 0.
FREE = np.array([1.0] * 18 + [0.0])


def rotation(g):
    """(6,) → (4, 4): (I - S)(I + S)⁻¹ in closed form, which is faster than a solver for one small matrix."""
    S = jnp.zeros((4, 4)).at[UPPER].set(g).at[UPPER[::-1]].set(-g)
    a, pfaffian2 = g @ g, (g[0] * g[5] - g[1] * g[4] + g[2] * g[3]) ** 2
    eye, S2 = jnp.eye(4), S @ S
    return ((1 + a - pfaffian2) * eye + 2 * S2 - 2 * S @ (S2 + (1 + a) * eye)) / (1 + a + pfaffian2)


def mean_outputs(u, n_time):
    """C x_t for t = 1 … n_time."""
    A = jnp.tanh(u[:4])[:, None] * rotation(u[4:10])
    C = u[14:18]
    return lax.scan(lambda x, _: (A @ x, C @ x), jnp.tanh(u[10:14]), None, length=n_time)[1]


def log_joint(u, y):
    """log p(u, y) with its constants."""
    log_std = LOG_STD_MEAN + LOG_STD_STD * u[18]
    error = jnp.sum((y - mean_outputs(u, y.shape[0])) ** 2)
    likelihood = -0.5 * error * jnp.exp(-2 * log_std) - y.shape[0] * (log_std + HALF_LOG_2PI)
    return likelihood - 0.5 * u @ u - D * HALF_LOG_2PI


@jax.jit
def best_mode(key, y):
    """The highest of the climbs, all at once."""
    slope = jax.vmap(jax.grad(lambda u: -log_joint(u * FREE, y)))

    def step(state, i):
        u, m, v = state
        g = slope(u) * FREE
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        rate = 0.025 * (1 + jnp.cos(jnp.pi * i / N_CLIMB))
        u -= rate * (m / (1 - 0.9 ** (i + 1))) / (jnp.sqrt(v / (1 - 0.999 ** (i + 1))) + 1e-8)
        return (u, m, v), None

    start = jax.random.normal(key, (N_RESTARTS, D)) * FREE
    (u, _, _), _ = lax.scan(step, (start, jnp.zeros_like(start), jnp.zeros_like(start)), jnp.arange(N_CLIMB))
    height = jax.vmap(lambda u: log_joint(u, y))(u)
    best = jnp.argmax(height)
    return u[best], height[best]


# NumPyro's functional interface: one compiled program serves every sequence of a length.
begin, transition = hmc(potential_fn_gen=lambda y: lambda u: -log_joint(u, y), algo="NUTS")


@jax.jit
def sample(key, start, y):
    """600 draws after the warm-up, (600, 19)."""
    state = begin(
        start, N_WARMUP, dense_mass=True, target_accept_prob=TARGET_ACCEPT, max_tree_depth=MAX_DEPTH,
        model_args=(y,), rng_key=key,
    )
    step = lambda state, _: (transition(state, model_args=(y,)), None)  # noqa: E731
    state, _ = lax.scan(step, state, None, length=N_WARMUP)

    def kept(state, _):
        state = transition(state, model_args=(y,))
        return state, state.z

    return lax.scan(kept, state, None, length=N_DRAWS)[1]


class Posterior:
    """See the module."""

    def __init__(self):
        self.sequences, self.programs, self.turn = {}, {}, 0

    def warm_up(self):
        """Nothing before the length is known; `prepare` compiles."""

    def prepare(self, request):
        at = int(request["at"])
        if request["problem"] not in self.sequences:
            with open(request["problem"]) as file:
                self.sequences[request["problem"]] = json.load(file)["sequences"]
        if at not in self.programs:
            key, y = jax.random.PRNGKey(0), jnp.zeros(at)
            climb = best_mode.lower(key, y).compile()
            self.programs[at] = climb, sample.lower(key, jnp.zeros(D), y).compile()

    def round(self, request):
        i = self.turn % int(request["n_seq"])
        self.turn += 1
        self._draws(request, i, self.turn)

    def check(self, request):
        """Predicted means after the outputs, (n_seq, 600, steps), and the log density of each mode."""
        self.prepare(request)
        at, predicted, modes = int(request["at"]), [], []
        for i in range(int(request["n_seq"])):
            draws, height = self._draws(request, i, 0)
            n_time = len(self.sequences[request["problem"]][i])
            means = jax.vmap(lambda u: mean_outputs(u, n_time))(draws)[:, at:]  # noqa: B023  used at once
            predicted.append(np.round(np.asarray(means), 7).tolist())
            modes.append(float(height))
        return {"predicted": predicted, "mode_log_density": modes}

    def _draws(self, request, i, turn):
        y = jnp.asarray(self.sequences[request["problem"]][i][: int(request["at"])])
        key = jax.random.fold_in(jax.random.PRNGKey(int(request.get("seed", 0))), 1000 * turn + i)
        climb_key, chain_key = jax.random.split(key)
        climb, chain = self.programs[int(request["at"])]
        mode, height = climb(climb_key, y)
        # Without the density of e, which has no part in the climbs.
        return jax.block_until_ready(chain(chain_key, mode, y)), height + HALF_LOG_2PI
