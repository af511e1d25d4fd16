"""Tensor's methods and tensor functions against torch.Tensor: `options.args` are the method's arguments."""

import torch
from torch.nn import functional

from common import Group, arguments, integers, normal

FILE = "tensor_methods.safetensors"
SHAPES = {"scalar": (), "row": (7,), "cube": (2, 3, 4), "thin": (2, 1, 3, 1), "one": (1, 1), "long": (3, 37)}


def dims_of(rank):
    return [None, *range(-rank, rank)] if rank else [None]


def reduced(x, name, dim, keepdim, p=None):
    if name in ("max", "min"):
        dims = tuple(range(x.dim())) if dim is None else dim
        return getattr(torch, "amax" if name == "max" else "amin")(x, dims, keepdim=keepdim)
    if name in ("argmax", "argmin"):
        return getattr(x, name)(dim=dim, keepdim=keepdim)
    if name == "norm":
        return torch.linalg.vector_norm(x, p, dim, keepdim=keepdim)
    return getattr(x, name)(dim=dim, keepdim=keepdim)


def add(group, label, op, x, args, output, **more):
    tensors = {"input": x, **more, "output": output}
    dims = {key: list(tensor.shape) for key, tensor in tensors.items()}  # the file has no scalars
    group.case(f"{op}_{label}", op, {"args": args}, {"input": x, **more}, {"output": output}, file=FILE, dims=dims)


def add_reductions(group):
    for shape_name, shape in SHAPES.items():
        x = normal(f"tensor_methods/{shape_name}", shape, 2.0)
        whole = integers(f"tensor_methods/{shape_name}/whole", shape, -50, 50)
        for dim in dims_of(len(shape)):
            for keepdim in (False, True):
                label = f"{shape_name}_{dim}_{keepdim}"
                for op in ("sum", "mean", "max", "min", "argmax", "argmin"):
                    add(group, label, op, x, [dim, keepdim], reduced(x, op, dim, keepdim))
                for op in ("sum", "max", "argmin"):
                    add(group, f"{label}_whole", op, whole, [dim, keepdim], reduced(whole, op, dim, keepdim))
                for p in (2, 0.5):
                    add(group, f"{label}_{p}", "norm", x, [p, dim, keepdim], reduced(x, "norm", dim, keepdim, p))
    cube = normal("tensor_methods/cube", (2, 3, 4), 2.0)
    for dims in ([0, 1], [0, 2], [-1, -2], [2, 0, 1]):
        for op in ("sum", "mean", "max"):
            add(group, f"cube_{dims}", op, cube, [dims, False], reduced(cube, op, tuple(dims), False))


def add_shapes(group):
    cube = normal("tensor_methods/cube", (2, 3, 4), 2.0)
    thin = normal("tensor_methods/thin", SHAPES["thin"], 2.0)
    for order in ([2, 0, 1], [0, 1, 2], [1, 0, 2], [-1, 0, -2]):
        add(group, f"cube_{order}", "permute", cube, order, cube.permute(*order))
    for pair in ([0, 1], [-1, -2], [2, 0]):
        add(group, f"cube_{pair}", "transpose", cube, pair, cube.transpose(*pair))
    matrix = cube[0]
    for pair in ([0, 1], [1, 0], [-1, 0]):
        add(group, f"matrix_{pair}", "transpose", matrix, pair, matrix.transpose(*pair))
    for dims in ([6, 4], [-1], [2, -1, 2], [1, 24, 1]):
        for op in ("view", "reshape"):
            add(group, f"cube_{dims}", op, cube, dims, cube.reshape(*dims))
    for args in ([], [1], [0, 1], [-2, -1], [2, 2]):
        add(group, f"cube_{args}", "flatten", cube, args, cube.flatten(*args))
    add(group, "scalar", "flatten", torch.tensor(2.0), [], torch.tensor([2.0]))
    for args in ([], [1], [-1], [0], [[1, 3]], [[0, 1]]):
        output = thin.squeeze(*[tuple(a) if isinstance(a, list) else a for a in args])
        add(group, f"thin_{args}", "squeeze", thin, args, output)
    for dim in (0, 1, 3, -1, -4):
        add(group, f"cube_{dim}", "unsqueeze", cube, [dim], cube.unsqueeze(dim))


def add_elementwise(group):
    for shape_name, shape in SHAPES.items():
        x = normal(f"tensor_methods/{shape_name}", shape, 2.0)
        add(group, shape_name, "sigmoid", 20 * x, [], torch.sigmoid((20 * x).float()))
        add(group, shape_name, "neg", x, [], -x)
        add(group, shape_name, "clamp", x, [-1, 0.5], x.clamp(-1, 0.5))
        for dim in range(-len(shape), len(shape)):
            add(group, f"{shape_name}_{dim}", "softmax", x, [dim], x.softmax(dim))
            for p in (1, 2, 3):
                add(group, f"{shape_name}_{p}_{dim}", "normalize", x, [p, dim], functional.normalize(x, p, dim))
    zeros = torch.zeros((2, 3))
    add(group, "zeros", "normalize", zeros, [], functional.normalize(zeros))
    pairs = {"same": ((2, 3, 4), (2, 3, 4)), "last": ((2, 3, 4), (4,)), "middle": ((2, 3, 4), (3, 1)), "both": ((3, 1), (1, 4)),
             "larger": ((4,), (2, 3, 4)), "scalar": ((2, 3), ()), "empty": ((0, 3), (3,))}
    for name, (left, right) in pairs.items():
        a, b = normal(f"tensor_methods/{name}/a", left), normal(f"tensor_methods/{name}/b", right, mean=3.0)
        whole_a, whole_b = integers(f"{name}/a", left, -9, 9), integers(f"{name}/b", right, 1, 9)
        for op in ("add", "sub", "mul", "div"):
            add(group, name, op, a, [], getattr(torch, op)(a, b), other=b)
            add(group, f"{name}_whole", op, whole_a, [], getattr(torch, op)(whole_a, whole_b), other=whole_b)
    for op in ("add", "sub", "mul", "div"):
        x = normal("tensor_methods/cube", (2, 3, 4), 2.0)
        add(group, "number", op, x, [2.5], getattr(torch, op)(x, 2.5))


def add_functions(group):
    def put(name, op, options, inputs, **outputs):
        dims = {key: list(tensor.shape) for key, tensor in {**inputs, **outputs}.items()}
        group.case(f"{op}_{name}", op, options, inputs, outputs, file=FILE, dims=dims)

    a, b, c = (normal(f"tensor_methods/cat/{i}", shape) for i, shape in enumerate([(2, 3), (2, 1), (2, 3)]))
    put("last", "cat", {"dim": -1}, {"a": a, "b": b}, output=torch.cat([a, b], -1))
    put("first", "cat", {"dim": 0}, {"a": a, "b": c}, output=torch.cat([a, c], 0))
    for dim in (0, 1, 2, -1):
        put(f"{dim}", "stack", {"dim": dim}, {"a": a, "b": c}, output=torch.stack([a, c], dim))
    long = normal("tensor_methods/long", (3, 37), 2.0)
    for k in (1, 5, 37):
        values, indices = torch.topk(long, k)
        put(f"{k}", "topk", {"k": k}, {"input": long}, values=values, indices=indices)
    for dim in (None, 0, 1):
        for correction in (0, 1):
            std, mean = torch.std_mean(long, dim, correction=correction)
            put(f"{dim}_{correction}", "std_mean", {"dim": dim, "correction": correction}, {"input": long}, std=std, mean=mean)
    hidden, mask = normal("tensor_methods/hidden", (3, 5, 4)), torch.tensor([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1], [1, 1, 1, 1, 1]])
    wide = mask.unsqueeze(-1).double()
    put("mask", "mean_pooling", {}, {"input": hidden, "mask": mask}, output=(hidden * wide).sum(1) / wide.sum(1))
    image = normal("tensor_methods/image", (1, 2, 5, 7))
    for size in ((5, 7), (10, 14), (3, 4), (9, 3), (1, 1)):
        for mode in ("nearest", "bilinear", "bicubic"):
            output = functional.interpolate(image, size, mode=mode)
            put(f"{mode}_{size[0]}x{size[1]}", "interpolate_4d", {"size": size, "mode": mode}, {"input": image}, output=output)


def main():
    group = Group(arguments(__doc__), "tensor_methods", "tensor_methods.py", ["torch"])
    for part in (add_reductions, add_shapes, add_elementwise, add_functions):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
