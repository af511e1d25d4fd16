"""fp16 and bf16 bit patterns and their float32 values, in both directions; all values of both 8-bit formats."""

import os

import numpy
import torch
from safetensors.torch import save_file

from common import Group, arguments

EIGHT_BITS = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
FORMATS = {"fp16": (torch.float16, 5, 10), "bf16": (torch.bfloat16, 8, 7)}


def patterns(exponent_bits, mantissa_bits):
    """Both signs and all exponents with critical mantissas; all powers of two among subnormals."""
    top = 1 << mantissa_bits
    mantissas = {0, 1, 2, 3, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1}
    found = [(e << mantissa_bits) | m for e in range(1 << exponent_bits) for m in mantissas]
    found += [1 << bit for bit in range(mantissa_bits)] + [(1 << bit) - 1 for bit in range(mantissa_bits)]
    found += [((1 << exponent_bits) - 1) << mantissa_bits | (1 << bit) for bit in range(mantissa_bits)]  # NaNs
    sign = 1 << (exponent_bits + mantissa_bits)
    return sorted({bits | s for bits in found for s in (0, sign)})


def bits_of(values):
    return torch.from_numpy(values.contiguous().numpy().view(numpy.uint32).astype(numpy.int64))


def half_of(bits, dtype):
    return torch.tensor(bits, dtype=torch.int32).to(torch.int16).view(dtype)


def around(dtype, mantissa_bits, exponent_bits):
    """float32 numbers at, just below and just above every tie between neighbours, and at the ends of the range."""
    steps = 1 << mantissa_bits
    low = list(range(0, (1 << (exponent_bits + mantissa_bits)) - 2 * steps, 67))
    low += [0, 1, 2, 3, steps - 2, steps - 1, steps, steps + 1]
    lower = half_of(low, dtype).float().double()
    upper = half_of([bits + 1 for bits in low], dtype).float().double()
    ties = ((lower + upper) / 2).float()
    inf = torch.tensor(float("inf"))
    largest = torch.tensor(torch.finfo(dtype).max)
    overflow = largest.double() + (largest.double() - half_of([((1 << exponent_bits) - 1) * steps - 2], dtype)[0].double()) / 2
    ends = torch.stack([largest, overflow.float(), torch.nextafter(overflow.float(), -inf), inf,
                        torch.tensor(torch.finfo(torch.float32).max), torch.tensor(torch.finfo(torch.float32).tiny),
                        torch.tensor(1e-45), torch.tensor(float("nan"))])
    ends = torch.cat([ends, torch.nextafter(overflow.float(), inf)[None]])
    positive = torch.cat([lower.float(), ties, torch.nextafter(ties, inf), torch.nextafter(ties, -inf), ends])
    return torch.cat([positive, -positive])


def add_format(group, name, dtype, exponent_bits, mantissa_bits):
    bits = patterns(exponent_bits, mantissa_bits)
    values = half_of(bits, dtype)
    single = values.float()
    group.case(
        f"{name}_to_float32", "to_float32", {"dtype": name}, {"bits": torch.tensor(bits)},
        {"values": single, "float32_bits": bits_of(single)}, file="float_formats.safetensors",
        same_values_in={"file": "stored_halves.safetensors", "key": name},
        note="a NaN stays a NaN; its payload bits may differ",
    )
    wide = around(dtype, mantissa_bits, exponent_bits)
    narrow = wide.to(dtype).view(torch.int16).to(torch.int64) & 0xFFFF
    group.case(
        f"{name}_from_float32", "from_float32", {"dtype": name, "rounding": "nearest, ties to even"},
        {"values": wide, "float32_bits": bits_of(wide)}, {"bits": narrow}, file="float_formats.safetensors",
        note="any NaN pattern is right for a NaN",
    )
    return values


def main():
    args = arguments(__doc__)
    group = Group(args, "float_formats", "float_formats.py")
    stored = {name: add_format(group, name, *layout) for name, layout in FORMATS.items()}
    path = os.path.join(group.folder, "stored_halves.safetensors")
    save_file(stored, path)
    os.chmod(path, 0o644)
    bits = torch.arange(256)
    eighths = {name: bits.to(torch.uint8).view(dtype) for name, dtype in EIGHT_BITS.items()}
    for name, values in eighths.items():
        group.case(f"{name}_to_float32", "eight_bits_to_float32", {"dtype": name}, {"bits": bits},
                   {"values": values.float()}, file="float_formats.safetensors",
                   same_values_in={"file": "stored_eighths.safetensors", "key": name})
    path = os.path.join(group.folder, "stored_eighths.safetensors")
    save_file(eighths, path)
    os.chmod(path, 0o644)
    group.save()


if __name__ == "__main__":
    main()
