// Computations of elements with a model; loaded with the package's core on first use.

import { logitLens } from '../analysis/logit_lens.js';
import type { ProgressCallback } from '../checkpoint/progress.js';
import { openSource } from '../checkpoint/source.js';
import { loadModel } from '../models/auto_models.js';
import type { ModelInputs } from '../models/inputs.js';
import type { ModelOutput } from '../models/outputs.js';
import { PreTrainedModel } from '../models/pre_trained_model.js';
import { argmax, rowOf, softmax, topIndices } from '../pipelines/scores.js';
import type { HookName } from '../runtime/hook_names.js';
import { ClearformerError } from '../support/error.js';
import type { Tensor } from '../tensor/tensor.js';
import { AutoTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import type { Numbers } from './numbers.js';
import { type Token, tokenPiece, tokenPieces } from './token_pieces.js';

type Model = PreTrainedModel<ModelOutput & { logits?: Tensor<'float32'> }>;

interface Loading {
  readonly model: Promise<Model>;
  readonly listeners: Set<ProgressCallback>;
}

const tokenizers = new Map<string, Promise<PreTrainedTokenizer>>();
const models = new Map<string, Loading>();

/** The page's single tokenizer of a source. A failed load is retried by the next call. */
function tokenizerOf(source: string): Promise<PreTrainedTokenizer> {
  const known = tokenizers.get(source);
  if (known) return known;
  const loading = AutoTokenizer.from_pretrained(source);
  tokenizers.set(source, loading);
  loading.catch(() => tokenizers.delete(source));
  return loading;
}

/** The page's single model of a source, which stays loaded; `tell` is kept only while it loads. */
async function modelOf(source: string, tell: ProgressCallback): Promise<Model> {
  const { model, listeners } = models.get(source) ?? startLoading(source);
  listeners.add(tell);
  try {
    return await model;
  } finally {
    listeners.delete(tell);
  }
}

function startLoading(source: string): Loading {
  const listeners = new Set<ProgressCallback>();
  const progress_callback: ProgressCallback = (event) => {
    for (const listener of listeners) listener(event);
  };
  const model = loadModel(openSource(source, {}), undefined, { progress_callback }).then(
    (loaded) => new PreTrainedModel<ModelOutput & { logits?: Tensor<'float32'> }>(loaded),
  );
  const loading = { model, listeners };
  models.set(source, loading);
  model.catch(() => models.delete(source));
  return loading;
}

/** A model and a text for it. */
export interface Asked {
  readonly model: string;
  readonly text: string;
  readonly tell: ProgressCallback;
  readonly signal: AbortSignal;
}

interface Opened {
  readonly model: Model;
  readonly tokenizer: PreTrainedTokenizer;
  readonly inputs: ModelInputs;
  readonly ids: readonly number[];
}

async function open({ model, text, tell, signal }: Asked): Promise<Opened> {
  const [loaded, tokenizer] = await Promise.all([modelOf(model, tell), tokenizerOf(model)]);
  signal.throwIfAborted();
  const inputs = await tokenizer.paced(text, { signal });
  return { model: loaded, tokenizer, inputs, ids: Array.from(inputs.input_ids.data, Number) };
}

export async function tokensOf({ model, text }: Pick<Asked, 'model' | 'text'>): Promise<readonly Token[]> {
  const tokenizer = await tokenizerOf(model);
  return tokenPieces(tokenizer, tokenizer.encode(text));
}

export interface AttentionResult {
  readonly numbers: Numbers;
  readonly source: string;
  readonly tokens: readonly Token[];
  /** Whether tokens after a query are masked. */
  readonly causal: boolean;
}

function choice(element: string, name: string, index: number, count: number): number {
  if (Number.isInteger(index) && index >= 0 && index < count) return index;
  const why = Number.isNaN(index) ? `${name} needs a number of` : `there is no ${name} ${index}, only`;
  throw new ClearformerError('invalid_argument', `${element}: ${why} 0 to ${count - 1}`);
}

/** The attention of one head; for an encoder-decoder, of the encoder. */
export async function attentionOf(asked: Asked, layer: number, head: number): Promise<AttentionResult> {
  const { model, tokenizer, inputs, ids } = await open(asked);
  const patterns = model.hooks().filter(({ name }) => /(^|\.)\d+\.attn\.hook_pattern$/.test(name));
  const [first] = patterns;
  if (first === undefined) throw new ClearformerError('unsupported', 'cf-attention: the model has no attention maps');
  const stack = first.name.replace(/\d+\.attn\.hook_pattern$/, '');
  const own = patterns.filter(({ name }) => name.startsWith(stack));
  const layers = own.map(({ name }) => Number(/\d+/.exec(name.slice(stack.length))));
  const wanted = choice('cf-attention', 'layer', layer, Math.max(...layers) + 1);
  if (!layers.includes(wanted)) {
    const message = `cf-attention: layer ${wanted} has no attention, only ${layers.join(', ')}`;
    throw new ClearformerError('unsupported', message);
  }
  const name = `${stack}${wanted}.attn.hook_pattern` as HookName;
  const [, cache] = await model.run_with_cache(inputs, { names_filter: name, signal: asked.signal });
  const pattern = cache[name] as Tensor<'float32'>; // (1, H, T, S)
  const numbers = pattern.slice(0, choice('cf-attention', 'head', head, pattern.dims[1] ?? 0));
  const causal = model.cfg.kind === 'decoder-only';
  return { numbers, source: `${name}[0, ${head}]`, tokens: tokenPieces(tokenizer, ids), causal };
}

export interface Guess {
  readonly token: string;
  readonly probability: number;
}

export interface NextResult {
  readonly guesses: readonly Guess[];
  readonly source: string;
}

/** The most probable tokens after a text, or at its first mask token. */
export async function nextOf(asked: Asked, top: number): Promise<NextResult> {
  const { model, tokenizer, inputs, ids } = await open(asked);
  const { task } = model.cfg;
  const masked = tokenizer.mask_token_id === null ? -1 : ids.indexOf(tokenizer.mask_token_id);
  const at = task === 'masked-lm' ? masked : ids.length - 1;
  if (task !== 'masked-lm' && task !== 'causal-lm') {
    throw new ClearformerError(
      'unsupported',
      `cf-bars: needs a model that continues texts or fills gaps, this is ${task}`,
    );
  }
  if (at < 0) throw new ClearformerError('invalid_argument', 'cf-bars: the text has no mask to fill');
  if (!Number.isInteger(top) || top < 1)
    throw new ClearformerError('invalid_argument', 'cf-bars: top needs a number of guesses, from 1 on');
  const { logits } = await model(inputs, { signal: asked.signal });
  if (logits === undefined) throw new ClearformerError('unsupported', 'cf-bars: the model gives no logits');
  const words = logits.dims.at(-1) ?? 0;
  const shares = softmax(rowOf(logits, 0).subarray(at * words, (at + 1) * words)); // (V)
  const before = task === 'causal-lm' ? ids : ids.slice(0, at);
  const guesses = topIndices(shares, top).map((id) => guessOf(tokenizer, before, id, shares[id] ?? 0));
  return { guesses, source: `softmax(logits[0, ${at}])` };
}

const guessOf = (names: PreTrainedTokenizer, before: readonly number[], id: number, probability: number): Guess => ({
  token: tokenPiece(names, [...before, id]).text,
  probability,
});

export interface LensResult {
  /** [layer, position], from the input up. */
  readonly cells: readonly (readonly Guess[])[];
  readonly source: string;
  readonly tokens: readonly Token[];
}

/** Maximum number of logits in memory at a time, 16 MB. */
const mostLogits = 4_000_000;

/** The logit lens: the prediction at each position if the model ended after each layer. */
export async function lensOf(asked: Asked): Promise<LensResult> {
  const { model, tokenizer, inputs, ids } = await open(asked);
  const { d_vocab, n_layers } = model.cfg;
  const step = Math.max(1, Math.floor(mostLogits / (d_vocab * (n_layers + 1))));
  const cells: Guess[][] = Array.from({ length: n_layers + 1 }, () => []);
  for (let start = 0; start < ids.length; start += step) {
    const pos = ids.slice(start, start + step).map((_, i) => start + i);
    const lens = await logitLens(model, inputs, { pos, signal: asked.signal }); // (L + 1, 1, places, V)
    cells.forEach((row, layer) => {
      for (const [i, at] of pos.entries()) {
        const from = (layer * pos.length + i) * d_vocab;
        const shares = softmax(lens.data.subarray(from, from + d_vocab));
        const best = argmax(shares);
        row.push(guessOf(tokenizer, ids.slice(0, at + 1), best, shares[best] ?? 0));
      }
    });
  }
  return { cells, source: 'softmax(logitLens(model, inputs)), largest', tokens: tokenPieces(tokenizer, ids) };
}
