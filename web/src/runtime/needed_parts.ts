// What is in the first file of a WASM build, which runs texts through the most used models, and what is in its parts,
// which are added to it (core_parts.ts) before the first call that needs them. scripts/build/split.ts moves functions to
// them by these lists.

import type { BorderName } from './border.js';

/**
 * The parts: `second`, what models run without: tensor functions and modules, gradients and training, weights that are
 * read and edited, adapters, and vectors and residual streams in terms of the vocabulary; `hooks`, what a pass captures
 * and how it is edited; `families`, all architectures but `typesOfFirst`: encoder-decoders, those of images and audio, and
 * others.
 */
export const partNames = ['second', 'hooks', 'families'] as const;
export type PartName = (typeof partNames)[number];

/** The calls that do without `second` (model_unembed and others need it, unlike model_create, model_check, model_forward). */
const callsOfFirst =
  /^(?:build|memory|inspect|release|checkpoint_(?!tensors)|model_[cf]|cache|generation|threads|sentence_pooling$|unit_vectors$|softmax|matmul|log_mel)/;
/** The calls that need functions of `families`. */
const callsOfFamilies = /^(?:alibi|distinct|interpolate|log_mel|module|patch|prepend|relative|shift|sinusoidal)/;

/** The model types of a config.json whose architectures are in the first file. */
export const typesOfFirst = [
  'bert',
  'roberta',
  'xlm-roberta',
  'camembert',
  'data2vec-text',
  'distilbert',
  'gpt2',
  'llama',
  'mistral',
  'qwen2',
  'qwen3',
  'phi3',
  'smollm3',
  'gemma',
  'gemma2',
  'gemma3',
  'gemma3_text',
];

/** The arguments of calls that concern hook points if they are true, or lists of any length but 0. */
const observing = [
  'names',
  'parts',
  'edits',
  'fwd_hooks',
  'bwd_hooks',
  'wanted',
  'hook_terms',
  'output_attentions',
  'output_hidden_states',
] as const;

/** What a call may have that decides. */
interface Given extends Partial<Record<(typeof observing)[number], unknown>> {
  config?: string | undefined;
}

/** The parts that a call needs. */
export function partsFor(name: BorderName, given: object): PartName[] {
  const { config, ...asked }: Given = given;
  const needs = {
    second: !callsOfFirst.test(name),
    hooks: name === 'cache_copy' || observing.some((key) => asks(asked[key])),
    families: callsOfFamilies.test(name) || (config !== undefined && !typesOfFirst.includes(typeIn(config))),
  };
  return partNames.filter((part) => needs[part]);
}

const asks = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value === true);

function typeIn(config: string): string {
  try {
    return JSON.parse(config).model_type;
  } catch {
    return ''; // the core says what is wrong with it
  }
}
