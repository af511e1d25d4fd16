"""Random options of generate(): whole searches, and the scores of one step after a generation_config.json, whose options the
caller's replace or, as None, switch off.

    python3 tests/references/generation_random.py --out tests/fixtures
    python3 tests/references/generation_random.py --out <folder> --count 200 --seed x
"""

import json
import os
import random

import torch
from transformers import GenerationConfig, LogitsProcessorList

from common import FIXTURES, Group, arguments, float64_everywhere
from generation import CHECKPOINTS, Noise
from models_common import double_of, load_checkpoint

LOST = -1e8  # beams that never began have this score or less; which of them are returned is up to the sorting
FROM_CHECKPOINT = ("pad_token_id", "eos_token_id", "bos_token_id", "decoder_start_token_id")


class Draw:
    """Options; `likely` are tokens that the model chooses by itself."""

    def __init__(self, rng, vocabulary, likely):
        self.rng, self.vocabulary, self.likely, self.options = rng, vocabulary, likely, {}

    def sometimes(self, share, name, value):
        if self.rng.random() < share:
            self.options[name] = value() if callable(value) else self.rng.choice(value)

    def token(self):
        return self.rng.choice(self.likely) if self.rng.random() < 0.7 else self.rng.randrange(self.vocabulary)

    def tokens(self, least, most):
        return [self.token() for _ in range(self.rng.randint(least, most))]

    def words(self):
        words = [self.tokens(1, 3) for _ in range(self.rng.randint(1, 3))]
        return [word for i, word in enumerate(words) if word not in words[:i]]

    def biases(self):
        return [[word, self.rng.choice([-10.0, -2.5, 1.25, 3.0])] for word in self.words()]

    def ends(self):
        return self.rng.choice([None, self.token(), self.token(), list(dict.fromkeys(self.tokens(2, 2)))])


def draw_rules(draw):
    """What changes scores, in a search and in sampling."""
    draw.sometimes(0.3, "repetition_penalty", [0.7, 1.0, 1.3, 2.0])
    draw.sometimes(0.25, "no_repeat_ngram_size", [0, 1, 2, 3])
    draw.sometimes(0.15, "encoder_no_repeat_ngram_size", [1, 2])
    draw.sometimes(0.2, "bad_words_ids", draw.words)
    draw.sometimes(0.2, "sequence_bias", draw.biases)
    draw.sometimes(0.2, "suppress_tokens", lambda: draw.tokens(0, 3))
    draw.sometimes(0.2, "begin_suppress_tokens", lambda: draw.tokens(0, 2))
    draw.sometimes(0.2, "min_new_tokens", [0, 2, 5, 8])
    draw.sometimes(0.2, "min_length", [0, 3, 9, 15])
    draw.sometimes(0.1, "remove_invalid_values", [True])
    draw.sometimes(0.2, "renormalize_logits", [True])
    draw.sometimes(0.5, "eos_token_id", draw.ends)


def has_start(model):
    """Whether the checkpoint says how texts begin, or need not."""
    return not model.config.is_encoder_decoder or model.generation_config.decoder_start_token_id is not None


def draw_search(draw, model):
    rng = draw.rng
    draw.options["do_sample"] = False
    draw.options |= {"max_new_tokens": rng.randint(1, 12)} if rng.random() < 0.85 else {"max_length": rng.randint(4, 20)}
    if rng.random() < 0.6:
        beams = draw.options["num_beams"] = rng.randint(2, 4)
        draw.sometimes(0.5, "num_return_sequences", lambda: rng.randint(1, beams))
        draw.sometimes(0.5, "early_stopping", [True, False, "never"])
        draw.sometimes(0.5, "length_penalty", [-1.0, 0.0, 0.6, 1.0, 2.0])
    else:  # transformers penalises other rows than the beams' own
        draw.sometimes(0.2, "encoder_repetition_penalty", [0.8, 1.4])
    draw_rules(draw)
    draw.sometimes(0.15, "forced_bos_token_id", draw.token)
    # Several forced tokens have the same score: in beams it is up to the sorting which one is chosen.
    draw.sometimes(0.15, "forced_eos_token_id", lambda: draw.tokens(1, 1 if "num_beams" in draw.options else 2))
    draw.sometimes(0.15, "exponential_decay_length_penalty", lambda: [rng.randrange(6), rng.choice([0.9, 1.1, 1.5])])
    draw.sometimes(0.3, "pad_token_id", [None, rng.randrange(draw.vocabulary)])
    draw.sometimes(0.1, "temperature", [0.5])  # without effect in a search, as are these
    draw.sometimes(0.1, "top_k", [1])
    if model.config.is_encoder_decoder:
        draw.sometimes(0.5 if has_start(model) else 1, "decoder_start_token_id", draw.token)
    return draw.options


def draw_warping(draw):
    draw.sometimes(0.6, "temperature", [0.3, 0.7, 1.0, 1.5, 3.0])
    draw.sometimes(0.5, "top_k", [0, 1, 3, 10, 50, 1000])
    draw.sometimes(0.5, "top_p", [0.1, 0.5, 0.9, 0.999, 1.0])
    draw.sometimes(0.3, "min_p", [0.01, 0.1, 0.5, 1.0])
    draw.sometimes(0.25, "typical_p", [0.2, 0.8, 0.95, 1.0])
    draw.sometimes(0.25, "epsilon_cutoff", [0.001, 0.02, 0.3])
    draw.sometimes(0.25, "eta_cutoff", [0.001, 0.02, 0.3])
    draw.sometimes(0.15, "top_h", [0.3, 0.8])
    draw_rules(draw)
    draw.sometimes(0.2, "num_beams", [1, 2])
    return draw.options


def draw_inputs(rng, config):
    """Prompts with padding on the side where it belongs; without a mask it may be anywhere, but is not all of a row, for which
    transformers' implementations of attention differ."""
    rows, length, pad = rng.randint(1, 3), rng.randint(1, 7), config.pad_token_id or 0
    ids = torch.tensor([[rng.randrange(config.vocab_size) for _ in range(length)] for _ in range(rows)])
    ids[(ids == pad).all(-1)] = pad + 1
    inputs = {"input_ids": ids}
    if rng.random() < 0.7:
        mask = torch.ones_like(ids)
        for row in mask:
            padded = rng.choice([0, rng.randrange(length)])
            row[length - padded:] = 0
        mask = mask if config.is_encoder_decoder else mask.flip(-1)
        inputs |= {"input_ids": ids.masked_fill(mask == 0, pad), "attention_mask": mask}
    if config.is_encoder_decoder and rng.random() < 0.3:
        inputs["decoder_input_ids"] = torch.tensor([[rng.randrange(config.vocab_size) for _ in range(rng.choice([1, 3]))]] * rows)
    return inputs


def generate(model, inputs, options, noise=None):
    processors = LogitsProcessorList([] if noise is None else [Noise(noise)])
    torch.manual_seed(0)
    return model.generate(**inputs, **options, return_dict_in_generate=True, output_scores=True, logits_processor=processors)


def is_certain(model, double, inputs, options, found):
    """Whether float64 and noisy scores give the same tokens and beams, none of them by NaN."""
    if any(score.isnan().any() for score in found.scores):
        return False
    if "sequences_scores" in found and (found.sequences_scores <= LOST).any():
        return False
    with float64_everywhere():
        others = [generate(double, inputs, options)]
    others += [generate(model, inputs, options, noise) for noise in range(3)]
    names = [name for name in ("sequences", "beam_indices") if name in found]
    return all(torch.equal(other[name], found[name]) for other in others for name in names)


def add_search(group, name, folder, model, double, rng):
    """A random search; False if transformers refuses it or rounding could change its result."""
    inputs = draw_inputs(rng, model.config)
    try:
        start = {} if has_start(model) else {"decoder_start_token_id": 2}
        free = generate(model, inputs, {"max_new_tokens": 8, "do_sample": False, "eos_token_id": None} | start).sequences
        likely = free[:, 1 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]:].flatten().tolist()
        options = draw_search(Draw(rng, model.config.vocab_size, likely), model)
        found = generate(model, inputs, options)
        if not is_certain(model, double, inputs, options, found):
            return False
    except (ValueError, RuntimeError, IndexError, TypeError):
        return False
    outputs = {key: found[key] for key in ("sequences", "sequences_scores") if key in found}
    if "sequences_scores" in outputs:
        outputs["beam_indices"] = found.beam_indices.long()
    group.case(name, "random_search", {"checkpoint": folder} | options, inputs, outputs, file=f"{model.config.model_type}.safetensors")
    return True


def add_step(group, name, folder, model, rng):
    """The scores of one step; False if transformers refuses it or computes NaN."""
    vocabulary, usual = model.config.vocab_size, model.generation_config
    likely = [rng.randrange(vocabulary) for _ in range(8)]
    stored = draw_warping(Draw(rng, vocabulary, likely)) | {"do_sample": rng.random() < 0.7}
    if stored.get("eos_token_id") is None:  # without one in this file, this library takes that of config.json
        stored["eos_token_id"] = usual.eos_token_id
    given = draw_warping(Draw(rng, vocabulary, likely)) | {"max_new_tokens": 1}
    given |= {key: None for key in stored if key != "num_beams" and rng.random() < 0.15}
    ids = torch.tensor([[rng.randrange(3, vocabulary) for _ in range(rng.randint(1, 6))]])
    inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    try:
        start = {} if has_start(model) else {"decoder_start_token_id": 2}
        model.generation_config = GenerationConfig(**{key: getattr(usual, key) for key in FROM_CHECKPOINT} | start | stored)
        stored = json.loads(model.generation_config.to_json_string())
        found = generate(model, inputs, given)
    except (ValueError, RuntimeError, IndexError, TypeError):
        return False
    finally:
        model.generation_config = usual
    if found.scores[0].isnan().any():
        return False
    group.case(name, "random_step", {"checkpoint": folder, "generation_config": stored} | given, inputs,
               {"scores": found.scores[0]}, file=f"{model.config.model_type}.safetensors")
    return True


def add_some(count, add):
    number = added = 0
    while added < count and number < 4 * count:
        added += add(number)
        number += 1


def main():
    args = arguments(__doc__, count=8, seed="")
    group = Group(args, "generation_random", "generation_random.py", ["transformers"])
    for name, (folder, model_class) in CHECKPOINTS.items():
        model = load_checkpoint(os.path.join(FIXTURES, folder), model_class)
        double = double_of(model)
        double.generation_config = model.generation_config

        def search(number):
            case = f"{name}_search_{args.seed}{number}"
            return add_search(group, case, folder, model, double, random.Random(case))

        def step(number):
            case = f"{name}_step_{args.seed}{number}"
            return add_step(group, case, folder, model, random.Random(case))

        add_some(args.count, search)
        add_some(args.count, step)
    group.save()


if __name__ == "__main__":
    main()
