// How fast a model writes in this tab when nothing holds it up: measured, not estimated.

import type { GenerativeModel } from 'clearformer';

const mostTokens = 48;
const milliseconds = 300;

/** Tokens a second over up to 48 steps or 0.3 s after the first one; undefined when there is no room for two. */
export async function measureSpeed(
  model: GenerativeModel,
  token_id: number,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const max_new_tokens = Math.min(mostTokens, model.cfg.n_ctx - 1);
  const options = { max_new_tokens, do_sample: false, eos_token_id: null, tokenizer: null, signal };
  let begun = 0;
  let tokens = -1;
  let elapsed = 0;
  for await (const _ of model.generate_stream({ input_ids: [[token_id]] }, options)) {
    if (++tokens === 0) begun = performance.now();
    elapsed = performance.now() - begun;
    if (elapsed > milliseconds) break;
  }
  return tokens > 0 ? (tokens / elapsed) * 1000 : undefined;
}
