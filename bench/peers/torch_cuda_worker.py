#!/usr/bin/env python3
"""Peer worker: PyTorch on a graphics card, a whole training step as one CUDA graph. Speaks the protocol of protocol.py."""

import sys

import protocol

PRODUCTS = sys.argv.pop(sys.argv.index("--products") + 1) if "--products" in sys.argv else "exact"
sys.argv = [word for word in sys.argv if word != "--products"]
THREADS = protocol.limit_threads(__doc__)

import torch  # noqa: E402  after the limits on threads

import torch_w1  # noqa: E402
import torch_w2  # noqa: E402


class Recorded:
    """A training step that is recorded once and replayed."""

    device = "cuda"
    graph = None

    def restart(self, *size):
        self.graph = None
        super().restart(*size)

    def round(self, request=None):
        if self.graph is None:
            self.record()
        self.graph.replay()
        torch.cuda.synchronize()

    def record(self):
        aside = torch.cuda.Stream()
        with torch.cuda.stream(aside):
            for _ in range(3):
                super().round()
        torch.cuda.current_stream().wait_stream(aside)
        self.adam.zero_grad(set_to_none=True)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss().backward()
            self.adam.step()


class LayeredStep(Recorded, torch_w1.TrainingStep):
    """W1."""


class OscillatorStep(Recorded, torch_w2.TrainingStep):
    """W2; the search for resampled codes is part of the graph."""


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    rounded = PRODUCTS == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = rounded
    torch.backends.cudnn.allow_tf32 = rounded
    version = torch.__version__.split("+")[0]
    name = f"torch {version} CUDA graph, {'tf32' if rounded else 'f32'}, {torch.cuda.get_device_name()}"
    protocol.serve(name, THREADS, {"w1": LayeredStep(), "w2": OscillatorStep()})
