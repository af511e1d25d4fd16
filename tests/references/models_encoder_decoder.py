"""Tiny encoder-decoder checkpoints: Marian, BART, mBART, M2M100, Pegasus, Blenderbot, T5 1.0 and 1.1, Whisper; the encoders of T5 alone;
BART's, mBART's and T5's classifiers and answers to questions."""

import os

import torch
from transformers import (
    BartConfig, BlenderbotConfig, BlenderbotForConditionalGeneration, BlenderbotSmallConfig, BlenderbotSmallForConditionalGeneration,
    BartForConditionalGeneration, BartForQuestionAnswering, BartForSequenceClassification, M2M100Config, M2M100ForConditionalGeneration, MarianConfig, MarianMTModel,
    MBartConfig, MBartForConditionalGeneration, MBartForQuestionAnswering, MBartForSequenceClassification, PegasusConfig,
    PegasusForConditionalGeneration, MT5Config, MT5EncoderModel, MT5ForConditionalGeneration, MT5ForQuestionAnswering,
    MT5ForTokenClassification, T5Config, T5EncoderModel, T5ForConditionalGeneration, T5ForQuestionAnswering,
    T5ForSequenceClassification, T5ForTokenClassification, WhisperConfig, WhisperForConditionalGeneration,
)

from common import arguments, normal
from models_common import add_forward, add_greedy, first_telling, open_group, padded, token_ids, write_checkpoint
from models_encoder_only import cases_of

SOURCE, TARGET = 11, 7
EVEN = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=40, decoder_ffn_dim=40, vocab_size=64)
ODD = dict(d_model=30, encoder_layers=2, decoder_layers=2, encoder_attention_heads=3, decoder_attention_heads=3,
           encoder_ffn_dim=27, decoder_ffn_dim=27, vocab_size=97)
T5_EVEN = dict(vocab_size=64, d_model=32, d_kv=8, d_ff=34, num_layers=2, num_heads=4, relative_attention_num_buckets=8,
               relative_attention_max_distance=12, decoder_start_token_id=0)
T5_ODD = T5_EVEN | dict(vocab_size=97, d_model=30, d_kv=10, d_ff=37, num_heads=3, num_layers=2, num_decoder_layers=1)
MARIAN = dict(max_position_embeddings=40, scale_embedding=True, pad_token_id=3, eos_token_id=0, forced_eos_token_id=0,
              decoder_start_token_id=3)
BART = dict(max_position_embeddings=32, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2)
M2M_100 = BART | dict(max_position_embeddings=8)  # shorter than the sources: its sinusoids continue
ODD_WIDTH = ODD | dict(d_model=27)  # the last sinusoid is 0
PEGASUS = dict(max_position_embeddings=32, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0)
BLENDERBOT = dict(max_position_embeddings=32, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
WHISPER = dict(num_mel_bins=8, max_source_positions=20, max_target_positions=32, decoder_start_token_id=1, pad_token_id=2,
               bos_token_id=2, eos_token_id=2, suppress_tokens=None, begin_suppress_tokens=None)

CONFIGURATIONS = {
    "marian": {
        "even": lambda: MarianConfig(**EVEN | MARIAN, activation_function="swish"),
        "odd": lambda: MarianConfig(**ODD | MARIAN, activation_function="relu"),
    },
    "bart": {
        "even": lambda: BartConfig(**EVEN | BART | dict(encoder_layers=1)),
        "odd": lambda: BartConfig(**ODD | BART, scale_embedding=True),
    },
    "mbart": {
        "even": lambda: MBartConfig(**EVEN | BART, scale_embedding=True),
        "odd": lambda: MBartConfig(**ODD | BART | dict(decoder_layers=1)),
    },
    "m2m_100": {
        "even": lambda: M2M100Config(**EVEN | M2M_100),
        "odd": lambda: M2M100Config(**ODD_WIDTH | M2M_100, scale_embedding=False, activation_function="silu"),
    },
    "pegasus": {
        "even": lambda: PegasusConfig(**EVEN | PEGASUS, scale_embedding=True),
        "odd": lambda: PegasusConfig(**ODD | PEGASUS, activation_function="relu"),
    },
    "blenderbot": {
        "even": lambda: BlenderbotConfig(**EVEN | BLENDERBOT),
        "odd": lambda: BlenderbotConfig(**ODD | BLENDERBOT | dict(decoder_layers=1), scale_embedding=True, activation_function="relu"),
    },
    "blenderbot_small": {
        "even": lambda: BlenderbotSmallConfig(**EVEN | BLENDERBOT | dict(encoder_layers=1)),
        "odd": lambda: BlenderbotSmallConfig(**ODD | BLENDERBOT, scale_embedding=True, activation_function="relu"),
    },
    "t5": {
        "even": lambda: T5Config(**T5_EVEN),
        "odd": lambda: T5Config(**T5_ODD, feed_forward_proj="gated-gelu", tie_word_embeddings=False),
    },
    "mt5": {
        "even": lambda: MT5Config(**T5_EVEN),
        "odd": lambda: MT5Config(**T5_ODD, feed_forward_proj="gated-silu"),
    },
    "whisper": {
        "even": lambda: WhisperConfig(**EVEN | WHISPER),
        "odd": lambda: WhisperConfig(**ODD | WHISPER | dict(encoder_ffn_dim=15, decoder_ffn_dim=17)),
    },
}
CLASSES = {"marian": MarianMTModel, "bart": BartForConditionalGeneration, "mbart": MBartForConditionalGeneration,
           "m2m_100": M2M100ForConditionalGeneration, "pegasus": PegasusForConditionalGeneration, "blenderbot": BlenderbotForConditionalGeneration,
           "blenderbot_small": BlenderbotSmallForConditionalGeneration,
           "t5": T5ForConditionalGeneration, "mt5": MT5ForConditionalGeneration, "whisper": WhisperForConditionalGeneration}


def t5_version_1_1(config):
    """google/t5-v1_1-*: an untied output layer, indicated by tie_word_embeddings; scale_decoder_outputs is absent."""
    new = ("scale_decoder_outputs", "dense_act_fn", "is_gated_act", "dtype")
    old = {key: value for key, value in config.items() if key not in new}
    return old | dict(tie_word_embeddings=False, torch_dtype=config["dtype"], transformers_version="4.23.1")


def mt5_version_4(config):
    """google/mt5-*: an untied output layer, although the class of transformers 5 ties it."""
    return t5_version_1_1(config) | dict(tokenizer_class="T5Tokenizer")


def own_output_layer(architecture):
    weight = normal(f"models/{architecture}/odd/lm_head.weight", (T5_ODD["vocab_size"], T5_ODD["d_model"]), 0.3)
    return {"lm_head.weight": weight.float()}


# T5 does not divide scores by sqrt(d_kv): its queries are small instead.
T5_GAINS = {"SelfAttention.q": 0.4, "EncDecAttention.q": 0.4}
# The norm is last in a block, and what all positions share (biases, the source) would otherwise determine every token.
POST_NORM_GAINS = {"encoder_attn.out": 0.5, "layer_norm.bias": 0.3, "final_logits": 0.5}
STORED = {
    ("bart", "even"): {"dtype": torch.float16, "gains": POST_NORM_GAINS},
    ("bart", "odd"): {"gains": POST_NORM_GAINS | {"shared": 0.3}},
    ("marian", "even"): {"max_shard_size": "40KB", "gains": POST_NORM_GAINS | {"shared": 0.5}},
    ("marian", "odd"): {"gains": POST_NORM_GAINS | {"shared": 0.5}},
    ("mbart", "even"): {"dtype": torch.float16},
    ("blenderbot", "even"): {"dtype": torch.float16},
    ("blenderbot_small", "even"): {"gains": POST_NORM_GAINS},
    ("blenderbot_small", "odd"): {"dtype": torch.bfloat16, "gains": POST_NORM_GAINS | {"shared": 0.3}},
    ("m2m_100", "even"): {"max_shard_size": "40KB"},
    ("m2m_100", "odd"): {"dtype": torch.bfloat16},
    ("whisper", "even"): {"dtype": torch.float16},
    ("t5", "even"): {"gains": T5_GAINS},
    ("t5", "odd"): {"gains": T5_GAINS, "extra": own_output_layer("t5"), "spelling": t5_version_1_1},
    ("mt5", "even"): {"gains": T5_GAINS, "dtype": torch.bfloat16},
    ("mt5", "odd"): {"gains": T5_GAINS, "extra": own_output_layer("mt5"), "spelling": mt5_version_4},
}


def audio(name, config):
    frames = 2 * config.max_source_positions
    return normal(f"{name}/input_features", (2, config.num_mel_bins, frames), 0.7).float()


def text_cases(group, size, model, ids, targets):
    pad = model.config.pad_token_id
    add_forward(group, f"{size}_plain", size, "seq2seq-lm", model, {"input_ids": ids, "decoder_input_ids": targets})
    for side in ("right", "left"):
        source, mask = padded(ids, (7, ids.shape[1]), side, pad)
        target, target_mask = padded(targets, (targets.shape[1], 4), "right", pad)
        add_forward(group, f"{size}_{side}_padding", size, "seq2seq-lm", model, {
            "input_ids": source, "attention_mask": mask,
            "decoder_input_ids": target, "decoder_attention_mask": target_mask})


def audio_cases(group, size, model, features, targets):
    inputs = {"input_features": features, "decoder_input_ids": targets}
    add_forward(group, f"{size}_plain", size, "seq2seq-lm", model, inputs)
    target, mask = padded(targets, (targets.shape[1], 4), "right", model.config.pad_token_id)
    add_forward(group, f"{size}_right_padding", size, "seq2seq-lm", model,
                {"input_features": features, "decoder_input_ids": target, "decoder_attention_mask": mask})


def add_checkpoint(group, architecture, size):
    config = CONFIGURATIONS[architecture][size]()
    name = f"models/{architecture}/{size}"
    targets = token_ids(f"{name}/targets", (2, TARGET), config)
    targets[:, 0] = config.decoder_start_token_id
    if architecture == "whisper":
        features = audio(name, config)
        runs = {"greedy": {"input_features": features}}
    else:
        ids = token_ids(f"{name}/source", (2, SOURCE), config)
        runs = {"greedy": {"input_ids": ids, "attention_mask": torch.ones_like(ids)}}
        for side in ("right", "left"):
            source, mask = padded(ids, (7, SOURCE), side, config.pad_token_id)
            runs[f"greedy_{side}_padding"] = {"input_ids": source, "attention_mask": mask}

    def make(seed):
        return write_checkpoint(os.path.join(group.folder, size), CLASSES[architecture],
                                CONFIGURATIONS[architecture][size](), f"{name}/{seed}",
                                **STORED.get((architecture, size), {}))

    model = first_telling(make, runs.values())
    if architecture == "whisper":
        audio_cases(group, size, model, features, targets)
    else:
        text_cases(group, size, model, ids, targets)
    for run, inputs in runs.items():
        add_greedy(group, f"{size}_{run}", size, model, inputs)


def second_table(tensors):
    """sentence-transformers/gtr-t5-*: the encoder's table as well, the same."""
    return {"encoder.embed_tokens.weight": tensors["shared.weight"].clone()}


# Encoders alone: sentence-t5, the text encoders of diffusers.
ENCODERS = {"t5": ("even", T5EncoderModel, {"extra": second_table}), "mt5": ("odd", MT5EncoderModel, {"dtype": torch.float16})}


def add_encoder(group, architecture, size, model_class, stored):
    folder = f"{size}_encoder"
    model = write_checkpoint(os.path.join(group.folder, folder), model_class, CONFIGURATIONS[architecture][size](),
                             f"models/{architecture}/{size}", gains=T5_GAINS, **stored)
    cases_of(group, folder, "base", model)


# Heads: of BART's three classes by default, as facebook/bart-large-mnli, and with one output; of tokens behind T5's encoder alone.
JUDGEMENTS = {0: "contradiction", 1: "neutral", 2: "entailment"}
NAMED = {"id2label": JUDGEMENTS, "label2id": {v: k for k, v in JUDGEMENTS.items()}}
HALF = {"dtype": torch.float16}
HEADS = {
    "bart": [
        ("even", BartForSequenceClassification, {}, HALF), ("odd", BartForSequenceClassification, NAMED, {}),
        ("odd", BartForQuestionAnswering, {}, {}),
    ],
    "mbart": [
        ("odd", MBartForSequenceClassification, {"num_labels": 1, "problem_type": "regression"}, {}),
        ("odd", MBartForQuestionAnswering, {}, HALF),
    ],
    "t5": [
        ("even", T5ForSequenceClassification, NAMED, {}), ("odd", T5ForTokenClassification, {"num_labels": 5}, HALF),
        ("odd", T5ForQuestionAnswering, {}, {}),
    ],
    "mt5": [("odd", MT5ForTokenClassification, {}, {}), ("even", MT5ForQuestionAnswering, {}, HALF)],
}
TASKS = {"Sequence": "sequence-classification", "Token": "token-classification", "Question": "question-answering"}


def ended(ids, lengths, config):
    """Rows of these lengths that end with eos_token_id, padded on the right, with their mask; another one is within each."""
    source, mask = padded(ids, lengths, "right", config.pad_token_id)
    for row, length in enumerate(lengths):
        source[row, [2 + row, length - 1]] = config.eos_token_id
    return source, mask


def add_head(group, architecture, size, model_class, labels, stored):
    task = next(TASKS[kind] for kind in TASKS if f"For{kind}" in model_class.__name__)
    folder = f"{size}_{task.replace('-', '_')}"
    config = CONFIGURATIONS[architecture][size]()
    for key, value in labels.items():
        setattr(config, key, value)
    name = f"models/{architecture}/{size}"
    gains = STORED.get((architecture, size), {}).get("gains")
    model = write_checkpoint(os.path.join(group.folder, folder), model_class, config, name, gains=gains, **stored)
    if task == "token-classification":
        return cases_of(group, folder, task, model)
    ids = token_ids(f"{name}/source", (2, SOURCE), config)
    source, _ = ended(ids, (SOURCE, SOURCE), config)
    add_forward(group, f"{folder}_plain", folder, task, model, {"input_ids": source})
    source, mask = ended(ids, (7, SOURCE), config)
    add_forward(group, f"{folder}_right_padding", folder, task, model, {"input_ids": source, "attention_mask": mask})
    targets = token_ids(f"{name}/targets", (2, SOURCE), config)
    add_forward(group, f"{folder}_decoder_padding", folder, task, model, {
        "input_ids": source, "attention_mask": mask, "decoder_input_ids": targets, "decoder_attention_mask": mask})
    return None


def main():
    args = arguments(__doc__)
    for architecture, sizes in CONFIGURATIONS.items():
        group = open_group(args, architecture, "models_encoder_decoder.py")
        for size in sizes:
            add_checkpoint(group, architecture, size)
        if architecture in ENCODERS:
            add_encoder(group, architecture, *ENCODERS[architecture])
        for head in HEADS.get(architecture, []):
            add_head(group, architecture, *head)
        group.save()


if __name__ == "__main__":
    main()
