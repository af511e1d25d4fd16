"""Samples configurations of every model type and runs them with transformers: random ones and all single-key changes.

    python3 tests/references/config_keys.py --out <folder> [--random 200] [--seed 7] [--types bert,llama]

The folder, hundreds of megabytes, stays outside the repository; with CLEARFORMER_CONFIG_CASES=<folder> the test
ConfigKeys reads it.
"""

import argparse
import collections
import copy
import json
import os
import random
import tempfile
import time

from common import versions
from config_keys_draws import draw_config
from config_keys_families import FAMILIES, base_config, classifier_tasks
from config_keys_runs import Bench, Store, TooLarge, quiet
from config_keys_spellings import draw_spelling, version_4
from config_keys_values import KEPT, VALUES, known_keys, may_be_null, own_keys, values_of

UNTIED_SHARE = 0.15  # fraction of random cases whose file has separate tensors for what the config may tie
# Keys that depend on positions: generation with a cache can be wrong where a pass is right.
PLACES = {"is_causal", "layer_types", "rope_parameters", "rope_scaling", "sliding_window", "use_sliding_window", "window_size",
          "attention_types", "relative_attention_num_buckets", "max_position_embeddings", "use_bidirectional_attention"}
TIES = {"tie_word_embeddings", "share_encoder_decoder_embeddings", "scale_decoder_outputs"}


def random_cases(bench, family, model_type, count, seed):
    """Samples configurations until `count` of them run upstream; refused ones are kept as well."""
    ran = number = 0
    while ran < count and number < 3 * count:
        name = f"{model_type}/random/{seed}{number:03}"
        number += 1
        rng = random.Random(name)
        task = rng.choice(sorted(family.tasks))
        try:
            saved = bench.save_base(draw_config(rng, family), task)
        except TooLarge:
            continue
        except Exception:  # no file for arguments that the class refuses
            continue
        changes, config = draw_spelling(saved, rng)
        case = bench.run(name, config, task, untied=rng.random() < UNTIED_SHARE, kind="random", changes=changes)
        if case is not None:
            ran += "refused" not in case
            yield case


def changed_values(config, key, model_type):
    """The values that a key is changed to; keys of other families get one, and none if they concern training only."""
    own = key in own_keys(model_type)
    values = [value for value in values_of(key) if key not in config or config[key] != value]
    if key in config or own:
        null = config.get(key) is not None and None not in values and may_be_null(key, model_type)
        return values[:4] + ([None] if null else [])
    return values[:1] if key in VALUES else []


def single_changes(config, model_type, sparse):
    """(the change, the configuration) for every key; `sparse` omits the keys of other families."""
    own = own_keys(model_type)
    for key in known_keys() + sorted(set(config) - KEPT - set(known_keys())):
        if key not in config and key not in own and sparse:
            continue
        for index, value in enumerate(changed_values(config, key, model_type)):
            yield f"{key}={index}", key, config | {key: copy.deepcopy(value)}
        if key in config:
            yield f"{key}-", key, {other: value for other, value in config.items() if other != key}


NESTED = {"clip": {"text_config": "clip_text_model", "vision_config": "clip_vision_model"},
          "siglip": {"text_config": "siglip_text_model", "vision_config": "siglip_vision_model"},
          "gemma3": {"text_config": "gemma3_text"}}


def all_changes(config, model_type, sparse):
    yield from single_changes(config, model_type, sparse)
    for inside, nested_type in NESTED.get(model_type, {}).items():
        for what, key, changed in single_changes(config[inside], nested_type, sparse):
            yield f"{inside}.{what}", key, config | {inside: changed}


def single_cases(bench, family, model_type):
    tasks = sorted(family.tasks)
    main = "masked-lm" if "masked-lm" in tasks else "image-classification" if "image-classification" in tasks else (
        "causal-lm" if "causal-lm" in tasks else tasks[0])
    for version in ("5", "4"):
        saved = bench.save_base(base_config(family), main)
        with open(bench.weights, "rb") as file:
            weights = file.read()
        config = saved if version == "5" else version_4(saved)
        for what, key, changed in all_changes(config, model_type, version == "4"):
            for untied in ([False, True] if key in TIES else [False]):
                with open(bench.weights, "wb") as file:
                    file.write(weights)
                name = f"{model_type}/single/{version}.x/{what}{'/own tensors' if untied else ''}"
                case = bench.run(name, changed, main, untied=untied, kind="single", key=key,
                                 text=key in PLACES)
                if case is not None:
                    yield case


def write_cases(out, group, cases, script="config_keys.py"):
    header = {"generator": f"tests/references/{script}", "versions": versions("transformers", "safetensors")}
    with open(os.path.join(out, group, "cases.json"), "w", encoding="ascii", newline="\n") as file:
        file.write("".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in header.items()).join(["{\n", ""]))
        file.write('"cases": [\n' + ",\n".join(json.dumps(case) for case in cases) + "\n]\n}\n")


def run_type(out, model_type, count, seed):
    start = time.time()
    family = FAMILIES[model_type]
    store = Store(out, model_type)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(store, os.path.join(folder, "model"), model_type, family)
        cases = [*random_cases(bench, family, model_type, count, seed)]
        if not seed:  # single changes are the same for every seed
            cases += single_cases(bench, family, model_type)
    store.save()
    write_cases(out, model_type, cases)
    counts = collections.Counter((case["kind"], "refused" if "refused" in case else "runs") for case in cases)
    print(f"{model_type}: " + ", ".join(f"{n} {kind} {what}" for (kind, what), n in sorted(counts.items())),
          f"{time.time() - start:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True, help="a folder outside the repository")
    parser.add_argument("--random", type=int, default=200, help="random configurations that run, for each model type")
    parser.add_argument("--seed", default="", help="other random configurations than the usual ones, and no single changes")
    parser.add_argument("--types", default=",".join(FAMILIES), help="model types, with commas between them")
    parser.add_argument("--classifiers", action="store_true", help="decoder-only models as classifiers; with --seed")
    args = parser.parse_args()
    quiet()
    for model_type in args.types.split(","):
        if args.classifiers:
            FAMILIES[model_type].tasks = classifier_tasks(FAMILIES[model_type])
            if not FAMILIES[model_type].tasks:
                continue
        run_type(args.out, model_type, args.random, args.seed and f"{args.seed}-")


if __name__ == "__main__":
    main()
