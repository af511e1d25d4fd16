"""Common to the training scripts: the command line, the schedule, progress, and the output folder."""

import argparse
import hashlib
import importlib.metadata
import math
import os
import platform
import random
import shutil
import time

import numpy
import torch

PROGRESS_SECONDS = 15


def parser(description, **defaults):
    """
    The options common to all trainings; `defaults` gives seed, epochs, batch_size, learning_rate and weight_decay,
    and `like` if data and the model's shape come from files.
    """
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    made.add_argument("--out", required=True, help="the folder to write")
    if "like" in defaults:
        made.add_argument("--data", required=True, help="the data; see TRAINING.md")
        made.add_argument("--like", help="the folder whose config.json (and processor) is used", default=defaults["like"])
        made.add_argument("--limit", type=int, help="use only so many training examples, to try the script")
    made.add_argument("--seed", type=int, default=defaults["seed"])
    made.add_argument("--epochs", type=int, default=defaults["epochs"])
    made.add_argument("--batch-size", type=int, default=defaults["batch_size"])
    made.add_argument("--learning-rate", type=float, default=defaults["learning_rate"], help="the highest of the schedule")
    made.add_argument("--weight-decay", type=float, default=defaults["weight_decay"])
    made.add_argument("--threads", type=int, default=1, help="the same number gives the same model")
    return made


def prepare(args):
    """Seeds all random number generators."""
    torch.set_num_threads(args.threads)
    random.seed(args.seed)
    numpy.random.seed(args.seed)
    torch.manual_seed(args.seed)


def initialize(model):
    """
    Glorot initialisation (Glorot and Bengio 2010) of linear layers. The configs' standard deviation of 0.02 suits wider
    models: with it 100 steps on 12,800 digits give 32 % accuracy, with this 84 %. Tied embedding tables are unchanged.
    """
    shared = {id(module.weight) for module in model.modules() if isinstance(module, torch.nn.Embedding)}
    for module in model.modules():
        if isinstance(module, torch.nn.Linear) and id(module.weight) not in shared:
            torch.nn.init.xavier_uniform_(module.weight)


def padded(rows, filler):
    """Lists of ids as one tensor (N, longest)."""
    longest = max(map(len, rows))
    return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])


def batches_of(examples, size, bucket, length, generator):
    """
    All examples once, in random order; `bucket` batches are sorted by `length(example)` together, to reduce
    padding.
    """
    order = generator.sample(examples, len(examples))
    made = []
    for start in range(0, len(order), size * bucket):
        alike = sorted(order[start:start + size * bucket], key=length)
        made += [alike[i:i + size] for i in range(0, len(alike), size)]
    generator.shuffle(made)
    return made


def optimizer_of(model, args, steps):
    """
    AdamW and its schedule: linear warm-up over the first twentieth of the steps, then cosine decay to 0.
    Weight decay applies to matrices only.
    """
    matrices = [value for value in model.parameters() if value.dim() >= 2]
    vectors = [value for value in model.parameters() if value.dim() < 2]
    groups = [{"params": matrices, "weight_decay": args.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=args.learning_rate, betas=(0.9, 0.98))
    rising = max(1, steps // 20)

    def factor(step):
        if step < rising:
            return (step + 1) / rising
        return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising)))

    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def take_step(model, loss, optimizer, schedule):
    """One optimiser step on `loss`, with the gradient norm clipped to 1."""
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()


class Progress:
    """Prints a line every few seconds: progress, the mean loss since the last line, and the remaining time."""

    def __init__(self, steps):
        self.steps, self.done, self.start, self.shown = steps, 0, time.time(), time.time()
        self.losses = []

    def add(self, loss, epoch):
        self.done += 1
        self.losses.append(loss.item())
        now = time.time()
        if now - self.shown < PROGRESS_SECONDS and self.done < self.steps:
            return
        left = (now - self.start) / self.done * (self.steps - self.done)
        mean = sum(self.losses) / len(self.losses)
        print(f"epoch {epoch}, step {self.done} of {self.steps}, loss {mean:.4f}, {left / 60:.1f} minutes left", flush=True)
        self.shown, self.losses = now, []

    def minutes(self):
        return (time.time() - self.start) / 60


def train(model, args, examples, bucket, length, loss_of, finished):
    """
    Runs all epochs: a step for `loss_of(model, batch, generator)` of each of `batches_of`; calls `finished(epoch, minutes)`
    after each epoch.
    """
    steps = args.epochs * -(-len(examples) // args.batch_size)
    optimizer, schedule = optimizer_of(model, args, steps)
    progress, generator = Progress(steps), random.Random(args.seed)
    model.train()
    for epoch in range(1, args.epochs + 1):
        for batch in batches_of(examples, args.batch_size, bucket, length, generator):
            loss = loss_of(model, batch, generator)
            take_step(model, loss, optimizer, schedule)
            progress.add(loss, epoch)
        finished(epoch, progress.minutes())


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for part in iter(lambda: file.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()


def versions():
    packages = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("transformers", "tokenizers"))
    return f"Python {platform.python_version()}, torch {torch.__version__}, {packages}"


def save(model, args, copied, source):
    """
    Writes the Hugging Face folder: the model, the files `copied` of --like, and SOURCE.md, for which `source` gives the lines on
    data, licence and quality. An interrupted run leaves its last whole epoch.
    """
    model.save_pretrained(args.out)
    for name in copied:
        shutil.copyfile(os.path.join(args.like, name), os.path.join(args.out, name))
    weights = os.path.join(args.out, "model.safetensors")
    os.chmod(weights, 0o644)
    parameters = sum(value.numel() for value in model.parameters())
    settings = (f"Seed {args.seed}, batches of {args.batch_size}, AdamW with a highest rate of {args.learning_rate:g} and a "
                f"decay of {args.weight_decay:g}, {args.threads} thread(s); {versions()}.")
    lines = [f"# {os.path.basename(os.path.normpath(args.out))}", "",
             f"- Parameters: {parameters:,}, fp32.", *(f"- {line}" for line in source), f"- {settings}",
             f"- `model.safetensors`: {os.path.getsize(weights):,} bytes, sha256 {sha256(weights)}", ""]
    with open(os.path.join(args.out, "SOURCE.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(lines))
