// AutoModelFor…: loads a model from a source.

import type { PretrainedConfig } from '../checkpoint/auto_config.js';
import { loadCheckpoint } from '../checkpoint/checkpoint.js';
import type { Integrity } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import type { ProgressCallback } from '../checkpoint/progress.js';
import { openSource, type Source, type SourceOptions, sourceOptions } from '../checkpoint/source.js';
import type { CacheType, WeightType } from '../runtime/border.js';
import type { Engine } from '../runtime/engine.js';
import { type EngineOptions, startEngine } from '../runtime/start_engine.js';
import { isDeterministic } from '../runtime/wasm.js';
import { ClearformerError, textOf } from '../support/error.js';
import { abortable, checkOptions, ownOptions } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import { loadPart } from '../support/platform.js';
import type { Tensor } from '../tensor/tensor.js';
import { tokenizerFiles } from '../text/auto_tokenizer.js';
import type { NewModelOptions } from './fresh/from_config.js';
import { GenerativeModel } from './generative_model.js';
import type { LoadedModel } from './loaded_model.js';
import type { ModelOutput } from './outputs.js';
import { PreTrainedModel } from './pre_trained_model.js';

/** How a model is loaded and run. */
export interface LoadOptions extends SourceOptions, EngineOptions {
  /**
   * The format of the weights of linear layers, whatever the file contains: `fp32` (default), `fp16` (half the memory),
   * `q8` (a quarter), `q4` (about an eighth). They are quantised while they are loaded. See web/examples/dtypes.md.
   */
  dtype?: WeightType | undefined;
  /**
   * What the keys and values of past tokens are kept in while text is generated: `fp32` (default), `fp16` (half the
   * memory), `q8` (a quarter). They are rounded as they are computed. `unsupported` for models that generate no text.
   */
  cache_dtype?: CacheType | undefined;
  /** Called for every file, with the bytes of all files together. */
  progress_callback?: ProgressCallback | undefined;
  /** An abort signal: ends all downloads, and the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Expected SHA-256 (hexadecimal) by file name; a mismatch rejects with `integrity_mismatch`. */
  integrity?: Integrity | undefined;
}

const formats = {
  dtype: ['fp32', 'fp16', 'q8', 'q4'],
  cache_dtype: ['fp32', 'fp16', 'q8'],
} as const satisfies { dtype: WeightType[]; cache_dtype: CacheType[] };
const knownOptions = [
  ...sourceOptions,
  ...Object.keys(formats),
  'progress_callback',
  'signal',
  'worker',
  'numThreads',
  'deterministic',
  'integrity',
  'wasmUrl',
  'wasmBinary',
];
/** Files that tokenizers, processors and pipelines read later. */
const companionFiles = [
  ...tokenizerFiles,
  'chat_template.json',
  'preprocessor_config.json',
  'processor_config.json',
  'modules.json',
];

/** A class of models for one task. */
export interface AutoModelClass<Model> {
  /**
   * Loads config.json, generation_config.json (if present) and the weights: model.safetensors or the shards of
   * model.safetensors.index.json. Rejects with `file_not_found`, `network_error`, `malformed_file`, `malformed_config`,
   * `missing_tensor`, `shape_mismatch`, `dtype_mismatch`, `unsupported` (an architecture or head that is not
   * implemented, an engine that computes wrong results), `integrity_mismatch`, `out_of_memory`, `wasm_unavailable`,
   * `worker_failed`, or the abort signal's reason.
   */
  from_pretrained(source: Source, options?: OrNull<LoadOptions>): Promise<Model>;
  /**
   * A new model with transformers' initialisation of that architecture, as its class of this name makes it: the
   * distributions are the same, the numbers are those of `seed`. `config` is what config.json holds. Rejects like
   * `from_pretrained`. See web/examples/training.md.
   */
  from_config(config: PretrainedConfig, options?: NewModelOptions): Promise<Model>;
}

type ModelMaker<Model> = new (loaded: LoadedModel) => Model;

function autoModel<Model>(name: string, task: string, Made: ModelMaker<Model>): AutoModelClass<Model> {
  return {
    async from_pretrained(source, given = {}) {
      const options = await ownLoadOptions(`${name}.from_pretrained`, given);
      return new Made(await loadModel(openSource(source, options), task, options));
    },
    async from_config(config, options = {}) {
      const { fromConfig } = await loadPart(() => import('./fresh/from_config.js'));
      const loader = { check: ownLoadOptions, load: loadModel };
      return new Made(await fromConfig(`${name}.from_config`, config, task, options, loader));
    },
  };
}

/**
 * The trunk without a head: `last_hidden_state`, `pooler_output`; for CLIP and SigLIP both towers and their similarity.
 */
export const AutoModel = /* @__PURE__ */ autoModel('AutoModel', 'base', PreTrainedModel);
/** Decoder-only language models: `logits` for the next token, `generate`. */
export const AutoModelForCausalLM = /* @__PURE__ */ autoModel('AutoModelForCausalLM', 'causal-lm', GenerativeModel);
/** Encoder-decoder language models: `logits` of the decoder, `generate`. */
export const AutoModelForSeq2SeqLM = /* @__PURE__ */ autoModel('AutoModelForSeq2SeqLM', 'seq2seq-lm', GenerativeModel);
/** Whisper. */
export const AutoModelForSpeechSeq2Seq = /* @__PURE__ */ autoModel(
  'AutoModelForSpeechSeq2Seq',
  'speech-seq2seq',
  GenerativeModel,
);
/** Masked language models: `logits` for every position. */
export const AutoModelForMaskedLM = /* @__PURE__ */ autoModel(
  'AutoModelForMaskedLM',
  'masked-lm',
  PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>,
);
/**
 * Text classifiers: `logits` [batch, label]. BART, mBART, T5 and mT5 read them at the last `eos_token_id` of each row, of
 * which all rows need as many: `invalid_argument` otherwise. Decoder-only models read them at the last token that is not
 * `pad_token_id` (of `inputs_embeds` the last one); without one, of one row only: `invalid_argument` otherwise.
 */
export const AutoModelForSequenceClassification = /* @__PURE__ */ autoModel(
  'AutoModelForSequenceClassification',
  'sequence-classification',
  PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>,
);
/** Token classifiers: `logits` [batch, pos, label]. */
export const AutoModelForTokenClassification = /* @__PURE__ */ autoModel(
  'AutoModelForTokenClassification',
  'token-classification',
  PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>,
);
/** Extractive question answering: `start_logits` and `end_logits` [batch, pos]. */
export const AutoModelForQuestionAnswering = /* @__PURE__ */ autoModel(
  'AutoModelForQuestionAnswering',
  'question-answering',
  PreTrainedModel<ModelOutput & { start_logits: Tensor<'float32'>; end_logits: Tensor<'float32'> }>,
);
/** ELECTRA's discriminator: `logits` [batch, pos], positive for replaced tokens. */
export const AutoModelForPreTraining = /* @__PURE__ */ autoModel(
  'AutoModelForPreTraining',
  'replaced-token-detection',
  PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>,
);
/** Image classifiers: `logits` [batch, label]. */
export const AutoModelForImageClassification = /* @__PURE__ */ autoModel(
  'AutoModelForImageClassification',
  'image-classification',
  PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>,
);
/** wav2vec 2.0 and HuBERT with a CTC head: `logits` [batch, frame, token]. */
export const AutoModelForCTC = /* @__PURE__ */ autoModel(
  'AutoModelForCTC',
  'ctc',
  PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>,
);
/** Classifiers of sounds (AST, wav2vec 2.0, HuBERT): `logits` [batch, label]. */
export const AutoModelForAudioClassification = /* @__PURE__ */ autoModel(
  'AutoModelForAudioClassification',
  'audio-classification',
  PreTrainedModel<ModelOutput & { logits: Tensor<'float32'> }>,
);
/** CLIP and SigLIP. */
export const AutoModelForZeroShotImageClassification = /* @__PURE__ */ autoModel(
  'AutoModelForZeroShotImageClassification',
  'zero-shot-image-classification',
  PreTrainedModel,
);

/** Checks the loading options and translates them to this library's names. */
export function ownLoadOptions(call: string, given: OrNull<LoadOptions>): Promise<LoadOptions> {
  return ownOptions<LoadOptions>(call, given, (options) => checkLoadOptions(call, options));
}

function checkLoadOptions(call: string, options: LoadOptions): void {
  checkOptions(call, options, knownOptions);
  for (const [option, names] of Object.entries(formats)) {
    const { [option as keyof typeof formats]: given = 'fp32' } = options;
    if ((names as readonly string[]).includes(given)) continue;
    const known = names.map((name) => `'${name}'`).join(', ');
    throw new ClearformerError('unsupported', `${option}: '${textOf(given)}' is not supported (known: ${known})`, {
      option,
    });
  }
  options.signal?.throwIfAborted();
}

/** @internal A model in an engine of its own. Without a task the one in config.json is used. */
export async function loadModel(
  folder: Folder,
  task: string | undefined,
  options: LoadOptions,
  starting = startEngine(options),
): Promise<LoadedModel> {
  const ended = new AbortController(); // when the engine ends or anything fails: downloads stop
  const { cache_dtype = 'fp32' } = options;
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
  try {
    starting.then(({ over }) => over.addEventListener('abort', () => ended.abort(over.reason))).catch(() => {});
    const reading = loadCheckpoint(folder, starting, task, { ...options, signal });
    const [engine, checkpoint] = await abortable(Promise.all([starting, reading]), signal);
    const { handle, config, generationConfig, progress, build } = checkpoint;
    const described = {
      checkpoint: handle,
      config: config.text,
      config_name: config.name,
      cache_dtype,
      ...(generationConfig && { generation_config: generationConfig.text }),
      ...(task !== undefined && { task }),
    };
    const created = await abortable(engine.call('model_create', described), signal);
    if (isDeterministic(options) && build.simd === 'relaxed') {
      throw new ClearformerError('invalid_argument', 'deterministic: the WASM that was given is the relaxed build', {
        option: 'deterministic',
      });
    }
    options.signal?.throwIfAborted();
    progress.ready();
    const { integrity } = options;
    const { eos_token_id: ends, ...tokens } = created.special_tokens;
    const given = JSON.parse(generationConfig?.text ?? '{}');
    return {
      engine,
      handle: created.model,
      cfg: created.cfg,
      config: JSON.parse(config.text),
      generationConfig: { ...tokens, eos_token_id: ends.length > 1 ? ends : (ends[0] ?? null), ...given },
      unexpectedTensors: created.unexpected_tensors,
      hooks: JSON.parse(created.hooks),
      build,
      dtype: options.dtype ?? 'fp32',
      cache_dtype,
      folder: folder.only(companionFiles),
      fileOptions: { integrity },
      texts: { config: config.text, generation: generationConfig?.text },
    };
  } catch (thrown) {
    ended.abort(thrown);
    void close(starting);
    throw thrown;
  }
}

async function close(starting: Promise<Engine>): Promise<void> {
  const engine = await starting.catch(() => undefined);
  await engine?.close();
}
