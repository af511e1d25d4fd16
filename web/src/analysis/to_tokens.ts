// Texts as a model's tokens, with TransformerLens' names and its rule: a sequence begins with the model's first token.

import type { PreTrainedModel } from '../models/pre_trained_model.js';
import { ClearformerError } from '../support/error.js';
import { isTensor, Tensor } from '../tensor/tensor.js';
import { idList, type TokenIds } from '../text/token_lists.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { checkCall } from './check_call.js';

/** Models that TransformerLens gives no bos token unless asked: they are not trained with one. */
const bare = /^(gpt_neox|bloom|phi|qwen[23]|granite(moe(hybrid)?)?|mpt|smollm3)$/;

/** Options of to_tokens and to_str_tokens. */
export interface ToTokensOptions {
  /**
   * Whether the sequence begins with the bos token, if there is one. Default true, but as in TransformerLens false for
   * GPT-NeoX, BLOOM, Phi, Qwen2, Qwen3, Granite, MPT and SmolLM3.
   */
  prepend_bos?: boolean | undefined;
}

/**
 * The ids [batch, pos] of a text or several, padded on the right, with the special tokens of the model's tokenizer; without
 * a padding token, as GPT-2's, with its eos token, as in TransformerLens. Rejects with `unsupported` if the model's folder
 * has no tokenizer, or neither token for texts of several lengths.
 */
export async function to_tokens(
  model: PreTrainedModel,
  input: string | readonly string[],
  options: ToTokensOptions = {},
): Promise<Tensor<'int64'>> {
  const tokenizer = await tokenizerOf('to_tokens', model, options);
  const rows = [input].flat().map((text) => idsOf(model, tokenizer, text, options.prepend_bos));
  const length = rows.reduce((most, row) => Math.max(most, row.length), 0);
  const pad = tokenizer.pad_token_id ?? (model.cfg.pad_token_id as number | null) ?? tokenizer.eos_token_id;
  if (pad === null && rows.some((row) => row.length < length)) {
    throw new ClearformerError('unsupported', 'to_tokens: texts of several lengths, and no padding token');
  }
  const padded = rows.flatMap((row) => [...row, ...new Array<number>(length - row.length).fill(pad ?? 0)]);
  return new Tensor('int64', padded, [rows.length, length]);
}

/** The text of each token of a text, or of ids. Rejects as `to_tokens`. */
export async function to_str_tokens(
  model: PreTrainedModel,
  input: string | Tensor | readonly number[],
  options: ToTokensOptions = {},
): Promise<string[]> {
  const tokenizer = await tokenizerOf('to_str_tokens', model, options);
  const ids =
    typeof input === 'string'
      ? idsOf(model, tokenizer, input, options.prepend_bos)
      : idList(rowOf(input), 'to_str_tokens');
  return ids.map((id) => tokenizer.decode([id], { clean_up_tokenization_spaces: false }));
}

/** The ids of a tensor of one row, [pos] or [1, pos]; others as they are. */
function rowOf(input: Tensor | readonly number[]): TokenIds {
  if (!isTensor(input)) return input;
  const { type, data, dims, size } = input;
  if (!/^u?int/.test(type))
    throw new ClearformerError('dtype_mismatch', `to_str_tokens: ids are integers, not ${type}`);
  if (size === dims.at(-1)) return Array.from(data as ArrayLike<number | bigint>, Number);
  throw new ClearformerError('shape_mismatch', `to_str_tokens: needs dims [pos] or [1, pos], got [${dims.join(', ')}]`);
}

async function tokenizerOf(
  call: string,
  model: PreTrainedModel,
  options: ToTokensOptions,
): Promise<PreTrainedTokenizer> {
  checkCall(call, model, options, ['prepend_bos']);
  const tokenizer = await model.ownTokenizer();
  if (tokenizer !== undefined) return tokenizer;
  throw new ClearformerError('unsupported', `${call}: there is no tokenizer in the model's folder`);
}

/** Tokenizers add the bos token of some models and not of others. */
function idsOf(model: PreTrainedModel, tokenizer: PreTrainedTokenizer, text: string, prepend?: boolean): number[] {
  const ids = tokenizer.encode(text);
  const bos = tokenizer.bos_token_id ?? (model.cfg.bos_token_id as number | null);
  if (bos === null) return ids;
  const added = tokenizer.encode('')[0] === bos;
  if (prepend ?? !bare.test(model.cfg.model_type)) return added ? ids : [bos, ...ids];
  return added ? ids.slice(1) : ids;
}
