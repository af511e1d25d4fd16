// AutoModelFor….from_config: a model with new weights. They are a safetensors file that is made while it is read, so that
// everything else is as for a checkpoint. Loaded at the first call.

import type { PretrainedConfig } from '../../checkpoint/auto_config.js';
import type { Folder } from '../../checkpoint/folder.js';
import type { CacheType, ModelShape, WeightType } from '../../runtime/border.js';
import type { Engine } from '../../runtime/engine.js';
import { type EngineOptions, startEngine } from '../../runtime/start_engine.js';
import { ClearformerError, readable, textOf } from '../../support/error.js';
import { isObject } from '../../support/kinds.js';
import { checkOptions } from '../../support/options.js';
import { classFor } from '../class_names.js';
import type { LoadedModel } from '../loaded_model.js';
import { type Distribution, type Drawn, distributionOf, savedAs } from './distributions.js';
import { newFolder, type Planned } from './new_folder.js';

/** Options of `from_config`. */
export interface NewModelOptions extends EngineOptions {
  /** Chooses the random numbers: 0 … 2^53 - 1 (0). The same seed gives the same weights in every engine. */
  seed?: number | undefined;
  /** The format of the weights of linear layers: as of `from_pretrained`. */
  dtype?: WeightType | undefined;
  /** What the keys and values of past tokens are kept in: as of `from_pretrained`. */
  cache_dtype?: CacheType | undefined;
  /** An abort signal: the call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

type Loading = Omit<NewModelOptions, 'seed'>;

const known = [
  'seed',
  'dtype',
  'cache_dtype',
  'signal',
  'worker',
  'numThreads',
  'deterministic',
  'wasmUrl',
  'wasmBinary',
];

/** wav2vec 2.0's scales of a convolution's weights are a tensor of their own, which would have to fit them. */
const scales = 'is not supported: load a checkpoint, such as one before fine-tuning';
/** The model types of which no new models are made, and why not. */
const refusedTypes = new Map([
  ['gemma3', 'has a vision part, which is not supported: use its text_config (gemma3_text)'],
  ['qwen3_5', 'has a vision part, which is not supported: use its text_config (qwen3_5_text)'],
  ['wav2vec2', scales],
  ['hubert', scales],
]);

/** @internal What loads a model, of which this module is a part that is loaded later. */
export interface Loader {
  check(call: string, options: Loading): Promise<Loading>;
  load(folder: Folder, task: string, options: Loading, starting: Promise<Engine>): Promise<LoadedModel>;
}

/** @internal A model of that configuration with new weights. */
export async function fromConfig(
  call: string,
  config: PretrainedConfig,
  task: string,
  given: NewModelOptions,
  { check, load }: Loader,
): Promise<LoadedModel> {
  const refused = (option: string, why: string) =>
    new ClearformerError('invalid_argument', `${call}: ${why}`, { option });
  checkOptions(call, given ?? null, known);
  const { seed = 0, ...rest } = given;
  if (!Number.isSafeInteger(seed) || seed < 0) throw refused('seed', `seed is ${textOf(seed)}, no whole number`);
  if (!isObject(config)) {
    throw refused('config', `the config is ${textOf(config)}, not what AutoConfig.from_pretrained returns`);
  }
  const { model_type } = config;
  const why = refusedTypes.get(textOf(model_type));
  if (why !== undefined) {
    throw new ClearformerError('unsupported', `${call}: a new ${model_type} ${why}`, { option: 'config' });
  }
  const options = await check(call, rest);
  const text = textFor(config, task);
  const starting = startEngine(options);
  try {
    const folder = await modelFolder(call, text, task, seed, await starting);
    return await load(folder, task, options, starting);
  } catch (thrown) {
    void starting.then((engine) => engine.close()).catch(() => {});
    throw thrown;
  }
}

/** Numbers of these keys are floats, which transformers tells from integers (that of MPT's `attn_pdrop` is none). */
const floats =
  /("\w*(?:(?<!_p)drop|dropout|eps|epsilon|range|factor|fraction|std|theta|pct|scale|scaling|multiplier|prob|softcapping|qkv|_value)": -?\d+)(?=[,\n])/g;

/** config.json, which names the class of the new model if it names one. */
function textFor(config: PretrainedConfig, task: string): string {
  const { architectures } = config;
  const [named] = Array.isArray(architectures) ? architectures : [];
  const own = named === undefined ? config : { ...config, architectures: [classFor(task, textOf(named))] };
  const plain = (_: string, one: unknown) => (typeof one === 'bigint' ? Number(one) : one);
  return readable('the config', () => JSON.stringify(own, plain, 2)).replace(floats, '$1.0');
}

/** The special tokens of the class that the config does not set: a new model generates with them, a folder's without. */
function tokensOf(config: PretrainedConfig, cfg: ModelShape | undefined): PretrainedConfig {
  if (!cfg?.kind.includes('decoder')) return {};
  const { bos_token_id, eos_token_id, pad_token_id, decoder_start_token_id } = cfg;
  const ends = [eos_token_id].flat();
  const all = { bos_token_id, eos_token_id: ends.length > 1 ? ends : ends[0], pad_token_id, decoder_start_token_id };
  return Object.fromEntries(
    Object.entries(all).filter(([name, token]) => !(name in config) && (token ?? null) !== null),
  );
}

async function modelFolder(call: string, text: string, task: string, seed: number, engine: Engine): Promise<Folder> {
  const described = { config: text, task };
  const { tensors } = await engine.call('checkpoint_tensors', { ...described, config_name: `${call}: config` });
  const { cfg } = await engine.call('inspect', { ...described, files: [] });
  const config = JSON.parse(text) as Record<string, unknown>;
  const padding = (config.pad_token_id === undefined ? cfg?.pad_token_id : config.pad_token_id) as number | null;
  const planned: Planned[] = [];
  for (const one of tensors) {
    const tensor = savedAs(config, one);
    const distribution = distributionOf(config, tensor, padding ?? undefined);
    planned.push({ ...tensor, distribution, table: await tableOf(engine, tensor, distribution) });
  }
  const own = textFor({ ...tokensOf(config, cfg), ...config }, task);
  return newFolder('a new model', { 'config.json': own, 'model.safetensors': planned }, seed);
}

async function tableOf(engine: Engine, { dims }: Drawn, distribution: Distribution): Promise<Float32Array | undefined> {
  if (distribution.kind !== 'sinusoids') return undefined;
  const [rows = 0, width = 0] = dims;
  const positions = { data: Int32Array.from({ length: rows }, (_, at) => at), dims: [rows] };
  const { layout } = distribution;
  return (await engine.call('sinusoidal_encoding', { positions, d_model: width, layout })).data;
}
