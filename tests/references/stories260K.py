"""The bundled model stories260K: one prompt, 200 greedy tokens, a padded batch, and the sampling processors."""

import torch
from transformers import AutoTokenizer, LlamaForCausalLM
from transformers.generation.logits_process import (
    MinPLogitsWarper, RepetitionPenaltyLogitsProcessor, TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper,
)

from causal_lm import forward_twice, greedy, llama_internals_twice
from common import Group, arguments, bundled

PROMPT = "Once upon a time"
BATCH = ["Once upon a time", "Lily and Tom went to the big park to play with the dog"]
PAD = 0  # the model has no padding token; <unk> never appears in these prompts


def add_prompt(group, model, ids):
    outputs, errors = forward_twice(model, ids)
    group.case(
        "prompt", "causal_lm_forward", {"prompt": PROMPT}, {"input_ids": ids}, outputs,
        file="prompt.safetensors", prefix="", errors=errors,
    )
    outputs, errors = llama_internals_twice(model, ids)
    group.case(
        "prompt_internals", "causal_lm_run_with_cache", {"prompt": PROMPT}, {"input_ids": ids}, outputs,
        file="prompt_internals.safetensors", prefix="", errors=errors,
    )


def add_greedy(group, model, tokenizer, ids):
    new, last, margin = greedy(model, ids, 200)
    full = torch.cat([ids, new], dim=1)
    outputs, errors = forward_twice(model, full[:, :-1])
    group.case(
        "greedy_200", "causal_lm_greedy",
        {"prompt": PROMPT, "max_new_tokens": 200, "eos_token_id": None, "use_cache": True},
        {"input_ids": ids}, {"new_ids": new, "last_step_logits": last},
        file="greedy_200.safetensors", prefix="", errors={"last_step_logits": errors["logits"]},
        smallest_margin=margin, eos_appears=bool((new == model.config.eos_token_id).any()),
        new_text=tokenizer.decode(new[0], skip_special_tokens=True),
        text=tokenizer.decode(full[0], skip_special_tokens=True),
        text_with_special_tokens=tokenizer.decode(full[0]),
    )


def padded(tokenizer, side):
    rows = [tokenizer(text).input_ids for text in BATCH]
    width = max(map(len, rows))
    ids, mask = torch.full((len(rows), width), PAD), torch.zeros(len(rows), width, dtype=torch.int64)
    for row, tokens in enumerate(rows):
        where = slice(width - len(tokens), width) if side == "left" else slice(0, len(tokens))
        ids[row, where], mask[row, where] = torch.tensor(tokens), 1
    return ids, mask


def add_batch(group, model, tokenizer, side):
    ids, mask = padded(tokenizer, side)
    positions = (mask.cumsum(-1) - 1).clamp(min=0)  # as in generate()
    outputs, errors = forward_twice(model, ids, attention_mask=mask, position_ids=positions)
    logits = outputs["logits"] * mask[:, :, None]
    options = {"prompts": BATCH, "padding_side": side, "pad_token_id": PAD}
    more = {"note": "logits of padded positions are stored as 0; compare where attention_mask is 1"}
    values, margins = {"logits": logits}, {}
    if side == "left":
        new, _, margin = greedy(model, ids, 24, attention_mask=mask, pad_token_id=PAD)
        values["new_ids"] = new
        options |= {"max_new_tokens": 24, "eos_token_id": None}
        margins = {"smallest_margin": margin, "new_text": tokenizer.batch_decode(new, skip_special_tokens=True)}
        for row, text in enumerate(BATCH):
            alone, _, _ = greedy(model, tokenizer(text, return_tensors="pt").input_ids, 24)
            assert torch.equal(alone[0], new[row])
    # The float32 error of a padded position is meaningless: it is measured on the rows separately.
    group.case(
        f"batch_{side}_padding", "causal_lm_batch", options,
        {"input_ids": ids, "attention_mask": mask, "position_ids": positions}, values,
        file="batch.safetensors", errors={"logits": unpadded_error(model, tokenizer)}, **more, **margins,
    )


def unpadded_error(model, tokenizer):
    rows = [tokenizer(text, return_tensors="pt").input_ids for text in BATCH]
    return max(forward_twice(model, row)[1]["logits"] for row in rows)


def add_unmasked_padding(group, model, ids):
    """Prompts with padding tokens and no mask: generate() warns and continues. `warning` is the code of our warning."""
    cases = {
        "right_padding": ([ids[0].tolist() + [PAD]], PAD, [2]), "left_padding": ([[PAD, PAD] + ids[0].tolist()], PAD, [2]),
        "rows": ([ids[0].tolist() + [PAD], [PAD] + ids[0].tolist()], PAD, [2]),
        "ambiguous_padding": ([[PAD] + ids[0].tolist()], PAD, [2, PAD]),
    }
    for name, (rows, pad, ends) in cases.items():
        prompt = torch.tensor(rows)
        made = model.generate(prompt, max_new_tokens=12, do_sample=False, pad_token_id=pad, eos_token_id=ends, return_dict_in_generate=True,
                              output_logits=True)
        best = torch.stack(made.logits).topk(2).values
        options = {"max_new_tokens": 12, "pad_token_id": pad, "eos_token_id": ends}
        warning = {"left_padding": None, "rows": "right_padding"}.get(name, name)
        group.case(f"unmasked_{name}", "causal_lm_unmasked", options, {"input_ids": prompt}, {"sequences": made.sequences},
                   file="unmasked.safetensors", smallest_margin=float((best[..., 0] - best[..., 1]).min()), warning=warning)


def undecided_row(model, ids):
    """The step of the greedy text with the smallest margin: (ids up to it, its logits)."""
    new, _, _ = greedy(model, ids, 200)
    story = torch.cat([ids, new], dim=1)
    logits = model(input_ids=story, use_cache=False).logits[0]
    entropy = torch.distributions.Categorical(logits=logits).entropy()
    where = int(entropy.argmax())
    return story[:, :where + 1], logits[where:where + 1]


def add_sampling(group, model, ids):
    history, scores = undecided_row(model, ids)
    single = {
        "temperature": ({"temperature": 0.8}, [TemperatureLogitsWarper(0.8)]),
        "top_k": ({"top_k": 20}, [TopKLogitsWarper(20)]),
        "top_p": ({"top_p": 0.9}, [TopPLogitsWarper(0.9)]),
        "min_p": ({"min_p": 0.05}, [MinPLogitsWarper(0.05)]),
        "repetition_penalty": ({"repetition_penalty": 1.3}, [RepetitionPenaltyLogitsProcessor(1.3)]),
    }
    together = ("temperature", "top_k", "top_p")
    single["temperature_top_k_top_p"] = (
        {key: value for name in together for key, value in single[name][0].items()},
        [processor for name in together for processor in single[name][1]],
    )
    single["top_k_larger_than_vocabulary"] = ({"top_k": 1000}, [TopKLogitsWarper(1000)])
    single["top_p_tiny"] = ({"top_p": 1e-6}, [TopPLogitsWarper(1e-6)])
    for name, (options, processors) in single.items():
        processed = scores
        for processor in processors:
            processed = processor(history, processed)
        group.case(
            f"sampling_{name}", "process_scores", options, {"input_ids": history, "scores": scores},
            {"processed_scores": processed, "probabilities": processed.softmax(-1)}, file="sampling.safetensors",
            kept=int(processed.isfinite().sum()),
        )


def main():
    args = arguments(__doc__)
    folder = bundled("stories260K")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    group = Group(args, "stories260K", "stories260K.py", ["transformers", "tokenizers"])
    ids = tokenizer(PROMPT, return_tensors="pt").input_ids
    add_prompt(group, model, ids)
    add_greedy(group, model, tokenizer, ids)
    add_batch(group, model, tokenizer, "left")
    add_batch(group, model, tokenizer, "right")
    add_unmasked_padding(group, model, ids)
    add_sampling(group, model, ids)
    group.save()


if __name__ == "__main__":
    main()
