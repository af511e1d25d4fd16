// fill-mask: the most probable tokens for mask tokens.

import { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { checkOptions, refusedOption } from '../support/options.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { type LogitsModel, Pipeline } from './base_pipeline.js';
import { loader } from './load_pipeline.js';
import { checkCount, rowOf, softmax, topIndices } from './scores.js';
import { checkTexts } from './text_pairs.js';
import { inTextBatches, modelInputs, type TextCallOptions, textCallOptions, textList, tokenizing } from './texts.js';

/** Options of a call. */
export interface FillMaskOptions extends TextCallOptions {
  /** Number of tokens, best first. Default 5. */
  top_k?: number | undefined;
  /**
   * The only candidates: words of the vocabulary, as spelt there; of another text its first token. Their scores are
   * those among all tokens. Default: all tokens.
   */
  targets?: string | readonly string[] | undefined;
}

/** A candidate token. */
export interface FilledMask {
  /** Its probability. */
  score: number;
  token: number;
  token_str: string;
  /** The text with the token, without special tokens; with several masks, with the others and all special tokens. */
  sequence: string;
}

type Filled = FilledMask[] | FilledMask[][];

/** Predicts masked tokens. */
export interface FillMaskPipeline {
  /**
   * The best tokens for the mask of a text; for a text with several masks such a list for each, in order, independently
   * of one another: `fill<FilledMask[][]>(text)` tells the compiler. Rejects with `invalid_argument` for a text without
   * the tokenizer's `mask_token`, with `disposed` or the abort signal's reason.
   */
  <Found extends Filled = FilledMask[]>(text: string, options?: FillMaskOptions): Promise<Found>;
  /** The same for several texts. */
  <Found extends Filled = FilledMask[]>(texts: readonly string[], options?: FillMaskOptions): Promise<Found[]>;
  /** One of both, as the texts are. */
  <Found extends Filled = FilledMask[]>(
    texts: string | readonly string[],
    options?: FillMaskOptions,
  ): Promise<Found | Found[]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class FillMaskPipeline extends Pipeline<
  [string | readonly string[], FillMaskOptions?],
  Filled | Filled[],
  LogitsModel
> {
  readonly tokenizer: PreTrainedTokenizer;

  /** @internal */
  constructor(task: string, model: LogitsModel, tokenizer: PreTrainedTokenizer) {
    super(task, model);
    this.tokenizer = tokenizer;
    if (tokenizer.mask_token_id !== null) return;
    throw new ClearformerError('unsupported', `${task}: the tokenizer has no mask_token`, { option: 'mask_token' });
  }

  /** @internal */
  override async _call(texts: string | readonly string[], options: FillMaskOptions = {}): Promise<Filled | Filled[]> {
    checkOptions(this.task, options, [...textCallOptions, 'top_k', 'targets']);
    const { top_k = 5, targets, signal } = options;
    checkCount('top_k', top_k);
    const among = targets === undefined ? undefined : this.#targets(targets);
    const list = textList(this.task, texts);
    const results = await inTextBatches(list, this.tokenizer, options, async (part) => {
      const encoded = await this.tokenizer.paced(part, tokenizing(this.tokenizer, options));
      const rows = part.map((text, row) => {
        const ids = Array.from(encoded.input_ids.slice(row).data, Number);
        return { ids, masks: this.#masksIn(ids, text) };
      });
      const { logits } = await this.model(modelInputs(encoded), { signal });
      const vocabulary = logits.dims[2] ?? 0;
      return rows.map(({ ids, masks }, row): Filled => {
        const found = masks.map((at) => {
          const scores = softmax(rowOf(logits, row).subarray(at * vocabulary, (at + 1) * vocabulary));
          const candidates = among ?? Array.from(scores, (_, token) => token);
          const best = topIndices(
            candidates.map((token) => scores[token] as number),
            top_k,
          );
          return best.map((i) => {
            const token = candidates[i] as number;
            const whole = ids.with(at, token).filter((id) => id !== this.tokenizer.pad_token_id);
            const sequence = this.tokenizer.decode(whole, { skip_special_tokens: masks.length === 1 });
            return { score: scores[token] as number, token, token_str: this.tokenizer.decode([token]), sequence };
          });
        });
        return found.length === 1 ? (found[0] as FilledMask[]) : found;
      });
    });
    return Array.isArray(texts) ? results : (results[0] as Filled);
  }

  /** The ids of targets, each once. */
  #targets(targets: string | readonly string[]): number[] {
    const words = typeof targets === 'string' ? [targets] : targets;
    checkTexts(this.task, 'targets', words);
    const ids = words.map((word) => {
      const known = this.tokenizer.convert_tokens_to_ids(word);
      if (known !== null && this.tokenizer.convert_ids_to_tokens(known) === word) return known;
      const [first] = this.tokenizer.encode(word, { add_special_tokens: false });
      if (first !== undefined) return first;
      throw refusedOption(this.task, 'targets', `'${word}' has no tokens`);
    });
    return [...new Set(ids)];
  }

  /** The positions of the masks. */
  #masksIn(ids: readonly number[], text: string): number[] {
    const { mask_token, mask_token_id } = this.tokenizer;
    const masks = ids.flatMap((id, at) => (id === mask_token_id ? [at] : []));
    const given = text.split(mask_token as string).length - 1;
    if (masks.length > 0 && masks.length >= given) return masks;
    const start = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    const left = masks.length === 0 ? `no ${mask_token}` : `${masks.length} of ${given} ${mask_token}`;
    throw new ClearformerError(
      'invalid_argument',
      `${this.task}: '${start}' has ${left}${given > 0 ? ' in what truncation leaves of it' : ''}`,
    );
  }
}

/** @internal */
export const load = loader<LogitsModel, PreTrainedTokenizer, FillMaskPipeline>({
  Model: PreTrainedModel,
  read: readTokenizer,
  create: (task, model, tokenizer) => new FillMaskPipeline(task, model, tokenizer),
});
