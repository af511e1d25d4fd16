"""Tiny checkpoints of the encoders of samples, wav2vec 2.0 and HuBERT, and of spectrograms, AST, with every head."""

import os

import torch
from transformers import (
    ASTConfig, ASTForAudioClassification, ASTModel, HubertConfig, HubertForCTC, HubertForSequenceClassification, HubertModel, Wav2Vec2Config, Wav2Vec2ForCTC,
    Wav2Vec2ForSequenceClassification, Wav2Vec2Model,
)

from common import arguments, normal
from models_common import forward_twice, open_group, write_checkpoint

EVEN = dict(vocab_size=12, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40, conv_dim=[8, 12, 16],
            conv_kernel=[10, 3, 2], conv_stride=[5, 2, 2], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4,
            classifier_proj_size=20)
ODD = dict(vocab_size=11, hidden_size=30, num_hidden_layers=2, num_attention_heads=3, intermediate_size=37, conv_dim=[18, 7, 9],
           conv_kernel=[7, 4, 3], conv_stride=[3, 3, 2], num_conv_pos_embeddings=5, num_conv_pos_embedding_groups=3,
           feat_extract_norm="layer", conv_bias=True, do_stable_layer_norm=True, hidden_act="relu",
           feat_extract_activation="gelu_new", classifier_proj_size=13)
# Patches overlap; at the edges some frames and bins are in none.
AST_EVEN = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40, patch_size=4, frequency_stride=3,
                time_stride=2, num_mel_bins=10, max_length=15)
AST_ODD = dict(hidden_size=30, num_hidden_layers=2, num_attention_heads=3, intermediate_size=37, patch_size=5, frequency_stride=6,
               time_stride=4, num_mel_bins=12, max_length=23, qkv_bias=False, hidden_act="relu")
CHECKPOINTS = {
    "audio_spectrogram_transformer": {
        "even_base": (ASTModel, ASTConfig, AST_EVEN),
        "even_sequence_classification": (ASTForAudioClassification, ASTConfig, AST_EVEN),
        "odd_base": (ASTModel, ASTConfig, AST_ODD),
        "odd_sequence_classification": (ASTForAudioClassification, ASTConfig, AST_ODD),
    },
    "wav2vec2": {
        "even_base": (Wav2Vec2Model, Wav2Vec2Config, EVEN),
        "even_ctc": (Wav2Vec2ForCTC, Wav2Vec2Config, EVEN),
        "even_sequence_classification": (Wav2Vec2ForSequenceClassification, Wav2Vec2Config, EVEN),
        "odd_base": (Wav2Vec2Model, Wav2Vec2Config, ODD),
        "odd_ctc": (Wav2Vec2ForCTC, Wav2Vec2Config, ODD),
        "odd_sequence_classification": (Wav2Vec2ForSequenceClassification, Wav2Vec2Config, ODD),
    },
    "hubert": {
        "even_base": (HubertModel, HubertConfig, EVEN | dict(feat_proj_layer_norm=False)),
        "even_sequence_classification": (HubertForSequenceClassification, HubertConfig, EVEN),
        "odd_ctc": (HubertForCTC, HubertConfig, ODD),
    },
}
# The names of files from before torch's parametrizations.
OLD_NAMES = {"parametrizations.weight.original0": "weight_g", "parametrizations.weight.original1": "weight_v"}
LENGTH = 253  # samples


def older(name):
    for new, old in OLD_NAMES.items():
        name = name.replace(new, old)
    return name


def add_case(group, name, checkpoint, task, model, inputs):
    """Values of padded frames are those of frames of zeros: they are stored and compared, too."""
    outputs, errors = forward_twice(model, inputs)
    # What is projected, which is a hook point here.
    outputs, errors = ({key: value for key, value in each.items() if key != "extract_features"} for each in (outputs, errors))
    for key, value in outputs.items():
        if not bool(value.isfinite().all()):
            raise ValueError(f"{name}: {key} is not finite")
    group.case(name, "model_forward", {"checkpoint": checkpoint, "task": task}, inputs, outputs,
               file=f"{checkpoint}.safetensors", errors=errors)


def add_model(group, architecture, folder, model_class, config_class, settings):
    task = folder.split("_", 1)[1].replace("_", "-")
    config = config_class(**settings)
    if task == "sequence-classification":
        config.id2label = {i: f"LABEL_{i}" for i in range(5)}
        config.label2id = {label: i for i, label in config.id2label.items()}
    name = f"models/{architecture}/{folder.split('_')[0]}"
    reads_samples = architecture != "audio_spectrogram_transformer"
    stored = {"rename": older} if folder.startswith("even") and reads_samples else {}
    if folder == "odd_base" and not reads_samples:
        stored["save_original_format"] = False
    dtype = torch.float16 if folder == "odd_sequence_classification" else torch.float32
    model = write_checkpoint(os.path.join(group.folder, folder), model_class, config, name, dtype=dtype, **stored)
    if not reads_samples:
        frames = normal(f"{name}/input_values", (2, config.max_length, config.num_mel_bins)).float()
        return add_case(group, folder, folder, task, model, {"input_values": frames})
    samples = normal(f"{name}/input_values", (2, LENGTH)).float()
    add_case(group, f"{folder}_plain", folder, task, model, {"input_values": samples})
    mask = torch.ones(2, LENGTH, dtype=torch.int64)
    mask[1, 150:] = 0
    add_case(group, f"{folder}_right_padding", folder, task, model, {"input_values": samples * mask, "attention_mask": mask})


def main():
    args = arguments(__doc__)
    for architecture, checkpoints in CHECKPOINTS.items():
        group = open_group(args, architecture, "models_speech.py")
        for folder, (model_class, config_class, settings) in checkpoints.items():
            add_model(group, architecture, folder, model_class, config_class, settings)
        group.save()


if __name__ == "__main__":
    main()
