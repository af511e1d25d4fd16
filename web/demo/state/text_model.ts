// The page's only door to the package for running a model: a loaded model and its tokenizer, as the story needs them.

import { AutoModelForCausalLM, AutoTokenizer, type GenerativeModel, type PreTrainedTokenizer } from 'clearformer';
import { largest } from '../book/distribution.js';
import type { AttentionTensor } from './attention_maps.js';
import type { Loaded, LoadOptions, Source } from './model_host.js';
import type { StorySettings } from './settings.js';
import { measureSpeed } from './speed.js';
import { type Piece, TokenTexts } from './token_texts.js';

export interface Step {
  token_id: number;
  /** Raw logits and processed scores of the step, (V). */
  logits: Float32Array;
  scores: Float32Array;
  attentions: readonly AttentionTensor[];
}

export interface TextModel {
  readonly layers: number;
  readonly heads: number;
  readonly vocabulary: number;
  /** Most tokens it can read. */
  readonly context: number;
  encode(text: string): number[];
  pieces(ids: readonly number[]): Piece[];
  /** The piece of the last of `ids`. */
  piece(ids: readonly number[]): Piece;
  /** Raw logits after each of `ids`, (T × V) in one array. */
  logits(ids: readonly number[], signal: AbortSignal): Promise<Float32Array>;
  /** Step by step to `max_new_tokens`; nothing is read past the last position the model has. */
  stream(ids: readonly number[], settings: StorySettings, signal: AbortSignal): AsyncGenerator<Step, void, unknown>;
}

const everyOutput = { output_scores: true, output_logits: true, output_attentions: true };

export class LoadedModel implements TextModel, Loaded {
  readonly model: GenerativeModel;
  readonly tokenizer: PreTrainedTokenizer;
  readonly label: string;
  /** Tokens a second it writes when nothing holds it up; undefined where it has no room to tell. */
  readonly speed: number | undefined;
  readonly #texts: TokenTexts;

  private constructor(
    model: GenerativeModel,
    tokenizer: PreTrainedTokenizer,
    label: string,
    speed: number | undefined,
  ) {
    this.model = model;
    this.tokenizer = tokenizer;
    this.label = label;
    this.speed = speed;
    this.#texts = new TokenTexts(tokenizer);
  }

  static async load(source: Source, label: string, options: LoadOptions): Promise<LoadedModel> {
    const tokenizer = await AutoTokenizer.from_pretrained(source, { signal: options.signal });
    const model = await AutoModelForCausalLM.from_pretrained(source, options);
    try {
      const [first = 0] = idsOf(tokenizer, 'a');
      return new LoadedModel(model, tokenizer, label, await measureSpeed(model, first, options.signal));
    } catch (error) {
      void model.dispose();
      throw error;
    }
  }

  get layers(): number {
    return this.model.cfg.n_layers;
  }

  get heads(): number {
    return this.model.cfg.n_heads;
  }

  get vocabulary(): number {
    return this.model.cfg.d_vocab;
  }

  get context(): number {
    return this.model.cfg.n_ctx;
  }

  encode(text: string): number[] {
    return idsOf(this.tokenizer, text);
  }

  pieces(ids: readonly number[]): Piece[] {
    return this.#texts.pieces(ids);
  }

  piece(ids: readonly number[]): Piece {
    return this.#texts.piece(ids);
  }

  async logits(ids: readonly number[], signal: AbortSignal): Promise<Float32Array> {
    const output = await this.model({ input_ids: [[...ids]] }, { signal });
    return floats(output.logits);
  }

  async *stream(
    ids: readonly number[],
    settings: StorySettings,
    signal: AbortSignal,
  ): AsyncGenerator<Step, void, unknown> {
    const { do_sample, temperature, top_k, top_p, seed } = settings;
    const sampling = do_sample ? { temperature, top_k, top_p, seed } : {};
    const max_new_tokens = Math.min(settings.max_new_tokens, this.context - ids.length);
    const written = [...ids];
    const options = { max_new_tokens, do_sample, ...sampling, ...everyOutput, tokenizer: null, signal };
    const steps = max_new_tokens > 0 ? this.model.generate_stream({ input_ids: [[...ids]] }, options) : [];
    for await (const step of steps) {
      written.push(step.token_id);
      yield {
        token_id: step.token_id,
        logits: floats(step.logits),
        scores: floats(step.scores),
        attentions: (step.attentions ?? []).map(({ data, dims }) => ({ data: floats({ data }), dims })),
      };
    }
    const full = written.length === this.context && max_new_tokens < settings.max_new_tokens;
    if (full && !do_sample) yield this.#afterFull(written, ids.length, signal);
  }

  /** The likeliest token after a text that fills all positions: it is written, but cannot be read. */
  async #afterFull(ids: readonly number[], given: number, signal: AbortSignal): Promise<Step> {
    const first = ids.length === given; // earlier steps have told all rows but the last
    const { logits, attentions = [] } = await this.model(
      { input_ids: [[...ids]] },
      { output_attentions: true, signal },
    );
    const last = floats(logits).subarray(-this.vocabulary);
    return {
      token_id: largest(last, 1)[0] ?? 0,
      logits: last,
      scores: last,
      attentions: attentions.map((maps) =>
        first ? { data: floats(maps), dims: maps.dims } : lastRow(floats(maps), maps.dims),
      ),
    };
  }

  dispose(): Promise<void> {
    return this.model.dispose();
  }
}

function idsOf(tokenizer: PreTrainedTokenizer, text: string): number[] {
  return Array.from(tokenizer(text).input_ids.data, Number);
}

/** Of [1, head, query, key] the last query: [1, head, 1, key]. */
function lastRow(data: Float32Array, [, heads = 0, queries = 0, keys = 0]: readonly number[]): AttentionTensor {
  const rows = new Float32Array(heads * keys);
  for (let head = 0; head < heads; head++) {
    const start = ((head + 1) * queries - 1) * keys;
    rows.set(data.subarray(start, start + keys), head * keys);
  }
  return { data: rows, dims: [1, heads, 1, keys] };
}

function floats(tensor: { data: ArrayLike<number | bigint> } | undefined): Float32Array {
  const data = tensor?.data ?? [];
  return data instanceof Float32Array ? data : Float32Array.from(Array.from(data, Number));
}
