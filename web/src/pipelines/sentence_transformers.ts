// The layout of sentence-transformers: modules.json lists the steps from a text to its embedding, each with a folder.

import { expectNone } from '../checkpoint/file_rules.js';
import { type ReadOptions, readOptional, readPlain, readRequired } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { type PoolingMode, poolingModes } from '../models/pooling.js';
import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import type { readTokenizer } from '../text/auto_tokenizer.js';
import type { TokenizerJson } from '../text/encoder.js';
import { settled, type TokenizerConfig } from '../text/special_tokens.js';
import type { DenseLayer } from './dense.js';
import { brokenSentenceRules } from './sentence_rules.js';

/** The settings of a folder; `change` and `longest` are those of a cross-encoder, too. */
export interface EmbeddingDefaults {
  pooling: readonly PoolingMode[];
  normalize: boolean;
  /** Changes tokenizer.json. */
  change: Parameters<typeof readTokenizer>[3];
  /** The most tokens of a text, by what the tokenizer and the model take. */
  longest(tokenizer: number, model: number): number;
  /** The layers after pooling. */
  dense: readonly DenseLayer[];
  /** What precedes texts, by name, and the name of the usual one. */
  prompts: Readonly<Record<string, string>>;
  default_prompt_name: string | undefined;
  /** Whether pooling includes the tokens of the prompt. */
  include_prompt: boolean;
  /** How many numbers of a vector are kept, its first, after all steps. */
  truncate_dim: number | undefined;
}

const none: EmbeddingDefaults = {
  pooling: [],
  normalize: false,
  change: undefined,
  longest: (tokenizer) => tokenizer,
  dense: [],
  prompts: {},
  default_prompt_name: undefined,
  include_prompt: true,
  truncate_dim: undefined,
};
export const modulesFile = 'modules.json';
export const promptFile = 'config_sentence_transformers.json';
const steps = ['Transformer', 'Pooling', 'Dense', 'Normalize'] as const;

interface Module {
  type: string;
  path: string;
}

/**
 * The embedding described by modules.json; none without that file. Rejects with `unsupported` for unknown steps and
 * settings that would change the result, `malformed_config`, and as files do.
 */
export async function readEmbeddingDefaults(folder: Folder, options: ReadOptions): Promise<EmbeddingDefaults> {
  const modules = await readModules(folder, options);
  if (modules === undefined) return none;
  const defaults = { ...none, ...(await readPrompts(folder, options)) };
  for (const { type, path } of modules) {
    const kind = type.split('.').at(-1) ?? '';
    const own = path === '' ? '' : `${path}/`;
    if (kind === 'Normalize') {
      const name = `${own}config.json`;
      const held = JSON.parse((await readOptional(folder, name, options))?.text ?? '{}');
      expectNone(brokenSentenceRules('Normalize/config.json', held, name));
      defaults.normalize = true;
    } else if (kind === 'Dense' && defaults.pooling.length > 0 && !defaults.normalize) {
      const { readDense } = await import('./dense.js');
      defaults.dense = [...defaults.dense, await readDense(folder, own, options)];
    } else if (kind === 'Transformer') Object.assign(defaults, await readTransformer(folder, own, options));
    else if (kind === 'Pooling' && defaults.dense.length === 0 && !defaults.normalize) {
      const name = `${own}config.json`;
      const config = JSON.parse((await readRequired(folder, name, options)).text);
      expectNone(brokenSentenceRules('Pooling/config.json', config, name));
      defaults.pooling = modesOf(config, name);
      defaults.include_prompt = config.include_prompt ?? true;
    } else {
      throw new ClearformerError(
        'unsupported',
        `${modulesFile}: a step of type ${textOf(type)} is not supported here (known: ${steps.join(', ')}, in this order)`,
        { file: modulesFile, expected: [...steps] },
      );
    }
  }
  return defaults;
}

async function readModules(folder: Folder, options: ReadOptions): Promise<Module[] | undefined> {
  const file = await readPlain(folder, modulesFile, options); // an array, not an object
  if (file === undefined) return undefined;
  let modules: unknown;
  try {
    modules = JSON.parse(file.text);
  } catch (cause) {
    throw malformed(folder, modulesFile, `is not JSON (${messageOf(cause)})`);
  }
  if (!Array.isArray(modules)) throw malformed(folder, modulesFile, 'is not a JSON array');
  expectNone(brokenSentenceRules(modulesFile, modules as unknown as Record<string, unknown>));
  return modules.map(({ type, path }) => ({ type, path: path ?? '' }));
}

const transformers = ['bert', 'roberta', 'distilbert', 'camembert', 'albert', 'xlm-roberta', 'xlnet'];

/** The settings of a Transformer: the first file that exists, whose name older classes chose. Rejects as files do. */
export async function readTransformerSettings(
  folder: Folder,
  own: string,
  options: ReadOptions,
): Promise<{ values: Record<string, unknown>; broken: ClearformerError[] }> {
  for (const kind of transformers) {
    const name = `${own}sentence_${kind}_config.json`;
    const file = await readOptional(folder, name, options);
    if (file === undefined) continue;
    const values = JSON.parse(file.text);
    return { values, broken: brokenSentenceRules('sentence_bert_config.json', values, name) };
  }
  return { values: {}, broken: [] };
}

/** Puts a normalizer to lower case before the tokenizer's own. */
function lowercaseFirst(json: TokenizerJson, config: TokenizerConfig): void {
  const own = settled(json.normalizer, config) ?? [];
  json.normalizer = { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, own].flat() };
}

async function readTransformer(folder: Folder, own: string, options: ReadOptions): Promise<Partial<EmbeddingDefaults>> {
  const { values, broken } = await readTransformerSettings(folder, own, options);
  expectNone(broken);
  const { max_seq_length, do_lower_case, processing_kwargs, processor_kwargs, tokenizer_args } = values as {
    max_seq_length?: number | null;
    do_lower_case?: boolean | null;
    processing_kwargs?: { text?: { max_length?: number | null } } | null;
  } & { [Key in 'processor_kwargs' | 'tokenizer_args']?: { model_max_length?: number | null } | null };
  const own_length = (tokenizer_args ?? processor_kwargs)?.model_max_length ?? max_seq_length;
  const most = processing_kwargs?.text?.max_length ?? own_length;
  return {
    change: do_lower_case ? lowercaseFirst : undefined,
    longest: (tokenizer, model) => Math.min(most ?? tokenizer, model),
  };
}

/** The prompts that every model has. */
const usualPrompts = { query: '', document: '' };

/** The prompts, and the length of vectors. */
async function readPrompts(folder: Folder, options: ReadOptions): Promise<Partial<EmbeddingDefaults>> {
  const { prompts, default_prompt_name, truncate_dim } = await readModelSettings(folder, options);
  return {
    prompts: { ...usualPrompts, ...prompts },
    default_prompt_name: default_prompt_name ?? undefined,
    truncate_dim: truncate_dim ?? undefined,
  };
}

/** What concerns the whole model; in the folder of a cross-encoder also the class of its activation. */
export async function readModelSettings(
  folder: Folder,
  options: ReadOptions,
): Promise<{
  prompts?: Record<string, string> | null;
  default_prompt_name?: string | null;
  activation_fn?: string | null;
  truncate_dim?: number | null;
}> {
  const file = await readOptional(folder, promptFile, options);
  const values = file === undefined ? {} : JSON.parse(file.text);
  expectNone(promptProblems(values));
  return values;
}

/** What is wrong in the file of prompts. */
export function promptProblems(values: Readonly<Record<string, unknown>>): ClearformerError[] {
  const broken = brokenSentenceRules(promptFile, values);
  const { default_prompt_name: name, prompts: known } = values;
  const all = { ...usualPrompts, ...(isObject(known) && known) };
  if (broken.length > 0 || typeof name !== 'string' || Object.hasOwn(all, name)) return broken;
  const message = `${promptFile}: default_prompt_name ${textOf(name)} is none of its prompts`;
  return [new ClearformerError('malformed_config', message, { file: promptFile })];
}

/**
 * pooling_mode_…: true for each mode, or (newer) pooling_mode with one name or several, in the order of their vectors;
 * the mean if there is none.
 */
function modesOf(config: Record<string, unknown>, file: string): PoolingMode[] {
  const given = Object.keys(config).filter((key) => key.startsWith('pooling_mode_') && config[key] === true);
  const usual = given.length === 0 ? 'mean' : given.map((key) => key.replace('pooling_mode_', ''));
  try {
    if (config.pooling_mode === undefined || config.pooling_mode === null) return poolingModes(usual);
    return [config.pooling_mode].flat().flatMap((name) => poolingModes([name]));
  } catch (cause) {
    throw new ClearformerError('unsupported', `${file}: ${messageOf(cause)}`, { file, option: 'pooling_mode' }, cause);
  }
}

function malformed({ where }: Folder, file: string, why: string): ClearformerError {
  return new ClearformerError('malformed_config', `${file} ${why} (${where})`, { file, where });
}
