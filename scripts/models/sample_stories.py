"""Samples short stories from the bundled stories260K, one per line, as training data of train_fill_mask.py."""

import argparse
import os
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

TEMPERATURE, TOP_P = 0.8, 0.95  # most stories still consist of whole sentences, and they vary
NEW_TOKENS = 320  # a story has about 150 words
BEGIN, END = 1, 2


def options():
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    made.add_argument("--out", required=True, help="the text file to write")
    made.add_argument("--like", default="web/demo/public/models/stories260K", help="the folder of the model that writes")
    made.add_argument("--stories", type=int, default=4_096)
    made.add_argument("--batch-size", type=int, default=128)
    made.add_argument("--seed", type=int, default=13)
    return made.parse_args()


def stories_of(model, tokenizer, count):
    """`count` stories, each without line breaks and truncated after its last whole sentence."""
    start = torch.full((count, 1), BEGIN)
    out = model.generate(start, attention_mask=torch.ones_like(start), do_sample=True, temperature=TEMPERATURE, top_p=TOP_P,
                         top_k=0, max_new_tokens=NEW_TOKENS, eos_token_id=[BEGIN, END], pad_token_id=END)
    for text in tokenizer.batch_decode(out, skip_special_tokens=True):
        text = " ".join(text.split())
        end = max(text.rfind(mark) for mark in (". ", "! ", "? ", '." ', ".", "!", "?", '"'))
        if end > 0:
            yield text[:end + 1]


def main():
    args = options()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    tokenizer = AutoTokenizer.from_pretrained(args.like)
    model = AutoModelForCausalLM.from_pretrained(args.like, dtype=torch.float32).eval()
    begun, written = time.time(), 0
    os.makedirs(os.path.dirname(os.path.abspath(args.out)), exist_ok=True)
    with open(args.out, "w", encoding="utf-8") as file:
        while written < args.stories:
            for story in stories_of(model, tokenizer, min(args.batch_size, args.stories - written)):
                file.write(story + "\n")
                written += 1
            file.flush()
            left = (time.time() - begun) / written * (args.stories - written)
            print(f"{written:,} stories, {left / 60:.1f} minutes left", flush=True)


if __name__ == "__main__":
    main()
