"""Trains a two-layer GPT-2 to continue repetitions of random tokens, which requires induction heads."""

import math

import torch
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

from training import Progress, optimizer_of, parser, prepare, save, take_step
from head_scores import head_scores

START = 0  # begins every sequence and occurs nowhere else; 1 to 63 are the tokens that repeat
CONFIG = dict(vocab_size=64, n_positions=64, n_embd=64, n_layer=2, n_head=4, n_inner=64, tie_word_embeddings=False,
              bos_token_id=START, eos_token_id=START, embd_pdrop=0.1, resid_pdrop=0.1, attn_pdrop=0.0)
# For the first epochs and for the others: the length of sequences, and the shortest and longest period.
SHORT, LONG = (32, 4, 15), (64, 6, 31)
SHORT_EPOCHS = 1 / 4
EPOCH = 100  # batches: the data is unlimited
TESTS, TEST_SEED = 1000, 1


def repetitions(count, length, shortest, longest, generator=None):
    """
    (ids, known), both (count, length): the start, random tokens that occur once, then others repeatedly, all of them
    distinct. The numbers of both kinds vary by row, so that positions carry no information and every position can be the
    first repetition. known are the positions whose token occurred before, so that the next one is determined.
    """
    def draw(*size):
        return torch.rand(*size, generator=generator)

    tokens = 1 + draw(count, CONFIG["vocab_size"] - 1).argsort(-1)
    period = torch.randint(shortest, longest + 1, (count, 1), generator=generator)
    once = (draw(count, 1) * (length - 2 * period)).long()  # 0 to length - 1 - 2 * period
    place = torch.arange(length - 1)[None]
    ids = tokens.gather(1, torch.where(place < once, place, once + (place - once) % period))
    return functional.pad(ids, (1, 0), value=START), functional.pad(place >= once + period, (1, 0))


def keep_first_heads(model):
    """
    While training, only a random number of each layer's first heads is active (nested dropout: Rippel,
    Gelbart and Adams, 2014). Without it all heads learn the same and share the work evenly: no head could be told from
    another, and ablating one would have no effect.
    """
    heads = CONFIG["n_head"]

    def silence(module, inputs):
        if not module.training:
            return None
        z = inputs[0]  # (B, T, H·d)
        alone = torch.rand(len(z)) < 0.5
        heard = torch.where(alone, 1, torch.randint(1, heads + 1, (len(z),)))
        mask = (torch.arange(heads) < heard[:, None]).repeat_interleave(z.shape[-1] // heads, -1)
        return (z * mask[:, None],)

    for block in model.transformer.h:
        block.attn.c_proj.register_forward_pre_hook(silence)


def initialize(model):
    """
    Larger weights than GPT-2's 0.02, which suits wider models. Positions, which are learned like the rest, are initialised as
    sinusoids with wavelengths from 4 tokens to the whole context: the previous position is then a rotation, easy to learn.
    """
    torch.nn.init.normal_(model.transformer.wte.weight, std=0.3)
    for name, value in model.transformer.h.named_parameters():
        if value.dim() == 2:
            torch.nn.init.normal_(value, std=0.1)
    positions, size = model.transformer.wpe.weight.shape
    wavelengths = 4 * (positions / 4) ** torch.linspace(0, 1, size // 2)
    angles = 2 * math.pi * torch.arange(positions)[:, None] / wavelengths
    model.transformer.wpe.weight.data.copy_(torch.cat([angles.sin(), angles.cos()], 1))


def loss_of(model, ids, known):
    """Mean cross entropy over the predictable positions."""
    asked = known[:, :-1]
    return functional.cross_entropy(model(input_ids=ids, use_cache=False).logits[:, :-1][asked], ids[:, 1:][asked])


@torch.no_grad()
def quality(model):
    """On separate sequences: (loss, accuracy, the heads' scores)."""
    model.eval()
    ids, known = repetitions(TESTS, *LONG, torch.Generator().manual_seed(TEST_SEED))
    asked = known[:, :-1]
    out = model(input_ids=ids, output_attentions=True, use_cache=False)
    logits, wanted = out.logits[:, :-1][asked], ids[:, 1:][asked]
    model.train()
    right = float((logits.argmax(-1) == wanted).double().mean())
    return float(functional.cross_entropy(logits, wanted)), right, head_scores(out.attentions, ids)


def train(model, args, finished):
    """Runs all epochs; calls `finished(epoch, minutes)` after each."""
    optimizer, schedule = optimizer_of(model, args, args.epochs * EPOCH)
    progress = Progress(args.epochs * EPOCH)
    model.train()
    for epoch in range(1, args.epochs + 1):
        kind = SHORT if epoch <= args.epochs * SHORT_EPOCHS else LONG
        count = args.batch_size * LONG[0] // kind[0]  # the same number of tokens
        for _ in range(EPOCH):
            loss = loss_of(model, *repetitions(count, *kind))
            take_step(model, loss, optimizer, schedule)
            progress.add(loss, epoch)
        finished(epoch, progress.minutes())


def source_of(args, epoch, loss, right, scores):
    def row(kind, layer):
        return f"{kind} " + " ".join(f"{score:.3f}" for score in scores[kind][layer].tolist())

    heads = ["; ".join(row(kind, layer) for kind in scores) for layer in range(CONFIG["n_layer"])]
    previous, induction = int(scores["previous_token"][0].argmax()), int(scores["induction"][1].argmax())
    return [
        f"Origin: trained from scratch by scripts/models/train_induction.py, {epoch} of {args.epochs} epochs of {EPOCH} "
        f"batches. GPT-2: 2 layers of 4 heads of 16.",
        f"Data: drawn while training. Token {START}, distinct random ones of 63 that stand there once, then {LONG[1]} to {LONG[2]} "
        f"others over and over, {LONG[0]} tokens in all (in the first quarter of the epochs {SHORT[1]} to {SHORT[2]}, {SHORT[0]} "
        f"in all).",
        f"Quality: on {TESTS:,} other sequences {right:.2%} of what can be known is right (the tokens that follow one seen "
        f"before), loss {loss:.2g}.",
        f"What the heads do: head {previous} of layer 0 looks at the previous token; head {induction} of layer 1 is an induction "
        f"head, which looks behind the last occurrences of the present token. Without the former the latter finds nothing (see "
        f"the ablations of tests/references/induction.py).",
        *(f"Scores of the heads of layer {layer} on those sequences (scripts/models/head_scores.py): {text}." for layer, text in enumerate(heads)),
        "Licence: this project's (MIT).",
    ]


def main():
    args = parser(__doc__, seed=0, epochs=20, batch_size=64, learning_rate=4e-3, weight_decay=0.01).parse_args()
    prepare(args)
    model = GPT2LMHeadModel._from_config(GPT2Config(**CONFIG), attn_implementation="eager")
    initialize(model)
    keep_first_heads(model)

    def finished(epoch, minutes):
        loss, right, scores = quality(model)
        best = ", ".join(f"{kind} {float(scores[kind].max()):.2f}" for kind in scores)
        print(f"epoch {epoch} of {args.epochs}: loss {loss:.4f}, {right:.2%} right, best {best}; {minutes:.1f} minutes", flush=True)
        save(model, args, [], source_of(args, epoch, loss, right, scores))

    train(model, args, finished)


if __name__ == "__main__":
    main()
