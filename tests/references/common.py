"""Common to all reference scripts: the fixture format, seeded numbers, runs in float64."""

import argparse
import contextlib
import importlib.metadata
import json
import math
import os
import platform
import zlib

import numpy
import torch
from safetensors.numpy import save_file
from torch.overrides import TorchFunctionMode

torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)
torch.set_grad_enabled(False)

BUNDLED = os.path.join(os.path.dirname(__file__), "..", "..", "web", "demo", "public", "models")
FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")  # committed, of which others are made
LARGEST_FILE = 1_000_000  # bytes; fixtures should remain readable


def arguments(description, **more):
    """The command line of all scripts: `--models FOLDER --out tests/fixtures`, and `--name VALUE` with the defaults of `more`."""
    parser = argparse.ArgumentParser(description=description)
    for name, usual in more.items():
        parser.add_argument(f"--{name}", type=type(usual), default=usual)
    parser.add_argument("--models", help="folder that holds the real checkpoints which the page does not have")
    parser.add_argument("--out", required=True, help="the folder tests/fixtures")
    return parser.parse_args()


def bundled(name):
    """The folder of a bundled model: references depend on these very weights."""
    return os.path.join(BUNDLED, name)


def versions(*packages):
    found = {"python": platform.python_version(), "torch": torch.__version__}
    return found | {name: importlib.metadata.version(name) for name in packages}


def random_state(name, seed=0):
    """A generator seeded by the name only, so that adding a case changes no other case."""
    return numpy.random.RandomState((zlib.crc32(name.encode()) + seed) & 0xFFFFFFFF)


def normal(name, shape, scale=1.0, mean=0.0):
    """Seeded normal numbers that float32 represents exactly, as a float64 tensor."""
    values = random_state(name).standard_normal(shape) * scale + mean
    return torch.from_numpy(numpy.asarray(values).astype(numpy.float32).astype(numpy.float64))


def integers(name, shape, low, high):
    return torch.from_numpy(random_state(name).randint(low, high, size=shape, dtype=numpy.int64))


def fill_state_dict(module, name, gain=1.0):
    """Weights with visible effects: matrices preserve the scale of activations, norms differ from 1, biases from 0."""
    for key, value in module.state_dict().items():
        if not value.dtype.is_floating_point:
            continue
        if value.dim() >= 2:
            fan_in = 1 if key.endswith(("embedding.weight", "embeddings.weight", "embed_tokens.weight")) else value[0].numel()
            new = normal(f"{name}/{key}", value.shape, gain / math.sqrt(fan_in))
        elif key.endswith("weight"):
            new = normal(f"{name}/{key}", value.shape, 0.2, mean=1.0)
        else:
            new = normal(f"{name}/{key}", value.shape, 0.3)
        value.copy_(new)
    return module


class _Float64(TorchFunctionMode):
    """Replaces the libraries' internal casts to float32 (norms, softmax, rotary angles) by float64."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        def wide(value):
            return torch.float64 if value is torch.float32 else value

        kwargs = {key: wide(value) for key, value in (kwargs or {}).items()}
        if func is torch.Tensor.float:
            return args[0].double()
        return func(*[wide(value) for value in args], **kwargs)


@contextlib.contextmanager
def float64_everywhere():
    torch.set_default_dtype(torch.float64)
    try:
        with _Float64():
            yield
    finally:
        torch.set_default_dtype(torch.float32)


def largest_difference(a, b):
    """max |a - b|; equal infinities, and NaN in both places, count as no difference."""
    a, b = a.double(), b.double()
    same = (a == b) | (a.isnan() & b.isnan())
    return 0.0 if bool(same.all()) else float((a - b)[~same].abs().max())


def rounded_up(value):
    """Two digits suffice for an error, and keep cases.json readable."""
    if value == 0 or not math.isfinite(value):
        return value if math.isfinite(value) else str(value)
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return float(f"{math.ceil(value / step) * step:.1e}")


def cast(tensors, dtype):
    return {key: value.to(dtype) if value.is_floating_point() else value for key, value in tensors.items()}


def twice(function, inputs, module=None):
    """function(**inputs), a dict of tensors, in float64, and the float32 error of each output."""
    results = {}
    for dtype in (torch.float32, torch.float64):
        if module is not None:
            module.to(dtype)
        results[dtype] = function(**cast(inputs, dtype))
    exact = results[torch.float64]
    return exact, {key: largest_difference(results[torch.float32][key], exact[key]) for key in exact}


class Group:
    """One folder of tests/fixtures: cases.json and the tensors it names."""

    def __init__(self, args, name, script, packages=()):
        self.folder = os.path.join(args.out, name)
        os.makedirs(self.folder, exist_ok=True)
        self.header = {
            "generator": f"tests/references/{script}",
            "versions": versions("numpy", "safetensors", *packages),
        }
        self.files = {}
        self.cases = []

    def put(self, file, key, tensor):
        """Stores a tensor as fp32 or int64 and returns its key."""
        if not torch.is_tensor(tensor):
            tensor = torch.as_tensor(tensor)
        if tensor.dtype in (torch.bool, torch.int32, torch.int64):
            tensor = tensor.to(torch.int64)
        else:
            tensor = tensor.to(torch.float32)
        tensors = self.files.setdefault(file, {})
        if key in tensors:
            raise ValueError(f"{self.folder}: the key {key} exists twice")
        tensors[key] = numpy.ascontiguousarray(tensor.detach().numpy())
        return key

    def add(self, case):
        if any(case["name"] == other["name"] for other in self.cases):
            raise ValueError(f"{self.folder}: the case {case['name']} exists twice")
        self.cases.append(case)

    def case(self, name, op, options, inputs, outputs, *, file, prefix=None, weights=None, errors=None, **more):
        """One case: `outputs` are expected values, `errors` the reference library's own float32 errors by output."""
        prefix = f"{name}." if prefix is None else prefix
        case = {"name": name, "op": op, "file": file, "options": options}
        case["inputs"] = {key: self.put(file, prefix + key, value) for key, value in inputs.items()}
        case["outputs"] = {key: self.put(file, prefix + key, value) for key, value in outputs.items()}
        if weights is not None:
            case["weights"] = weights
        if errors is not None:
            case["float32_error"] = {key: rounded_up(value) for key, value in errors.items()}
        self.add(case | more)

    def put_weights(self, file, prefix, module):
        """Stores a state_dict once; several cases may refer to its prefix."""
        for key, value in module.state_dict().items():
            self.put(file, prefix + key, value)
        return prefix

    def run(self, name, op, options, inputs, function, *, file, module=None, **more):
        """A case whose expected values are the float64 results of `function(**inputs)`."""
        outputs, errors = twice(function, inputs, module)
        self.case(name, op, options, inputs, outputs, file=file, errors=errors, **more)
        return outputs

    def save(self):
        for file, tensors in self.files.items():
            path = os.path.join(self.folder, file)
            save_file(tensors, path)
            os.chmod(path, 0o644)
            if os.path.getsize(path) > LARGEST_FILE:
                raise ValueError(f"{path} has {os.path.getsize(path)} bytes, more than {LARGEST_FILE}")
        self.header["files"] = sorted(self.files)
        with open(os.path.join(self.folder, "cases.json"), "w", encoding="ascii", newline="\n") as out:
            out.write("{\n")
            for key, value in self.header.items():
                out.write(f"{json.dumps(key)}: {json.dumps(value)},\n")
            lines = [json.dumps(case, allow_nan=False) for case in self.cases]
            out.write('"cases": [\n' + ",\n".join(lines) + "\n]\n}\n")
        total = sum(os.path.getsize(os.path.join(root, f)) for root, _, fs in os.walk(self.folder) for f in fs)
        print(f"{self.folder}: {len(self.cases)} cases, {total} bytes")
