// The names in PEFT's adapter_model.safetensors, and the weights of a checkpoint that they are about.

import type { ParameterInfo } from '../runtime/weights.js';
import { ClearformerError } from '../support/error.js';

/** Dims by tensor. */
export type Shapes = ReadonlyMap<string, readonly number[]>;

const fileName = 'adapter_model.safetensors';

/** The tensors of a safetensors file, which is known to be valid. */
export function tensorShapes(bytes: Uint8Array): Shapes {
  const length = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  const { __metadata__: _, ...header } = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length)));
  return new Map(Object.entries(header).map(([name, entry]) => [name, (entry as { shape: number[] }).shape]));
}

/** The two tensors of a module. */
export function adapterNames(path: string): { lora_A: string; lora_B: string } {
  return { lora_A: `${path}.lora_A.weight`, lora_B: `${path}.lora_B.weight` };
}

/**
 * The modules with matrices, with their path in the file: PEFT's, or the name alone, as transformers also accepts it.
 * Throws `unsupported` for a tensor that is no matrix of a linear layer, `missing_tensor` for half a pair.
 */
export function modulesOf(shapes: Shapes): Map<string, string> {
  const modules = new Map<string, string>();
  for (const name of shapes.keys()) {
    const [, path, module] = /^((?:base_model\.model\.)?(.+))\.lora_[AB]\.weight$/.exec(name) ?? [];
    if (path === undefined || module === undefined) throw unsupported(name);
    modules.set(module, path);
    for (const half of Object.values(adapterNames(path))) {
      if (shapes.has(half)) continue;
      throw new ClearformerError('missing_tensor', `${fileName}: ${half} is missing`, { file: fileName, tensor: half });
    }
  }
  if (modules.size === 0)
    throw new ClearformerError('missing_tensor', `${fileName} has no tensors`, { file: fileName });
  return modules;
}

/** What else PEFT saves. */
const kinds: readonly [part: string, what: string][] = [
  ['lora_embedding_', 'adapters of embeddings are'],
  ['lora_magnitude_vector', 'DoRA is'],
  ['.lora_B.bias', 'lora_bias is'],
  ['.base_layer.', 'the base’s own weights (save_embedding_layers) are'],
];

function unsupported(tensor: string): ClearformerError {
  const what = kinds.find(([part]) => tensor.includes(part))?.[1] ?? 'weights beside LoRA’s (modules_to_save) are';
  return new ClearformerError('unsupported', `${fileName}: ${tensor}: ${what} not supported: merge the adapter`, {
    file: fileName,
    tensor,
  });
}

/** A weight with its name as the adapter's modules have it, and the checkpoint's. */
export interface NamedWeight extends ParameterInfo {
  stored: string;
}

/** The weights with the checkpoint's names and with others: the ways that name the most modules. */
export function namedLike(
  modules: readonly string[],
  listed: readonly (ParameterInfo & { synonyms?: readonly string[] })[],
): NamedWeight[][] {
  const named = (nameOf: (weight: (typeof listed)[number]) => string | undefined): NamedWeight[] =>
    listed.map((weight) => ({ ...weight, name: nameOf(weight) ?? weight.name, stored: weight.name }));
  const ways = (listed[0]?.synonyms ?? []).map((_, way) => named(({ synonyms }) => synonyms?.[way]));
  const all = [named(({ name }) => name), ...ways];
  const counts = all.map((way) => modules.filter((module) => namesOf(module, way).length > 0).length);
  return all.filter((_, at) => counts[at] === Math.max(...counts));
}

/**
 * Takes the modules out that are no weights of the model, but among the tensors of its checkpoint that it does not read,
 * unless all are; returns their names.
 */
export function takeUnread(
  modules: Map<string, string>,
  listed: readonly NamedWeight[],
  unread: readonly string[],
): string[] {
  const others = unread.map((name) => ({ name }));
  const found = [...modules.keys()].filter((one) => !namesOf(one, listed).length && namesOf(one, others).length);
  if (found.length === modules.size) return [];
  for (const module of found) modules.delete(module);
  return found;
}

/** The weight of that name, or else those with more or fewer segments in front. */
function namesOf<W extends { name: string }>(module: string, listed: readonly W[]): W[] {
  const weight = `${module}.weight`;
  const own = listed.find(({ name }) => name === weight);
  return own ? [own] : listed.filter(({ name }) => name.endsWith(`.${weight}`) || weight.endsWith(`.${name}`));
}

/** Whether a module is named as a layer that predicts tokens. */
export function isOutputLayer(module: string): boolean {
  return /(^|\.)((generator_)?lm_head|decoder|(embed|proj)_out|vocab_projector)$/.test(module);
}

/**
 * The weight of a module, whose name may have more or fewer segments in front, such as "transformer.".
 * Throws `invalid_argument` if there is none, or several, `unsupported` for an output layer that is tied.
 */
export function weightOf(module: string, listed: readonly NamedWeight[]): NamedWeight {
  const found = namesOf(module, listed);
  if (found.length === 1) return found[0] as NamedWeight;
  const details = { file: fileName, tensor: `${module}.weight` };
  if (!found.length && isOutputLayer(module)) {
    const why = 'adapters of an output layer tied to the embedding are not supported';
    throw new ClearformerError('unsupported', `${fileName}: ${module}: ${why}`, details);
  }
  const names = found.map(({ name }) => name).join(' or ');
  const why = names ? `it could be ${names}` : 'this model has no such module';
  throw new ClearformerError('invalid_argument', `${fileName}: ${module}: ${why}`, details);
}
