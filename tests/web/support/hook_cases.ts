// Cases of tests/fixtures/hooks and hooks_random: their models, inputs and edits.

import type { ActivationEdit, LoadOptions, ModelInputs, PreTrainedModel } from 'clearformer';
import { classOf } from './model_classes.js';
import { type Case, fixturePath, type Reference } from './references.js';

const inputNames =
  /^(decoder_)?(input_ids|attention_mask|position_ids|token_type_ids)$|^(pixel_values|input_features|input_values)$/;

export async function hookedModel(one: Case, options: LoadOptions): Promise<PreTrainedModel> {
  const { checkpoint, task } = one.options as { checkpoint: string; task: string };
  const auto = classOf(task, checkpoint);
  return auto.from_pretrained(fixturePath(checkpoint), options);
}

/** The model's inputs; other inputs of a case are values of its edits. */
export function inputsOf(one: Case, tensor: (name: string) => Reference): ModelInputs {
  const names = Object.keys(one.inputs).filter((name) => inputNames.test(name));
  return Object.fromEntries(names.map((name) => [name, tensor(name)])) as ModelInputs;
}

/** The case's edits, with tensors in place of their names. */
export function editsOf(one: Case, tensor: (name: string) => Reference): ActivationEdit[] {
  const given = one.options.edits as (Omit<ActivationEdit, 'value'> & { value?: number | string })[];
  return given.map((edit) => {
    return typeof edit.value === 'string' ? { ...edit, value: tensor(edit.value) } : edit;
  }) as ActivationEdit[];
}
