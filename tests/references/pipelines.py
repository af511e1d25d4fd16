"""Pipelines: the results of transformers' pipelines on the tiny checkpoints of models/*, with separate tokenizers.

Each case names a checkpoint, a tokenizer, and changes to config.json; its calls contain arguments, options and the result.
question-answering, translation and summarization, which transformers 5 no longer has, follow its version 4 by formula.
Images and audio are formulas that the tests repeat. Greedy texts are unambiguous: the two best logits differ by more than 1e-3.
"""

import os
import shutil

import numpy
import PIL.Image
import torch
from transformers import (
    BartForConditionalGeneration, BartForQuestionAnswering, BartForSequenceClassification, BertForMaskedLM, BertForQuestionAnswering, BertForSequenceClassification,
    BertForTokenClassification, BertModel, BitImageProcessorPil, CLIPImageProcessorPil, CLIPModel, Dinov2ForImageClassification,
    Dinov2Model, Dinov2WithRegistersModel, GPT2LMHeadModel, MarianMTModel, PegasusForConditionalGeneration, RobertaForTokenClassification, ViTForImageClassification, ViTImageProcessorPil, ViTModel, WhisperFeatureExtractor,
    WhisperForConditionalGeneration, pipeline,
)

from transformers.pipelines.token_classification import AggregationStrategy

from common import Group, arguments
from models_common import CERTAIN, load_checkpoint
from pipelines_tokenizers import MAKERS, write

FILE = "features.safetensors"
NER = {"id2label": {"0": "O", "1": "B-PER", "2": "I-PER", "3": "B-LOC", "4": "I-LOC"}}


def picture(seed, height, width, channels=3):
    """Noise that a test can reproduce: grey, grey and alpha, RGB or RGBA."""
    i = numpy.arange(height * width * channels)
    return ((i * i * 7 + i * 31 + seed * 53) % 256).astype(numpy.uint8).reshape(height, width, channels).squeeze()


def sound(seed, length):
    """Tones and noise in float32 that a test can reproduce: integers over 1024."""
    i = numpy.arange(length, dtype=numpy.int64)
    return (((i * (seed + 3)) % 97 + (i * i * (seed + 1)) % 61 + (i // 90 % 7) * 40) % 512 - 256).astype(numpy.float32) / 1024


def plain(value):
    """Numbers, texts, lists and objects as JSON; 9 digits identify a float32."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return float(f"{float(value):.9g}") if isinstance(value, (float, numpy.floating)) else value


class Pipelines:
    def __init__(self, args):
        self.group = Group(args, "pipelines", "pipelines.py", ["transformers", "tokenizers"])
        self.models = os.path.join(args.out, "models")
        self.tokenizers = {name: write(self.group.folder, name) for name in [*MAKERS, "whisper_97"]}

    def load(self, checkpoint, model_class, config=None):
        model = load_checkpoint(os.path.join(self.models, checkpoint), model_class)
        for key, value in (config or {}).items():
            setattr(model.config, key, {int(i): label for i, label in value.items()} if key == "id2label" else value)
        return model

    def add(self, name, task, checkpoint, calls, **more):
        self.group.add({"name": name, "op": task, "checkpoint": f"models/{checkpoint}", "calls": plain(calls)} | more)

    def run(self, name, task, checkpoint, model_class, tokenizer, calls, config=None):
        """Each call is (arguments, options): computed one by one, arrays as one batch."""
        model = self.load(checkpoint, model_class, config)
        pipe = pipeline(task, model=model, tokenizer=self.tokenizers[tokenizer], device="cpu")
        answers = [{"arguments": given, "options": options, "answer": pipe(*given, **options)} for given, options in calls]
        self.add(name, task, checkpoint, answers, tokenizer=tokenizer, config=config or {})


def certain(model, **inputs):
    """Greedy generation, with a check that no small error changes it."""
    out = model.generate(**inputs, do_sample=False, num_beams=1, return_dict_in_generate=True, output_logits=True)
    best = torch.stack(out.logits).topk(2, -1).values
    margin = float((best[..., 0] - best[..., 1]).min())
    if margin < CERTAIN:
        raise ValueError(f"the two best logits differ by {margin}")
    return out.sequences


TEXTS = ["the man is in rome.", "she sings", "in rome, the man sings a song."]


def text_tasks(made):
    made.run("classes", "text-classification", "bert/odd_sequence_classification", BertForSequenceClassification, "wordpiece_97", [
        ([TEXTS[0]], {"top_k": 1}), ([TEXTS], {"top_k": None}), ([TEXTS[:2]], {"top_k": 2, "function_to_apply": "sigmoid"}),
        ([{"text": TEXTS[0], "text_pair": TEXTS[1]}], {"top_k": None}), ([TEXTS[1]], {"top_k": None, "function_to_apply": "none"}),
    ], {"id2label": {"0": "good", "1": "bad", "2": "neither"}})
    made.run("several_classes", "text-classification", "bert/odd_sequence_classification", BertForSequenceClassification,
             "wordpiece_97", [([TEXTS[0]], {"top_k": None})], {"problem_type": "multi_label_classification"})
    made.run("regression", "text-classification", "bert/odd_sequence_classification", BertForSequenceClassification,
             "wordpiece_97", [([TEXTS[0]], {"top_k": None})], {"problem_type": "regression"})
    made.run("masks", "fill-mask", "bert/odd_masked_lm", BertForMaskedLM, "wordpiece_97", [
        (["the [MASK] is in rome."], {}), ([["the man is in [MASK].", "[MASK] sings"]], {"top_k": 3}),
        (["the [MASK] is in [MASK]."], {"top_k": 2}), ([["[MASK] [MASK] sings, [MASK]", "the man [MASK]"]], {"top_k": 2})])
    made.run("entities", "token-classification", "bert/even_token_classification", BertForTokenClassification, "wordpiece_64",
             [*entity_calls(ENTITY_TEXTS), ([TEXTS[:2]], {"aggregation_strategy": "simple", "ignore_labels": []})], NER)
    made.run("byte_level_entities", "token-classification", "roberta/even_token_classification", RobertaForTokenClassification,
             "roberta_64", [*entity_calls(ENTITY_TEXTS[1:]), (["she is in rome, the man"], {"aggregation_strategy": "average", "ignore_labels": []})], NER)


def zero_shot(made):
    """Entailment as the last class, as the first, and without a name, for which upstream uses the last; a BART, its default."""
    template = {"hypothesis_template": "in {}."}
    labels = ["rome", "a song", "the sea"]
    calls = [([TEXTS[0], labels], template), ([TEXTS, labels], template), ([TEXTS[:2], labels], template | {"multi_label": True}),
             ([TEXTS[1], "rome, song"], template), ([TEXTS[1], ["song"]], template),
             (["the man sings in the house near the sea and in rome", labels], template)]
    for name, classes in (("last", ["contradiction", "neutral", "entailment"]), ("first", ["ENTAILMENT", "NEUTRAL", "CONTRADICTION"]),
                          ("unnamed", ["LABEL_0", "LABEL_1", "LABEL_2"])):
        config = {"id2label": {str(i): label for i, label in enumerate(classes)}, "label2id": {label: i for i, label in enumerate(classes)}}
        made.run(f"zero_shot_{name}", "zero-shot-classification", "bert/odd_sequence_classification", BertForSequenceClassification,
                 "wordpiece_97", calls, config)

    template = {"hypothesis_template": "a {}."}
    made.run("zero_shot_bart", "zero-shot-classification", "bart/odd_sequence_classification", BartForSequenceClassification, "bart_pairs_97",
             [([TEXTS[0], labels], template), ([TEXTS, labels], template | {"multi_label": True}), ([TEXTS[1], ["song"]], {})])
    made.run("classes_bart", "text-classification", "bart/odd_sequence_classification", BartForSequenceClassification, "bart_pairs_97",
             [([TEXTS], {"top_k": None}), ([{"text": TEXTS[0], "text_pair": TEXTS[1]}], {"top_k": None})])


def ranking(made):
    """CrossEncoder.rank of sentence-transformers by its formula, on a model with one class."""
    model, tokenizer = made.load("bert/odd_sequence_classification", BertForSequenceClassification), made.tokenizers["wordpiece_97"]
    model.classifier.weight.data, model.classifier.bias.data = model.classifier.weight.data[:1], model.classifier.bias.data[:1]
    model.config.num_labels, model.num_labels = 1, 1
    model.save_pretrained(os.path.join(made.group.folder, "ranker"))
    documents = ["the man is in rome", "she sings", "the cat sees a ship on the sea and the man sings near it", "rome"]

    def rank(query, top_k=None, sigmoid=True, text=True):
        inputs = tokenizer([query] * len(documents), documents, padding=True, truncation=True, return_tensors="pt")
        logits = model(**inputs).logits[:, 0]
        scores = logits.sigmoid() if sigmoid else logits
        order = sorted(range(len(documents)), key=lambda i: -float(logits[i]))[:top_k]
        return [{"corpus_id": i, "score": float(scores[i])} | ({"text": documents[i]} if text else {}) for i in order]

    calls = [{"arguments": ["who is in rome?", documents], "options": {}, "answer": rank("who is in rome?")},
             {"arguments": [["who is in rome?", "who sings?"], documents], "options": {"top_k": 2},
              "answer": [rank("who is in rome?", 2), rank("who sings?", 2)]},
             {"arguments": ["who sings?", documents], "options": {"return_documents": False}, "answer": rank("who sings?", text=False)}]
    made.group.add({"name": "ranking", "op": "text-ranking", "checkpoint": "pipelines/ranker", "calls": plain(calls), "tokenizer": "wordpiece_97"})
    plain_scores = [{"arguments": ["who sings?", documents], "options": {}, "answer": rank("who sings?", sigmoid=False)}]
    made.group.add({"name": "ranking_without_activation", "op": "text-ranking", "checkpoint": "pipelines/ranker", "calls": plain(plain_scores),
                    "tokenizer": "wordpiece_97", "config": {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"}})


ENTITY_TEXTS = ["Anna is in Rome, the man sings", "i see 4 men in paris"]


def entity_calls(texts):
    return [([text], {"aggregation_strategy": strategy, **ignore}) for strategy in ("none", "simple", "first", "average", "max")
            for text in texts for ignore in ({}, {"ignore_labels": []})]


def long_entities(made):
    """TokenClassificationPipeline with a stride, on complete windows."""
    long = "the man is in rome. she sings in the sea. i see men in paris, the man sings."
    tokenizer, options = made.tokenizers["wordpiece_64"], {"aggregation_strategy": "first", "ignore_labels": []}
    model = made.load("bert/even_token_classification", BertForTokenClassification, NER)
    pipe, outputs = pipeline("token-classification", model=model, tokenizer=tokenizer, device="cpu"), []
    for encoding in windows_of(tokenizer, [long], 24, 6):
        ids = torch.tensor([encoding.ids])
        outputs.append({"logits": model(input_ids=ids).logits, "input_ids": ids, "offset_mapping": torch.tensor([encoding.offsets]),
                        "special_tokens_mask": torch.tensor([encoding.special_tokens_mask]), "sentence": None if outputs else long})
    answer = pipe.postprocess(outputs, AggregationStrategy.FIRST, [])
    made.add("long_entities", "token-classification", "bert/even_token_classification", [
        {"arguments": [long], "options": options | {"stride": 6}, "answer": answer}], tokenizer="wordpiece_64", config=NER)


def features(made):
    model = made.load("bert/even_base", BertModel)
    pipe = pipeline("feature-extraction", model=model, tokenizer=made.tokenizers["wordpiece_64"], device="cpu")
    calls = [{"arguments": [text], "options": {}, "tensor": made.group.put(FILE, f"features.{i}", torch.tensor(pipe(text)))}
             for i, text in enumerate(TEXTS)]
    made.add("features", "feature-extraction", "bert/even_base", calls, tokenizer="wordpiece_64", config={}, file=FILE)


def windows_of(tokenizer, texts, length, stride):
    """Encodings of a text, or of a question with the windows of its context.

    tokenizers 0.23.1 loses what follows the first window or two when it truncates while it encodes (its issue 2091).
    """
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    encodings = [backend.encode(text, add_special_tokens=False) for text in texts]
    room = length - backend.num_special_tokens_to_add(len(texts) == 2) - sum(len(one) for one in encodings[:-1])
    encodings[-1].truncate(room, stride)
    first = backend.post_process(*encodings)
    return [first, *first.overflowing]


def answers_of(model, tokenizer, question, context, options):
    """QuestionAnsweringPipeline of transformers 4: windows, masks, spans, whole words, sums over equal answers."""
    length, top_k = options["max_seq_len"], options.get("top_k", 1)
    most = options.get("max_answer_len", 15)
    aligned = options.get("align_to_words", True)
    answers, null = [], 1e6
    for encoding in windows_of(tokenizer, [question, context], length, options["doc_stride"]):
        ids = torch.tensor([encoding.ids])
        types = [int(at > encoding.ids.index(tokenizer.sep_token_id)) for at in range(len(encoding))]  # overflow has zeros
        out = model(input_ids=ids, **({} if model.config.is_encoder_decoder else {"token_type_ids": torch.tensor([types])}))
        allowed = numpy.array([part == 1 for part in encoding.sequence_ids]) | (ids[0].numpy() == tokenizer.cls_token_id)
        scores = []
        for logits in (out.start_logits, out.end_logits):
            values = numpy.where(allowed, logits[0].numpy(), -10000.0)
            powers = numpy.exp(values - values.max())
            scores.append(powers / powers.sum())
        null = min(null, float(scores[0][0] * scores[1][0]))
        scores[0][0] = scores[1][0] = 0.0
        spans = numpy.tril(numpy.triu(numpy.outer(*scores)), most - 1)
        for at in numpy.argsort(-spans.ravel(), kind="stable")[: 2 * top_k + 10 if aligned else top_k]:
            start, end = divmod(int(at), spans.shape[1])
            if not (allowed[start] and allowed[end]) or end < start or start == 0:
                continue
            first, last = encoding.offsets[start][0], encoding.offsets[end][1]
            if aligned:
                first = encoding.word_to_chars(encoding.token_to_word(start), 1)[0]
                last = encoding.word_to_chars(encoding.token_to_word(end), 1)[1]
            text, score = context[first:last], float(spans[start, end])
            same = [answer for answer in answers if answer["answer"].lower() == text.lower()]
            if same:
                same[0]["score"] += score
            else:
                answers.append({"answer": text, "score": score, "start": first, "end": last})
    if options.get("handle_impossible_answer"):
        answers.append({"answer": "", "score": null, "start": 0, "end": 0})
    best = sorted(answers, key=lambda answer: -answer["score"])[:top_k]
    return best[0] if top_k == 1 else best


def question_answering(made):
    question, context = "who lives in rome?", "The man lives in Rome. She sings over the sea, and the Cat goes to a small house near the river."
    window = {"max_seq_len": 20, "doc_stride": 6}
    options = [window, window | {"top_k": 4}, window | {"top_k": 3, "max_answer_len": 2}, window | {"top_k": 3, "align_to_words": False},
               window | {"top_k": 40, "handle_impossible_answer": True}, {"max_seq_len": 24, "doc_stride": 8}]
    for name, family, kind, words, some in [("answers", "bert", BertForQuestionAnswering, "wordpiece_97", options), ("answers_bart", "bart", BartForQuestionAnswering, "bart_pairs_97", options[:2])]:
        model, tokenizer, checkpoint = made.load(f"{family}/odd_question_answering", kind), made.tokenizers[words], f"{family}/odd_question_answering"
        calls = [{"arguments": [question, context], "options": one, "answer": answers_of(model, tokenizer, question, context, one)} for one in some]
        made.add(name, "question-answering", checkpoint, calls, tokenizer=words, config={})


def generation(made):
    model, tokenizer = made.load("gpt2/even", GPT2LMHeadModel), made.tokenizers["gpt2_64"]
    for text in TEXTS[:2]:
        certain(model, **tokenizer(text, return_tensors="pt"), max_new_tokens=8)
    pipe = pipeline("text-generation", model=model, tokenizer=tokenizer, device="cpu")
    chat = [{"role": "user", "content": "is the man in rome"}]
    begun = [*chat, {"role": "assistant", "content": "he is"}]
    settings = {"max_new_tokens": 8, "do_sample": False}
    calls = [([TEXTS[0]], settings), ([TEXTS[:2]], settings), ([TEXTS[0]], settings | {"return_full_text": False}), ([chat], settings),
             ([chat], settings | {"return_full_text": False}), ([begun], settings), ([[chat, chat]], settings),
             ([begun], settings | {"continue_final_message": False}),
             ([TEXTS[1]], settings | {"num_beams": 3, "num_return_sequences": 2})]
    keep = {"clean_up_tokenization_spaces": False}  # otherwise the new text by itself would lose spaces
    answers = [{"arguments": given, "options": options, "answer": pipe(*given, **options, **keep)} for given, options in calls]
    made.add("texts", "text-generation", "gpt2/even", answers, tokenizer="gpt2_64", config={})


def text_to_text(made):
    """encode, generate, decode: as TranslationPipeline and SummarizationPipeline of transformers 4."""
    wanted = [("translation", "marian/odd", MarianMTModel, "marian_97", "translation_text", {}),
              ("summarization", "bart/odd", BartForConditionalGeneration, "bart_97", "summary_text",
               {"task_specific_params": {"summarization": {"prefix": "she said: ", "num_beams": 2, "max_length": 12, "length_penalty": 2.0}}}),
              ("summarization", "pegasus/odd", PegasusForConditionalGeneration, "pegasus_97", "summary_text", {}),
              ("text2text-generation", "bart/odd", BartForConditionalGeneration, "bart_97", "generated_text", {"prefix": "she said: "})]
    for task, checkpoint, model_class, name, key, config in wanted:
        model, tokenizer = made.load(checkpoint, model_class), made.tokenizers[name]
        settings = dict(config.get("task_specific_params", {}).get(task, {}))
        prefix = settings.pop("prefix", config.get("prefix", ""))
        calls = []
        for texts, options in (([TEXTS[0]], {"max_new_tokens": 9}), (TEXTS, {"max_new_tokens": 6}), (TEXTS[:1], {})):
            if not options and not settings:
                continue
            chosen = settings | options
            if "max_new_tokens" in options:
                chosen.pop("max_length", None)
            inputs = tokenizer([prefix + text for text in texts], padding=True, return_tensors="pt")
            out = model.generate(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], **chosen)
            if chosen.get("num_beams", 1) == 1:
                certain(model, input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], **chosen)
            answer = [{key: text} for text in tokenizer.batch_decode(out, skip_special_tokens=True)]
            calls.append({"arguments": [texts if len(texts) > 1 else texts[0]], "options": options, "answer": answer})
        own = "" if name.startswith(("marian", "bart")) else f"_{name.split('_')[0]}"
        made.add(f"{task}{own}", task, checkpoint, calls, tokenizer=name, config=config)


def dino_images(made, shapes, inputs):
    """DINOv2 with the processor of its checkpoints: a centre of the image after bicubic resizing."""
    given = {"crop_size": {"height": 16, "width": 16}, "do_center_crop": True, "do_convert_rgb": True, "do_normalize": True,
             "do_rescale": True, "do_resize": True, "image_mean": [0.485, 0.456, 0.406], "image_processor_type": "BitImageProcessor",
             "image_std": [0.229, 0.224, 0.225], "resample": 3, "rescale_factor": 0.00392156862745098, "size": {"shortest_edge": 18}}
    processor = BitImageProcessorPil(**{key: value for key, value in given.items() if key != "image_processor_type"})
    files = {"preprocessor_config.json": given}
    pictures = [{"picture": shape} for shape in shapes]
    for folder, model_class in (("dinov2/even_base", Dinov2Model), ("dinov2_with_registers/even_base", Dinov2WithRegistersModel)):
        name = f"{folder.split('/')[0]}_features"
        pipe = pipeline("image-feature-extraction", model=made.load(folder, model_class), image_processor=processor, device="cpu")
        calls = [{"arguments": [pictures], "options": {"pool": pool}, "tensor": made.group.put(
            FILE, f"{name}.{pool}", torch.tensor(pipe(inputs, pool=pool)).squeeze(1))} for pool in (False, True)]
        made.add(name, "image-feature-extraction", folder, calls, config={}, file=FILE, files=files)
    checkpoint = "dinov2/even_image_classification"
    config = {"id2label": {str(i): f"kind {i}" for i in range(made.load(checkpoint, Dinov2ForImageClassification).config.num_labels)}}
    pipe = pipeline("image-classification", model=made.load(checkpoint, Dinov2ForImageClassification, config), image_processor=processor, device="cpu")
    calls = [{"arguments": [pictures], "options": {"top_k": 3}, "answer": pipe(inputs, top_k=3)}]
    made.add("dinov2_classes", "image-classification", checkpoint, calls, config=config, files=files)


def grey_images(made, size):
    """Grey, RGB and alpha in one batch with processors that convert nothing; image-classification knows no regression."""
    shapes = [(3, 20, 18, 1), (4, 16, 16, 2), (5, 31, 24, 3), (6, 18, 20, 4)]
    inputs, given = [PIL.Image.fromarray(picture(*shape)) for shape in shapes], [{"picture": shape} for shape in shapes]
    vit = {"image_processor_type": "ViTImageProcessor", "size": size, "do_normalize": False}
    files = {"preprocessor_config.json": vit}
    config = {"problem_type": "regression", "id2label": {str(i): f"kind {i}" for i in range(7)}}
    model = made.load("vit/even_image_classification", ViTForImageClassification, config)
    pipe = pipeline("image-classification", model=model, image_processor=ViTImageProcessorPil(**vit), device="cpu")
    calls = [{"arguments": [given], "options": {"top_k": 2}, "answer": pipe(inputs, top_k=2)}]
    made.add("grey_classes", "image-classification", "vit/even_image_classification", calls, config=config, files=files)
    pipe = pipeline("image-feature-extraction", model=made.load("vit/even_base", ViTModel), image_processor=ViTImageProcessorPil(**vit), device="cpu")
    calls = [{"arguments": [given], "options": {"pool": True}, "tensor": made.group.put(FILE, "grey_features", torch.tensor(pipe(inputs, pool=True)).squeeze(1))}]
    made.add("grey_features", "image-feature-extraction", "vit/even_base", calls, config={}, file=FILE, files=files)
    clip = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 16}, "crop_size": size, "do_convert_rgb": False, "image_mean": 0.5, "image_std": 0.5}
    pipe = pipeline("zero-shot-image-classification", model=made.load("clip/even", CLIPModel), tokenizer=made.tokenizers["clip_64"],
                    image_processor=CLIPImageProcessorPil(**clip), device="cpu")
    labels = ["cat", "small dog", "ship"]
    calls = [{"arguments": [given, labels], "options": {}, "answer": pipe(inputs, candidate_labels=labels)}]
    made.add("grey_labels", "zero-shot-image-classification", "clip/even", calls, tokenizer="clip_64", config={}, files={"preprocessor_config.json": clip})


def images(made):
    size = {"height": 16, "width": 16}
    vit = {"image_processor_type": "ViTImageProcessor", "size": size, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
    clip = {"image_processor_type": "CLIPImageProcessor", "size": {"shortest_edge": 16}, "crop_size": size}
    shapes = [(0, 20, 18), (1, 16, 16), (2, 31, 24)]
    inputs = [PIL.Image.fromarray(picture(*shape)) for shape in shapes]
    config = {"id2label": {str(i): f"kind {i}" for i in range(7)}}
    model = made.load("vit/even_image_classification", ViTForImageClassification, config)
    pipe = pipeline("image-classification", model=model, image_processor=ViTImageProcessorPil(**vit), device="cpu")
    calls = [{"arguments": [{"picture": shapes[0]}], "options": {}, "answer": pipe(inputs[0])},
             {"arguments": [[{"picture": shape} for shape in shapes]], "options": {"top_k": 2}, "answer": pipe(inputs, top_k=2)},
             {"arguments": [{"picture": shapes[1]}], "options": {"top_k": 1, "function_to_apply": "sigmoid"},
              "answer": pipe(inputs[1], top_k=1, function_to_apply="sigmoid")}]
    made.add("image_classes", "image-classification", "vit/even_image_classification", calls, config=config, files={"preprocessor_config.json": vit})
    pipe = pipeline("image-feature-extraction", model=made.load("vit/even_base", ViTModel), image_processor=ViTImageProcessorPil(**vit), device="cpu")
    calls = [{"arguments": [[{"picture": shape} for shape in shapes]], "options": {"pool": pool},
              "tensor": made.group.put(FILE, f"image_features.{pool}", torch.tensor(pipe(inputs, pool=pool)).squeeze(1))} for pool in (False, True)]
    made.add("image_features", "image-feature-extraction", "vit/even_base", calls, config={}, file=FILE, files={"preprocessor_config.json": vit})
    dino_images(made, shapes, inputs)
    pipe = pipeline("zero-shot-image-classification", model=made.load("clip/even", CLIPModel), tokenizer=made.tokenizers["clip_64"],
                    image_processor=CLIPImageProcessorPil(**clip), device="cpu")
    labels = ["cat", "small dog", "ship"]
    calls = [{"arguments": [{"picture": shapes[0]}, labels], "options": {}, "answer": pipe(inputs[0], candidate_labels=labels)},
             {"arguments": [[{"picture": shape} for shape in shapes], labels], "options": {"hypothesis_template": "a {}"},
              "answer": pipe(inputs, candidate_labels=labels, hypothesis_template="a {}")}]
    made.add("labels", "zero-shot-image-classification", "clip/even", calls, tokenizer="clip_64", config={}, files={"preprocessor_config.json": clip})
    grey_images(made, size)


def speech(made):
    extractor = {"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 8, "sampling_rate": 1600, "hop_length": 40, "n_fft": 40, "chunk_length": 1}
    languages = {"is_multilingual": True, "lang_to_id": {"<|en|>": 3, "<|fr|>": 4}, "task_to_id": {"transcribe": 5, "translate": 6},
                 "no_timestamps_token_id": 96, "max_length": 24}
    model = made.load("whisper/odd", WhisperForConditionalGeneration)
    given = {key: value for key, value in extractor.items() if key != "feature_extractor_type"}
    for key, value in languages.items():
        setattr(model.generation_config, key, value)
    pipe = pipeline("automatic-speech-recognition", model=model, tokenizer=made.tokenizers["whisper_97"],
                    feature_extractor=WhisperFeatureExtractor(**given), device="cpu")
    chunked = {"chunk_length_s": 1, "stride_length_s": 0.25}
    calls = []
    for sounds, options, kwargs in (
        ([(0, 1400)], {"language": "en"}, {}), ([(0, 1400)], {"language": "french", "task": "translate"}, {}),
        ([(1, 1600)], {"task": "transcribe"}, {}), ([(1, 1600)], {"language": "en", "num_beams": 3}, {}), ([(0, 1400), (1, 900)], {"language": "fr", "max_new_tokens": 7}, {}),
        ([(2, 4500)], {"language": "en"}, chunked), ([(2, 2300)], {"language": "en"}, {"chunk_length_s": 1}),
    ):
        options = {"num_beams": 1} | options  # Python's pipeline defaults to 5, that of transformers.js to 1
        answer = [pipe(sound(*one), generate_kwargs=options, **kwargs) for one in sounds]
        arguments_of = [{"sound": one} for one in sounds]
        single = len(sounds) == 1
        calls.append({"arguments": arguments_of if single else [arguments_of], "options": options | kwargs, "answer": answer[0] if single else answer})
    made.add("speech", "automatic-speech-recognition", "whisper/odd", calls, tokenizer="whisper_97", config={},
             files={"preprocessor_config.json": extractor}, generation_config=languages)


def main():
    args = arguments(__doc__.splitlines()[0])
    shutil.rmtree(os.path.join(args.out, "pipelines"), ignore_errors=True)
    made = Pipelines(args)
    for part in (text_tasks, zero_shot, ranking, long_entities, features, question_answering, generation, text_to_text, images, speech):
        part(made)
    made.group.save()


if __name__ == "__main__":
    main()
