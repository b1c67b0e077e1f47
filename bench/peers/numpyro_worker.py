#!/usr/bin/env python3
"""Peer worker: NumPyro on JAX, jitted, on the CPU. Speaks the protocol of protocol.py."""

import protocol

THREADS = protocol.limit_threads(__doc__)

import numpyro  # noqa: E402  after the limits on threads

import numpyro_stl  # noqa: E402

if __name__ == "__main__":
    works = {"stl-nuts": numpyro_stl.Posterior()}
    protocol.serve(f"numpyro {numpyro.__version__} NUTS", THREADS, works)
