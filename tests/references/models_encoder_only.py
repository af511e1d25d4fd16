"""Tiny checkpoints of the encoder-only architectures for text, with every head."""

import os

import torch
from transformers import (
    AlbertConfig, AutoModel, AutoModelForMaskedLM, AutoModelForPreTraining, AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification, AutoModelForTokenClassification, BertConfig, CamembertConfig, Data2VecTextConfig, DebertaV2Config,
    DistilBertConfig, ElectraConfig, EsmConfig, EuroBertConfig, ModernBertConfig, MPNetConfig, NomicBertConfig, RobertaConfig, XLMRobertaConfig,
)

from common import arguments, integers, normal
from models_common import add_forward, open_group, padded, token_ids, write_checkpoint
from models_spellings import modern as modern_spelling

HEADS = {
    "base": AutoModel,
    "masked_lm": AutoModelForMaskedLM,
    "sequence_classification": AutoModelForSequenceClassification,
    "token_classification": AutoModelForTokenClassification,
    "question_answering": AutoModelForQuestionAnswering,
    "replaced_token_detection": AutoModelForPreTraining,  # ELECTRA's discriminator
}
# base and masked_lm are the most common files; each of the other heads uses one of the two trunks.
EVEN_HEADS = ("base", "masked_lm", "token_classification")
ODD_HEADS = ("base", "masked_lm", "sequence_classification", "question_answering")
# Of architectures that share their heads or trunk with another: (even, odd).
FEWER_HEADS = {
    "xlm_roberta": (("masked_lm",), ("base", "sequence_classification")),
    "camembert": ((), ("token_classification",)),
    "data2vec_text": (("base",), ("masked_lm", "token_classification")),
    "electra": (("base", "masked_lm", "replaced_token_detection"), ("base", "sequence_classification", "question_answering")),
    "albert": (("base", "masked_lm"), ("sequence_classification", "token_classification")),
    "mpnet": (("base", "masked_lm"), ("sequence_classification", "question_answering")),
    "deberta_v2": (("base", "masked_lm", "sequence_classification"), ("masked_lm", "token_classification", "question_answering")),
    "eurobert": (("base", "token_classification"), ("masked_lm", "sequence_classification")),
    "nomic_bert": (("base", "token_classification"), ("base", "masked_lm", "sequence_classification")),
    "esm": (("base", "masked_lm", "token_classification"), ("base", "masked_lm", "sequence_classification")),
}

EVEN = dict(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40,
            max_position_embeddings=24)
ODD = dict(vocab_size=97, hidden_size=30, num_hidden_layers=2, num_attention_heads=3, intermediate_size=37,
           max_position_embeddings=24)
DISTIL = dict(hidden_size="dim", num_hidden_layers="n_layers", num_attention_heads="n_heads",
              intermediate_size="hidden_dim")
ROBERTA = dict(pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1, layer_norm_eps=1e-5)
MPNET = dict(pad_token_id=1, bos_token_id=0, eos_token_id=2)
# The settings of DeBERTa-v3; and all others: no buckets, keys and queries of positions of their own, absolute positions.
DEBERTA_V3 = dict(relative_attention=True, position_buckets=6, norm_rel_ebd="layer_norm", share_att_key=True,
                  pos_att_type="p2c|c2p", position_biased_input=False, type_vocab_size=0,
                  legacy=False, tie_word_embeddings=False)  # transformers 5.12 cannot load it as tied, but uses the table
DEBERTA = dict(relative_attention=True, max_relative_positions=5, pos_att_type=["c2p", "p2c"], type_vocab_size=3,
               pooler_hidden_act="tanh")
# ESM-2's settings; and ESM-1b's.
ESM = dict(pad_token_id=1, mask_token_id=4, token_dropout=True, layer_norm_eps=1e-5)
ESM_2 = ESM | dict(vocab_size=33, mask_token_id=32, position_embedding_type="rotary", emb_layer_norm_before=False)
ESM_1B = ESM | dict(position_embedding_type="absolute", emb_layer_norm_before=True)
EURO = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2, mask_token_id=3)
MODERN = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2, num_hidden_layers=3,
              local_attention=8, intermediate_size=24, layer_types=["full_attention", "sliding_attention", "sliding_attention"])


def distil(settings):
    return DistilBertConfig(**{DISTIL.get(key, key): value for key, value in settings.items()})


def modern(settings, **more):
    return ModernBertConfig(**settings | MODERN | more)


TRUNKS = {
    "bert": {"even": lambda: BertConfig(**EVEN), "odd": lambda: BertConfig(**ODD, type_vocab_size=3, hidden_act="gelu_new")},
    "roberta": {"even": lambda: RobertaConfig(**EVEN, **ROBERTA), "odd": lambda: RobertaConfig(**ODD, **ROBERTA)},
    "distilbert": {"even": lambda: distil(EVEN), "odd": lambda: distil(ODD | dict(activation="relu"))},
    "xlm_roberta": {"even": lambda: XLMRobertaConfig(**EVEN, **ROBERTA), "odd": lambda: XLMRobertaConfig(**ODD, **ROBERTA)},
    "camembert": {"even": None, "odd": lambda: CamembertConfig(**ODD, **ROBERTA)},
    "data2vec_text": {"even": lambda: Data2VecTextConfig(**EVEN, **ROBERTA), "odd": lambda: Data2VecTextConfig(**ODD, **ROBERTA)},
    "electra": {"even": lambda: ElectraConfig(**EVEN, embedding_size=20),
                "odd": lambda: ElectraConfig(**ODD, embedding_size=30, hidden_act="relu")},
    "albert": {"even": lambda: AlbertConfig(**EVEN | dict(num_hidden_layers=3), embedding_size=20, num_hidden_groups=2),
               "odd": lambda: AlbertConfig(**ODD, embedding_size=30, inner_group_num=2, type_vocab_size=3)},
    "mpnet": {"even": lambda: MPNetConfig(**EVEN, **MPNET), "odd": lambda: MPNetConfig(**ODD, **MPNET, hidden_act="gelu_new")},
    "deberta_v2": {"even": lambda: DebertaV2Config(**EVEN, **DEBERTA_V3),
                   "odd": lambda: DebertaV2Config(**ODD, **DEBERTA, embedding_size=20)},
    "eurobert": {"even": lambda: EuroBertConfig(**EVEN, **EURO, num_key_value_heads=2, head_dim=16),
                 "odd": lambda: EuroBertConfig(**ODD, **EURO, attention_bias=True, mlp_bias=True,
                                               rope_parameters={"rope_type": "default", "rope_theta": 250000.0})},
    "nomic_bert": {"even": lambda: NomicBertConfig(**EVEN),
                   "odd": lambda: NomicBertConfig(**ODD, head_dim=8, type_vocab_size=3, hidden_act="gelu",
                                                  rope_parameters={"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0})},
    "esm": {"even": lambda: EsmConfig(**EVEN | ESM_2), "odd": lambda: EsmConfig(**ODD, **ESM_1B)},
    "modernbert": {
        "even": lambda: modern(EVEN, classifier_pooling="cls"),
        "odd": lambda: modern(ODD, classifier_pooling="mean", norm_bias=True, attention_bias=True, mlp_bias=True,
                              classifier_bias=True, decoder_bias=False),
    },
}
LABELS = {"sequence_classification": 3, "token_classification": 5}


def configuration(architecture, size, head):
    config = TRUNKS[architecture][size]()
    if head in LABELS:
        ranks = (architecture, head) == ("xlm_roberta", "sequence_classification")  # a reranker has one class
        config.id2label = {i: f"LABEL_{i}" for i in range(1 if ranks else LABELS[head])}
        config.label2id = {label: i for i, label in config.id2label.items()}
    return config


def model_class(auto, config):
    return auto._model_mapping[type(config)]


def cases_of(group, folder, head, model, length=11):
    """Without a mask, right-padded, left-padded; token types if the architecture has them."""
    config = model.config
    name = f"models/{config.model_type}/{folder}"
    ids = token_ids(name, (2, length), config)
    if getattr(config, "token_dropout", False):
        ids[0, 3] = ids[1, 5] = ids[1, 6] = config.mask_token_id
    task = head.replace("_", "-")
    add_forward(group, f"{folder}_plain", folder, task, model, {"input_ids": ids})
    for side in ("right", "left"):
        padded_ids, mask = padded(ids, (7, length), side, config.pad_token_id)
        inputs = {"input_ids": padded_ids, "attention_mask": mask}
        if getattr(config, "type_vocab_size", 1) > 1:
            inputs["token_type_ids"] = integers(f"{name}/types", ids.shape, 0, config.type_vocab_size)
        add_forward(group, f"{folder}_{side}_padding", folder, task, model, inputs)
        if head not in ("base", "masked_lm"):
            break


def add_checkpoint(group, architecture, size, head, folder=None, **saved):
    folder = folder or f"{size}_{head}"
    config = configuration(architecture, size, head)
    model = write_checkpoint(os.path.join(group.folder, folder), model_class(HEADS[head], config), config,
                             f"models/{architecture}/{size}", **saved)
    cases_of(group, folder, head, model)


def old_bert_name(key):
    """Files converted from TensorFlow name the norms' parameters gamma and beta."""
    return key.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")


def add_old_bert(group):
    """The contents of google-bert/bert-base-uncased: gamma and beta, a position_ids buffer, pooler and next-sentence head."""
    extra = {
        "bert.embeddings.position_ids": torch.arange(EVEN["max_position_embeddings"])[None],
        "bert.pooler.dense.weight": normal("models/bert/old/pooler", (32, 32), 0.2).float(),
        "bert.pooler.dense.bias": normal("models/bert/old/pooler.bias", (32,), 0.2).float(),
        "cls.seq_relationship.weight": normal("models/bert/old/next", (2, 32), 0.2).float(),
        "cls.seq_relationship.bias": normal("models/bert/old/next.bias", (2,), 0.2).float(),
    }
    add_checkpoint(group, "bert", "even", "masked_lm", "old_masked_lm", rename=old_bert_name, extra=extra)


def old_roberta(tensors):
    """Additional tensors of FacebookAI/roberta-base: a copy of the tied output layer, and a position_ids buffer."""
    return {
        "roberta.embeddings.position_ids": torch.arange(ODD["max_position_embeddings"])[None],
        "lm_head.decoder.weight": tensors["roberta.embeddings.word_embeddings.weight"].clone(),
        "lm_head.decoder.bias": tensors["lm_head.bias"].clone(),
    }


FREQUENCIES = "rotary_embeddings.inv_freq"


def published_esm_name(key):
    """transformers 5.12 writes gamma and beta, which the published files do not have."""
    return key.replace("LayerNorm.gamma", "LayerNorm.weight").replace("LayerNorm.beta", "LayerNorm.bias").replace("layer.*", "layer.0")


def published_esm(tensors):
    """As in facebook/esm2_t6_8M_UR50D: frequencies of each layer that were once in fp16, and unused positions."""
    frequencies = tensors["esm.encoder.layer.0.attention.self." + FREQUENCIES].half().float()
    return {f"esm.encoder.layer.{layer}.attention.self.{FREQUENCIES}": frequencies.clone() for layer in range(2)} | {
        "esm.embeddings.position_ids": torch.arange(EVEN["max_position_embeddings"])[None],
        "esm.embeddings.position_embeddings.weight": normal("models/esm/positions", (24, 32), 0.5).float(),
    }


# Files that differ from a single one in fp32.
STORED = {
    "token_classification": {"dtype": torch.float16},
    "sequence_classification": {"dtype": torch.bfloat16},
    "question_answering": {"dtype": torch.float16},
}


def stored(architecture, size, head):
    saved = dict(STORED.get(head, {}))
    if architecture == "modernbert" and size == "odd":
        saved["spelling"] = modern_spelling
    if (architecture, size) == ("nomic_bert", "even"):  # transformers' names, not those of the published files
        saved["save_original_format"] = False
    if (architecture, size, head) == ("modernbert", "even", "masked_lm"):
        saved["max_shard_size"] = "30KB"
    return saved


def add_special_files(group, architecture):
    """Older files, and the second pooling mode of ModernBERT's classifier."""
    if architecture == "bert":
        add_old_bert(group)
    if architecture == "roberta":
        add_checkpoint(group, "roberta", "odd", "masked_lm", "old_masked_lm", extra=old_roberta)
    if architecture == "esm":
        add_checkpoint(group, "esm", "even", "masked_lm", "old_masked_lm", rename=published_esm_name, extra=published_esm)
    if architecture == "modernbert":
        add_checkpoint(group, "modernbert", "even", "sequence_classification", dtype=torch.float16)


def main():
    args = arguments(__doc__)
    for architecture in TRUNKS:
        group = open_group(args, architecture, "models_encoder_only.py")
        for size, heads in zip(("even", "odd"), FEWER_HEADS.get(architecture, (EVEN_HEADS, ODD_HEADS)), strict=True):
            for head in heads:
                add_checkpoint(group, architecture, size, head, **stored(architecture, size, head))
        add_special_files(group, architecture)
        group.save()


if __name__ == "__main__":
    main()
