// adapter_config.json of PEFT: what is read of it, what is refused, and which modules it is about, by PEFT's rules
// (peft.tuners.lora.LoraConfig, peft.tuners.tuners_utils.check_target_module_exists, peft.utils.other.get_pattern_key).

import { ClearformerError, messageOf } from '../support/error.js';
import { PatternMatcher } from '../text/pattern_matcher.js';
import { parsedPattern } from '../text/pattern_syntax.js';

/** A LoRA configuration of PEFT. Other keys have no effect, or are refused unless they are neutral. */
export interface LoraConfig {
  peft_type?: 'LORA' | undefined;
  /** The rank: columns of B and rows of A (8). */
  r?: number | undefined;
  /** The update is scaled by lora_alpha / r (8). */
  lora_alpha?: number | undefined;
  /** The update is scaled by lora_alpha / √r instead. */
  use_rslora?: boolean | undefined;
  /** Names of modules or their ends, or one regular expression for whole names. */
  target_modules?: readonly string[] | string | null | undefined;
  exclude_modules?: readonly string[] | string | null | undefined;
  layers_to_transform?: readonly number[] | number | null | undefined;
  layers_pattern?: readonly string[] | string | null | undefined;
  /** Ranks and alphas of some modules, by a regular expression for the end of their names. */
  rank_pattern?: Readonly<Record<string, number>> | null | undefined;
  alpha_pattern?: Readonly<Record<string, number>> | null | undefined;
  /** How a new adapter begins: A uniform and B zero (true), A normal (`gaussian`), or both uniform (false). */
  init_lora_weights?: boolean | string | undefined;
  [other: string]: unknown;
}

/** Keys that are about training, provenance, or how PEFT computes. */
const withoutEffect = [
  ...['task_type', 'base_model_name_or_path', 'revision', 'inference_mode', 'auto_mapping', 'peft_version'],
  ...[
    'lora_dropout',
    'fan_in_fan_out',
    'megatron_core',
    'runtime_config',
    'loftq_config',
    'eva_config',
    'corda_config',
  ],
  ...['qalora_group_size', 'lora_ga_config', 'ensure_weight_tying'],
];
const read = [
  ...['peft_type', 'r', 'lora_alpha', 'use_rslora', 'target_modules', 'exclude_modules', 'layers_to_transform'],
  ...['layers_pattern', 'rank_pattern', 'alpha_pattern', 'bias', 'init_lora_weights'],
];
/** Initialisations that leave the base weights as they are. */
const plainInitialisations = [true, false, 'gaussian', 'eva', 'orthogonal', 'mica'];

const fileName = 'adapter_config.json';

/**
 * Checks a configuration. Throws `unsupported` for what would have an effect in PEFT, `malformed_config` for wrong
 * values.
 */
export function checkLoraConfig(config: LoraConfig): void {
  const { peft_type, bias = 'none', init_lora_weights = true } = config;
  if (peft_type !== 'LORA') throw refused(`peft_type ${text(peft_type)}: only "LORA" is`);
  if (bias !== 'none') throw refused(`bias ${text(bias)}: the biases of the base model would change; only "none" is`);
  if (!plainInitialisations.includes(init_lora_weights as string | boolean)) {
    const remedy = 'convert the adapter with PEFT (path_initial_model_for_weight_conversion), or merge it';
    throw refused(`init_lora_weights ${text(init_lora_weights)}: the base weights would change; ${remedy}; it is not`);
  }
  for (const [key, value] of Object.entries(config)) {
    if (read.includes(key) || withoutEffect.includes(key) || isNeutral(value)) continue;
    throw refused(`${key} ${text(value)} is not`);
  }
  requireRank('r', config.r ?? 8);
  requireNumber('lora_alpha', config.lora_alpha ?? 8);
  for (const key of ['rank_pattern', 'alpha_pattern'] as const) {
    const patterns: unknown = config[key] ?? {};
    if (typeof patterns !== 'object' || Array.isArray(patterns))
      throw malformed(`${key} is ${text(patterns)}, no object`);
    requireFew(key, Object.keys(patterns as object).length);
    const require = key === 'rank_pattern' ? requireRank : requireNumber;
    for (const [pattern, value] of Object.entries(patterns as object)) require(`${key}["${pattern}"]`, value);
  }
  for (const key of ['target_modules', 'exclude_modules', 'layers_pattern'] as const) requireNames(key, config[key]);
  requireLayers(config);
}

/** Far above the number of modules of a model: each is compared with each of its modules. */
const mostNames = 4096;

function requireFew(key: string, count: number): void {
  if (count > mostNames) throw malformed(`${key} has ${count} members, more than ${mostNames}`);
}

function isNeutral(value: unknown): boolean {
  if (value === null || value === undefined || value === false) return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

function requireNumber(key: string, value: unknown): void {
  if (Number.isFinite(value)) return;
  throw malformed(`${key} is ${text(value)}, no number`);
}

function requireRank(key: string, value: unknown): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1) throw malformed(`${key} is ${text(value)}, no rank`);
}

function requireNames(key: string, value: unknown): void {
  if (value === null || value === undefined || typeof value === 'string') return;
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
    throw malformed(`${key} is ${text(value)}, neither names nor a regular expression`);
  }
  requireFew(key, value.length);
}

/** PEFT takes layers with names of modules alone, and a pattern of layers with indices alone. */
function requireLayers(config: LoraConfig): void {
  const { target_modules: targets, layers_to_transform, layers_pattern } = config;
  const layers = [layers_to_transform ?? []].flat();
  requireFew('layers_to_transform', layers.length);
  if (!layers.every((layer) => Number.isSafeInteger(layer))) {
    throw malformed(`layers_to_transform is ${text(layers_to_transform)}, no indices of layers`);
  }
  for (const [key, value] of Object.entries({ layers_to_transform, layers_pattern })) {
    if (typeof targets === 'string' && (value ?? null) !== null) {
      throw malformed(`${key} is ${text(value)}, with target_modules ${text(targets)}, which are no list of names`);
    }
  }
  if (layers.length === 0 && layers_pattern?.length) {
    throw malformed(`layers_pattern is ${text(layers_pattern)}, without layers_to_transform`);
  }
}

/** The rank of a module's matrices, and what the product B·A is multiplied by. */
export function rankAndScale(config: LoraConfig, module: string): { rank: number; scale: number } {
  const rank = patternValue(config.rank_pattern, module) ?? config.r ?? 8;
  const alpha = patternValue(config.alpha_pattern, module) ?? config.lora_alpha ?? 8;
  return { rank, scale: alpha / (config.use_rslora ? Math.sqrt(rank) : rank) };
}

/** The first pattern that matches the end of the name. */
function patternValue(
  patterns: Readonly<Record<string, number>> | null | undefined,
  module: string,
): number | undefined {
  for (const [pattern, value] of Object.entries(patterns ?? {})) {
    if (matchesEnd(pattern, module)) return value;
  }
  return undefined;
}

/** Whether a pattern of ranks and alphas is of that module. */
export function matchesEnd(pattern: string, module: string): boolean {
  return isWhole(`(?:.*\\.)?(?:${pattern})`, module);
}

/** Whether PEFT would give that module an adapter. Without target_modules every module of the layers may have one. */
export function isTarget(config: LoraConfig, module: string): boolean {
  const { target_modules: targets, exclude_modules: excluded } = config;
  if (excluded && named(excluded, module)) return false;
  if (typeof targets === 'string') return targets === 'all-linear' || named(targets, module);
  if (targets?.includes(module)) return true;
  return (!targets || named(targets, module)) && isTransformed(config, module);
}

function named(names: readonly string[] | string, module: string): boolean {
  if (typeof names === 'string') return isWhole(names, module);
  return names.some((name) => module === name || module.endsWith(`.${name}`));
}

/** Whether the layer that the module is in is one of layers_to_transform. */
function isTransformed({ layers_to_transform: layers, layers_pattern }: LoraConfig, module: string): boolean {
  if (layers === null || layers === undefined || (Array.isArray(layers) && layers.length === 0)) return true;
  const patterns = [layers_pattern ?? []].flat();
  const found = (patterns.length === 0 ? ['[^.]*'] : patterns)
    .map((pattern) => layerOf(module, pattern))
    .find((index) => index !== undefined);
  return found !== undefined && [layers].flat().includes(found);
}

/** The first number among a module's names, not at their end, that what precedes ends with the pattern before. */
function layerOf(module: string, pattern: string): number | undefined {
  const names = module.split('.');
  for (let at = 1; at < names.length - 1; at++) {
    const name = names[at] as string;
    if (/^\d+$/.test(name) && isWhole(`.*\\.(?:${pattern})`, names.slice(0, at).join('.'))) return Number(name);
  }
  return undefined;
}

const compiled = new Map<string, PatternMatcher>();

/** Whether a regular expression of Python, which is the file's, matches a whole name: in time linear in the name. */
function isWhole(pattern: string, name: string): boolean {
  try {
    let matcher = compiled.get(pattern);
    if (matcher === undefined) {
      if (compiled.size > mostNames) compiled.clear();
      const whole = `\\A(?:${pattern.replaceAll('(?P<', '(?<')})\\z`;
      matcher = new PatternMatcher(whole, parsedPattern(whole));
      compiled.set(pattern, matcher);
    }
    for (const match of matcher[Symbol.matchAll](name)) if (match !== undefined) return true;
    return false;
  } catch (cause) {
    const why = messageOf(cause).replace('tokenizer.json: ', '');
    throw refused(`the regular expression ${text(pattern)} (${why}) is not`);
  }
}

const text = (value: unknown) =>
  (typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))).slice(0, 200);
const malformed = (why: string) => new ClearformerError('malformed_config', `${fileName}: ${why}`, { file: fileName });
const refused = (why: string) =>
  new ClearformerError('unsupported', `${fileName}: ${why} supported`, { file: fileName });
