// Ties, exact lengths, overlapping tokens, merges with missing tokens, decoders, chains of post-processors, ids of
// added tokens: equal to the `tokenizers` crate; and the side that transformers' classes pad.

import { AutoTokenizer, PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { casesOf } from './support/references.js';

interface EdgeCase {
  name: string;
  op: string;
  json: object;
  side: 'left' | 'right';
  cases: unknown[];
  /** Of the vocabulary. */
  size?: number;
  /** The numbers of special tokens added to a text and to a pair. */
  added: number[];
  class: string | null;
}
const all = casesOf<EdgeCase>('tokenizer_edges');
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
  it.each(of('decode'))('$name', ({ json, cases, size }) => {
    const tokenizer = new PreTrainedTokenizer(json);
    const options = { clean_up_tokenization_spaces: false };
    expect((cases as [number[], string][]).map(([ids]) => [ids, tokenizer.decode(ids, options)])).toEqual(cases);
    if (size !== undefined) expect(tokenizer.vocab_size).toBe(size);
  });
});

type Processed = {
  ids: number[];
  types: number[];
  offsets: number[][];
  special: number[];
};

describe('post-processors behind one another', () => {
  it.each(of('post_process'))('$name', async ({ json, cases, added }) => {
    const tokenizer = new PreTrainedTokenizer(json);
    const call = (text: string, text_pair: string | undefined, add_special_tokens: boolean): Processed => {
      const options = { return_offsets_mapping: true, return_special_tokens_mask: true, return_token_type_ids: true };
      const found = tokenizer(text, { ...options, text_pair, add_special_tokens, return_tensor: false });
      const { input_ids: ids, token_type_ids: types = [], offset_mapping: offsets = [], special_tokens_mask } = found;
      return { ids, types, offsets, special: special_tokens_mask ?? [] };
    };
    expect([tokenizer.num_special_tokens_to_add(), tokenizer.num_special_tokens_to_add('pair')]).toEqual(added);
    for (const [text, pair, special, expected] of cases as [string, string | null, boolean, Processed | null][]) {
      const encode = () => call(text, pair ?? undefined, special);
      if (expected !== null) expect(encode()).toEqual(expected);
      else expect(await failureOf(encode)).toMatchObject({ code: 'malformed_config' }); // the crate panics
    }
  });
});

describe('the side that is padded', () => {
  it.each(of('padding_side'))('$name', async ({ json, class: tokenizer_class, cases }) => {
    const bytes = (value: object) => new TextEncoder().encode(JSON.stringify(value));
    const files = { 'tokenizer.json': bytes(json), 'tokenizer_config.json': bytes({ tokenizer_class }) };
    const sideOf = async (model_type: string) => {
      const config = model_type === '' ? {} : { 'config.json': bytes({ model_type }) };
      return (await AutoTokenizer.from_pretrained({ ...files, ...config })).padding_side;
    };
    const [{ left, right }] = cases as [{ left: string[]; right: string[] }];
    const found = await Promise.all([...left, ...right].map(async (kind) => [kind, await sideOf(kind)]));
    expect(found).toEqual([...left.map((kind) => [kind, 'left']), ...right.map((kind) => [kind, 'right'])]);
  });

  it('is the one that a file names, whatever the class', () => {
    const json = of('padding_side')[0]?.json ?? {};
    const sideOf = (config: object, padding?: object) =>
      new PreTrainedTokenizer({ ...json, padding }, config).padding_side;
    const tokenizer_class = 'LlamaTokenizer';
    expect(sideOf({ tokenizer_class })).toBe('left');
    expect(sideOf({ tokenizer_class, padding_side: 'right' })).toBe('right');
    expect(sideOf({ tokenizer_class }, { direction: 'Right' })).toBe('right');
    expect(sideOf({ tokenizer_class, padding_side: 'left' }, { direction: 'Right' })).toBe('left');
  });

  it('and the truncated one are checked where they are used', async () => {
    const tokenizer = new PreTrainedTokenizer(of('padding_side')[0]?.json ?? {}, { pad_token: '<pad>' });
    Object.assign(tokenizer, { padding_side: 'top', truncation_side: 'end' });
    const failure = (options: object) => failureOf(() => tokenizer(['a', 'ab ab'], options));
    expect((await failure({ padding: true })).message).toContain("padding_side must be 'left' or 'right', not top");
    expect((await failure({ truncation: true, max_length: 1 })).message).toContain('truncation_side');
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
    ...[-1, []].flatMap((unk_token) =>
      [model, { type: 'WordPiece', vocab: {} }, { type: 'WordLevel', vocab: {} }].map(
        (one): [object, string, string] => [{ model: { ...one, unk_token } }, 'malformed_config', 'unk_token must be'],
      ),
    ),
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

describe('added tokens that are found in normalized text', () => {
  const added = (id: number, content: string) => ({ id, content, normalized: true, special: false });
  const tokenizer = new PreTrainedTokenizer({
    added_tokens: [added(4, 'MyTok'), added(5, 'New Tok')],
    normalizer: { type: 'Sequence', normalizers: [{ type: 'Lowercase' }, { type: 'Prepend', prepend: '_' }] },
    model: { type: 'BPE', vocab: { a: 0, _: 1, b: 2, ' ': 3 }, merges: [] },
  });

  it('have their normalized spelling everywhere but in the vocabulary, as in transformers', () => {
    expect(tokenizer.convert_ids_to_tokens([0, 4, 5])).toEqual(['a', '_mytok', '_new tok']);
    const text = 'MyTok';
    const found = tokenizer(text);
    expect([found.tokens(), tokenizer.tokenize(text)]).toEqual([['_mytok'], ['_mytok']]);
    expect(tokenizer.decode([4, 0])).toContain('_mytok');
    expect(tokenizer.convert_tokens_to_ids(['MyTok', '_mytok'])).toEqual([4, null]);
  });
});

describe('added tokens of any length and number', () => {
  const word = (at: number) => String.fromCodePoint(0x4e00 + at);
  const contents = [
    ...Array.from({ length: 3000 }, (_, at) => word(at) + word(at + 1)),
    '<',
    '<<',
    '<<<<',
    'x'.repeat(2 ** 18),
  ];
  const tokenizer = new PreTrainedTokenizer({
    added_tokens: contents.map((content, at) => ({ id: at + 1, content, normalized: false, special: false })),
    model: { type: 'WordLevel', unk_token: '?', vocab: { '?': 0 } },
  });

  it('are found from left to right, the longest first', () => {
    expect(tokenizer.tokenize('<<<<<<<')).toEqual(['<<<<', '<<', '<']);
    expect(tokenizer.encode(contents.slice(-5).join(''))).toEqual([3000, 3003, 3002, 3001, 3004]);
    expect(tokenizer.encode(word(7) + word(8) + word(9))).toEqual([8, 0]);
  });
});

describe('an empty pair', () => {
  it('is none of a single text, and one in a batch, as in transformers', () => {
    const tokenizer = new PreTrainedTokenizer({
      model: { type: 'WordLevel', unk_token: '?', vocab: { '?': 0, '[': 1, ']': 2, a: 3 } },
      pre_tokenizer: { type: 'Whitespace' },
      post_processor: { type: 'BertProcessing', cls: ['[', 1], sep: [']', 2] },
    });
    const list = { return_tensor: false } as const;
    expect(tokenizer('a', { ...list, text_pair: '' }).input_ids).toEqual([1, 3, 2]);
    expect(tokenizer(['a'], { ...list, text_pair: [''] }).input_ids).toEqual([[1, 3, 2, 2]]);
    expect(tokenizer.encode('a', { text_pair: '' })).toEqual([1, 3, 2]);
    expect(tokenizer.tokenize('a', { text_pair: '', add_special_tokens: true })).toEqual(['[', 'a', ']']);
    const cut = { ...list, text_pair: '', truncation: true, max_length: 4 } as const;
    expect(tokenizer('a a a a', cut).input_ids).toEqual([1, 3, 3, 2]);
  });
});
