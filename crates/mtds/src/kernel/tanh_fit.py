#!/usr/bin/env python3
"""Fits the coefficients of `tanh_f32` in elementary.rs: tanh x = x P(x^2) / Q(x^2) on [0, 9], P and Q of
degree 4, smallest relative error by Lawson's reweighted least squares. Needs mpmath."""
import mpmath as mp

mp.mp.dps = 50
DEGREE, END, N, ROUNDS = 4, mp.mpf(9), 600, 25
xs = [END * (1 - mp.cos(mp.pi * (2 * i + 1) / (4 * N))) for i in range(N)]
xs = [x for x in xs if x > mp.mpf("1e-4")]
ratio, square = [mp.tanh(x) / x for x in xs], [x * x for x in xs]
weight, below, best = [mp.mpf(1)] * len(xs), [mp.mpf(1)] * len(xs), None
for _ in range(ROUNDS):
    a, b = mp.matrix(len(xs), 2 * DEGREE + 1), mp.matrix(len(xs), 1)
    for i, (f, t) in enumerate(zip(ratio, square)):
        scale = mp.sqrt(weight[i]) / (below[i] * f)
        for k in range(DEGREE + 1):
            a[i, k] = scale * t**k
        for k in range(1, DEGREE + 1):
            a[i, DEGREE + k] = -scale * f * t**k
        b[i] = scale * f
    c = mp.lu_solve(a.T * a, a.T * b)
    p, q = list(c[: DEGREE + 1]), [mp.mpf(1)] + list(c[DEGREE + 1 :])
    value = lambda poly, t: sum(coefficient * t**k for k, coefficient in enumerate(poly))
    below = [value(q, t) for t in square]
    error = [abs(value(p, t) / d / f - 1) for t, d, f in zip(square, below, ratio)]
    worst = max(error)
    best = min(best or (worst, p, q), (worst, p, q), key=lambda fit: fit[0])
    weight = [w * (e / worst + mp.mpf("1e-3")) for w, e in zip(weight, error)]
    total = sum(weight)
    weight = [w / total for w in weight]
print("largest relative error", mp.nstr(best[0], 4))
print("P", [mp.nstr(x, 12) for x in best[1]])
print("Q", [mp.nstr(x, 12) for x in best[2]])
