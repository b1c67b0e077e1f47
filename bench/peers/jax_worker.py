#!/usr/bin/env python3
"""Peer worker: JAX, jitted, on the CPU. Speaks the protocol of protocol.py."""

import protocol

THREADS = protocol.limit_threads(__doc__)

import jax  # noqa: E402  after the limits on threads

import adais  # noqa: E402
import jax_adais  # noqa: E402
import jax_w1  # noqa: E402
import jax_w2  # noqa: E402

if __name__ == "__main__":
    works = {"w1": jax_w1.TrainingStep(), "w2": jax_w2.TrainingStep(), "adais": adais.OnlineUpdate(jax_adais.Engine)}
    protocol.serve(f"jax {jax.__version__} jit", THREADS, works)
