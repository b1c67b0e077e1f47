"""Outputs of the golden model, from its files alone: a textbook twin in double precision.

Run with the path of the model directory; prints, for each member, the outputs step by step.
"""

import json
import math
import struct
import sys
from pathlib import Path

INPUTS = [1.0, 2.0, 0.5, 1.0]


def read_tensors(path):
    data = path.read_bytes()
    (n_header,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + n_header]), data[8 + n_header :]
    tensors = {}
    for name, info in header.items():
        begin, end = info["data_offsets"]
        tensors[name] = struct.unpack(f"<{(end - begin) // 4}f", body[begin:end])
    return tensors


def affine(weight, bias, x):
    n = len(x)
    return [b + sum(w * v for w, v in zip(weight[i * n : (i + 1) * n], x)) for i, b in enumerate(bias)]


def generator(tensors, z):
    features = z + [math.sin(v) for v in z] + [math.cos(v) for v in z] + [math.hypot(*z)]
    hidden = affine(tensors["generator.0.weight"], tensors["generator.0.bias"], features)
    hidden = [math.tanh(v) for v in hidden]
    out = affine(tensors["generator.1.weight"], tensors["generator.1.bias"], hidden)
    skip = affine(tensors["generator.skip.weight"], [0.0] * len(out), z)
    return [a + b for a, b in zip(out, skip)]


def blocks(adapted):
    """decay 2, rotation 1, input_gate 2, input 2, emission 4, offset 2: the adapted blocks in order."""
    sizes = {"decay": 2, "rotation": 1, "input_gate": 2, "input": 2, "emission": 4, "offset": 2}
    found, at = {}, 0
    for name, size in sizes.items():
        found[name] = adapted[at : at + size]
        at += size
    assert at == len(adapted)
    return found


def rollout(theta, feedthrough, state_bias, inputs):
    (s,) = theta["rotation"]
    assert abs(s) <= 8
    # Q = (I - S)(I + S)^-1 with S = [[0, s], [-s, 0]]
    d = 1 + s * s
    q = [[(1 - s * s) / d, -2 * s / d], [2 * s / d, (1 - s * s) / d]]
    a = [[math.tanh(v) * x for x in row] for v, row in zip(theta["decay"], q)]
    gate = [1 / (1 + math.exp(-v)) for v in theta["input_gate"]]
    b = [g * math.tanh(v) for g, v in zip(gate, theta["input"])]
    x, outputs = [0.0, 0.0], []
    for u in inputs:
        x = [a[i][0] * x[0] + a[i][1] * x[1] + b[i] * u + state_bias for i in range(2)]
        outputs.append([y + f * u for y, f in zip(affine(theta["emission"], theta["offset"], x), feedthrough)])
    return outputs


def main():
    directory = Path(sys.argv[1])
    config = json.loads((directory / "config.json").read_text())
    tensors = read_tensors(directory / "model.safetensors")
    scaling = config["scaling"]
    (state_bias,) = [role["fixed"] for name, role in config["spec"]["roles"] if name == "state_bias"]
    inputs = [(u - scaling["inputs"]["offset"][0]) / scaling["inputs"]["scale"][0] for u in INPUTS]
    for i, member in enumerate(config["members"]):
        z = list(tensors["codes.mean"][2 * i : 2 * i + 2])
        theta = blocks(generator(tensors, z))
        outputs = rollout(theta, tensors["shared.feedthrough"], state_bias, inputs)
        units = list(zip(scaling["outputs"]["offset"], scaling["outputs"]["scale"]))
        print(member["id"], [o + s * y for row in outputs for y, (o, s) in zip(row, units)])


main()
