// Every hook point against transformers, read there with forward hooks, and edits against the same edits in PyTorch,
// on both builds. The bound is that of logits plus the difference between the reference's float32 and float64 runs.

import {
  type ActivationEdit,
  AutoModel,
  type AutoModelClass,
  AutoModelForCausalLM,
  AutoModelForImageClassification,
  AutoModelForMaskedLM,
  AutoModelForSeq2SeqLM,
  AutoModelForZeroShotImageClassification,
  type HookName,
  type ModelInputs,
  type PreTrainedModel,
  type Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { type Case, casesOf, expectClose, fixturePath, type Reference, tensorsOf } from './support/references.js';
import { optionsFor, variants } from './support/variants.js';

const classes: Record<string, AutoModelClass<PreTrainedModel>> = {
  base: AutoModel,
  'causal-lm': AutoModelForCausalLM,
  'seq2seq-lm': AutoModelForSeq2SeqLM,
  'masked-lm': AutoModelForMaskedLM,
  'image-classification': AutoModelForImageClassification,
  'zero-shot-image-classification': AutoModelForZeroShotImageClassification,
};
const inputNames =
  /^(decoder_)?(input_ids|attention_mask|position_ids|token_type_ids)$|^(pixel_values|input_features)$/;
const cases = casesOf('hooks');
const namesOf = (op: string) => cases.filter((one) => one.op === op).map(({ name }) => name);
const caseNamed = (name: string) => cases.find((one) => one.name === name) as Case;
const errorsOf = (one: Case) => one.float32_error as Record<string, number>;

async function loaded(one: Case, variant: (typeof variants)[number]): Promise<PreTrainedModel> {
  const { checkpoint, task } = one.options as { checkpoint: string; task: string };
  const auto = classes[task] as AutoModelClass<PreTrainedModel>;
  return auto.from_pretrained(fixturePath(checkpoint), optionsFor(variant));
}

/** The model's inputs; other inputs of a case are values of its edits. */
function inputsOf(one: Case, tensor: (name: string) => Reference): ModelInputs {
  const names = Object.keys(one.inputs).filter((name) => inputNames.test(name));
  return Object.fromEntries(names.map((name) => [name, tensor(name)])) as ModelInputs;
}

/** Values at padded positions are NaN in the reference and not compared. Without padding everything is. */
function comparedWhere(one: Case, wanted: Reference) {
  return one.padded_with === undefined ? undefined : (index: number) => !Number.isNaN(Number(wanted.data[index]));
}

describe.each(variants)('%s', (variant) => {
  it.each(namesOf('run_with_cache'))('%s: every hook point equals transformers', async (name) => {
    const one = caseNamed(name);
    const tensor = tensorsOf('hooks', one);
    const model = await loaded(one, variant);
    const [, cache] = await model.run_with_cache(inputsOf(one, tensor));
    const hooks = (Object.keys(one.outputs) as HookName[]).sort();
    expect(Object.keys(cache).sort()).toEqual(hooks);
    const offered = model.hooks().map((hook) => hook.name);
    expect(offered.sort()).toEqual(hooks);
    for (const hook of hooks) {
      const wanted = tensor(hook);
      const found = cache[hook] as Tensor<'float32'>;
      expectClose(`${name} ${hook}`, found, wanted, comparedWhere(one, wanted), errorsOf(one)[hook]);
    }
    await model.dispose();
  });

  it.each(namesOf('run_with_hooks'))('%s: the logits of the edit made in PyTorch', async (name) => {
    const one = caseNamed(name);
    const tensor = tensorsOf('hooks', one);
    const model = await loaded(one, variant);
    const given = one.options.edits as (Omit<ActivationEdit, 'value'> & { value?: number | string })[];
    const edits = given.map((edit) => {
      return typeof edit.value === 'string' ? { ...edit, value: tensor(edit.value) } : edit;
    }) as ActivationEdit[];
    const logits = await model.run_with_hooks(inputsOf(one, tensor), { edits });
    expectClose(name, logits, tensor('logits'), undefined, errorsOf(one).logits);
    await model.dispose();
  });
});
