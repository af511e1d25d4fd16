"""Images: Pillow's resampling and conversions, and transformers' image processors on Pillow, for all kinds of configuration.

Pixels are integers from 0 to 255 in float32 tensors [height, width, channels]. Expected values are the float32 results
themselves: `resized` is a processor's result without rescaling and normalising.
"""

import json
import os
import tempfile

import numpy
import PIL.Image
import torch
from transformers import AutoImageProcessor

from common import Group, arguments, random_state

FILE = "images.safetensors"
MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
SIZES = [((23, 37), (16, 16)), ((16, 16), (41, 37)), ((20, 50), (50, 20)), ((48, 64), (5, 7)), ((7, 9), (7, 30)),
         ((30, 9), (8, 9)), ((1, 1), (3, 5)), ((12, 12), (11, 13)), ((1, 40), (1, 3))]


def picture(name, height, width, channels):
    """Noise beside constant areas and hard edges, where filters overshoot."""
    state = random_state(f"images/{name}")
    pixels = state.randint(0, 256, size=(height, width, channels))
    pixels[: height // 3] = state.choice([0, 255], size=(height // 3, width, channels))
    pixels[:, : width // 4] = 255
    return pixels.astype(numpy.uint8)


def to_pil(pixels):
    mode = MODES[pixels.shape[2]]
    return PIL.Image.fromarray(pixels[:, :, 0] if mode == "L" else pixels, mode)


def from_pil(image):
    pixels = numpy.array(image)
    return torch.from_numpy(pixels.reshape(*pixels.shape[:2], -1).astype(numpy.float32))


class Images:
    """Each image is stored once, however many cases use it."""

    def __init__(self, group):
        self.group = group
        self.kept = {}

    def get(self, height, width, channels):
        key = f"image.{height}x{width}x{channels}"
        if key not in self.kept:
            self.kept[key] = picture(key, height, width, channels)
            self.group.put(FILE, key, torch.from_numpy(self.kept[key].astype(numpy.float32)))
        return key, self.kept[key]

    def case(self, name, op, options, images, outputs, **more):
        keys = {key: self.group.put(FILE, f"{name}.{key}", value) for key, value in outputs.items()}
        inputs = {f"image_{i}": key for i, key in enumerate(images)}
        self.group.add({"name": name, "op": op, "file": FILE, "options": options, "inputs": inputs, "outputs": keys} | more)


def add_resizes(images, op, name, sizes, channel_counts):
    for resample in range(6):
        for (height, width), (rows, columns) in sizes:
            for channels in channel_counts:
                key, pixels = images.get(height, width, channels)
                resized = to_pil(pixels).resize((columns, rows), resample=resample)
                images.case(f"{name}_{resample}_{channels}x{height}x{width}_to_{rows}x{columns}", op,
                            {"resample": resample, "height": rows, "width": columns}, [key], {"resized": from_pil(resized)})


def add_conversions(images):
    for channels in MODES:
        key, pixels = images.get(16, 16, channels)
        for mode in ("L", "RGB"):
            converted = to_pil(pixels).convert("RGB").convert(mode)
            images.case(f"{MODES[channels]}_to_{mode}", "convert", {"channels": len(mode)}, [key], {"converted": from_pil(converted)})


def processor_of(config, model_type, backend="pil"):
    with tempfile.TemporaryDirectory() as folder:
        for name, contents in (("preprocessor_config.json", config), ("config.json", {"model_type": model_type})):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                json.dump(contents, out)
        return AutoImageProcessor.from_pretrained(folder, backend=backend)


def add_processor(images, name, config, sizes, model_type="vit"):
    """The configuration with Pillow's backend on one image or several."""
    processor = processor_of(config, model_type)
    picked = [images.get(*size) for size in sizes]
    batch = [to_pil(pixels) for _, pixels in picked]
    outputs = {
        "pixel_values": processor(batch, return_tensors="pt")["pixel_values"],
        "resized": processor(batch, return_tensors="pt", do_rescale=False, do_normalize=False)["pixel_values"],
    }
    outputs = {key: value.to(torch.float32) for key, value in outputs.items()}
    images.case(name, "image_processor", {"config": config, "model_type": model_type}, [key for key, _ in picked], outputs)


def add_processors(images):
    vit = {"image_processor_type": "ViTImageProcessor", "size": {"height": 20, "width": 18}}
    imagenet = {"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225]}
    grey = {"image_mean": [0.5], "image_std": [0.5], "do_convert_rgb": False}
    clip = {"feature_extractor_type": "CLIPFeatureExtractor", "do_center_crop": True, "crop_size": 16, "do_resize": True,
            "size": 20, "resample": 3}
    deit = {"image_processor_type": "DeiTImageProcessor", "size": 24, "crop_size": {"height": 16, "width": 20}}
    both = [(23, 37, 3), (16, 16, 3)]
    add_processor(images, "vit", vit, both)
    add_processor(images, "vit_fast", vit | {"image_processor_type": "ViTImageProcessorFast", "do_convert_rgb": None}, both)
    add_processor(images, "vit_old", {"do_normalize": True, "do_resize": True, "size": 18, "feature_extractor_type":
                                      "ViTFeatureExtractor"} | imagenet, both)
    add_processor(images, "vit_without_type", {"size": 18, "resample": 1}, both)
    add_processor(images, "vit_grey", vit | grey | {"size": {"height": 28, "width": 28}}, [(16, 16, 1), (23, 37, 1)])
    add_processor(images, "vit_one_number_for_all", vit | {"image_mean": 0.4, "image_std": 0.3}, both)
    add_processor(images, "vit_other_factor", vit | {"rescale_factor": 1 / 127.5, "do_normalize": False}, both)
    add_processor(images, "vit_without_rescaling", vit | {"do_rescale": False, "image_mean": [127.5] * 3, "image_std": [60.5] * 3},
                  both)
    add_processor(images, "vit_without_resizing", vit | {"do_resize": False}, [(16, 16, 3)])
    add_processor(images, "vit_pair", vit | {"size": [10, 12], "resample": 0}, both)
    add_processor(images, "vit_box", vit | {"resample": 4, "do_convert_rgb": True}, [(16, 16, 4), (16, 16, 1), (23, 37, 3)])
    add_processor(images, "clip_old", clip, [(23, 37, 3), (37, 23, 3), (16, 16, 3)])
    add_processor(images, "clip_converts", clip, [(16, 16, 4), (16, 16, 2), (16, 16, 1)])
    add_processor(images, "clip_without_type", {"size": {"shortest_edge": 17}, "crop_size": {"height": 17, "width": 17}}, both,
                  model_type="clip")
    add_processor(images, "deit", deit, both)
    add_processor(images, "crop_of_smaller", deit | {"size": {"height": 9, "width": 30}, "crop_size": [15, 21]}, both)
    add_processor(images, "crop_odd", deit | {"do_resize": False, "crop_size": {"height": 20, "width": 12}},
                  [(23, 37, 3), (16, 16, 3)])
    for i, size in enumerate([(23, 37, 3), (37, 23, 3), (16, 16, 3), (20, 50, 3)]):
        add_processor(images, f"shortest_edge_{i}", vit | {"size": {"shortest_edge": 11}}, [size])
        add_processor(images, f"both_edges_{i}", vit | {"size": {"shortest_edge": 16, "longest_edge": 21}}, [size])
        add_processor(images, f"within_{i}", vit | {"size": {"max_height": 15, "max_width": 21}}, [size])
    add_processor(images, "defaults_of_clip", {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 9},
                                               "do_center_crop": False}, [(16, 16, 3)])


def add_floats(images):
    """float32 pixels, integers or between 0 and 1, which are passed to Pillow as bytes."""
    config = {"image_processor_type": "ViTImageProcessor", "size": {"height": 20, "width": 18}, "do_rescale": False}
    processor = processor_of(config, "vit")
    _, pixels = images.get(23, 37, 3)
    for name, factor in (("float_whole", 1), ("float_unit", 255)):
        image = pixels.astype(numpy.float32) / numpy.float32(factor)
        key = images.group.put(FILE, f"{name}.image", torch.from_numpy(image))
        values = processor(image, return_tensors="pt")["pixel_values"].to(torch.float32)
        images.case(name, "image_processor", {"config": config, "model_type": "vit"}, [key], {"pixel_values": values})


def main():
    args = arguments(__doc__)
    group = Group(args, "images", "images.py", ["transformers", "pillow"])
    images = Images(group)
    add_resizes(images, "resize", "resample", SIZES, (1, 3))
    add_resizes(images, "resize_with_alpha", "alpha", [*SIZES[4:6], ((23, 37), (16, 16)), ((12, 12), (12, 12))], (2, 4))
    for part in (add_conversions, add_processors, add_floats):
        part(images)
    group.save()


if __name__ == "__main__":
    main()
