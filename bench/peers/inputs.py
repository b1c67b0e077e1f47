"""Inputs of the training steps W1 and W2, hashed rather than drawn, so that every engine has the same bits.

W1 is one step on the paper's mocap model: a shared GRU (1024), a bottleneck (24), a tanh recurrent layer (128)
and an emission (64) with parameters from a code (7), 16 sequences of length 64, Adam with step 1e-4.

W2 is one step of Algorithm 1 on the oscillators: 4 000 particles for 128 sequences of length 80, five
resampled particles per sequence, a generator 13 → 300 → 26, and Adam with step 1e-4.
"""

import collections

import numpy as np

W1_TIME, W1_INPUTS, W1_BOTTLENECK, W1_STATES, W1_OUTPUTS, W1_CODE = 64, 32, 24, 128, 64, 7
W1Size = collections.namedtuple("W1Size", "hidden batch")

N_PARTICLE, N_SEQ, N_TIME, N_RESAMPLED = 4000, 128, 80, 5
N_HIDDEN, D_FEATURE, D_THETA, D_CODE = 300, 13, 26, 4
NOISE_STD = 0.7
LEARNING_RATE = 1e-4


def h32(n, seed, scale):
    """n numbers in [-scale, scale), float32: a 32-bit hash of (index, seed)."""
    mask = np.uint64(0xFFFFFFFF)
    x = np.arange(n, dtype=np.uint64) + np.uint64(seed) * np.uint64(1000003)
    x = (x * np.uint64(2654435761)) & mask
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x ^= x >> np.uint64(shift)
        x = (x * np.uint64(factor)) & mask
    x ^= x >> np.uint64(16)
    return ((x.astype(np.float64) / 2.0**32 - 0.5) * 2.0 * scale).astype(np.float32)


def _array(shape, seed, scale):
    return h32(int(np.prod(shape)), seed, scale).reshape(shape)


def w1_size(request):
    """What a request asks for, or the paper's sizes."""
    return W1Size(int(request.get("hidden", 1024)), int(request.get("batch", 16)))


def w1_blocks():
    """Lengths of A, B, C, d in what the generator makes for a sequence."""
    return [W1_STATES * W1_STATES, W1_STATES * W1_BOTTLENECK, W1_OUTPUTS * W1_STATES, W1_OUTPUTS]


def w1_parameters(size):
    """Parameters at step 0: those of the GRU, the bottleneck, the generator, and the codes."""
    scale, generated = size.hidden**-0.5, sum(w1_blocks())
    return {
        "wih": _array((3 * size.hidden, W1_INPUTS), 1, scale),
        "whh": _array((3 * size.hidden, size.hidden), 2, scale),
        "bih": _array((3 * size.hidden,), 3, scale),
        "bhh": _array((3 * size.hidden,), 4, scale),
        "H": _array((W1_BOTTLENECK, size.hidden), 5, scale),
        "Wz": _array((generated, W1_CODE), 6, 0.01),
        "bz": _array((generated,), 7, 0.08),
        "z": _array((size.batch, W1_CODE), 8, 1.0),
    }


def w1_data(size):
    """The fixed bias of the second layer, inputs and outputs, steps first."""
    return {
        "bias": _array((W1_STATES,), 9, 0.1),
        "inputs": _array((W1_TIME, size.batch, W1_INPUTS), 10, 1.0),
        "outputs": _array((W1_TIME, size.batch, W1_OUTPUTS), 11, 1.0),
    }


def w2_parameters():
    """Weights of the generator at step 0, by name."""
    return {
        "W1": _array((N_HIDDEN, D_FEATURE), 21, 0.5),
        "b1": _array((N_HIDDEN,), 22, 0.5),
        "W2": _array((D_THETA, N_HIDDEN), 23, 0.15),
        "b2": _array((D_THETA,), 24, 1.0),
    }


def w2_data():
    """Codes of the particles, the sequences, and the uniforms that resample."""
    return {
        "codes": _array((N_PARTICLE, D_CODE), 25, 2.0),
        "outputs": _array((N_SEQ, N_TIME), 26, 1.0),
        "uniforms": _array((N_SEQ, N_RESAMPLED), 27, 0.5) + np.float32(0.5),
    }


def skew_basis():
    """(6, 16): the upper triangle of a 4 × 4 skew matrix, row by row, to the whole matrix."""
    basis = np.zeros((6, 4, 4), np.float32)
    for p, (i, j) in enumerate(zip(*np.triu_indices(4, 1))):
        basis[p, i, j], basis[p, j, i] = 1.0, -1.0
    return basis.reshape(6, 16)
