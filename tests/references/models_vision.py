"""Tiny vision checkpoints: ViT, DeiT, DINOv2 with and without registers, DINOv3, CLIP, SigLIP."""

import os

import torch
from transformers import (
    CLIPConfig, CLIPModel, DeiTConfig, DeiTForImageClassification, DeiTForImageClassificationWithTeacher, DeiTModel,
    Dinov2Config, Dinov2ForImageClassification, Dinov2Model, Dinov2WithRegistersConfig,
    Dinov2WithRegistersForImageClassification, Dinov2WithRegistersModel, DINOv3ViTConfig, DINOv3ViTModel,
    SiglipConfig, SiglipForImageClassification, SiglipModel, ViTConfig, ViTForImageClassification, ViTModel,
)

from common import arguments, normal
from models_common import add_forward, open_group, padded, token_ids, write_checkpoint

EVEN = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=40)
ODD = dict(hidden_size=30, num_hidden_layers=2, num_attention_heads=3, intermediate_size=37)
EVEN_IMAGE = dict(image_size=16, patch_size=4, num_channels=3)
ODD_IMAGE = dict(image_size=20, patch_size=5, num_channels=1)
CUT_IMAGE = dict(image_size=22, patch_size=5, num_channels=1)  # the last two rows and columns of pixels are dropped
RECTANGLE = dict(image_size=[15, 20], patch_size=5, num_channels=1)
SIZES = {"even": EVEN | EVEN_IMAGE, "odd": ODD | ODD_IMAGE}
DINO_EVEN = EVEN | EVEN_IMAGE | dict(mlp_ratio=2)
DINO_EVEN.pop("intermediate_size")
DINO_ODD = ODD | CUT_IMAGE | dict(mlp_ratio=3, use_swiglu_ffn=True, qkv_bias=False)
DINO_ODD.pop("intermediate_size")
DINO3_ODD = ODD | CUT_IMAGE | dict(
    hidden_size=36, num_register_tokens=3, use_gated_mlp=True, hidden_act="silu", rope_theta=20.0, layer_norm_eps=1e-6,
    key_bias=True, query_bias=False, value_bias=False, proj_bias=False, mlp_bias=False)
CHECKPOINTS = {
    "vit": {
        "even_base": (ViTModel, ViTConfig, SIZES["even"]),
        "even_image_classification": (ViTForImageClassification, ViTConfig, SIZES["even"]),
        "odd_base": (ViTModel, ViTConfig, SIZES["odd"] | dict(qkv_bias=False, pooler_output_size=11)),
        "odd_image_classification": (ViTForImageClassification, ViTConfig, SIZES["odd"]),
        "rectangle_base": (ViTModel, ViTConfig, ODD | RECTANGLE),
    },
    "deit": {
        "even_base": (DeiTModel, DeiTConfig, SIZES["even"]),
        "even_image_classification": (DeiTForImageClassification, DeiTConfig, SIZES["even"]),
        "odd_base": (DeiTModel, DeiTConfig, SIZES["odd"]),
        "odd_image_classification_with_teacher": (DeiTForImageClassificationWithTeacher, DeiTConfig, SIZES["odd"]),
    },
    "dinov2": {
        "even_base": (Dinov2Model, Dinov2Config, DINO_EVEN),
        "even_image_classification": (Dinov2ForImageClassification, Dinov2Config, DINO_EVEN),
        "odd_base": (Dinov2Model, Dinov2Config, DINO_ODD),
        "odd_image_classification": (Dinov2ForImageClassification, Dinov2Config, DINO_ODD),
    },
    "dinov2_with_registers": {
        "even_base": (Dinov2WithRegistersModel, Dinov2WithRegistersConfig, DINO_EVEN),
        "odd_base": (Dinov2WithRegistersModel, Dinov2WithRegistersConfig, DINO_ODD | dict(num_register_tokens=3)),
        "odd_image_classification": (
            Dinov2WithRegistersForImageClassification, Dinov2WithRegistersConfig, DINO_ODD | dict(num_register_tokens=3)),
    },
    "dinov3_vit": {
        "even_base": (DINOv3ViTModel, DINOv3ViTConfig, SIZES["even"]),
        "odd_base": (DINOv3ViTModel, DINOv3ViTConfig, DINO3_ODD),
    },
}
# DINOv2 interpolates its positions for images of any size, without an option; DINOv3 computes them.
OTHER_IMAGES = {"larger": (30, 20), "smaller": (10, 15)}
# save_pretrained writes the names of transformers 4 (encoder.layer.0.attention.attention.query …) by default;
# the odd checkpoints represent files with the names of transformers 5's modules (layers.0.attention.q_proj …).
STORED = {
    "odd_base": {"save_original_format": False},
    "odd_image_classification": {"save_original_format": False},
    "odd_image_classification_with_teacher": {"save_original_format": False},
    "even_image_classification": {"dtype": torch.float16},
}
TEXT_TOKENS = dict(pad_token_id=1, bos_token_id=0, max_position_embeddings=12)
CLIPS = {
    # 2 is CLIPTextConfig's former, wrong end token: such a text is pooled at the largest id.
    "even": dict(text_config=EVEN | TEXT_TOKENS | dict(vocab_size=64, eos_token_id=2),
                 vision_config=EVEN | EVEN_IMAGE, projection_dim=24),
    "odd": dict(text_config=ODD | TEXT_TOKENS | dict(vocab_size=97, eos_token_id=96, hidden_act="gelu"),
                vision_config=ODD | dict(image_size=20, patch_size=5, num_channels=3, hidden_act="gelu"),
                projection_dim=17),
}
# openai/clip-vit-base-patch32 contains these buffers, which are not weights.
POSITION_BUFFERS = {"text_model.embeddings.position_ids": torch.arange(12)[None],
                    "vision_model.embeddings.position_ids": torch.arange(17)[None]}
SIGLIPS = {
    "even": dict(text_config=EVEN | TEXT_TOKENS | dict(vocab_size=64, eos_token_id=2), vision_config=EVEN | EVEN_IMAGE),
    "odd": dict(text_config=ODD | TEXT_TOKENS | dict(vocab_size=97, eos_token_id=96, projection_size=36, max_position_embeddings=64),
                vision_config=ODD | CUT_IMAGE | dict(hidden_size=36, hidden_act="gelu", num_channels=3)),
}
PAIRS = {"clip": (CLIPModel, CLIPConfig, CLIPS), "siglip": (SiglipModel, SiglipConfig, SIGLIPS)}
POOLING_GAINS = {"in_proj_weight": 0.4}  # it is no Linear, whose size would be known
PAIR_STORED = {("clip", "even"): {"extra": POSITION_BUFFERS}, ("siglip", "even"): {"gains": POOLING_GAINS, "extra": POSITION_BUFFERS},
               ("siglip", "odd"): {"gains": POOLING_GAINS, "dtype": torch.float16}}


def image(name, config):
    size = config.image_size if isinstance(config.image_size, (list, tuple)) else [config.image_size] * 2
    return normal(f"{name}/pixel_values", (2, config.num_channels, *size)).float()


def add_image_model(group, architecture, folder, model_class, config_class, settings):
    config = config_class(**settings)
    task = "base" if folder.endswith("base") else "image-classification"
    if task != "base":
        config.id2label = {i: f"LABEL_{i}" for i in range(7)}
        config.label2id = {label: i for i, label in config.id2label.items()}
    name = f"models/{architecture}/{folder.split('_')[0]}"
    model = write_checkpoint(os.path.join(group.folder, folder), model_class, config, name, **STORED.get(folder, {}))
    add_forward(group, folder, folder, task, model, {"pixel_values": image(name, config)})
    for case, size in OTHER_IMAGES.items() if architecture.startswith("dino") and task == "base" else ():
        pixels = normal(f"{name}/{case}/pixel_values", (1, config.num_channels, *size)).float()
        add_forward(group, f"{folder}_{case}", folder, task, model, {"pixel_values": pixels})


def add_siglip_classifier(group, size):
    name = f"models/siglip/{size}"
    config = SiglipConfig(**SIGLIPS[size], id2label={i: f"LABEL_{i}" for i in range(7)})
    folder = f"{size}_image_classification"
    model = write_checkpoint(os.path.join(group.folder, folder), SiglipForImageClassification, config, name, gains=POOLING_GAINS)
    add_forward(group, folder, folder, "image-classification", model, {"pixel_values": image(name, config.vision_config)})


def add_pair(group, architecture, size):
    name = f"models/{architecture}/{size}"
    model_class, config_class, settings = PAIRS[architecture]
    model = write_checkpoint(os.path.join(group.folder, size), model_class, config_class(**settings[size]), name,
                             **PAIR_STORED.get((architecture, size), {}))
    text = model.config.text_config
    end = text.vocab_size - 1
    ids = token_ids(f"{name}/ids", (3, 9), text) % end
    ids[:, 0], ids[:, -1] = text.bos_token_id, end
    inputs = {"input_ids": ids, "pixel_values": image(name, model.config.vision_config)}
    add_forward(group, f"{size}_plain", size, "zero-shot-image-classification", model, inputs)
    ids, mask = padded(ids, (5, 9, 7), "right", text.pad_token_id)
    ids[0, 4], ids[2, 6] = end, end
    add_forward(group, f"{size}_right_padding", size, "zero-shot-image-classification", model,
                inputs | {"input_ids": ids, "attention_mask": mask})


def main():
    args = arguments(__doc__)
    for architecture, checkpoints in CHECKPOINTS.items():
        group = open_group(args, architecture, "models_vision.py")
        for folder, (model_class, config_class, settings) in checkpoints.items():
            add_image_model(group, architecture, folder, model_class, config_class, settings)
        group.save()
    for architecture, (_, _, settings) in PAIRS.items():
        group = open_group(args, architecture, "models_vision.py")
        for size in settings:
            add_pair(group, architecture, size)
        if architecture == "siglip":
            add_siglip_classifier(group, "odd")
        group.save()


if __name__ == "__main__":
    main()
