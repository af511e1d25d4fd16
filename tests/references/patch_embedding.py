"""Patches: a convolution with stride = kernel size, ViT's embeddings, and its position table resized for other image sizes.

The table is resized as by transformers' ViT: bicubic (a = -0.75), align_corners False, no antialiasing, edges replicated;
the row of the class token is unchanged.
"""

import torch
from torch import nn
from transformers import ViTConfig
from transformers.models.vit.modeling_vit import ViTEmbeddings

from common import Group, arguments, fill_state_dict, normal

FILE = "patch_embedding.safetensors"


def add_convolution(group, name, shape, patch, hidden, bias=True):
    """(B, C, height, width) -> (B, patches, hidden); partial patches are dropped."""
    module = nn.Conv2d(shape[1], hidden, kernel_size=patch, stride=patch, bias=bias)
    fill_state_dict(module, f"patch_embedding/{name}").eval()
    weights = group.put_weights(FILE, f"{name}.weights.", module)
    group.run(name, "patch_embedding", {"patch_size": list(patch), "num_hiddens": hidden, "bias": bias},
              {"X": normal(f"patch_embedding/{name}/X", shape)}, lambda X: {"output": module(X).flatten(2).transpose(1, 2)},
              file=FILE, module=module, weights=weights)


def add_convolutions(group):
    sizes = {
        "square": ((2, 3, 8, 8), (4, 4), 5), "one_channel": ((2, 1, 8, 8), (4, 4), 5), "wide_image": ((1, 3, 6, 15), (3, 3), 7),
        "wide_patch": ((1, 3, 8, 10), (2, 5), 7), "tall_patch": ((2, 1, 9, 4), (3, 1), 6), "ragged": ((1, 3, 7, 9), (3, 4), 5),
        "one_patch": ((2, 3, 4, 4), (4, 4), 9), "pixels": ((1, 3, 3, 2), (1, 1), 4), "four_channels": ((1, 4, 4, 6), (2, 2), 17),
    }
    for name, (shape, patch, hidden) in sizes.items():
        add_convolution(group, name, shape, patch, hidden)
    add_convolution(group, "no_bias", (1, 3, 8, 8), (4, 4), 5, bias=False)


def embeddings(name, image, patch, channels, hidden):
    config = ViTConfig(hidden_size=hidden, image_size=image, patch_size=patch, num_channels=channels, num_attention_heads=1)
    module = ViTEmbeddings(config)
    fill_state_dict(module, f"patch_embedding/{name}")
    module.position_embeddings.copy_(normal(f"patch_embedding/{name}/table", module.position_embeddings.shape))
    module.cls_token.copy_(normal(f"patch_embedding/{name}/cls", module.cls_token.shape))
    return module.eval()


def add_vit(group):
    """transformers' ViTEmbeddings: patches, class token, positions; at the trained size and at others."""
    module = embeddings("vit", 12, 3, 3, 5)  # a 4 x 4 grid
    weights = group.put_weights(FILE, "vit.weights.", module)
    for label, (height, width) in {"same": (12, 12), "larger": (18, 18), "wide": (12, 21), "tall": (27, 6), "smaller": (6, 9),
                                   "one_patch": (3, 3), "ragged": (14, 20)}.items():
        name = f"vit_{label}"
        inputs = {"pixel_values": normal(f"patch_embedding/{name}", (1, 3, height, width))}

        def function(pixel_values):
            output = module(pixel_values, interpolate_pos_encoding=True)
            return {"output": output, "position_embeddings": module.interpolate_pos_encoding(output, height, width)}
        group.run(name, "vit_embeddings", {"image_size": 12, "patch_size": 3, "num_channels": 3, "hidden_size": 5}, inputs, function,
                  file=FILE, module=module, weights=weights)


def add_tables(group):
    """The table by itself, from one grid to several."""
    for grid, targets in {1: [(2, 3)], 2: [(3, 3), (1, 5)], 5: [(7, 5), (5, 9), (3, 2), (10, 10)], 14: [(16, 10)]}.items():
        for rows, columns in targets:
            name = f"table_{grid}x{grid}_to_{rows}x{columns}"
            table = normal(f"patch_embedding/{name}", (1, 1 + grid * grid, 4))

            def function(table):
                patches = table[:, 1:].reshape(1, grid, grid, 4).permute(0, 3, 1, 2)
                new = nn.functional.interpolate(patches, size=(rows, columns), mode="bicubic", align_corners=False)
                return {"output": torch.cat([table[:, :1], new.permute(0, 2, 3, 1).reshape(1, -1, 4)], 1)}
            group.run(name, "interpolate_positions", {"grid": [grid, grid], "new_grid": [rows, columns]}, {"table": table}, function,
                      file=FILE)
    for old, new in (((3, 5), (6, 4)), ((2, 7), (2, 14))):
        name = f"grid_{old[0]}x{old[1]}_to_{new[0]}x{new[1]}"
        grid = normal(f"patch_embedding/{name}", (1, 4, *old))
        group.run(name, "interpolate_bicubic", {"new_grid": list(new)}, {"input": grid},
                  lambda input: {"output": nn.functional.interpolate(input, size=new, mode="bicubic", align_corners=False)}, file=FILE)


def main():
    args = arguments(__doc__)
    group = Group(args, "patch_embedding", "patch_embedding.py", ["transformers"])
    for part in (add_convolutions, add_vit, add_tables):
        part(group)
    group.save()


if __name__ == "__main__":
    main()
