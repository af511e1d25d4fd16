// A tokenizer's properties, the forms of its output, its errors, and spans of arbitrary texts.

import { readFileSync } from 'node:fs';
import { AutoTokenizer, PreTrainedTokenizer } from 'clearformer/tokenizer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { fixturePath } from './support/references.js';

const read = (name: string) => JSON.parse(readFileSync(fixturePath(`tokenizer_sample/${name}.json`), 'utf8'));
const uncased = read('wordpiece_uncased');
const bert = new PreTrainedTokenizer(uncased, { tokenizer_class: 'BertTokenizer' });
const bytes = (value: object) => new TextEncoder().encode(JSON.stringify(value));
const text = 'The best of times, the worst of times';

describe('special tokens', () => {
  it('have the names of their class where the files name none', () => {
    expect(bert.special_tokens_map).toEqual({
      unk_token: '[UNK]',
      sep_token: '[SEP]',
      pad_token: '[PAD]',
      cls_token: '[CLS]',
      mask_token: '[MASK]',
    });
    expect([bert.cls_token_id, bert.sep_token_id, bert.mask_token_id, bert.bos_token_id]).toEqual([2, 3, 4, null]);
    expect(bert.num_special_tokens_to_add()).toBe(2);
    expect(bert.num_special_tokens_to_add('pair')).toBe(3);
    expect(bert.convert_ids_to_tokens(4)).toBe('[MASK]');
    expect(bert.convert_tokens_to_ids('[MASK]')).toBe(4);
    expect(bert.convert_tokens_to_ids('nothing like it')).toBe(bert.unk_token_id);
    expect(bert.tokenize('[MASK] of', { add_special_tokens: true })).toEqual(['[CLS]', '[MASK]', 'of', '[SEP]']);
  });

  it('come from special_tokens_map.json where tokenizer_config.json names none', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained({
      'tokenizer.json': bytes(uncased),
      'special_tokens_map.json': bytes({ mask_token: '[MASK]', eos_token: { content: '</s>', lstrip: true } }),
    });
    expect(tokenizer.mask_token_id).toBe(4);
    expect(tokenizer.eos_token_id).toBe(2000); // not in the vocabulary: appended to it
    expect(tokenizer.encode('of </s>', { add_special_tokens: false }).at(-1)).toBe(2000);
    expect(tokenizer.decode([2000], { skip_special_tokens: true })).toBe('');
  });

  it('come from special_tokens_map.json before tokenizer_config.json, unless that is of a version without the former', async () => {
    const pad_token = { 'special_tokens_map.json': bytes({ pad_token: '[MASK]' }) };
    const padded = async (config: object) =>
      (
        await AutoTokenizer.from_pretrained({
          ...pad_token,
          'tokenizer.json': bytes(uncased),
          'tokenizer_config.json': bytes({ unk_token: '[UNK]', ...config }),
        })
      ).pad_token;
    expect(await padded({})).toBe('[MASK]');
    expect(await padded({ pad_token: '[PAD]' })).toBe('[MASK]');
    expect(await padded({ pad_token: '[PAD]', added_tokens_decoder: {} })).toBe('[PAD]');
    expect(await padded({ pad_token: '[PAD]', backend: 'tokenizers' })).toBe('[PAD]');
  });

  it('without a text are none, as in transformers', () => {
    const plain = new PreTrainedTokenizer(uncased, {});
    for (const empty of [{}, { special: true }, { content: '' }])
      expect(new PreTrainedTokenizer(uncased, { added_tokens_decoder: { 0: empty } }).vocab_size).toBe(
        plain.vocab_size,
      );
  });

  it('come by the kind of model in config.json where no class is named', async () => {
    const tokenizer = await AutoTokenizer.from_pretrained({
      'tokenizer.json': bytes(uncased),
      'config.json': bytes({ model_type: 'bert' }),
    });
    expect(tokenizer.pad_token_id).toBe(0);
    expect(tokenizer('of', { return_tensor: false }).token_type_ids).toEqual([0, 0, 0]);
  });
});

describe('padding and truncation that tokenizer.json holds', () => {
  const stored = new PreTrainedTokenizer({
    ...uncased,
    truncation: { max_length: 4, strategy: 'LongestFirst', stride: 0, direction: 'Left' },
    padding: {
      strategy: { Fixed: 9 },
      direction: 'Left',
      pad_to_multiple_of: null,
      pad_id: 0,
      pad_type_id: 7,
      pad_token: '[PAD]',
    },
  });

  it('apply when asked for only, with the sides and the token they name', () => {
    expect(stored(text).input_ids.dims).toEqual([1, stored.encode(text).length]);
    expect([stored.padding_side, stored.truncation_side, stored.pad_token_id]).toEqual(['left', 'left', 0]);
    const { input_ids, token_type_ids } = stored(['of', 'of the'], {
      padding: true,
      return_tensor: false,
      return_token_type_ids: true,
    });
    expect(input_ids[0]?.[0]).toBe(0);
    expect(token_type_ids?.[0]).toEqual([7, 0, 0, 0]);
  });
});

describe('settings under other names', () => {
  it('the padding token of tokenizer.json is a special one, if no other file and no class names one', async () => {
    const padding = { strategy: 'BatchLongest', direction: 'Right', pad_id: 9, pad_type_id: 0, pad_token: '<none>' };
    const tokenizer = new PreTrainedTokenizer({ ...uncased, padding });
    expect([tokenizer.pad_token, tokenizer.pad_token_id]).toEqual(['<none>', 2000]);
    expect(tokenizer.decode(tokenizer.encode('of <none>'), { skip_special_tokens: true })).toBe('of');
    expect(new PreTrainedTokenizer({ ...uncased, padding }, { pad_token: null }).pad_token).toBeNull();
    const ofClass = new PreTrainedTokenizer({ ...uncased, padding }, { tokenizer_class: 'BertTokenizer' });
    expect(ofClass.pad_token).toBe('[PAD]');
  });

  it('max_len is the old name of model_max_length, and pad_token_type_id is not read, as in transformers', () => {
    expect(new PreTrainedTokenizer(uncased, { max_len: 7 }).model_max_length).toBe(7);
    expect(new PreTrainedTokenizer(uncased, { max_len: 7, model_max_length: 9 }).model_max_length).toBe(9);
    const tokenizer = new PreTrainedTokenizer(uncased, { pad_token: '[PAD]', pad_token_type_id: 3 });
    const options = { padding: true, return_tensor: false, return_token_type_ids: true } as const;
    expect(tokenizer(['of', 'of the'], options).token_type_ids?.[0]?.at(-1)).toBe(0);
  });

  it('merges.txt may have the ends of lines of Windows', async () => {
    const vocab = { a: 0, b: 1, ab: 2, '<|endoftext|>': 3 };
    const merges = new TextEncoder().encode('#version: 0.2\r\na b\r\n');
    const files = { 'vocab.json': bytes(vocab), 'tokenizer_config.json': bytes({ tokenizer_class: 'GPT2Tokenizer' }) };
    const tokenizer = await AutoTokenizer.from_pretrained({ ...files, 'merges.txt': merges });
    expect(tokenizer.encode('ab')).toEqual([2]);
  });
});

describe('output', () => {
  it('comes as tensors of what was asked for', () => {
    const found = bert([text, 'of'], {
      padding: true,
      return_offsets_mapping: true,
      return_length: true,
      return_special_tokens_mask: true,
      truncation: true,
      max_length: 6,
      return_overflowing_tokens: true,
    });
    const rows = found.input_ids.dims[0] ?? 0;
    expect(rows).toBeGreaterThan(2);
    expect(found.offset_mapping?.dims).toEqual([rows, 6, 2]);
    expect(found.length?.dims).toEqual([rows]);
    expect(found.overflow_to_sample_mapping?.data.at(-1)).toBe(1n);
    expect(Object.keys(found)).not.toContain('word_ids');
    expect(found.tokens(rows - 1)).toEqual(['[CLS]', 'of', '[SEP]', '[PAD]', '[PAD]', '[PAD]']);
  });

  it('has the inputs that model_input_names names, unless the call says otherwise', () => {
    const keys = (names: readonly string[] | undefined, options: object = {}) => {
      const config = { tokenizer_class: 'BertTokenizer', ...(names && { model_input_names: names }) };
      return Object.keys(new PreTrainedTokenizer(uncased, config)('of', options)).filter((key) => !key.startsWith('#'));
    };
    expect(keys(undefined)).toEqual(['input_ids', 'attention_mask', 'token_type_ids']);
    expect(keys(['input_ids'])).toEqual(['input_ids']);
    expect(keys(['token_type_ids'])).toEqual(['input_ids', 'token_type_ids']);
    expect(keys(['input_ids'], { return_attention_mask: true })).toEqual(['input_ids', 'attention_mask']);
    const none = { return_attention_mask: false, return_token_type_ids: false };
    expect(keys(undefined, none)).toEqual(['input_ids']);
    expect(keys(undefined, { return_attention_mask: undefined, return_tensor: false })).toContain('attention_mask');
  });

  it('splits special tokens in texts like other words with split_special_tokens', () => {
    const config = { tokenizer_class: 'BertTokenizer', split_special_tokens: true };
    const json = {
      ...uncased,
      added_tokens: [...uncased.added_tokens, { id: 2000, content: 'best of', special: false }],
    };
    const whole = new PreTrainedTokenizer(json, { ...config, split_special_tokens: false });
    const split = new PreTrainedTokenizer(json, config);
    const given = 'the [MASK] best of times';
    expect(whole.encode(given)).toContain(4);
    expect(split.encode(given)).toEqual([
      2,
      ...whole.encode('the [', { add_special_tokens: false }),
      ...whole.encode('mask] best of times', { add_special_tokens: false }),
      3,
    ]);
    expect(split.encode(given)).toContain(2000);
    const named = new PreTrainedTokenizer(json, { ...config, eos_token: 'best of' });
    expect(named.encode('best of')).not.toContain(2000);
  });

  it('keeps a token special that tokenizer.json calls so, whatever added_tokens_decoder says', () => {
    const [mask] = uncased.added_tokens.filter(({ content }: { content: string }) => content === '[MASK]');
    const added_tokens_decoder = { [mask.id]: { ...mask, special: false } };
    const tokenizer = new PreTrainedTokenizer(uncased, { added_tokens_decoder });
    const ids = [mask.id, ...tokenizer.encode('the', { add_special_tokens: false })];
    expect(tokenizer.decode(ids, { skip_special_tokens: true })).toBe('the');
  });

  it('is that of tokenizer_config.json for BERT’s classes, which replace what tokenizer.json says of case', () => {
    const tokens = (config: object) => new PreTrainedTokenizer(uncased, config).tokenize('THE Thé');
    const lower = tokens({});
    expect(tokens({ tokenizer_class: 'BertTokenizer' })).toEqual(lower);
    const kept = tokens({ tokenizer_class: 'DistilBertTokenizerFast', do_lower_case: false });
    expect(kept).not.toEqual(lower);
    expect(tokens({ tokenizer_class: 'PreTrainedTokenizerFast', do_lower_case: false })).toEqual(lower);
    const accents = tokens({ tokenizer_class: 'MPNetTokenizer', strip_accents: false });
    expect(accents).not.toEqual(lower);
    const cased = { ...uncased, normalizer: { ...uncased.normalizer, lowercase: false } };
    expect(new PreTrainedTokenizer(cased, { tokenizer_class: 'ElectraTokenizer' }).tokenize('THE Thé')).toEqual(lower);
  });

  it('begins with a space where tokenizer_config.json says so, for GPT-2’s classes', () => {
    const json = read('byte_level_gpt2');
    const first = (config: object) => new PreTrainedTokenizer(json, config).tokenize('the times')[0];
    expect(first({ tokenizer_class: 'GPT2Tokenizer' })).toBe('the');
    expect(first({ tokenizer_class: 'GPT2Tokenizer', add_prefix_space: true })).toBe('Ġthe');
    expect(first({ tokenizer_class: 'PreTrainedTokenizerFast', add_prefix_space: true })).toBe('the');
  });

  it('covers the whole text with rows left over', () => {
    const options = { return_tensor: false, return_overflowing_tokens: true, truncation: true, max_length: 7 } as const;
    const rows = bert(text.repeat(20), options).input_ids.map((row) => row.slice(1, -1));
    expect(rows.flat()).toEqual(bert.encode(text.repeat(20), { add_special_tokens: false }));
  });

  it.each([
    [{ truncation: 'both' }, 'both'],
    [{ stride: 2 }, 'stride needs truncation'],
    [{ truncation: true, max_length: 6, stride: 4, return_overflowing_tokens: true }, 'stride 4'],
    [{ truncation: true, max_length: 6, stride: -1 }, 'stride'],
    [{ truncation: true, max_length: 6, truncation_side: 'middle' }, 'middle'],
    [{ padding: true, padding_side: 'middle' }, 'middle'],
    [{ pad_to_multiple_of: 4 }, 'padding'],
    [{ padding: true, pad_to_multiple_of: 0 }, 'pad_to_multiple_of'],
    [{ padding: true, pad_to_multiple_of: 4, truncation: true, max_length: 6 }, 'no multiple'],
    [{ padding: true, pad_to_multiple_of: {}, truncation: true, max_length: 6 }, 'a whole number'],
    [{ padding: true, pad_to_multiple_of: Symbol('4'), truncation: true, max_length: 6 }, 'a whole number'],
    [{ truncation: true, max_length: '3' }, 'max_length must be a whole number from 0 up, not "3"'],
    [{ truncation: true, max_length: 3.5 }, 'not 3.5'],
    [{ truncation: true, max_length: -1 }, 'not -1'],
    [{ padding: 'max_length', max_length: '3' }, 'not "3"'],
    [{ truncation: 'only_second', max_length: 6 }, 'text_pair'],
    [{ truncation: 'only_first', max_length: 4, text_pair: text }, 'only_first'],
  ])('is refused with %j', async (options, words) => {
    const failure = await failureOf(() => bert(text, options as never));
    expect(failure.code).toBe('invalid_argument');
    expect(failure.message).toContain(words);
  });

  it.each([
    [() => bert.encode(null as never), 'tokenizer: needs a text, got null'],
    [() => bert.tokenize('of', { text_pair: 5 as never }), 'text_pair: needs a text, got 5'],
    [() => bert(['of', null as never]), 'an array of texts, got null'],
    [() => bert.decode([null as never]), 'null is no token id'],
    [() => bert.decode(['1' as never]), '"1" is no token id'],
    [() => bert.decode([[1] as never]), 'is no token id'],
    [() => bert.num_special_tokens_to_add('both' as never), "'single', 'pair'"],
  ])('%s is refused', async (call, words) => {
    const failure = await failureOf(call);
    expect(failure.code).toBe('invalid_argument');
    expect(failure.message).toContain(words);
  });

  it('leaves room for the special tokens of a text or a pair, which transformers asks for with a flag', () => {
    expect([true, false].map((pair) => bert.num_special_tokens_to_add(pair))).toEqual([3, 2]);
  });

  it('knows its rows', async () => {
    expect((await failureOf(() => bert('of').word_ids(1))).message).toContain('row 1');
  });
});

describe('tokenizer.json', () => {
  it.each([
    [{ normalizer: { type: 'Unheard' } }, 'unsupported', 'normalizer Unheard'],
    [{ pre_tokenizer: { type: 'Sequence', pretokenizers: [{ type: 'Unheard' }] } }, 'unsupported', 'pre-tokenizer'],
    [{ post_processor: { type: 'Unheard' } }, 'unsupported', 'post-processor'],
    [{ decoder: { type: 'Unheard' } }, 'unsupported', 'decoder'],
    [{ model: { ...uncased.model, type: 'Unheard' } }, 'unsupported', 'model Unheard'],
    [{ model: undefined }, 'malformed_config', 'no model'],
    [{ normalizer: { type: 'Precompiled', precompiled_charsmap: 'AAAA' } }, 'malformed_config', 'no table'],
    [{ post_processor: { ...uncased.post_processor, special_tokens: {} } }, 'malformed_config', '[CLS]'],
  ])('is refused with %j', async (changes, code, words) => {
    const failure = await failureOf(() => new PreTrainedTokenizer({ ...uncased, ...changes }));
    expect(failure).toMatchObject({ code, details: { file: 'tokenizer.json' } });
    expect(failure.message).toContain(words);
  });

  it('may hold a vocabulary of words', async () => {
    const words = { type: 'WordLevel', vocab: { a: 0, b: 1 }, unk_token: '[UNK]' };
    const json = { model: words, pre_tokenizer: { type: 'WhitespaceSplit' } };
    expect(new PreTrainedTokenizer(json).encode('b a')).toEqual([1, 0]);
    expect((await failureOf(() => new PreTrainedTokenizer(json).encode('c'))).message).toContain('no unknown token');
  });
});

describe('steps of tokenizer.json', () => {
  it('keep a byte order mark that a table of replacements begins with', () => {
    const units = new Uint32Array([12, 0x79 << 10, 0x78 | (1 << 8) | (3 << 10), 1 << 31]); // x: the text at 0
    const table = [...new Uint8Array(units.buffer), ...new TextEncoder().encode('\ufeffb\0')];
    const precompiled_charsmap = btoa(String.fromCharCode(...table));
    const model = { type: 'BPE', vocab: { a: 0, '\ufeff': 1, b: 2 }, merges: [] };
    const json = { model, normalizer: { type: 'Precompiled', precompiled_charsmap } };
    expect(new PreTrainedTokenizer(json).encode('axb')).toEqual([0, 1, 2, 2]);
  });

  it('take a line end whole', () => {
    const split = { type: 'Split', pattern: { Regex: '\\R{2}' }, behavior: 'Isolated' };
    const json = { model: { type: 'WordLevel', vocab: { '?': 0 }, unk_token: '?' }, pre_tokenizer: split };
    expect(new PreTrainedTokenizer(json).encode('a\r\nb')).toHaveLength(1);
    expect(new PreTrainedTokenizer(json).encode('a\r\n\nb')).toHaveLength(3);
  });
});

describe('spans', () => {
  it.each(['wordpiece_uncased', 'byte_level_gpt2', 'byte_level_llama3', 'bpe_metaspace', 'unigram_nfkc'])(
    'of any text lie in it, in order: %s',
    (name) => {
      const tokenizer = new PreTrainedTokenizer(read(name));
      fc.assert(
        fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (given) => {
          const options = { return_tensor: false, return_offsets_mapping: true, add_special_tokens: false } as const;
          const { input_ids, offset_mapping = [] } = tokenizer(given, options);
          expect(offset_mapping.length).toBe(input_ids.length);
          let last = 0;
          for (const [start, end] of offset_mapping) {
            expect(start <= end && end <= given.length && start >= last).toBe(true);
            last = start;
          }
        }),
        { numRuns: 300 },
      );
    },
  );

  it('take a half of a pair for one unknown character', () => {
    const { offset_mapping } = bert('of \ud83d of', { return_tensor: false, return_offsets_mapping: true });
    expect(offset_mapping).toEqual([
      [0, 0],
      [0, 2],
      [5, 7],
      [0, 0],
    ]);
  });
});

describe('holes of an array', () => {
  const holes: string[] = new Array(2);
  const half = Object.assign(new Array(2), { 1: text }) as string[];
  it.each<[string, () => unknown]>([
    ['texts', () => bert(half)],
    ['nothing but holes', () => bert(holes)],
    ['pairs', () => bert([text, text], { text_pair: holes })],
    ['tokens', () => bert.convert_tokens_to_ids(half)],
    ['tokens of a string', () => bert.convert_tokens_to_string(half)],
  ])('are no %s', async (_, call) => {
    expect(await failureOf(call)).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('needs a text or an array of texts, got undefined'),
    });
  });
});
