"""generate() beyond greedy: beam search with every option, and each processor that changes a step's scores."""

import os

import torch
from transformers import (
    BartForConditionalGeneration, GenerationConfig, GenerationMixin, GPT2LMHeadModel, LlamaForCausalLM, LogitsProcessor,
    LogitsProcessorList, M2M100ForConditionalGeneration, MBartForConditionalGeneration, PegasusForConditionalGeneration,
    T5ForConditionalGeneration,
)

from common import Group, arguments, cast, float64_everywhere, integers, largest_difference, normal, random_state
from models_common import double_of, load_checkpoint, padded, token_ids

CHECKPOINTS = {
    "gpt2": ("models/gpt2/odd", GPT2LMHeadModel),
    "llama": ("llama_tiny/odd", LlamaForCausalLM),
    "bart": ("models/bart/odd", BartForConditionalGeneration),
    "t5": ("models/t5/even", T5ForConditionalGeneration),
    "mbart": ("models/mbart/odd", MBartForConditionalGeneration),
    "m2m_100": ("models/m2m_100/even", M2M100ForConditionalGeneration),
    "pegasus": ("models/pegasus/even", PegasusForConditionalGeneration),
}
# Of the other checkpoints all searches.
ONLY = {"mbart": ("forced",), "m2m_100": ("forced", "beams_2"), "pegasus": ("length_penalty_0.6",)}
STEPS = 12
NOISE = 2e-5  # of each score: another library's float32 error must not change the beams
END = "a token that the unconstrained search chooses"

BEAMS = {
    "beams_2": dict(num_beams=2),
    "beams_4": dict(num_beams=4),
    "beams_4_of_3": dict(num_beams=3, num_return_sequences=3),
    "repetition_penalty": dict(num_beams=4, repetition_penalty=1.3),
    "no_repeat_ngram": dict(num_beams=4, no_repeat_ngram_size=2),
    "bad_words": dict(num_beams=2, bad_words_ids=[[END], [7, 8], [40]]),
    "eos_early_stopping": dict(num_beams=4, early_stopping=True, eos_token_id=END, num_return_sequences=4),
    "eos_no_early_stopping": dict(num_beams=4, early_stopping=False, eos_token_id=END, num_return_sequences=2),
    "eos_never": dict(num_beams=4, early_stopping="never", eos_token_id=END, num_return_sequences=2),
    "length_penalty_0.6": dict(num_beams=4, length_penalty=0.6, eos_token_id=END, num_return_sequences=2),
    "length_penalty_2": dict(num_beams=4, length_penalty=2.0, eos_token_id=END, num_return_sequences=2),
    "length_penalty_2_never": dict(num_beams=4, length_penalty=2.0, early_stopping="never", eos_token_id=END),
    "length_penalty_negative": dict(num_beams=3, length_penalty=-1.0, eos_token_id=END, num_return_sequences=3),
    "min_length": dict(num_beams=2, min_length=14, eos_token_id=END),
    "min_new_tokens": dict(num_beams=2, min_new_tokens=6, eos_token_id=END),
    "min_new_tokens_0": dict(num_beams=2, min_new_tokens=0, min_length=14, eos_token_id=END),
    "two_eos": dict(num_beams=3, eos_token_id=[END, 50]),
    "greedy_eos": dict(num_beams=1, eos_token_id=END),
    "greedy_repetition_penalty": dict(num_beams=1, repetition_penalty=1.5),
    "greedy_no_repeat_ngram": dict(num_beams=1, no_repeat_ngram_size=3),
    "greedy_suppress": dict(num_beams=1, suppress_tokens=[END, 9], begin_suppress_tokens=[11]),
    "greedy_decay": dict(num_beams=1, exponential_decay_length_penalty=[3, 1.5], eos_token_id=END),
    "greedy_sequence_bias": dict(num_beams=1, sequence_bias=[[[END], -2.5], [[12, 13], 3.0], [[14], 1.25]]),
}
# Without attention_mask: padding is masked as well, and tokens after it have the positions that transformers gives them.
UNMASKED_BEAMS = {"right_padding": dict(num_beams=2), "left_padding": dict(num_beams=1)}
SEQ2SEQ_BEAMS = {
    "min_length": dict(num_beams=2, min_length=9, eos_token_id=END),
    "forced": dict(num_beams=3, forced_bos_token_id=5, forced_eos_token_id=6, eos_token_id=6),
    "encoder_no_repeat_ngram": dict(num_beams=2, encoder_no_repeat_ngram_size=1),
    "encoder_repetition_penalty": dict(num_beams=2, encoder_repetition_penalty=1.4),
}
WITH_SCORES = ("beams_2", "eos_no_early_stopping", "repetition_penalty", "greedy_eos", "forced")


class Noise(LogitsProcessor):
    """Adds the same small error to a step's scores in every run with this seed."""

    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def __call__(self, input_ids, scores):
        return scores + NOISE * (2 * torch.rand(scores.shape, generator=self.generator) - 1)


def generate(model, inputs, options, noise=None):
    settings = dict(max_new_tokens=STEPS, do_sample=False, return_dict_in_generate=True, output_scores=True,
                    output_logits=True, pad_token_id=model.config.pad_token_id or 0, eos_token_id=None,
                    decoder_start_token_id=getattr(model.config, "decoder_start_token_id", None)) | options
    model.generation_config = GenerationConfig()
    processors = LogitsProcessorList([Noise(noise)] if noise is not None else [])
    out = GenerationMixin.generate(model, **inputs, generation_config=GenerationConfig(**settings),
                                   logits_processor=processors)
    named = {"sequences": out.sequences, "scores": torch.stack(out.scores)}
    if options.get("num_beams", 1) > 1:
        named |= {"sequences_scores": out.sequences_scores, "beam_indices": out.beam_indices.long()}
    return named


def resolved(options, end):
    """Replaces END by a real token, wherever it occurs."""
    if isinstance(options, dict):
        return {key: resolved(value, end) for key, value in options.items()}
    if isinstance(options, list):
        return [resolved(value, end) for value in options]
    return end if options == END else options


def is_certain(model, double, inputs, options, found):
    """Whether float64 and noisy scores give the same beams."""
    with float64_everywhere():
        others = [generate(double, inputs, options)]
    others += [generate(model, inputs, options, noise) for noise in range(3)]
    keys = [key for key in ("sequences", "beam_indices") if key in found]
    return all(torch.equal(other[key], found[key]) for other in others for key in keys), others[0]


def inputs_of(name, model, seed, case=""):
    ids = token_ids(f"generation/{name}/{seed}", (2, 7), model.config)
    side = "right" if model.config.is_encoder_decoder or case == "right_padding" else "left"
    ids, mask = padded(ids, (4, 7), side, model.config.pad_token_id or 0)
    return {"input_ids": ids} | ({} if case in UNMASKED_BEAMS else {"attention_mask": mask})


def add_search(group, name, case, options, model, double):
    """A search on the first seeded input whose result no rounding can change."""
    for seed in range(60):
        inputs = inputs_of(f"{name}_{case}", model, seed, case)
        free = generate(model, inputs, dict(num_beams=2))
        length = 1 if model.config.is_encoder_decoder else inputs["input_ids"].shape[1]
        full = resolved(options, int(free["sequences"][0, length + 4]))
        found = generate(model, inputs, full)
        certain, exact = is_certain(model, double, inputs, full, found)
        if certain:
            break
    else:
        raise ValueError(f"{name}_{case}: no certain search")
    errors = {key: largest_difference(found[key], exact[key]) for key in ("scores", "sequences_scores") if key in found}
    if case not in WITH_SCORES:
        del found["scores"], errors["scores"]
    defaults = dict(max_new_tokens=STEPS, do_sample=False, eos_token_id=None,
                    pad_token_id=model.config.pad_token_id or 0)
    group.case(f"{name}_{case}", "generate", {"checkpoint": CHECKPOINTS[name][0]} | defaults | full, inputs, found,
               file=f"{name}.safetensors", errors=errors)


def add_searches(group, args):
    for name, (folder, model_class) in CHECKPOINTS.items():
        model = load_checkpoint(os.path.join(args.out, folder), model_class)
        double = double_of(model)
        cases = BEAMS | (SEQ2SEQ_BEAMS if model.config.is_encoder_decoder else UNMASKED_BEAMS)
        for case in ONLY.get(name, cases):
            options = cases[case]
            add_search(group, name, case, options, model, double)


VOCABULARY = 23
# Options with generate()'s names; all processors of sampling apply, in transformers' order.
PROCESSORS = {
    "temperature_low": dict(temperature=0.7),
    "temperature_high": dict(temperature=1.9),
    "top_k": dict(top_k=5),
    "top_k_1": dict(top_k=1),
    "top_k_more_than_there_are": dict(top_k=40),
    "top_p": dict(top_p=0.8),
    "top_p_small": dict(top_p=0.05),
    "top_p_almost_1": dict(top_p=0.999),
    "min_p": dict(min_p=0.1),
    "min_p_1": dict(min_p=1.0),
    "typical_p": dict(typical_p=0.6),
    "typical_p_small": dict(typical_p=0.05),
    "epsilon_cutoff": dict(epsilon_cutoff=0.03),
    "epsilon_cutoff_all": dict(epsilon_cutoff=0.9),
    "eta_cutoff": dict(eta_cutoff=0.02),
    "top_h": dict(top_h=0.5),
    "repetition_penalty": dict(repetition_penalty=1.4),
    "repetition_penalty_below_1": dict(repetition_penalty=0.8),
    "no_repeat_ngram_1": dict(no_repeat_ngram_size=1),
    "no_repeat_ngram_2": dict(no_repeat_ngram_size=2),
    "no_repeat_ngram_3": dict(no_repeat_ngram_size=3),
    "no_repeat_ngram_longer_than_text": dict(no_repeat_ngram_size=12),
    "bad_words": dict(bad_words_ids=[[3], [4, 5], [1, 2, 6], [2, 7]]),
    "bad_words_eos": dict(bad_words_ids=[[3], [9]], eos_token_id=9),
    "sequence_bias": dict(sequence_bias=[[[3], -1.5], [[1, 5], 2.25], [[2, 1, 6], 4.0], [[6], 0.5]]),
    "min_length": dict(min_length=12, eos_token_id=9),
    "min_length_reached": dict(min_length=9, eos_token_id=9),
    "min_new_tokens": dict(min_new_tokens=5, eos_token_id=[9, 11]),
    "min_new_tokens_reached": dict(min_new_tokens=4, eos_token_id=9),
    "suppress_tokens": dict(suppress_tokens=[0, 7, 22]),
    "begin_suppress_tokens": dict(begin_suppress_tokens=[3, 8], prompt_length=9),
    "begin_suppress_tokens_later": dict(begin_suppress_tokens=[3, 8]),
    "forced_bos": dict(forced_bos_token_id=4, length=1, prompt_length=1),
    "forced_bos_later": dict(forced_bos_token_id=4),
    "forced_eos": dict(forced_eos_token_id=[9], max_length=10),
    "forced_eos_earlier": dict(forced_eos_token_id=[9], max_length=12),
    "exponential_decay": dict(exponential_decay_length_penalty=[2, 1.3], eos_token_id=9),
    "exponential_decay_later": dict(exponential_decay_length_penalty=[6, 1.3], eos_token_id=9),
    "encoder_repetition_penalty": dict(encoder_repetition_penalty=1.5),
    "encoder_no_repeat_ngram_2": dict(encoder_no_repeat_ngram_size=2),
    "remove_invalid_values": dict(remove_invalid_values=True),
    "renormalize_logits": dict(top_k=6, renormalize_logits=True),
    "sampling_chain": dict(temperature=0.8, top_k=12, top_p=0.9, min_p=0.02),
    "long_sampling_chain": dict(temperature=1.3, top_k=15, top_p=0.95, min_p=0.01, typical_p=0.9, epsilon_cutoff=0.01,
                                eta_cutoff=0.01, renormalize_logits=True),
    "rules_chain": dict(repetition_penalty=1.2, no_repeat_ngram_size=2, bad_words_ids=[[3], [1, 2]], min_new_tokens=6,
                        eos_token_id=9, suppress_tokens=[5], sequence_bias=[[[6], 1.0]], temperature=0.9, top_k=8),
    "beam_sampling_keeps_two": dict(num_beams=2, top_k=1, eos_token_id=9),
    "beam_sampling_top_p": dict(num_beams=2, top_p=0.01, eos_token_id=9),
}


def processors(model, options, encoder_input_ids):
    """transformers' own list of processors for these options of generate()."""
    own = {key: value for key, value in options.items() if key not in ("prompt_length", "length", "eos_token_id")}
    config = GenerationConfig(**dict(do_sample=True, top_k=0) | own)
    ends = options.get("eos_token_id")
    config._eos_token_tensor = None if ends is None else torch.tensor([ends] if isinstance(ends, int) else ends)
    return model._get_logits_processor(config, input_ids_seq_length=options["prompt_length"],
                                       encoder_input_ids=encoder_input_ids, device="cpu", logits_processor=[])


def processor_scores(name, kind):
    """(3, V): random scores, scores with ties, or scores with tokens already excluded by other processors."""
    scores = normal(f"generation/{name}/{kind}", (3, VOCABULARY), 2.0)
    if kind == "ties":
        scores = (scores * 2).round() / 2
    if kind == "struck":
        struck = torch.from_numpy(random_state(f"generation/{name}/struck").rand(3, VOCABULARY) < 0.3)
        scores = scores.masked_fill(struck, float("-inf"))
    if name.startswith("remove_invalid"):
        scores[0, 3], scores[1, 4] = float("inf"), float("-inf")
    return scores


WITH_TIES = ("top_k", "top_k_1", "min_p", "epsilon_cutoff")
WITH_STRUCK = ("top_k", "top_k_1", "top_p", "top_p_small", "min_p", "typical_p", "epsilon_cutoff", "eta_cutoff",
               "temperature_low", "repetition_penalty", "renormalize_logits", "sequence_bias", "sampling_chain")


def add_processors(group, model):
    for name, given in PROCESSORS.items():
        kinds = ["plain"] + ["ties"] * (name in WITH_TIES) + ["struck"] * (name in WITH_STRUCK)
        options = dict(prompt_length=5) | given
        length = options.pop("length", 9)
        for kind in kinds:
            ids = integers(f"generation/{name}/ids", (3, length), 1, 7)
            source = integers(f"generation/{name}/source", (3, 6), 1, 12)
            inputs = {"input_ids": ids, "scores": processor_scores(name, kind)}
            if name.startswith("encoder"):
                inputs["encoder_input_ids"] = source

            def run(input_ids, scores, encoder_input_ids=None):
                return {"processed_scores": processors(model, options, encoder_input_ids)(input_ids, scores)}

            if name == "remove_invalid_values":  # infinities become the dtype's largest number: float32's here
                single = run(**cast(inputs, torch.float32))
                group.case(name, "logits_processor", options, inputs, single, file="logits_processors.safetensors")
                continue
            group.run(f"{name}_{kind}", "logits_processor", options, inputs, run, file="logits_processors.safetensors")


def main():
    args = arguments(__doc__)
    group = Group(args, "generation", "generation.py", ["transformers"])
    add_processors(group, load_checkpoint(os.path.join(args.out, "models/gpt2/odd"), GPT2LMHeadModel))
    add_searches(group, args)
    group.save()


if __name__ == "__main__":
    main()
