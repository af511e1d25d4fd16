// The page's only door to the package for running a model: a loaded model and its tokenizer, as the story needs them.
import { AutoModelForCausalLM, AutoTokenizer } from 'clearformer';
import type { AttentionTensor } from './attention-store.js';
import type { StorySettings } from './settings.js';

export type Model = Awaited<ReturnType<typeof AutoModelForCausalLM.from_pretrained>>;
export type Tokenizer = Awaited<ReturnType<typeof AutoTokenizer.from_pretrained>>;
export type Source = Parameters<typeof AutoModelForCausalLM.from_pretrained>[0];
export type LoadOptions = NonNullable<Parameters<typeof AutoModelForCausalLM.from_pretrained>[1]>;

export interface Piece {
  /** Text that a token adds after the ones before it. */
  text: string;
  special: boolean;
}

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
  stream(ids: readonly number[], settings: StorySettings, signal: AbortSignal): AsyncGenerator<Step, void, unknown>;
}

/** How many tokens before one are decoded with it: enough for a character spread over several byte tokens. */
const kReach = 5;

export class LoadedModel implements TextModel {
  readonly model: Model;
  readonly tokenizer: Tokenizer;
  readonly label: string;
  private readonly special: ReadonlySet<number>;

  private constructor(model: Model, tokenizer: Tokenizer, label: string) {
    this.model = model;
    this.tokenizer = tokenizer;
    this.label = label;
    this.special = new Set(tokenizer.all_special_ids);
  }

  static async load(source: Source, label: string, options: LoadOptions): Promise<LoadedModel> {
    const tokenizer = await AutoTokenizer.from_pretrained(source, { signal: options.signal });
    return new LoadedModel(await AutoModelForCausalLM.from_pretrained(source, options), tokenizer, label);
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
    return Array.from(this.tokenizer(text).input_ids.data, Number);
  }

  pieces(ids: readonly number[]): Piece[] {
    return ids.map((_, i) => this.piece(ids.slice(0, i + 1)));
  }

  piece(ids: readonly number[]): Piece {
    const id = ids.at(-1) ?? 0;
    if (this.special.has(id)) return { text: this.tokenizer.decode([id]), special: true };
    const near = ids.slice(-kReach);
    const before = this.tokenizer.decode(near.slice(0, -1));
    const after = this.tokenizer.decode(near);
    const text = after.startsWith(before) && !after.endsWith('\uFFFD') ? after.slice(before.length) : '';
    return { text: text === '' ? this.nameOf(id) : text, special: false };
  }

  /** A token as the vocabulary spells it; some models count more tokens than their vocabulary has. */
  private nameOf(id: number): string {
    return id < this.tokenizer.vocab_size ? (this.tokenizer.convert_ids_to_tokens([id])[0] ?? '') : `#${id}`;
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
    const { do_sample, temperature, top_k, top_p, seed, max_new_tokens } = settings;
    const sampling = do_sample ? { temperature, top_k, top_p, seed } : {};
    const steps = this.model.generate_stream(
      { input_ids: [[...ids]] },
      {
        max_new_tokens,
        do_sample,
        ...sampling,
        output_scores: true,
        output_logits: true,
        output_attentions: true,
        tokenizer: null,
        signal,
      },
    );
    for await (const step of steps) {
      yield {
        token_id: step.token_id,
        logits: floats(step.logits),
        scores: floats(step.scores),
        attentions: (step.attentions ?? []).map(({ data, dims }) => ({ data: floats({ data }), dims })),
      };
    }
  }

  dispose(): Promise<void> {
    return this.model.dispose();
  }
}

function floats(tensor: { data: ArrayLike<number | bigint> } | undefined): Float32Array {
  const data = tensor?.data ?? [];
  return data instanceof Float32Array ? data : Float32Array.from(Array.from(data, Number));
}
