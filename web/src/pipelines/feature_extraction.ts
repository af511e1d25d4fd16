// feature-extraction: an embedding of each token, or of a text.

import type { ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import type { BackwardOptions, Gradients } from '../models/gradient.js';
import type { EmbeddingTerm } from '../models/gradient_metric.js';
import { normalized, type Pooling, type PoolingMode, pool, poolingModes, tensorIn } from '../models/pooling.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import type { TensorIn } from '../runtime/border.js';
import { checkChoice } from '../support/choices.js';
import { ClearformerError, textOf } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import { loadPart } from '../support/platform.js';
import { Tensor } from '../tensor/tensor.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { TokenizerOutput } from '../text/batch.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { needed, Pipeline } from './base_pipeline.js';
import type { DenseLayer } from './dense.js';
import { joinedRows } from './joined_rows.js';
import { loader } from './load_pipeline.js';
import { type EmbeddingDefaults, readEmbeddingDefaults } from './sentence_transformers.js';
import {
  cut,
  inBatches,
  inTextBatches,
  modelInputs,
  type TextCallOptions,
  textCallOptions,
  textList,
  tokenizing,
} from './texts.js';

/** Options of a call. */
export interface FeatureExtractionOptions extends TextCallOptions {
  /** Pooling to one vector per text instead of one per token. Default: the setting in modules.json, or none. */
  pooling?: Pooling | readonly PoolingMode[] | undefined;
  /** Normalise vectors to unit length. Default: the setting in modules.json if pooling is not given, else false. */
  normalize?: boolean | undefined;
  /** Text before each text. Default: none, but for `prompt_name`. */
  prompt?: string | undefined;
  /**
   * The name of a prompt of config_sentence_transformers.json. Default: the file's default_prompt_name if pooling is not
   * given.
   */
  prompt_name?: string | undefined;
  /**
   * Quantise each number to one bit, whether it is above 0: eight per byte, the first in the highest bit. Default
   * false.
   */
  quantize?: boolean | undefined;
  /** Needs `quantize`: bytes as int8, offset by -128 (`binary`, default), or as uint8. */
  precision?: 'binary' | 'ubinary' | undefined;
}

/** Options of `backward` of a feature-extraction pipeline. */
export interface EmbeddingBackwardOptions
  extends Omit<BackwardOptions, 'metric' | 'logits_to_keep' | 'return_logits'>,
    Pick<FeatureExtractionOptions, 'pooling' | 'normalize' | 'prompt' | 'prompt_name' | 'truncation' | 'max_length'> {
  /** What is differentiated: a function of the texts' embeddings. */
  metric: EmbeddingTerm;
}

type Quantized = FeatureExtractionOptions & { quantize: true };

/** Text embeddings. */
export interface FeatureExtractionPipeline {
  /**
   * [text, position, d_model], or with pooling [text, d_model]; for CLIP its text_embeds [text, embedding], of unit
   * length. One text is a batch of one. Without pooling, positions beyond the end of shorter texts hold the model's
   * outputs for padding. In folders of sentence-transformers a `truncate_dim` is the length of vectors if pooling is not
   * given.
   * Rejects with `invalid_argument` or `unsupported` for invalid arguments, `disposed`, or the abort signal's reason.
   */
  (
    texts: string | readonly string[],
    options?: FeatureExtractionOptions & { quantize?: false | undefined },
  ): Promise<Tensor<'float32'>>;
  /** [text, d_model / 8]: pooled vectors quantised to bits. */
  (
    texts: string | readonly string[],
    options: Quantized & { precision?: 'binary' | undefined },
  ): Promise<Tensor<'int8'>>;
  /** The same as unsigned bytes. */
  (texts: string | readonly string[], options: Quantized & { precision: 'ubinary' }): Promise<Tensor<'uint8'>>;
  /** One of these, as `quantize` and `precision` are. */
  (texts: string | readonly string[], options?: FeatureExtractionOptions): Promise<Features>;
}

const vectorOptions = [...textCallOptions, 'pooling', 'prompt', 'prompt_name'];

type Features = Tensor<'float32'> | Tensor<'int8'> | Tensor<'uint8'>;

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class FeatureExtractionPipeline extends Pipeline<
  [string | readonly string[], FeatureExtractionOptions?],
  Features,
  PreTrainedModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  readonly #defaults: EmbeddingDefaults;

  /** @internal */
  constructor(task: string, model: PreTrainedModel, { tokenizer, defaults }: BesideEmbedding) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.#defaults = defaults;
  }

  /** @internal */
  override async _call(texts: string | readonly string[], options: FeatureExtractionOptions = {}): Promise<Features> {
    checkOptions(this.task, options, [...vectorOptions, 'normalize', 'quantize', 'precision']);
    const { quantize = false, precision = 'binary' } = options;
    checkChoice('precision', precision, ['binary', 'ubinary']);
    if (!quantize && options.precision !== undefined) {
      throw new ClearformerError('invalid_argument', `${this.task}: precision needs quantize: true`, {
        option: 'precision',
      });
    }
    const vectors = await this.#vectors(texts, options);
    return quantize ? quantized(this.task, vectors, precision) : vectors;
  }

  /** @internal Whether a call without `pooling` gives one vector per text. */
  get givesVectors(): boolean {
    return this.#defaults.pooling.length > 0 || this.model.cfg.kind === 'dual-encoder';
  }

  /** @internal One vector of unit length per text, for comparisons. */
  unitVectors(texts: readonly string[], options: FeatureExtractionOptions): Promise<Tensor<'float32'>> {
    checkOptions(this.task, options, vectorOptions);
    const isTold = options.pooling !== undefined || this.givesVectors;
    return this.#vectors(texts, { ...options, ...(!isTold && { pooling: 'mean' }), normalize: true });
  }

  /**
   * The gradients of a metric of the texts' embeddings, one vector per text: through unit length, the layers of
   * modules.json and pooling, as a call computes them, then as `backward` of the model, whose options it takes. All
   * texts are one batch. Rejects like that, and like a call.
   */
  async backward(texts: string | readonly string[], options: EmbeddingBackwardOptions): Promise<Gradients> {
    const { metric, pooling, normalize, prompt, prompt_name, truncation, max_length, ...rest } = options ?? {};
    const own = { pooling, normalize, prompt, prompt_name, truncation, max_length, signal: rest.signal };
    const { list, modes, unit, left_out } = await this.#wanted(texts, own);
    const encoded = await this.#encode(list, own);
    const { engine } = this.model.open();
    if (pooling === undefined && this.#defaults.truncate_dim !== undefined) {
      throw new ClearformerError('unsupported', `${this.task}: backward: truncate_dim is not supported: pass pooling`);
    }
    const dense = await this.#dense(own, async (layers) => (await import('./dense.js')).modulesOf(engine, layers), []);
    const { embeddingFunction } = await loadPart(() => import('../models/embedding_metric.js'));
    const steps = { modes, dense, normalize: unit, mask: pooledMask(encoded, left_out) };
    const call = `${this.task}: backward`;
    return this.model.backward(modelInputs(encoded), {
      ...rest,
      metric: embeddingFunction(call, engine, metric, steps),
    });
  }

  /** The texts, what becomes of their tokens' vectors, and how many tokens of each are left out of pooling. */
  async #wanted(texts: string | readonly string[], options: FeatureExtractionOptions) {
    const given = textList(this.task, texts);
    if (given.length === 0) throw new ClearformerError('invalid_argument', `${this.task}: needs at least one text`);
    const { pooling, normalize } = options;
    const { include_prompt, ...defaults } = this.#defaults;
    const prompt = this.#prompt(options);
    const left_out = include_prompt || prompt === '' ? 0 : await this.#promptLength(prompt, options);
    const modes = pooling === undefined ? defaults.pooling : poolingModes(pooling);
    const unit = normalize ?? (pooling === undefined && defaults.normalize);
    return { list: given.map((text) => prompt + text), modes, unit, left_out };
  }

  /** What precedes each text. */
  #prompt({ pooling, prompt, prompt_name }: FeatureExtractionOptions): string {
    const { prompts, default_prompt_name } = this.#defaults;
    const refuse = (option: string, why: string) =>
      new ClearformerError('invalid_argument', `${this.task}: ${option} ${why}`, { option });
    if (prompt !== undefined) {
      if (prompt_name !== undefined) throw refuse('prompt_name', 'has no effect beside prompt');
      if (typeof prompt !== 'string') throw refuse('prompt', `must be a text, and is ${textOf(prompt)}`);
      return prompt;
    }
    const name = prompt_name ?? (pooling === undefined ? default_prompt_name : undefined);
    if (name === undefined) return '';
    if (Object.hasOwn(prompts, name)) return prompts[name] as string;
    const known = Object.keys(prompts).join(', ') || 'none';
    throw refuse('prompt_name', `${textOf(name)} is none of the model's prompts (known: ${known})`);
  }

  /** The number of tokens of a prompt, as sentence-transformers counts them: without a special one at its end. */
  async #promptLength(prompt: string, options: FeatureExtractionOptions): Promise<number> {
    const ids = (await this.#encode([prompt], options)).input_ids.data;
    const isClosed = this.tokenizer.all_special_ids.includes(Number(ids.at(-1)));
    return ids.length - (isClosed ? 1 : 0);
  }

  async #vectors(texts: string | readonly string[], options: FeatureExtractionOptions): Promise<Tensor<'float32'>> {
    const { list, modes, unit, left_out } = await this.#wanted(texts, options);
    const parts =
      modes.length === 0 ? await this.#tokens(list, options) : await this.#pooled(list, { modes, left_out }, options);
    const { engine } = this.model.open();
    const joined = joinedRows(parts);
    const found = await this.#dense(
      options,
      async (layers) => (await import('./dense.js')).project(engine, layers, joined),
      joined,
    );
    // A Normalize of modules.json precedes the cut, as in sentence-transformers; what a call asks for follows it.
    if (options.normalize === true) return normalized(engine, this.#cut(found, options));
    return this.#cut(unit ? await normalized(engine, found) : found, options);
  }

  /** Vectors of the length that the model's files want. */
  #cut(vectors: Tensor<'float32'>, { pooling }: FeatureExtractionOptions): Tensor<'float32'> {
    const { truncate_dim: length = Number.POSITIVE_INFINITY } = this.#defaults;
    const [, width = 0] = vectors.dims;
    const isWhole = pooling !== undefined || vectors.dims.length !== 2 || length >= width;
    return isWhole ? vectors : vectors.slice(null, [0, length]);
  }

  /** What becomes of the layers that modules.json lists after pooling, or `without` if there are none. */
  #dense<T>(
    { pooling }: FeatureExtractionOptions,
    use: (layers: readonly DenseLayer[]) => Promise<T>,
    without: T,
  ): T | Promise<T> {
    const { dense } = this.#defaults;
    return dense.length === 0 || pooling !== undefined ? without : use(dense);
  }

  #encode(texts: readonly string[], options: TextCallOptions): Promise<TokenizerOutput> {
    return this.tokenizer.paced(texts, tokenizing(this.tokenizer, cut(this, options, this.#defaults.longest)));
  }

  #pooled(
    texts: readonly string[],
    { modes, left_out }: { modes: readonly PoolingMode[]; left_out: number },
    options: FeatureExtractionOptions,
  ): Promise<Tensor<'float32'>[]> {
    return inTextBatches(texts, this.tokenizer, options, async (part) => {
      const encoded = await this.#encode(part, options);
      const hidden = await this.#hidden(encoded, options);
      if (hidden.dims.length === 3)
        return [await pool(this.model.open().engine, hidden, pooledMask(encoded, left_out), modes)];
      throw new ClearformerError(
        'unsupported',
        `${this.task}: this model gives one vector a text, there is no pooling`,
        {
          option: 'pooling',
        },
      );
    });
  }

  /** Every token's vector: all texts are padded to the longest, to fit in one tensor. */
  async #tokens(texts: readonly string[], options: FeatureExtractionOptions): Promise<Tensor<'float32'>[]> {
    const all = await this.#encode(texts, options);
    const rows = texts.map((_, row) => row);
    return inBatches(rows, options, async (part) => {
      const range = [part[0] ?? 0, (part.at(-1) ?? 0) + 1] as const;
      const { input_ids, attention_mask, token_type_ids } = all;
      const sliced = {
        input_ids: input_ids.slice(range),
        attention_mask: attention_mask.slice(range),
        ...(token_type_ids && { token_type_ids: token_type_ids.slice(range) }),
      };
      return [await this.#hidden(sliced, options)];
    });
  }

  async #hidden(
    encoded: Pick<TokenizerOutput, 'input_ids' | 'attention_mask' | 'token_type_ids'>,
    { signal }: TextCallOptions,
  ): Promise<Tensor<'float32'>> {
    const { last_hidden_state, text_embeds } = await this.model(modelInputs(encoded), { signal });
    return needed(last_hidden_state ?? text_embeds, this.task, 'last_hidden_state');
  }
}

/** 1 for each token that is pooled: all of the text but its first ones. */
function pooledMask({ attention_mask }: TokenizerOutput, left_out: number): TensorIn {
  if (left_out === 0) return tensorIn(attention_mask);
  const mask = attention_mask.clone();
  const [, width = 0] = mask.dims;
  for (let row = 0; row < mask.data.length; row += width) {
    const start = mask.data.indexOf(1n, row);
    mask.data.fill(0n, start, Math.min(start + left_out, row + width));
  }
  return tensorIn(mask);
}

/** One bit per number, packed as by sentence-transformers. */
function quantized(
  call: string,
  { dims, data }: Tensor<'float32'>,
  precision: 'binary' | 'ubinary',
): Tensor<'int8'> | Tensor<'uint8'> {
  const [texts = 0, size = 0] = dims;
  if (dims.length !== 2 || size % 8 !== 0) {
    const message = `${call}: quantize needs pooling and vectors of a multiple of 8 numbers, not [${dims.join(', ')}]`;
    throw new ClearformerError('invalid_argument', message, { option: 'quantize' });
  }
  const bytes = new Uint8Array(data.length / 8);
  data.forEach((value, i) => {
    if (value > 0) (bytes[i >> 3] as number) |= 0x80 >> (i & 7);
  });
  if (precision === 'ubinary') return new Tensor('uint8', bytes, [texts, size / 8]);
  return new Tensor(
    'int8',
    Int8Array.from(bytes, (byte) => byte - 128),
    [texts, size / 8],
  );
}

/** @internal The files of an embedding model besides the model itself. */
export interface BesideEmbedding {
  tokenizer: PreTrainedTokenizer;
  defaults: EmbeddingDefaults;
}

/** @internal */
export async function readEmbedding(folder: Folder, options: ReadOptions): Promise<BesideEmbedding> {
  const defaults = await readEmbeddingDefaults(folder, options);
  return { tokenizer: await readTokenizer(folder, options, undefined, defaults.change), defaults };
}

/** @internal */
export const load = loader<PreTrainedModel, BesideEmbedding, FeatureExtractionPipeline>({
  Model: PreTrainedModel,
  read: readEmbedding,
  create: (task, model, beside) => new FeatureExtractionPipeline(task, model, beside),
});
