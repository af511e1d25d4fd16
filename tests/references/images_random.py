"""Random options of preprocessor_config.json and of a call: transformers' image processors on Pillow.

    python3 tests/references/images_random.py --out tests/fixtures
    python3 tests/references/images_random.py --out <folder> --count 2000 --seed x
"""

import random

import numpy
import torch
from huggingface_hub.errors import StrictDataclassFieldValidationError

from common import Group, arguments
from images import MODES, picture, processor_of, to_pil

TYPES = {"vit": "ViT", "deit": "DeiT", "clip": "CLIP", "dinov2": "Bit", "dinov2_with_registers": "Bit", "siglip": "Siglip"}
LARGEST = 2000  # numbers of a result
FLAGS = ("do_resize", "do_center_crop", "do_rescale", "do_normalize", "do_convert_rgb", "default_to_square")


def edge(rng):
    return rng.choice([1, 2, 5, 8, 11, 12, 16, 17, 21, 32, rng.randint(1, 40)])


def draw_size(rng):
    return rng.choice([
        lambda: edge(rng),
        lambda: [edge(rng), edge(rng)],
        lambda: {"height": edge(rng), "width": edge(rng)},
        lambda: {"shortest_edge": edge(rng)},
        lambda: {"shortest_edge": edge(rng), "longest_edge": edge(rng)},
        lambda: {"longest_edge": edge(rng)},
        lambda: {"max_height": edge(rng), "max_width": edge(rng)},
        lambda: {"height": edge(rng), "width": edge(rng), "shortest_edge": None},
    ])()


def draw_crop(rng):
    return rng.choice([
        lambda: edge(rng), lambda: [edge(rng), edge(rng)], lambda: {"height": edge(rng), "width": edge(rng)},
    ])()


def draw_numbers(rng, channels, low, high):
    numbers = [round(rng.uniform(low, high), 3) for _ in range(channels)]
    return numbers[0] if rng.random() < 0.3 else numbers


def draw_options(rng, channels, share):
    """Each option with probability `share`, some as null."""
    options = {}

    def sometimes(name, value, chance=share):
        if rng.random() < chance:
            options[name] = None if rng.random() < 0.08 else value()

    for flag in FLAGS:
        sometimes(flag, lambda: rng.random() < 0.6)
    sometimes("size", lambda: draw_size(rng))
    sometimes("crop_size", lambda: draw_crop(rng))
    sometimes("resample", lambda: rng.randrange(6))
    sometimes("rescale_factor", lambda: rng.choice([1 / 255, 1 / 127.5, 0.00392156862745098, 0.1, 1, 0.0]))
    sometimes("image_mean", lambda: draw_numbers(rng, channels, -0.2, 1.2))
    sometimes("image_std", lambda: draw_numbers(rng, channels, 0.1, 1.5))
    return options


def draw_config(rng, kind):
    channels = rng.choice([3, 3, 3, 1])
    config = draw_options(rng, channels, 0.45)
    config |= {"size": draw_size(rng), "crop_size": draw_crop(rng)}  # by default results are large
    spelling = rng.choice(["ImageProcessor", "ImageProcessorFast", "FeatureExtractor", None])
    if spelling == "FeatureExtractor":
        config["feature_extractor_type"] = kind + spelling
    elif spelling is not None:
        config["image_processor_type"] = kind + spelling
    if rng.random() < 0.2:
        config |= {"processor_class": None, "use_fast": True, "data_format": "channels_first"}
    keys = list(config)
    rng.shuffle(keys)
    return {key: config[key] for key in keys}, channels


def draw_pictures(rng, name, channels):
    sizes = [(rng.randint(1, 32), rng.randint(1, 32))] * rng.randint(1, 2)
    if rng.random() < 0.4:
        sizes = [(rng.randint(1, 32), rng.randint(1, 32)) for _ in range(2)]
    modes = [channels] * 3 + list(MODES) if rng.random() < 0.3 else [channels]
    return [picture(f"{name}/{i}", *size, rng.choice(modes)) for i, size in enumerate(sizes)]


def add_random(group, number, name, types=TYPES, backend="pil", takes=lambda options, values: True):
    """One case; False if transformers refuses it, keeps alpha, or makes a large result."""
    rng = random.Random(name)
    model_type = rng.choice(list(types))
    config, channels = draw_config(rng, types[model_type])
    given = draw_options(rng, channels, 0.12) if rng.random() < 0.4 else {}
    if "size" not in given:  # alone it changes nothing there, and the meaning of the file's size here
        given.pop("default_to_square", None)
    pictures = draw_pictures(rng, name, channels)
    batch = [to_pil(pixels) for pixels in pictures]
    try:
        processor = processor_of(config, model_type, backend)
        processor(batch)  # a file that needs the caller's options is refused here
        values = processor(batch, return_tensors="pt", **given)
    except (AttributeError, RuntimeError, TypeError, ValueError, StrictDataclassFieldValidationError):
        return False
    values = values["pixel_values"].to(torch.float32)
    if values.numel() > LARGEST or values.shape[1] not in (1, 3) or not takes(config | given, values):
        return False
    inputs = {f"image_{i}": torch.from_numpy(pixels.astype(numpy.float32)) for i, pixels in enumerate(pictures)}
    group.case(name, "image_processor", {"config": config, "model_type": model_type, "call": given}, inputs,
               {"pixel_values": values}, file=f"images_{number // 100}.safetensors")
    return True


def main():
    args = arguments(__doc__, count=40, seed="")
    group = Group(args, "images_random", "images_random.py", ["transformers", "pillow"])
    number = added = 0
    while added < args.count:
        added += add_random(group, number, f"random_{args.seed}{number}")
        number += 1
    group.save()


if __name__ == "__main__":
    main()
