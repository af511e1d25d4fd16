"""The heads of the model in tests/fixtures/induction/model, and the effect of ablating one of them."""

import contextlib
import os
import sys

import torch
from transformers import GPT2LMHeadModel

from common import Group, arguments, float64_everywhere, largest_difference, random_state
from models_common import CERTAIN, double_of, load_checkpoint

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "models"))
from head_scores import head_scores

CHECKPOINT = "model"
START = 0  # the token that begins every sequence and occurs nowhere else
LENGTH = 48
PERIODS = (9, 14, 17, 21)  # the period of each row's tokens


def sequences(vocabulary):
    """(B, T): the start, then distinct random tokens repeatedly; rows that did not occur in training."""
    rows = []
    for period in PERIODS:
        block = 1 + random_state(f"induction/{period}").permutation(vocabulary - 1)[:period]
        rows.append([START, *(int(block[i % period]) for i in range(LENGTH - 1))])
    return torch.tensor(rows)


def known(ids):
    """Which of logits[:, :-1] are determined by the context: those whose token occurred before."""
    return (ids[:, :, None] == ids[:, None, :]).tril(-1).any(-1)[:, :-1]


@contextlib.contextmanager
def zeroed(model, layer, heads):
    """Sets z of these heads to 0 at every position: in GPT-2, c_proj's input is the concatenation of the heads' z."""
    size = model.config.n_embd // model.config.n_head

    def silence(module, inputs):
        z = inputs[0].clone()
        for head in heads:
            z[..., head * size:(head + 1) * size] = 0
        return (z,)

    hook = model.transformer.h[layer].attn.c_proj.register_forward_pre_hook(silence)
    try:
        yield
    finally:
        hook.remove()


def measured(model, ids):
    """Logits, maps, scores, and the mean loss and accuracy of the predicted repetitions."""
    out = model(input_ids=ids, output_attentions=True, use_cache=False)
    asked, wanted = known(ids), ids[:, 1:]
    logits = out.logits[:, :-1][asked].double()
    found = {"logits": out.logits} | {f"attentions.{layer}": maps for layer, maps in enumerate(out.attentions)}
    return found | head_scores(out.attentions, ids) | {
        "loss": torch.nn.functional.cross_entropy(logits, wanted[asked]).reshape(1),
        "accuracy": (logits.argmax(-1) == wanted[asked]).double().mean().reshape(1),
    }


def measured_twice(model, ids, layer=0, heads=()):
    with zeroed(model, layer, heads):
        single = measured(model, ids)
    double = double_of(model)
    with float64_everywhere(), zeroed(double, layer, heads):
        exact = measured(double, ids)
    return single, {key: largest_difference(single[key], exact[key]) for key in single}


def smallest_margin(logits, ids):
    """The smallest distance of the two best logits for determined tokens: far above the error, so accuracy is certain."""
    best = logits[:, :-1][known(ids)].topk(2).values
    margin = float((best[:, 0] - best[:, 1]).min())
    assert margin > CERTAIN
    return float(f"{margin:.3g}")


def add_heads(group, model, ids):
    found, errors = measured_twice(model, ids)
    group.case("heads", "head_scores", {"checkpoint": CHECKPOINT}, {"input_ids": ids}, found, file="heads.safetensors",
               errors=errors, smallest_margin=smallest_margin(found["logits"], ids),
               note="scores (layer, head); loss and accuracy over the queries whose token was seen before")
    return found


def add_ablation(group, model, ids, name, layer, heads):
    """The same with heads ablated; maps of the earlier layers are those of the case `heads`."""
    found, errors = measured_twice(model, ids, layer, heads)
    for earlier in range(layer + 1):
        del found[f"attentions.{earlier}"], errors[f"attentions.{earlier}"]
    options = {"checkpoint": CHECKPOINT, "hook": f"blocks.{layer}.attn.hook_z", "heads": heads}
    group.case(name, "ablated_heads", options, {"input_ids": ids}, found, file=f"{name}.safetensors", errors=errors,
               smallest_margin=smallest_margin(found["logits"], ids))
    return found


def add_sweep(group, model, ids):
    """Each head ablated separately: the loss and the accuracy, (layer, head)."""
    heads = [(layer, head) for layer in range(model.config.n_layer) for head in range(model.config.n_head)]
    runs = [measured_twice(model, ids, layer, [head]) for layer, head in heads]
    shape = (model.config.n_layer, model.config.n_head)
    outputs = {name: torch.cat([found[key] for found, _ in runs]).reshape(shape)
               for name, key in (("losses", "loss"), ("accuracies", "accuracy"))}
    errors = {name: max(missed[key] for _, missed in runs) for name, key in (("losses", "loss"), ("accuracies", "accuracy"))}
    group.case("every_head", "ablation_sweep", {"checkpoint": CHECKPOINT}, {"input_ids": ids}, outputs,
               file="every_head.safetensors", errors=errors,
               smallest_margin=min(smallest_margin(found["logits"], ids) for found, _ in runs))
    return outputs


def show(found):
    for name, value in found.items():
        if name not in ("logits",) and not name.startswith("attentions"):
            print(name, [[round(number, 3) for number in row] for row in torch.atleast_2d(value).tolist()])


def main():
    args = arguments(__doc__)
    group = Group(args, "induction", "induction.py", ["transformers"])
    model = load_checkpoint(os.path.join(group.folder, CHECKPOINT), GPT2LMHeadModel)
    ids = sequences(model.config.vocab_size)
    found = add_heads(group, model, ids)
    previous = int(found["previous_token"][0].argmax())
    other = int(found["previous_token"][0].argmin())
    without = add_ablation(group, model, ids, "without_previous_token_head", 0, [previous])
    control = add_ablation(group, model, ids, "without_another_head", 0, [other])
    sweep = add_sweep(group, model, ids)
    for part in (found, without, control, sweep):
        show(part)
    # The purpose of the group: the model has both kinds of head, and the second needs the first.
    assert found["induction"][1].max() > 0.8 and found["previous_token"][0].max() > 0.5
    assert found["accuracy"] > 0.99 and without["accuracy"] < 0.5 and control["accuracy"] > 0.9
    assert without["induction"].max() < 0.5
    group.save()


if __name__ == "__main__":
    main()
