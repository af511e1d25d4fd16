// Folders without tokenizer.json: vocab.txt (BERT, ESM) or vocab.json with merges.txt (GPT-2, RoBERTa, CLIP, Whisper),
// interpreted like transformers' classes for these models, and converted to the form of tokenizer.json.

import { ClearformerError } from '../support/error.js';
import { classOf } from './code_points.js';
import { isSpace, keptRange } from './python_space.js';
import { addedTokensOf, bertNormalizer, type Family, specialTokensOf, type TokenizerConfig } from './special_tokens.js';
import type { Step } from './step.js';
import { whiteSpace } from './unicode.js';

type Vocab = Record<string, number>;

/** Converts a BERT-like vocab.txt: one token per line, its id is the line number. */
export function fromVocabTxt(text: string, config: TokenizerConfig): object {
  const space = classOf(whiteSpace);
  const end = new RegExp(`(?<!${space})${space}+$`, 'u'); // trimEnd() removes U+FEFF, too
  const lines = text.split('\n').map((line) => line.replace(end, ''));
  if (lines.at(-1) === '') lines.pop();
  if (lines.length === 0)
    throw new ClearformerError('malformed_config', 'vocab.txt: it has no token', { file: 'vocab.txt' });
  const vocab: Vocab = Object.fromEntries(lines.map((line, id) => [line, id]));
  const { special, added_tokens } = specialOf(vocab, config);
  const piece = (name: 'cls_token' | 'sep_token') => [special[name]?.content ?? '', special[name]?.id ?? 0];
  return {
    added_tokens,
    normalizer: bertNormalizer(config),
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: { type: 'BertProcessing', cls: piece('cls_token'), sep: piece('sep_token') },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: special.unk_token?.content,
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}

/** The special tokens of EsmTokenizer for files that name none. */
export const aminoAcidRoles = {
  eos_token: '<eos>',
  unk_token: '<unk>',
  pad_token: '<pad>',
  cls_token: '<cls>',
  mask_token: '<mask>',
};

/**
 * Converts ESM's vocab.txt, whose lines are cut as by Python. Every token is found wherever it stands, the longest at each
 * place; what is left between them are words in white space, each of which is one unknown token.
 */
export function fromAminoAcids(text: string, config: TokenizerConfig): object {
  const lines = text.split(/\r\n|[\n\r\v\f\x85\u2028\u2029]/).map((line) => line.slice(...keptRange(line)));
  if (lines.at(-1) === '') lines.pop();
  const vocab: Vocab = Object.fromEntries(lines.map((line, id) => [line, id]));
  const tokens = [...new Set(lines)].filter((line) => line !== '').sort((a, b) => b.length - a.length);
  if (tokens.length === 0)
    throw new ClearformerError('malformed_config', 'vocab.txt: it has no token', { file: 'vocab.txt' });
  const { special, added_tokens } = specialOf(vocab, config);
  const split = (pattern: string, behavior: string) =>
    step('Split', { pattern: { Regex: pattern }, behavior, invert: false });
  const literal = (token: string) => token.replace(/[\\^$.*+?()[\]{}|#&~-]/g, '\\$&');
  const spaces = `[\\s${[...'\x1c\x1d\x1e\x1f\x85'].filter(isSpace).join('')}]+`;
  return {
    added_tokens,
    pre_tokenizer: step('Sequence', {
      pretokenizers: [split(tokens.map(literal).join('|'), 'Isolated'), split(spaces, 'Removed')],
    }),
    post_processor: between(special),
    model: { type: 'WordLevel', unk_token: special.unk_token?.content, vocab },
  };
}

/** CLIP's pattern of words. */
export const clipWords =
  "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+";

/** Converts vocab.json (ids by token) and merges.txt (a pair per line, the most frequent first). */
export function fromVocabAndMerges(vocab: Vocab, merges: string, config: TokenizerConfig, family: Family): object {
  const isClip = family === 'clip';
  const { special, added_tokens } = specialOf(vocab, config);
  const bytes = { type: 'ByteLevel', add_prefix_space: config.add_prefix_space ?? false, trim_offsets: true };
  const clipNormalizer = step('Sequence', {
    normalizers: [step('NFC'), step('Replace', { pattern: { Regex: '\\s+' }, content: ' ' }), step('Lowercase')],
  });
  const clipSplit = step('Split', { pattern: { Regex: clipWords }, behavior: 'Removed', invert: true });
  return {
    added_tokens,
    normalizer: isClip ? clipNormalizer : null,
    pre_tokenizer: isClip
      ? step('Sequence', { pretokenizers: [clipSplit, { ...bytes, add_prefix_space: false }] })
      : bytes,
    post_processor: around(family, special, config),
    decoder: { type: 'ByteLevel' },
    model: {
      type: 'BPE',
      unk_token: isClip ? special.unk_token?.content : null,
      end_of_word_suffix: isClip ? '</w>' : '',
      vocab,
      merges: merges.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith('#version')),
    },
  };
}

const step = (type: string, more: object = {}): Step => ({ type, ...more });

type Special = Record<string, { content: string; id: number } | undefined>;

function specialOf(vocab: Vocab, config: TokenizerConfig) {
  const added_tokens = addedTokensOf([], { ids: new Map(Object.entries(vocab)) }, config);
  const ids = new Map(added_tokens.map(({ content, id }) => [content, id]));
  const named = Object.entries(specialTokensOf(config, (token) => ids.has(token)));
  const entries = named.map(([name, content]) => [
    name,
    content === null ? undefined : { content, id: ids.get(content) },
  ]);
  return { special: Object.fromEntries(entries) as Special, added_tokens };
}

/** The special tokens that the classes add around a text. */
function around(family: Family, special: Special, config: TokenizerConfig): Step | null {
  const pair = (name: string) => [special[name]?.content, special[name]?.id];
  if (family === 'roberta') {
    const cls = pair('cls_token');
    const { add_prefix_space = false } = config;
    return { type: 'RobertaProcessing', cls, sep: pair('sep_token'), trim_offsets: true, add_prefix_space };
  }
  if (family === 'clip') {
    const ends = { cls: pair('bos_token'), sep: pair('eos_token') };
    return { type: 'RobertaProcessing', ...ends, trim_offsets: false, add_prefix_space: false };
  }
  if (family === 'gpt2') return ends(special, config);
  return null; // Whisper's are placed by whisper_prefix.ts
}

/** GPT-2's class adds a first and a last token to each text if the file says so (OPT). */
function ends(special: Special, { add_bos_token, add_eos_token }: TokenizerConfig): Step | null {
  const first = [add_bos_token === true ? special.bos_token : undefined].filter((one) => !!one);
  const last = [add_eos_token === true ? special.eos_token : undefined].filter((one) => !!one);
  if (first.length + last.length === 0) return null;
  const side = (id: string, type_id: number) => [
    ...first.map((token) => slot(token, type_id)),
    text(id, type_id),
    ...last.map((token) => slot(token, type_id)),
  ];
  const single = side('A', 0);
  return {
    type: 'TemplateProcessing',
    single,
    pair: [...single, ...side('B', 1)],
    special_tokens: idsOf([...first, ...last]),
  };
}

/** ESM's class adds a first token, and a last one to both texts of a pair; what belongs to the second is not marked. */
function between({ cls_token, eos_token }: Special): Step {
  const last = eos_token ? [slot(eos_token)] : [];
  const single = [...(cls_token ? [slot(cls_token)] : []), text('A', 0), ...last];
  const special_tokens = idsOf([cls_token, eos_token].filter((token) => token !== undefined));
  return { type: 'TemplateProcessing', single, pair: [...single, text('B', 0), ...last], special_tokens };
}

type Named = { content: string; id: number };

const slot = ({ content }: { content: string }, type_id = 0) => ({ SpecialToken: { id: content, type_id } });
const text = (id: string, type_id: number) => ({ Sequence: { id, type_id } });
const idsOf = (tokens: readonly Named[]) =>
  Object.fromEntries(tokens.map(({ content, id }) => [content, { ids: [id] }]));
