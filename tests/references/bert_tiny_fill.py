"""The bundled model bert-tiny-fill: one sentence with all intermediate values, and masked-token predictions of ten."""

import torch
from transformers import AutoTokenizer, BertForMaskedLM, pipeline

from common import Group, arguments, bundled, float64_everywhere, largest_difference
from models_common import double_of, forward_twice, load_checkpoint

INSIDE = "She took [MASK] hat off."
BLANKS = [
    INSIDE, "He took [MASK] hat off.", "The cat sat on the [MASK].", "Lily went to the [MASK].", "Lily [MASK] to the park.",
    "I [MASK] you.", "Tom [MASK] to school every day.", "They [MASK] happy.", "He drank a glass of [MASK].",
    "It was [MASK] last night, so I stayed at home.",
]
TOP = 5
SAME_SCORE = 1e-5  # two tokens with closer probabilities may be swapped


def add_inside(group, model, tokenizer):
    inputs = dict(tokenizer(INSIDE, return_tensors="pt"))
    outputs, errors = forward_twice(model, inputs)
    group.case("inside", "model_forward", {"checkpoint": "bert-tiny-fill", "task": "masked-lm"}, inputs, outputs,
               file="inside.safetensors", errors=errors, text=INSIDE)


def blank_logits(model, inputs, mask):
    """The logits at each text's [MASK]: (texts, vocabulary)."""
    return model(**inputs).logits[inputs["input_ids"] == mask]


def add_blanks(group, model, tokenizer):
    inputs = dict(tokenizer(BLANKS, return_tensors="pt", padding=True))
    single = blank_logits(model, inputs, tokenizer.mask_token_id)
    with float64_everywhere():
        error = largest_difference(single, blank_logits(double_of(model), inputs, tokenizer.mask_token_id))
    answers = pipeline("fill-mask", model=model, tokenizer=tokenizer, device="cpu")(BLANKS, top_k=TOP + 1)
    scores = torch.tensor([[word["score"] for word in answer] for answer in answers])
    if float((scores[:, :-1] - scores[:, 1:]).min()) < SAME_SCORE:
        raise ValueError("two words have nearly the same probability")
    group.case("blanks", "fill_mask", {"checkpoint": "bert-tiny-fill"}, inputs, {"blank_logits": single}, file="blanks.safetensors",
               errors={"blank_logits": error}, text=BLANKS, answers=[answer[:TOP] for answer in answers])


def main():
    args = arguments(__doc__)
    folder = bundled("bert-tiny-fill")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = load_checkpoint(folder, BertForMaskedLM)
    group = Group(args, "bert_tiny_fill", "bert_tiny_fill.py", ["transformers", "tokenizers"])
    add_inside(group, model, tokenizer)
    add_blanks(group, model, tokenizer)
    group.save()


if __name__ == "__main__":
    main()
