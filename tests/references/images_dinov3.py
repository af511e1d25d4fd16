"""Random options of DINOv3's image processor, which transformers has on torchvision alone: it resizes what is rescaled.

    python3 tests/references/images_dinov3.py --out tests/fixtures
    python3 tests/references/images_dinov3.py --out <folder> --count 2000 --seed x
"""

from common import Group, arguments
from images_random import add_random


def takes(options, values):
    """Not what is resized as bytes (without a factor, or by an integer) or by other filters, what torch resizes to one column, where it
    is wrong, and channels that are not the mean's."""
    lists = [options.get(key) or [0.0] * 3 for key in ("image_mean", "image_std")]
    size = options.get("size") or {}
    edges = size.values() if isinstance(size, dict) else size if isinstance(size, list) else [size]
    return (bool(options.get("do_rescale", True)) and options.get("rescale_factor") != 1 and options.get("resample", 2) in (1, 2, 3)
            and values.shape[3] > 1 and not {1, 2} & set(edges)
            and all(not isinstance(one, list) or len(one) == values.shape[1] for one in lists))


def main():
    args = arguments(__doc__, count=25, seed="")
    group = Group(args, "images_dinov3", "images_dinov3.py", ["transformers", "torchvision"])
    number = added = 0
    while added < args.count:
        added += add_random(group, number, f"dinov3_{args.seed}{number}", {"dinov3_vit": "DINOv3ViT"}, "torchvision",
                            takes)
        number += 1
    group.save()


if __name__ == "__main__":
    main()
