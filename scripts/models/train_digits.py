"""Trains the Vision Transformer for handwritten digits (vit-mnist) on MNIST's 60,000 training images only."""

import math
import os

import numpy
import torch
from torch.nn import functional
from transformers import AutoConfig, AutoModelForImageClassification

from training import Progress, initialize, optimizer_of, parser, prepare, save, sha256, take_step

FILES = {"train": 60_000, "t10k": 10_000}
# Limits of the random augmentation, in either direction.
TURN, SHEAR = math.radians(10), 0.1
SCALE, SHIFT = 0.1, 1.5 / 14  # the shift in halves of an image's side: 1.5 pixels


def read_mnist(folder, part):
    """(images (N, 28, 28) bytes, labels (N,) int64) of the idx files of `part`."""
    path = os.path.join(folder, f"{part}-{{}}-ubyte")
    images = numpy.fromfile(path.format("images-idx3"), dtype=numpy.uint8)
    labels = numpy.fromfile(path.format("labels-idx1"), dtype=numpy.uint8)
    count = FILES[part]
    if images.size != 16 + count * 28 * 28 or labels.size != 8 + count:
        raise ValueError(f"{folder}: the {part} files of MNIST have another size than {count} images and labels")
    return torch.from_numpy(images[16:].reshape(-1, 28, 28)), torch.from_numpy(labels[8:].astype(numpy.int64))


def normalized(images):
    """Bytes (N, 28, 28) as model inputs: (N, 1, 28, 28) in [-1, 1]."""
    return (images.float()[:, None] / 255 - 0.5) / 0.5


def changed(pixels):
    """Rotates, scales, shears and shifts each image randomly; pixels from outside are black."""
    count = len(pixels)

    def draw(most):
        return (torch.rand(count) * 2 - 1) * most

    turn, scale, shear = draw(TURN), torch.exp(draw(math.log1p(SCALE))), draw(SHEAR)
    cos, sin = turn.cos() * scale, turn.sin() * scale
    rows = torch.stack([torch.stack([cos, cos * shear - sin, draw(SHIFT)], -1),
                        torch.stack([sin, sin * shear + cos, draw(SHIFT)], -1)], 1)  # (N, 2, 3)
    grid = functional.affine_grid(rows, pixels.shape, align_corners=False)
    return functional.grid_sample(pixels + 1, grid, align_corners=False) - 1  # black is -1, and outside there is 0


@torch.no_grad()
def accuracy(model, images, labels):
    model.eval()
    right = sum(int((model(pixel_values=normalized(images[i:i + 500])).logits.argmax(-1) == labels[i:i + 500]).sum())
                for i in range(0, len(images), 500))
    model.train()
    return right / len(images)


def train(model, args, images, labels, finished):
    """Runs all epochs; calls `finished(epoch, minutes)` after each."""
    batches = len(images) // args.batch_size
    optimizer, schedule = optimizer_of(model, args, batches * args.epochs)
    progress = Progress(batches * args.epochs)
    model.train()
    for epoch in range(1, args.epochs + 1):
        order = torch.randperm(len(images))
        for chosen in order[:batches * args.batch_size].split(args.batch_size):
            logits = model(pixel_values=changed(normalized(images[chosen]))).logits
            loss = functional.cross_entropy(logits, labels[chosen])
            take_step(model, loss, optimizer, schedule)
            progress.add(loss, epoch)
        finished(epoch, progress.minutes())


def main():
    args = parser(__doc__, like="web/demo/public/models/vit-mnist", seed=7, epochs=6, batch_size=128, learning_rate=2e-3,
                  weight_decay=0.05).parse_args()
    prepare(args)
    images, labels = read_mnist(args.data, "train")
    images, labels = images[:args.limit], labels[:args.limit]
    test = read_mnist(args.data, "t10k")
    model = AutoModelForImageClassification.from_config(AutoConfig.from_pretrained(args.like))
    initialize(model)

    def finished(epoch, minutes):
        right = accuracy(model, *test)
        print(f"epoch {epoch} of {args.epochs}: {right:.2%} of the test images right, {minutes:.1f} minutes", flush=True)
        save(model, args, ["preprocessor_config.json"], [
            f"Origin: trained from scratch on {len(images):,} training images of MNIST (Yann LeCun, Corinna Cortes and "
            f"Christopher J. C. Burges), {epoch} of {args.epochs} epochs; images turned, scaled, sheared and moved at random.",
            f"Data: train-images-idx3-ubyte, sha256 {sha256(os.path.join(args.data, 'train-images-idx3-ubyte'))}.",
            "Licence: the model is under this project's licence (MIT); MNIST is under CC BY-SA 3.0.",
            f"Quality: {right:.2%} of the 10,000 test images, which chose nothing: the last epoch is the one that is kept.",
        ])

    train(model, args, images, labels, finished)
    loaded = AutoModelForImageClassification.from_pretrained(args.out)
    print(f"read back from {args.out}: {accuracy(loaded, *test):.2%}")


if __name__ == "__main__":
    main()
