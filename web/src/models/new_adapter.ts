// The folder of a LoRA adapter with new matrices, which is then loaded like any other. Loaded at the first call.

import type { Folder } from '../checkpoint/folder.js';
import { ClearformerError, messageOf, textOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { checkOptions, expectArgument } from '../support/options.js';
import { checkLoraConfig, isTarget, type LoraConfig, matchesEnd, rankAndScale } from './adapter_config.js';
import { adapterNames, isOutputLayer } from './adapter_files.js';
import type { Distribution } from './fresh/distributions.js';
import { elements, newFolder, type Planned } from './fresh/new_folder.js';
import type { OpenedModel } from './parameters.js';

/** Options of `add_adapter`. */
export interface AddAdapterOptions {
  /** Its name in this model (`default`). */
  adapter_name?: string | undefined;
  /** Chooses the random numbers: 0 … 2^53 - 1 (0). The same seed gives the same matrices in every engine. */
  seed?: number | undefined;
}

/** @internal A model, as far as its new adapters need it. */
export interface AdaptableModel {
  readonly cfg: { readonly task: string };
  readonly config: Readonly<Record<string, unknown>>;
  readonly files: { texts: { config: string } };
  open(): OpenedModel;
}

/** What PEFT adapts by default (peft.utils.constants, TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING), by type. */
const defaultTargets: readonly [targets: string, types: string][] = [
  ['q v', 't5 mt5'],
  ['q_proj v_proj', 'bart opt gptj gpt_neo llama mistral stablelm gemma gemma2 gemma3_text qwen2 qwen3'],
  ['q_proj v_proj fc1 fc2', 'phi'],
  ['query value', 'bert roberta xlm-roberta electra'],
  ['query_proj value_proj', 'deberta-v2'],
  ['query_key_value', 'bloom gpt_neox falcon'],
  ['c_attn', 'gpt2 gpt_bigcode'],
  ['qkv_proj', 'codegen'],
  ['Wqkv', 'mpt'],
];

/** The one of a weight's synonyms that transformers 5 has, in the types whose files have another. */
const renamed: Readonly<Record<string, number>> = {
  vit: 1,
  deit: 1,
  'audio-spectrogram-transformer': 1,
  dinov3_vit: 0,
  gemma3: 0,
};

/** A module with a weight, by its name in transformers. */
interface Module {
  name: string;
  /** Of a linear layer; 0 of others. */
  inputs: number;
  outputs: number;
}

const call = 'add_adapter';

/** @internal The folder of a new adapter of the model, as PEFT would write it. */
export async function newAdapterFolder(
  model: AdaptableModel,
  given: LoraConfig,
  options: AddAdapterOptions,
): Promise<Folder> {
  checkOptions(call, options, ['adapter_name', 'seed']);
  const { seed = 0 } = options;
  expectArgument(call, isObject(given), 'a LoraConfig', given);
  expectArgument(call, Number.isSafeInteger(seed) && seed >= 0, 'a whole number as the seed', seed);
  const ways = await modulesOf(model);
  try {
    const own = { ...given, peft_type: given.peft_type ?? 'LORA' };
    check(own);
    const { config, modules } = planned(own, ways, model.config.model_type);
    const files = {
      'adapter_config.json': JSON.stringify(config, null, 2),
      'adapter_model.safetensors': modules.flatMap((module) => matricesOf(module, config)),
    };
    return newFolder('a new adapter', files, seed);
  } catch (thrown) {
    const { code } = thrown as Partial<ClearformerError>;
    const message = messageOf(thrown).replace(/^(adapter_config\.json: )?/, `${call}: `);
    throw new ClearformerError(code === 'unsupported' ? code : 'invalid_argument', message, { option: 'config' });
  }
}

/** Throws for what is wrong, and `unsupported` for what would have an effect on matrices that are trained. */
function check(config: LoraConfig): void {
  checkLoraConfig(config);
  const { init_lora_weights = true, lora_dropout, task_type } = config;
  if (![true, false, 'gaussian'].includes(init_lora_weights as string | boolean)) {
    throw unsupported(`init_lora_weights ${textOf(init_lora_weights)}: only true, false and 'gaussian' are`);
  }
  if (lora_dropout) throw unsupported(`lora_dropout ${textOf(lora_dropout)}: training has no dropout; it is not`);
  if (task_type != null && !/^(CAUSAL_LM|SEQ_2_SEQ_LM|FEATURE_EXTRACTION)$/.test(task_type as string)) {
    throw unsupported(`task_type ${textOf(task_type)}: PEFT would train the head, too (modules_to_save); it is not`);
  }
}

/** The modules by transformers' names: of version 5, then, if they are others, of those before. */
async function modulesOf(model: AdaptableModel): Promise<Module[][]> {
  const { engine, model: handle } = model.open();
  const { parameters } = await engine.call('parameter_list', { model: handle, with_synonyms: true });
  const described = { config: model.files.texts.config, config_name: 'config.json', task: model.cfg.task };
  const { tensors } = await engine.call('checkpoint_tensors', described);
  const type = String(model.config.model_type);
  const way = renamed[type];
  const before: Module[] = [];
  const now: Module[] = [];
  // Where transformers stacks what the file has apart, the file's names are those of transformers' modules.
  const stacked = parameters.some(({ name, dims, synonyms = [] }) => {
    const saved = savedAs([name, ...synonyms], tensors);
    return saved && elements(saved.dims) !== elements(dims);
  });
  for (const { name, dims, inputs = 0, synonyms = [] } of parameters) {
    if (!name.endsWith('.weight')) continue;
    const [rows = 0, columns = 0] = dims;
    const sizes = { inputs: dims.length === 2 ? inputs : 0, outputs: (rows * columns) / inputs };
    const saved = stacked ? name : (savedAs([name, ...synonyms], tensors)?.name ?? name);
    before.push({ name: moduleOf(saved), ...sizes });
    const [own = '', other = ''] = [synonyms[0], synonyms[way ?? 0]];
    now.push({ name: moduleOf(saved.endsWith(own) ? saved.slice(0, -own.length) + other : other), ...sizes });
  }
  if (way === undefined) return [before];
  return type === 'gemma3' ? [now] : [now, before];
}

const moduleOf = (weight: string) => weight.slice(0, -'.weight'.length);

/** The tensor that transformers saves under one of these names, which in files have more or less in front. */
function savedAs<T extends { name: string }>(names: readonly string[], tensors: readonly T[]): T | undefined {
  for (const name of names) {
    const own = tensors.find((tensor) => tensor.name === name);
    const other = tensors.find((tensor) => tensor.name.endsWith(`.${name}`) || name.endsWith(`.${tensor.name}`));
    if (own || other) return own ?? other;
  }
  return undefined;
}

interface Plan {
  config: LoraConfig;
  modules: Module[];
}

/** The configuration with all that decides, and the modules that it is about, in the first way that has them all. */
function planned(given: LoraConfig, ways: readonly Module[][], type: unknown): Plan {
  const { r = 8, lora_alpha = 8, ...rest } = given;
  let refusal: ClearformerError | undefined;
  for (const all of ways) {
    const target_modules = targetsIn(given, all, type);
    const config = { ...rest, r, lora_alpha, target_modules, inference_mode: true }; // as PEFT saves it
    const modules = all.filter(({ name }) => isTarget(config, name));
    const problem = problemIn(config, modules, all);
    if (problem === undefined) return { config, modules };
    refusal ??= problem;
  }
  throw refusal;
}

/** Their names in the configuration; of all linear layers, in full, but the output layer, which PEFT leaves out. */
function targetsIn({ target_modules }: LoraConfig, all: readonly Module[], type: unknown): string | readonly string[] {
  if (typeof target_modules === 'string' && target_modules.toLowerCase() === 'all-linear') {
    return all.filter(({ name, inputs }) => inputs > 0 && !isOutputLayer(name)).map(({ name }) => name);
  }
  const [names] = defaultTargets.find(([, types]) => types.split(' ').includes(type as string)) ?? [];
  const targets = target_modules ?? names?.split(' ');
  if (targets !== undefined) return targets;
  throw invalid(`target_modules: PEFT has no default for the model type ${textOf(type)}; ${ends(all)}`);
}

/** What of the configuration no module has, or cannot be adapted. */
function problemIn(
  config: LoraConfig,
  modules: readonly Module[],
  all: readonly Module[],
): ClearformerError | undefined {
  const other = modules.find(({ inputs }) => inputs === 0)?.name;
  if (other) return unsupported(`target_modules: ${other} is no linear layer; others are not`);
  if (isTarget(config, 'lm_head') && !all.some(({ name, inputs }) => inputs > 0 && isOutputLayer(name))) {
    return unsupported('target_modules: an lm_head that is tied to the embedding is not');
  }
  const { target_modules, layers_to_transform, rank_pattern, alpha_pattern } = config;
  const names = Array.isArray(target_modules) ? target_modules : [];
  const parts: [string, readonly unknown[], (one: never, name: string) => boolean][] = [
    ['target_modules', names, (one, name) => isTarget({ target_modules: [one] }, name)],
    [
      'layers_to_transform',
      [layers_to_transform ?? []].flat(),
      (one, name) => isTarget({ ...config, layers_to_transform: one }, name),
    ],
    ['rank_pattern', Object.keys(rank_pattern ?? {}), matchesEnd],
    ['alpha_pattern', Object.keys(alpha_pattern ?? {}), matchesEnd],
  ];
  for (const [key, list, isOf] of parts) {
    const unused = list.find((one) => !all.some(({ name }) => isOf(one as never, name)));
    if (unused !== undefined) return invalid(`${key}: no module of this model is of ${textOf(unused)}; ${ends(all)}`);
  }
  if (modules.length === 0) return invalid(`no module is one of target_modules and not excluded; ${ends(all)}`);
  return undefined;
}

/** What the names of the linear layers end with. */
function ends(all: readonly Module[]): string {
  const names = all.filter(({ inputs }) => inputs > 0).map(({ name }) => name.slice(name.lastIndexOf('.') + 1));
  return `the names of its linear layers end with ${[...new Set(names)].join(', ')}`;
}

/** A and B as PEFT initialises them (peft.tuners.lora.LoraLayer.reset_lora_parameters): B·A is 0, but for `false`. */
function matricesOf({ name, inputs, outputs }: Module, config: LoraConfig): Planned[] {
  const { rank } = rankAndScale(config, name);
  const { lora_A, lora_B } = adapterNames(`base_model.model.${name}`);
  const { init_lora_weights: way } = config;
  const uniform = (columns: number): Distribution => ({ kind: 'uniform', limit: 1 / Math.sqrt(columns) }); // kaiming, a = √5
  const A: Distribution = way === 'gaussian' ? { kind: 'normal', std: 1 / rank } : uniform(inputs);
  const B: Distribution = way === false ? uniform(rank) : { kind: 'constant', value: 0 };
  return [
    { name: lora_A, dims: [rank, inputs], distribution: A },
    { name: lora_B, dims: [outputs, rank], distribution: B },
  ];
}

const invalid = (why: string) => new ClearformerError('invalid_argument', why);
const unsupported = (why: string) => new ClearformerError('unsupported', `${why} supported`);
