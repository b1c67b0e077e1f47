#!/usr/bin/env python3
"""Peer worker: eager PyTorch on the CPU. Speaks the protocol of protocol.py."""

import protocol

THREADS = protocol.limit_threads(__doc__)

import torch  # noqa: E402  after the limits on threads

import adais  # noqa: E402
import torch_adais  # noqa: E402
import torch_w1  # noqa: E402
import torch_w2  # noqa: E402

if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    works = {"w1": torch_w1.TrainingStep(), "w2": torch_w2.TrainingStep(), "adais": adais.OnlineUpdate(torch_adais.Engine)}
    protocol.serve(f"torch {torch.__version__.split('+')[0]} eager", THREADS, works)
