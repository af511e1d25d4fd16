// fill-mask: the most probable tokens for the mask token.

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
  /** The text with the token, without special tokens. */
  sequence: string;
}

/** Predicts masked tokens. */
export interface FillMaskPipeline {
  /**
   * The best tokens for the mask of a text, or of each text. A text must contain the tokenizer's `mask_token` once:
   * none is `invalid_argument`, several are `unsupported`. Also rejects with `disposed` or the abort signal's reason.
   */
  (text: string, options?: FillMaskOptions): Promise<FilledMask[]>;
  /** The same for several texts. */
  (texts: readonly string[], options?: FillMaskOptions): Promise<FilledMask[][]>;
  /** One of both, as the texts are. */
  (texts: string | readonly string[], options?: FillMaskOptions): Promise<FilledMask[] | FilledMask[][]>;
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class FillMaskPipeline extends Pipeline<
  [string | readonly string[], FillMaskOptions?],
  FilledMask[] | FilledMask[][],
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
  override async _call(
    texts: string | readonly string[],
    options: FillMaskOptions = {},
  ): Promise<FilledMask[] | FilledMask[][]> {
    checkOptions(this.task, options, [...textCallOptions, 'top_k', 'targets']);
    const { top_k = 5, targets, signal } = options;
    checkCount('top_k', top_k);
    const among = targets === undefined ? undefined : this.#targets(targets);
    const list = textList(this.task, texts);
    const results = await inTextBatches(list, this.tokenizer, options, async (part) => {
      const encoded = await this.tokenizer.paced(part, tokenizing(this.tokenizer, options));
      const rows = part.map((text, row) => {
        const ids = Array.from(encoded.input_ids.slice(row).data, Number);
        return { ids, at: this.#maskIn(ids, text) };
      });
      const { logits } = await this.model(modelInputs(encoded), { signal });
      const vocabulary = logits.dims[2] ?? 0;
      return rows.map(({ ids, at }, row) => {
        const scores = softmax(rowOf(logits, row).subarray(at * vocabulary, (at + 1) * vocabulary));
        const candidates = among ?? Array.from(scores, (_, token) => token);
        const best = topIndices(
          candidates.map((token) => scores[token] as number),
          top_k,
        );
        return best.map((i) => {
          const token = candidates[i] as number;
          return this.#filled(ids, at, token, scores[token] as number);
        });
      });
    });
    return Array.isArray(texts) ? results : (results[0] as FilledMask[]);
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

  /** The position of the mask. */
  #maskIn(ids: readonly number[], text: string): number {
    const { mask_token, mask_token_id } = this.tokenizer;
    const at = ids.indexOf(mask_token_id as number);
    const several = at >= 0 && ids.lastIndexOf(mask_token_id as number) !== at;
    if (at >= 0 && !several) return at;
    const isCut = !several && text.includes(mask_token as string);
    const start = text.length > 40 ? `${text.slice(0, 40)}…` : text;
    throw new ClearformerError(
      several ? 'unsupported' : 'invalid_argument',
      `${this.task}: '${start}' has ${several ? 'more than one' : 'no'} ${mask_token}${isCut ? ' in what truncation leaves of it' : ''}`,
    );
  }

  #filled(ids: readonly number[], at: number, token: number, score: number): FilledMask {
    const whole = ids.map((id, i) => (i === at ? token : id)).filter((id) => id !== this.tokenizer.pad_token_id);
    const sequence = this.tokenizer.decode(whole, { skip_special_tokens: true });
    return { score, token, token_str: this.tokenizer.decode([token]), sequence };
  }
}

/** @internal */
export const load = loader<LogitsModel, PreTrainedTokenizer, FillMaskPipeline>({
  Model: PreTrainedModel,
  read: readTokenizer,
  create: (task, model, tokenizer) => new FillMaskPipeline(task, model, tokenizer),
});
