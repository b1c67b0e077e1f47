"""Algorithm 2 online, whatever the engine: settings, problem file, and which update is timed.

Target after t outputs, over u = (z, e) with log s = -2 + 0.1 e and prior N(0, I_5):

    p(u) prod_{i<=t} N(y_i | C x_i, s²)        x_i = A^(i-1) B        (A, B, C) = h_φ(z)

One update takes the mixture q_{t-tau} to q_t: N_PASSES importance passes, each followed by weighted EM,
an early stop where ESS > ess_stop · M, then the final draws; retries with a wider tilt where ESS stays
under MIN_ESS. A round is the update at t = `at` of one sequence; sequences take turns. The updates
before it are run once and kept, so only this one is timed.

A request carries: problem (path of a JSON file with W1 (300, 13), c1, W2 (22, 300), c2, sequences),
at, ess_stop (a fraction of the draws; 2 never stops early), seed.
"""

import json

import numpy as np

D_CODE, D = 4, 5  # z; z and e
LOG_STD_MEAN, LOG_STD_STD = -2.0, 0.1
N_COMPONENTS, N_PASSES = 3, 7
M_FIRST, M, M_FINAL = 3000, 1000, 3000
TILT, TILT_GROWTH, MIN_ESS, N_RETRIES = 2.0, 1.3, 100.0, 2
EM_ITERATIONS, KMEANS_ITERATIONS = 3, 100
JITTER = 1e-6
TAU = 5


def read_problem(path):
    """The generator's weights (biases as columns) and the sequences, float32."""
    with open(path) as file:
        raw = json.load(file)
    arrays = {name: np.asarray(raw[name], np.float32) for name in ("W1", "c1", "W2", "c2")}
    weights = tuple(a.reshape(len(a), -1) for a in arrays.values())
    return weights, [np.asarray(y, np.float32) for y in raw["sequences"]]


class OnlineUpdate:
    """The work `adais`. An engine is made from (weights, seed) and has

    prior() → mixture; outputs(y) → its own array; update(mixture, y, first, ess_stop) → (mixture, result)
    with the result ready; summary(result) → mean (4,), std_dev (4,), ess, passes.
    """

    def __init__(self, make_engine):
        self.make_engine = make_engine
        self.engines, self.chains, self.turn = {}, {}, {}

    def warm_up(self):
        """Nothing before the problem is known; `prepare` warms up."""

    def prepare(self, request):
        """Runs every sequence up to t = at - tau, and the update at `at` once, untimed."""
        key = self._key(request)
        if key in self.chains:
            return
        if int(request["at"]) % TAU or int(request["at"]) <= TAU:
            raise ValueError(f"at = {request['at']}: expected a multiple of {TAU} above {TAU}")
        engine, sequences = self._engine(request)
        self.chains[key] = [self._chain(engine, y, request) for y in sequences]
        self.turn[key] = 0
        self.round(request)

    def round(self, request):
        key = self._key(request)
        mixture, y = self.chains[key][self.turn[key] % len(self.chains[key])]
        self.turn[key] += 1
        engine, _ = self._engine(request)
        engine.update(mixture, y, first=False, ess_stop=float(request["ess_stop"]))

    def check(self, request):
        """One row per sequence: posterior of z at t, ESS of the final draws, passes taken."""
        self.prepare(request)
        engine, _ = self._engine(request)
        rows = []
        for mixture, y in self.chains[self._key(request)]:
            _, result = engine.update(mixture, y, first=False, ess_stop=float(request["ess_stop"]))
            rows.append(engine.summary(result))
        return {name: [row[name] for row in rows] for name in ("mean", "std_dev", "ess", "passes")}

    def _chain(self, engine, y, request):
        at, mixture = int(request["at"]), engine.prior()
        if len(y) < at:
            raise ValueError(f"a sequence has {len(y)} outputs; at = {at} needs that many")
        for t in range(TAU, at, TAU):
            mixture, _ = engine.update(
                mixture, engine.outputs(y[:t]), first=t == TAU, ess_stop=float(request["ess_stop"])
            )
        return mixture, engine.outputs(y[:at])

    def _engine(self, request):
        key = (request["problem"], int(request.get("seed", 0)))
        if key not in self.engines:
            weights, sequences = read_problem(request["problem"])
            self.engines[key] = self.make_engine(weights, key[1]), sequences
        return self.engines[key]

    def _key(self, request):
        return request["problem"], int(request["at"]), float(request["ess_stop"]), int(request.get("seed", 0))
