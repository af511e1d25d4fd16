"""Control vectors by repeng's formulas and linear probes (of two classes, several, and numbers) by sklearn's objectives, of hidden states that transformers computes:
all in float64. The GGUF file is written here byte by byte, in repeng's order of keys."""

import os
import struct

import torch
from transformers import AutoModelForCausalLM

from common import Group, arguments, float64_everywhere, integers, normal
from models_common import double_of

MODELS = {"gpt2": "models/gpt2/odd", "llama": "llama_tiny/tied", "gpt_neox": "models/gpt_neox/odd"}
PAIRS, LENGTH, CLASSES = 6, 7, 4


def states(model, ids):
    """The outputs of every layer at the last position, [sequence, layer, d_model], in float64. The last layer's is taken before
    the final norm."""
    found = []
    layers = [module for name, module in model.named_modules() if name.endswith((".h", ".layers"))][0]
    hooks = [layer.register_forward_hook(lambda _m, _i, out: found.append((out[0] if isinstance(out, tuple) else out)[:, -1])) for layer in layers]
    model(input_ids=ids, use_cache=False)
    for hook in hooks:
        hook.remove()
    return torch.stack(found, dim=1)


def principal(rows):
    """sklearn's PCA(n_components=1).components_[0]: its largest element is positive."""
    found = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False).Vh[0]
    return found * torch.sign(found[found.abs().argmax()])


def direction(positive, negative, method):
    if method == "mean_diff":
        return (positive - negative).mean(dim=0)
    middle = (positive + negative) / 2
    found = principal(positive - negative if method == "pca_diff" else torch.cat([positive - middle, negative - middle]))
    along, against = positive @ found, negative @ found
    return -found if (along < against).double().mean() > (along > against).double().mean() else found


def ridge(x, y, alpha):
    centred, middle = x - x.mean(dim=0), y.mean()
    w = torch.linalg.solve(centred.T @ centred + alpha * torch.eye(x.shape[1], dtype=x.dtype), centred.T @ (y - middle))
    return w, middle - x.mean(dim=0) @ w


def minimum(objective, parameters):
    """By Newton's method on autograd's gradient and Hessian, until the gradient vanishes."""
    for _ in range(60):
        with torch.enable_grad():
            gradient = torch.autograd.functional.jacobian(objective, parameters)
            hessian = torch.autograd.functional.hessian(objective, parameters)
        step = torch.linalg.solve(hessian, gradient)
        while objective(parameters - step) > objective(parameters):
            step = step / 2
            if step.abs().max() < 1e-15:
                break
        parameters = parameters - step
    assert gradient.abs().max() < 1e-9, float(gradient.abs().max())
    return parameters


def logistic(x, y, weight):
    """sklearn's LogisticRegression of two classes."""
    parameters = torch.zeros(x.shape[1] + 1, dtype=x.dtype)

    def objective(p):
        margins = (2 * y - 1) * (x @ p[:-1] + p[-1])
        return p[:-1] @ p[:-1] / 2 + weight * torch.nn.functional.softplus(-margins).sum()

    parameters = minimum(objective, parameters)
    return parameters[:-1], parameters[-1]


def softmax(x, y, weight, classes):
    """sklearn's multinomial LogisticRegression; the biases' sum, which changes nothing, is held at 0 by a term."""
    parameters = torch.zeros(classes * (x.shape[1] + 1), dtype=x.dtype)

    def objective(p):
        w, b = p[:classes * x.shape[1]].reshape(classes, -1), p[classes * x.shape[1]:]
        return (w * w).sum() / 2 + b.sum() ** 2 / 2 + weight * torch.nn.functional.cross_entropy(x @ w.T + b, y, reduction="sum")

    parameters = minimum(objective, parameters)
    return parameters[:classes * x.shape[1]].reshape(classes, -1), parameters[classes * x.shape[1]:]


def gguf(path, model_type, directions):
    def text(value):
        return struct.pack("<Q", len(value.encode())) + value.encode()

    def padded(data):
        return data + b"\0" * (-len(data) % 32)

    keys = text("general.architecture") + struct.pack("<I", 8) + text("controlvector")
    keys += text("controlvector.model_hint") + struct.pack("<I", 8) + text(model_type)
    keys += text("controlvector.layer_count") + struct.pack("<II", 4, len(directions))
    infos, data = b"", b""
    for layer, vector in directions.items():
        infos += text(f"direction.{layer}") + struct.pack("<IQIQ", 1, len(vector), 0, len(data))
        data += padded(struct.pack(f"<{len(vector)}f", *vector.float().tolist()))
    with open(path, "wb") as file:
        file.write(padded(struct.pack("<4sIQQ", b"GGUF", 3, len(directions), 3) + keys + infos) + data)


def main():
    args = arguments(__doc__)
    group = Group(args, "directions", "directions.py", ("transformers",))
    for name, checkpoint in MODELS.items():
        single = AutoModelForCausalLM.from_pretrained(os.path.join(args.out, checkpoint), dtype=torch.float32, attn_implementation="eager").eval()
        model = double_of(single).eval()
        ids = integers(f"directions/{name}", (2 * PAIRS, LENGTH), 3, single.config.vocab_size)
        with float64_everywhere():
            hidden = states(model, ids)
        layers = range(hidden.shape[1])
        outputs = {f"{method} {layer}": direction(hidden[::2, layer], hidden[1::2, layer], method)
                   for method in ("pca_diff", "pca_center", "mean_diff") for layer in layers}
        group.case(name, "control_vector", {"checkpoint": checkpoint}, {"ids": ids}, outputs, file="directions.safetensors")
        if name == "gpt2":
            gguf(os.path.join(args.out, "directions", "repeng.gguf"), "gpt2", {layer: outputs[f"pca_diff {layer}"] for layer in layers if layer > 0})
    for name, checkpoint, count, kind, options in (
            ("few sequences", "gpt2", 12, "logistic", {"C": 2.0}), ("many sequences", "llama", 48, "logistic", {"C": 0.5}),
            ("numbers", "gpt_neox", 48, "ridge", {"alpha": 0.7}), ("few numbers", "gpt2", 12, "ridge", {"alpha": 0.1}),
            ("classes", "llama", 60, "softmax", {"C": 0.8}), ("few of each class", "gpt2", 15, "softmax", {"C": 3.0})):
        single = AutoModelForCausalLM.from_pretrained(os.path.join(args.out, MODELS[checkpoint]), dtype=torch.float32, attn_implementation="eager").eval()
        model = double_of(single).eval()
        ids = integers(f"directions/{name}", (count, LENGTH), 3, single.config.vocab_size)
        with float64_everywhere():
            x = states(model, ids)[:, 0]
        labels = (ids[:, -1] % 2).double() if kind == "logistic" else normal(f"directions/{name}", (count,)).double()
        if kind == "softmax":
            labels = ids[:, -1] % CLASSES
            assert len(labels.unique()) == CLASSES
            w, b = softmax(x, labels, options["C"], CLASSES)
            found = x @ w.T + b
            loss, score = torch.nn.functional.cross_entropy(found, labels), (found.argmax(dim=1) == labels).double().mean()
            group.case(name, "probe", {"checkpoint": MODELS[checkpoint], "kind": kind, **options, "loss": float(loss), "score": float(score)},
                       {"ids": ids, "labels": labels.double()}, {"weights": w, "bias": b, "found": found}, file="directions.safetensors")
            print(name, float(loss), float(score), float(w.norm()))
            continue
        w, b = logistic(x, labels, options["C"]) if kind == "logistic" else ridge(x, labels, options["alpha"])
        found = x @ w + b
        loss = torch.nn.functional.softplus(-(2 * labels - 1) * found).mean() if kind == "logistic" else ((found - labels) ** 2).mean()
        score = ((found > 0) == (labels > 0)).double().mean() if kind == "logistic" else 1 - loss / labels.var(unbiased=False)
        group.case(name, "probe", {"checkpoint": MODELS[checkpoint], "kind": kind, **options, "loss": float(loss), "score": float(score)},
                   {"ids": ids, "labels": labels}, {"weights": w, "bias": b.reshape(1), "found": found}, file="directions.safetensors")
        print(name, float(loss), float(score), float(w.norm()))
    group.save()


if __name__ == "__main__":
    main()
