// Ties, exact lengths, overlapping tokens, merges with missing tokens, decoders: equal to the `tokenizers` crate.

import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { casesOf } from './support/references.js';

interface EdgeCase {
  name: string;
  op: string;
  json: object;
  side: 'left' | 'right';
  cases: unknown[];
}
const all = casesOf('tokenizer_edges') as unknown as EdgeCase[];
const of = (op: string) => all.filter((one) => one.op === op);

describe('pairs that are too long', () => {
  it.each(of('truncate_pairs'))('$name', ({ json, side, cases }) => {
    const tokenizer = new PreTrainedTokenizer(json);
    const found = (cases as [number, number, number, number[]][]).map(([first, second, max_length]) => {
      const options = { truncation: 'longest_first', truncation_side: side, max_length, return_tensor: false } as const;
      const text_pair = 'fghij'.slice(0, second);
      const { input_ids } = tokenizer('abcde'.slice(0, first), { ...options, text_pair });
      return [first, second, max_length, input_ids];
    });
    expect(found).toEqual(cases);
  });
});

describe('padding to a multiple', () => {
  it.each(of('pad_to_multiples'))('$name', ({ json, side, cases }) => {
    const tokenizer = new PreTrainedTokenizer(json, { pad_token: 'z' });
    const found = (cases as [number[], number, number[][], number[][]][]).map(([lengths, multiple]) => {
      const texts = lengths.map((length) => 'abcdefgh'.slice(0, length));
      const options = {
        padding: true,
        padding_side: side,
        pad_to_multiple_of: multiple,
        return_tensor: false,
      } as const;
      const { input_ids, attention_mask } = tokenizer(texts, options);
      return [lengths, multiple, input_ids, attention_mask];
    });
    expect(found).toEqual(cases);
  });
});

describe('encoding', () => {
  it.each(of('encode'))('$name', ({ json, cases }) => {
    const tokenizer = new PreTrainedTokenizer(json);
    const found = (cases as [string, { ids: number[]; offsets?: [number, number][] }][]).map(([text, { offsets }]) => {
      const { input_ids: ids, offset_mapping } = tokenizer(text, {
        return_tensor: false,
        return_offsets_mapping: true,
      });
      return [text, offsets === undefined ? { ids } : { ids, offsets: offset_mapping }];
    });
    expect(found).toEqual(cases);
  });
});

describe('decoding', () => {
  it.each(of('decode'))('$name', ({ json, cases }) => {
    const tokenizer = new PreTrainedTokenizer(json);
    const options = { clean_up_tokenization_spaces: false };
    expect((cases as [number[], string][]).map(([ids]) => [ids, tokenizer.decode(ids, options)])).toEqual(cases);
  });
});

const model = { type: 'BPE', vocab: { a: 0, b: 1, ab: 2 }, merges: [['a', 'b']] };
const split = (pattern: unknown) => ({ model, pre_tokenizer: { type: 'Split', pattern, behavior: 'Isolated' } });

describe('a broken tokenizer.json', () => {
  it.each([
    [{}, 'malformed_config', 'no model'],
    [{ model: { ...model, vocab: 3 } }, 'malformed_config', 'vocab must be'],
    [{ model: { ...model, vocab: { a: 'x' } } }, 'malformed_config', '"a"'],
    ...[-1, 65.5, '65', null, 2 ** 53, 2 ** 26, true, [1]].flatMap((id): [object, string, string][] => [
      [{ model: { ...model, vocab: { a: id } } }, 'malformed_config', '"a"'],
      [{ model, added_tokens: [{ id, content: '<s>' }] }, 'malformed_config', '"<s>"'],
      [{ model, post_processor: { type: 'BertProcessing', cls: ['a', id], sep: ['b', 1] } }, 'malformed_config', 'cls'],
    ]),
    [{ model: { ...model, vocab: { a: 0, b: 1, ab: 1 } } }, 'malformed_config', '"b" and "ab" have the id 1'],
    [{ model: { ...model, merges: ['a b c'] } }, 'malformed_config', 'a pair'],
    [{ model: { type: 'Unigram', vocab: [['a', 0]], unk_id: -1 } }, 'malformed_config', 'unk_id'],
    [{ model: { type: 'Unigram', vocab: [['a', 0]], unk_id: 1 } }, 'malformed_config', 'unk_id'],
    [{ model: { type: 'Unigram', vocab: [['a', Number.POSITIVE_INFINITY]] } }, 'malformed_config', 'finite'],
    [{ model, added_tokens: {} }, 'malformed_config', 'list'],
    [{ model, added_tokens: [null] }, 'malformed_config', 'added_tokens[0]'],
    [{ model, added_tokens: [{ id: 5 }] }, 'malformed_config', 'a content'],
    [
      { model, added_tokens: ['<s>', '</s>'].map((content) => ({ id: 5, content })) },
      'malformed_config',
      '"<s>" and "</s>" have the id 5',
    ],
    [{ model: { ...model, merges: [['a', 'c']] } }, 'malformed_config', 'a c'],
    [{ model: { ...model, merges: ['ab'] } }, 'malformed_config', 'a pair'],
    [{ model: { ...model, merges: undefined } }, 'malformed_config', 'merges'],
    [{ model: { ...model, dropout: 0.1 } }, 'unsupported', 'dropout'],
    [{ model: { ...model, unk_token: '<unk>' } }, 'malformed_config', '<unk>'],
    [{ model: { ...model, type: 'Trie' } }, 'unsupported', 'Trie'],
    [{ model: { type: 'Unigram', vocab: [['a']] } }, 'malformed_config', 'entry 0'],
    [{ model: { type: 'Unigram', vocab: [], unk_id: 0 } }, 'malformed_config', 'empty'],
    [{ model: { type: 'WordPiece', vocab: {}, max_input_chars_per_word: '9' } }, 'malformed_config', 'max_input_chars'],
    [{ model, normalizer: { type: 'Replace', pattern: 3, content: '' } }, 'malformed_config', 'pattern'],
    [{ model, normalizer: { type: 'Sequence' } }, 'malformed_config', 'normalizers'],
    [{ model, normalizer: {} }, 'malformed_config', 'normalizer has no type'],
    [{ model, normalizer: { type: 'NFX' } }, 'unsupported', 'NFX'],
    [{ model, decoder: { type: 'Strip', content: 'ab' } }, 'malformed_config', 'one character'],
    [{ model, pre_tokenizer: { type: 'Punctuation', behavior: 'Gone' } }, 'malformed_config', 'behavior'],
    [{ model, pre_tokenizer: { type: 'FixedLength', length: 0 } }, 'malformed_config', 'length'],
    [{ model, pre_tokenizer: { type: 'UnicodeScripts' } }, 'unsupported', 'UnicodeScripts'],
    [{ model, post_processor: { type: 'BertProcessing', cls: 'a' } }, 'malformed_config', 'token and its id'],
    [{ model, post_processor: { type: 'TemplateProcessing', single: [{}], pair: [] } }, 'malformed_config', 'piece'],
    [split({ Regex: '(a' }), 'malformed_config', '( too many'],
    [split({ Regex: 'a)' }), 'malformed_config', ') too many'],
    [split({ Regex: '+' }), 'malformed_config', 'nothing before'],
    [split({ Regex: '[b-a]' }), 'malformed_config', 'class'],
    [split({ Regex: '[a' }), 'malformed_config', 'class'],
    [split({ Regex: 'a\\' }), 'malformed_config', 'backslash'],
    [split({ Regex: '\\p{Nonsense}' }), 'unsupported', 'Nonsense'],
    [split({ Regex: '(a)\\1' }), 'unsupported', '\\1'],
    [split({ Regex: '\\Ka' }), 'unsupported', '\\K'],
    [split({ Regex: '(?i:first)' }), 'unsupported', 'fi'],
    [split({ Regex: '(?x) a' }), 'unsupported', '(?x)'],
    [split({ Regex: '(?~a)' }), 'unsupported', 'group'],
  ])('%j is refused', async (json, code, word) => {
    const failure = await failureOf(() => new PreTrainedTokenizer(json));
    expect(failure.message).toContain(word);
    expect(failure).toMatchObject({ code, details: { file: 'tokenizer.json' } });
  });
});
