"""Tensor files written by numpy and safetensors, and float32 numbers as printed by numpy."""

import json
import os

import numpy
from safetensors.numpy import save_file

from common import arguments, random_state, versions

INFINITY = numpy.inf
METADATA = {"format": "clearformer", "prompt": 'Où? "2 < 3"\n\\ \u0001 \u2028 😀'}


def tensors():
    """All dtypes and several ranks, with names that sort differently as bytes, as UTF-16 and by dtype."""
    scores = random_state("scores").standard_normal((1, 2, 4, 4)).astype(numpy.float32)
    scores[..., numpy.triu(numpy.ones((4, 4), bool), 1)] = -INFINITY
    return {
        "blocks.0.attn.hook_attn_scores": scores,
        "blocks.10.hook_resid_pre": random_state("residual").standard_normal((2, 3, 5)).astype(numpy.float32),
        "blocks.2.hook_resid_pre": numpy.float32([[0.1, -0.0, INFINITY], [-INFINITY, numpy.nan, 1e-45]]),
        "\ufb01 private": numpy.float32([1, 2, 3]),
        "😀 beyond": numpy.float32([4]),
        "é": numpy.array(2.5, numpy.float32),
        'a "quoted" \\ name\n': numpy.zeros((2, 0, 3), numpy.float32),
        "ids": numpy.array([[1, -(2**63)], [2**53 + 1, 2**63 - 1]], numpy.int64),
        "counts": numpy.array([-(2**31), 0, 2**31 - 1], numpy.int32),
        "bytes": numpy.arange(256, dtype=numpy.uint8).reshape(4, 64),
        "nothing": numpy.zeros(0, numpy.uint8),
        "many": numpy.arange(12345, dtype=numpy.uint8).reshape(12345, 1, 1, 1, 1),
    }


def numbers():
    """float32 numbers with non-trivial shortest forms: all powers of two, neighbours of powers of ten, random bits."""
    powers = numpy.float32(2.0) ** numpy.arange(-149, 128, dtype=numpy.float32)
    tens = numpy.array([float(f"1e{e}") for e in range(-45, 39)], numpy.float32)
    near = [numpy.nextafter(tens, numpy.float32(end)) for end in (0, INFINITY)]
    random = random_state("numbers").randint(0, 0x7F800000, 2000, dtype=numpy.int64).astype(numpy.uint32).view(numpy.float32)
    few = (random_state("few").randint(1, 1000, 300) / 100).astype(numpy.float32)
    return numpy.concatenate([powers, tens, *near, random, few])


def main():
    args = arguments(__doc__)
    folder = os.path.join(args.out, "tensor_files")
    os.makedirs(folder, exist_ok=True)
    cases = []
    made = tensors()
    for at, (name, tensor) in enumerate(made.items()):
        file = f"{at:02}.npy"
        numpy.save(os.path.join(folder, file), tensor)
        cases.append({"name": name, "op": "npy", "file": file})
    only = numbers()
    save_file(made | {"numbers": only}, os.path.join(folder, "tensors.safetensors"))
    for name, metadata in METADATA.items():
        file = f"metadata_{name}.safetensors"
        save_file({"x": numpy.float32([1])}, os.path.join(folder, file), {name: metadata})
        cases.append({"name": file, "op": "metadata", "file": file, "options": {name: metadata}})
    save_file({}, os.path.join(folder, "empty.safetensors"))
    cases.append({"name": "numbers", "op": "texts", "file": "tensors.safetensors", "texts": [str(x) for x in only]})
    header = {"generator": "tests/references/tensor_files.py", "versions": versions("numpy", "safetensors")}
    for file in os.listdir(folder):
        os.chmod(os.path.join(folder, file), 0o644)
    with open(os.path.join(folder, "cases.json"), "w", encoding="ascii", newline="\n") as out:
        rows = ",\n".join(json.dumps(case) for case in cases)
        out.write(f'{{\n"generator": {json.dumps(header["generator"])},\n"versions": {json.dumps(header["versions"])},\n')
        out.write(f'"cases": [\n{rows}\n]\n}}\n')


if __name__ == "__main__":
    main()
