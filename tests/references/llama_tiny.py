"""Small random Llama checkpoints as saved by transformers, each with all intermediate values of a forward pass."""

import json
import os
import shutil

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from causal_lm import forward_twice, greedy, llama_internals_twice
from common import Group, arguments, fill_state_dict, integers

COMMON = dict(
    num_hidden_layers=2, max_position_embeddings=64, rms_norm_eps=1e-5, bos_token_id=1, eos_token_id=2,
    tie_word_embeddings=False, rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
)
ODD = COMMON | dict(
    hidden_size=30, num_attention_heads=3, num_key_value_heads=1, head_dim=10, intermediate_size=44, vocab_size=97,
)
EVEN = COMMON | dict(
    hidden_size=32, num_attention_heads=4, num_key_value_heads=2, head_dim=8, intermediate_size=48, vocab_size=64,
)
LLAMA3 = {
    "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,  # wavelengths 6 (unscaled), 32 (interpolated), 167 and more (divided by 8)
}
CHECKPOINTS = {
    "odd": (ODD, {}),
    "tied": (EVEN | dict(tie_word_embeddings=True,
                         rope_parameters={"rope_type": "default", "rope_theta": 500000.0}), {}),
    "fp16": (EVEN, {"dtype": torch.float16}),
    "bf16": (EVEN, {"dtype": torch.bfloat16}),
    "sharded": (EVEN | dict(num_hidden_layers=3), {"max_shard_size": "20KB"}),
    "bias": (EVEN | dict(attention_bias=True, mlp_bias=True), {}),
    "rope_llama3": (EVEN | dict(rope_parameters=LLAMA3, head_dim=16, max_position_embeddings=512), {}),
    "rope_linear": (EVEN | dict(rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}), {}),
}


def write_checkpoint(folder, name, settings, dtype=torch.float32, max_shard_size="5GB"):
    """Runs save_pretrained into a clean folder; returns the float32 model of the saved weights."""
    shutil.rmtree(folder, ignore_errors=True)
    model = LlamaForCausalLM(LlamaConfig(**settings))
    fill_state_dict(model, f"llama_tiny/{name}")
    model.tie_weights()
    model.to(dtype).save_pretrained(folder, max_shard_size=max_shard_size)
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(folder, "config_v4.json"), "w", encoding="utf-8") as file:
        json.dump(as_version_4(config), file, indent=2, sort_keys=True)
        file.write("\n")
    for file in os.listdir(folder):
        os.chmod(os.path.join(folder, file), 0o644)
    return LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def as_version_4(config):
    """The same configuration in transformers 4's form, as in most files on the Hub."""
    old = {key: value for key, value in config.items() if key not in ("rope_parameters", "dtype")}
    rope = dict(config["rope_parameters"])
    old["rope_theta"] = rope.pop("rope_theta")
    old["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    old["torch_dtype"] = config["dtype"]
    old["transformers_version"] = "4.57.0"
    return old


def check_version_4(folder, model, ids):
    copy = os.path.join(folder, "config_v4.json")
    old = LlamaForCausalLM(LlamaConfig.from_json_file(copy)).eval()
    old.load_state_dict(model.state_dict())
    old.config._attn_implementation = "eager"
    assert torch.equal(old(input_ids=ids).logits, model(input_ids=ids).logits)


def add_padded(group, name, model, vocab_size):
    """Row 0 has five tokens, row 1 nine; padding is token 0 on the given side."""
    ids = integers(f"llama_tiny/{name}/padded", (2, 9), 3, vocab_size)
    for side in ("left", "right"):
        mask = torch.ones(2, 9, dtype=torch.int64)
        mask[0, slice(0, 4) if side == "left" else slice(5, 9)] = 0
        positions = (mask.cumsum(-1) - 1).clamp(min=0)
        padded = ids * mask
        outputs, _ = forward_twice(model, padded, attention_mask=mask, position_ids=positions)
        values = {"logits": outputs["logits"] * mask[:, :, None]}
        margin = {}
        if side == "left":
            values["new_ids"], _, least = greedy(model, padded, 24, attention_mask=mask)
            margin = {"smallest_margin": least}
        group.case(
            f"{name}_{side}_padding", "causal_lm_batch",
            {"checkpoint": name, "padding_side": side, "pad_token_id": 0, "max_new_tokens": 24, "eos_token_id": None},
            {"input_ids": padded, "attention_mask": mask, "position_ids": positions}, values,
            file=f"{name}_padding.safetensors", **margin,
            note="logits of padded positions are stored as 0; compare where attention_mask is 1",
        )


def add_checkpoint(group, name, settings, saved):
    folder = os.path.join(group.folder, name)
    model = write_checkpoint(folder, name, settings, **saved)
    ids = integers(f"llama_tiny/{name}/input_ids", (2, 9), 3, settings["vocab_size"])
    check_version_4(folder, model, ids)
    outputs, errors = forward_twice(model, ids)
    group.case(
        name, "causal_lm_forward", {"checkpoint": name}, {"input_ids": ids}, outputs,
        file=f"{name}.safetensors", prefix="", errors=errors,
    )
    new, last, margin = greedy(model, ids, 24)
    group.case(
        f"{name}_greedy", "causal_lm_greedy", {"checkpoint": name, "max_new_tokens": 24, "eos_token_id": None},
        {"input_ids": ids}, {"new_ids": new, "last_step_logits": last},
        file=f"{name}.safetensors", prefix="greedy.", smallest_margin=margin,
    )
    return model, ids


def main():
    args = arguments(__doc__)
    group = Group(args, "llama_tiny", "llama_tiny.py", ["transformers"])
    for name, (settings, saved) in CHECKPOINTS.items():
        model, ids = add_checkpoint(group, name, settings, saved)
        if name in ("odd", "bias"):
            values, errors = llama_internals_twice(model, ids)
            group.case(
                f"{name}_internals", "causal_lm_run_with_cache", {"checkpoint": name}, {"input_ids": ids}, values,
                file=f"{name}_internals.safetensors", prefix="", errors=errors,
            )
        if name == "odd":
            add_padded(group, name, model, settings["vocab_size"])
    group.save()


if __name__ == "__main__":
    main()
