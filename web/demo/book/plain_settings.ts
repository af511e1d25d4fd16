// Generation as the book explains it, whatever the reader's own model has in generation_config.json.

import type { GenerateOptions, GenerativeModel } from 'clearformer';

/** Settings that change the scores, the search or its end; null switches one off. */
const off = {
  ...{ num_beams: null, num_return_sequences: null, early_stopping: null, length_penalty: null },
  ...{ min_new_tokens: null, min_length: null, max_time: null, stop_strings: null },
  ...{ repetition_penalty: null, encoder_repetition_penalty: null },
  ...{ no_repeat_ngram_size: null, encoder_no_repeat_ngram_size: null },
  ...{ bad_words_ids: null, sequence_bias: null, suppress_tokens: null, begin_suppress_tokens: null },
  ...{ forced_bos_token_id: null, forced_eos_token_id: null, forced_decoder_ids: null },
  ...{ exponential_decay_length_penalty: null, remove_invalid_values: false, renormalize_logits: false },
  ...{ min_p: null, top_h: null, typical_p: null, epsilon_cutoff: null, eta_cutoff: null },
} satisfies GenerateOptions;

/** Options that switch off what a model's generation_config sets of them. */
export function plainSettings({ generation_config }: GenerativeModel): Partial<typeof off> {
  return Object.fromEntries(Object.entries(off).filter(([name]) => name in generation_config));
}
