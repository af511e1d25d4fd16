// Ids and spans of lines, compared by hash. This file also runs unchanged in a browser: it imports types only.

import type { PreTrainedTokenizer } from 'clearformer/tokenizer';

export function encode(tokenizer: PreTrainedTokenizer, text: string) {
  const { input_ids, offset_mapping } = tokenizer(text, { return_tensor: false, return_offsets_mapping: true });
  return { ids: input_ids, offsets: offset_mapping as [number, number][] };
}

/** FNV-1a over numbers, 32 bits. */
function fnv1a(values: readonly number[]): number {
  return values.reduce((hash, value) => Math.imul(hash ^ value, 0x01000193) >>> 0, 0x811c9dc5);
}

/** The lines whose ids or spans differ from the hashed ones. */
export function wrongLines(
  tokenizer: PreTrainedTokenizer,
  lines: readonly string[],
  hashes: readonly number[],
): string[] {
  return lines.filter((text, i) => {
    const { ids, offsets } = encode(tokenizer, text);
    return fnv1a([...ids, ...offsets.flat()]) !== hashes[i];
  });
}
