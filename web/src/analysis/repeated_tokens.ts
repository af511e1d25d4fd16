// The inputs that induction heads were discovered with: random tokens, repeated once, so that only the earlier
// occurrence predicts the next token. Source: Olsson et al. 2022, "In-context Learning and Induction Heads", arXiv
// 2209.11895.

import type { ModelInputs } from '../models/inputs.js';
import type { PreTrainedModel } from '../models/pre_trained_model.js';
import type { ModelShape } from '../runtime/border.js';
import { ClearformerError, textOf } from '../support/error.js';

export interface RepeatedTokensOptions {
  /** Rows of the default inputs (4). */
  batch?: number | undefined;
  /** Tokens before the repetition (50, or as many as the model's positions and vocabulary allow). */
  length?: number | undefined;
  /** Seed of the random tokens (1). */
  seed?: number | undefined;
}

/**
 * Rows [start token, t_1 … t_n, t_1 … t_n], with all t of a row distinct and no special tokens; for an encoder-decoder
 * the same for both stacks, the encoder's without start token. Throws `invalid_argument` for sizes that the model does
 * not support, and for models that need inputs other than tokens.
 */
export function repeatedTokens(call: string, model: PreTrainedModel, options: RepeatedTokensOptions): ModelInputs {
  const { kind, n_ctx, d_vocab, encoder } = model.cfg;
  const both = kind === 'encoder-decoder';
  const fewest = both ? Math.min(d_vocab, (encoder as ModelShape).d_vocab) : d_vocab; // ids that all stacks have
  if (kind === 'dual-encoder' || fewest === 0) {
    throw new ClearformerError(
      'invalid_argument',
      `${call}: ${model.cfg.model_type} needs inputs: not of tokens alone`,
      {
        option: 'inputs',
      },
    );
  }
  const special = specialTokens(model);
  const start = both ? model.cfg.decoder_start_token_id : model.cfg.bos_token_id;
  const first = typeof start === 'number' ? [start] : [];
  const words = Array.from({ length: fewest }, (_, id) => id).filter((id) => !special.has(id));
  const most = Math.min(Math.floor((n_ctx - first.length) / 2), words.length);
  const length = within(call, 'length', options.length ?? Math.min(50, most), 2, most);
  const batch = within(call, 'batch', options.batch ?? 4, 1, Number.MAX_SAFE_INTEGER);
  const next = randomNumbers(within(call, 'seed', options.seed ?? 1, 0, Number.MAX_SAFE_INTEGER));
  const rows = Array.from({ length: batch }, () => drawn(words, length, next));
  const input_ids = rows.map((row) => [...first, ...row, ...row]);
  return both ? { input_ids: rows.map((row) => [...row, ...row]), decoder_input_ids: input_ids } : { input_ids };
}

function specialTokens({ cfg }: PreTrainedModel): Set<unknown> {
  return new Set([cfg.bos_token_id, cfg.eos_token_id, cfg.pad_token_id, cfg.decoder_start_token_id].flat());
}

function within(call: string, option: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new ClearformerError(
    'invalid_argument',
    `${call}: ${option} must be a whole number from ${least} to ${most}, got ${textOf(value)}`,
    { option },
  );
}

/** `count` distinct elements of `words`: the first steps of a Fisher-Yates shuffle. */
function drawn(words: readonly number[], count: number, next: (below: number) => number): number[] {
  const deck = [...words];
  return Array.from({ length: count }, (_, at) => {
    const from = at + next(deck.length - at);
    const taken = deck[from] as number;
    deck[from] = deck[at] as number;
    return taken;
  });
}

/** Random integers below a bound, from Lehmer's generator modulo 2^31 - 1 (Park & Miller 1988; factor 48271). */
function randomNumbers(seed: number): (below: number) => number {
  const modulus = 2 ** 31 - 1;
  let state = (seed % (modulus - 1)) + 1;
  const step = () => {
    state = (state * 48271) % modulus;
    return state;
  };
  step(); // the first numbers of small seeds are similar
  return (below) => step() % below;
}
