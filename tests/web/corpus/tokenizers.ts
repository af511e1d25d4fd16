// tokenizer.json step by step, and the vocabularies of older folders.

import { type BadFolder, baseOf, bytesOf, changed, type Draw, jsonOf } from './folders.js';

type Json = Record<string, unknown>;

/** tokenizer.json with one thing changed: [what, change, words]. */
const changes: readonly [
  string,
  string,
  (json: Json & { model: Json; added_tokens: Json[] }, draw: Draw) => void,
  string[],
][] = [
  ...[null, 3, [], 'BPE'].map((model): (typeof changes)[number] => [
    `model ${JSON.stringify(model)}`,
    'stories260K',
    (json) => Object.assign(json, { model }),
    ['model'],
  ]),
  ...[null, 3, 'all', true].map((vocab): (typeof changes)[number] => [
    `vocab ${JSON.stringify(vocab)}`,
    'stories260K',
    (json) => Object.assign(json.model, { vocab }),
    ['vocab', String(vocab)],
  ]),
  ...[-1, 65.5, '65', null, 2 ** 53, true, []].map((id): (typeof changes)[number] => [
    `the id ${JSON.stringify(id)}`,
    'stories260K',
    (json, draw) => {
      const vocab = json.model.vocab as Json;
      vocab[Object.keys(vocab)[3 + draw.below(400)] as string] = id;
    },
    ['vocab', JSON.stringify(id)],
  ]),
  ...['2.0', '1', 1].map((version): (typeof changes)[number] => [
    `the version ${JSON.stringify(version)}`,
    'stories260K',
    (json) => Object.assign(json, { version }),
    ['version', JSON.stringify(version)],
  ]),
  [
    'an id twice',
    'stories260K',
    (json, draw) => {
      const vocab = json.model.vocab as Json;
      const [one = '', other = ''] = draw.some(Object.keys(vocab).slice(3), 2);
      vocab[one] = vocab[other];
    },
    ['vocab', 'have the id'],
  ],
  ...[3, null, {}, 'a b'].map((merges): (typeof changes)[number] => [
    `merges ${JSON.stringify(merges)}`,
    'stories260K',
    (json) => Object.assign(json.model, { merges }),
    ['merges', JSON.stringify(merges)],
  ]),
  ...['nospace', 'a b c', '', 3, ['a'], ['a', 'b', 'c'], null, {}].map((merge): (typeof changes)[number] => [
    `the merge ${JSON.stringify(merge)}`,
    'stories260K',
    (json, draw) => {
      const merges = json.model.merges as unknown[];
      merges[draw.below(merges.length)] = merge;
    },
    ['merges', JSON.stringify(merge)],
  ]),
  [
    'a merge of strangers',
    'stories260K',
    (json) => void (json.model.merges as unknown[]).push('qqqq zzzz'),
    ['merges', 'qqqq zzzz'],
  ],
  [
    'an unk_token that is not there',
    'stories260K',
    (json) => Object.assign(json.model, { unk_token: '<none>' }),
    ['unk_token', '<none>'],
  ],
  ...['padding', 'truncation'].map((key): (typeof changes)[number] => [
    `${key} "Left"`,
    'stories260K',
    (json) => Object.assign(json, { [key]: 'Left' }),
    [key, '"Left"'],
  ]),
  ...[3, 'all', {}].map((added_tokens): (typeof changes)[number] => [
    `added_tokens ${JSON.stringify(added_tokens)}`,
    'stories260K',
    (json) => Object.assign(json, { added_tokens }),
    ['added_tokens', JSON.stringify(added_tokens)],
  ]),
  ...[
    { id: 3 },
    { content: 'x' },
    { id: -1, content: 'x' },
    { id: 1.5, content: 'x' },
    { id: '7', content: 'x' },
    { id: 7, content: 3 },
    3,
    null,
    { id: 2 ** 40, content: 'x' },
    { id: 7, content: 'x', special: 'yes' },
    { id: 7, content: 'x', lstrip: 0 },
    { id: 7, content: 'x', normalized: 'no' },
  ].map((token): (typeof changes)[number] => [
    `the added token ${JSON.stringify(token)}`,
    'stories260K',
    (json) => void json.added_tokens.push(token as Json),
    ['added_tokens'],
  ]),
  [
    'an added id twice',
    'stories260K',
    (json) => void json.added_tokens.push({ ...json.added_tokens[0], content: 'other' }),
    ['added_tokens', 'other'],
  ],
  ...['direction', 'pad_id', 'pad_type_id', 'pad_token'].map((key): (typeof changes)[number] => [
    `padding.${key}`,
    'stories260K',
    (json) => Object.assign(json, { padding: { [key]: true } }),
    ['padding', key, 'true'],
  ]),
  ...['direction', 'max_length', 'stride'].map((key): (typeof changes)[number] => [
    `truncation.${key}`,
    'stories260K',
    (json) => Object.assign(json, { truncation: { [key]: -2 } }),
    ['truncation', key, '-2'],
  ]),
  ...['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'].flatMap((part): (typeof changes)[number][] =>
    [3, 'a', [], {}, { type: 3 }, { type: 'Unheard' }].map((value) => [
      `${part} ${JSON.stringify(value)}`,
      'stories260K',
      (json) => Object.assign(json, { [part]: value }),
      [part.replace('_', '-')],
    ]),
  ),
  ...(
    [
      ['normalizer', { type: 'Replace', pattern: { String: 'a' }, content: 3 }, 'content'],
      ['normalizer', { type: 'Replace', pattern: 3, content: '' }, 'pattern'],
      ['normalizer', { type: 'Replace', pattern: { Regex: '(' }, content: '' }, '('],
      ['normalizer', { type: 'Prepend', prepend: 3 }, 'prepend'],
      ['normalizer', { type: 'Sequence', normalizers: {} }, 'normalizers'],
      ['normalizer', { type: 'BertNormalizer', lowercase: 'yes' }, 'lowercase'],
      ['normalizer', { type: 'Strip', strip_left: 1, strip_right: true }, 'strip_left'],
      ['pre_tokenizer', { type: 'Split', pattern: { String: 'a' }, behavior: 'Gone' }, 'behavior'],
      ['pre_tokenizer', { type: 'Split', pattern: { String: 'a' }, behavior: 3 }, 'behavior'],
      ['pre_tokenizer', { type: 'Split', pattern: { String: 'a' }, behavior: 'Removed', invert: 'no' }, 'invert'],
      ['pre_tokenizer', { type: 'Metaspace', replacement: 'ab' }, 'replacement'],
      ['pre_tokenizer', { type: 'Metaspace', replacement: '_', prepend_scheme: 'last' }, 'prepend_scheme'],
      ['pre_tokenizer', { type: 'FixedLength', length: 0 }, 'length'],
      ['pre_tokenizer', { type: 'Digits', individual_digits: 1 }, 'individual_digits'],
      ['pre_tokenizer', { type: 'ByteLevel', add_prefix_space: 1 }, 'add_prefix_space'],
      ['pre_tokenizer', { type: 'CharDelimiterSplit', delimiter: 'ab' }, 'delimiter'],
      ['pre_tokenizer', { type: 'Sequence', pretokenizers: 3 }, 'pretokenizers'],
      ['post_processor', { type: 'BertProcessing', cls: ['a'], sep: ['b', 1] }, 'cls'],
      ['post_processor', { type: 'BertProcessing', cls: ['a', 1], sep: ['b', -1] }, 'sep'],
      ['post_processor', { type: 'BertProcessing', cls: ['a', 1], sep: ['b', 99999] }, '99999'],
      ['post_processor', { type: 'RobertaProcessing', cls: 3, sep: ['b', 1] }, 'cls'],
      ['post_processor', { type: 'TemplateProcessing', single: 3, pair: [] }, 'single'],
      ['post_processor', { type: 'TemplateProcessing', single: [], pair: {} }, 'pair'],
      [
        'post_processor',
        { type: 'TemplateProcessing', single: [{ SpecialToken: { id: 'x', type_id: 0 } }], pair: [] },
        '"x"',
      ],
      ['post_processor', { type: 'TemplateProcessing', single: [{ Sequence: { id: 'C' } }], pair: [] }, 'Sequence'],
      [
        'post_processor',
        { type: 'TemplateProcessing', single: [{ Sequence: { id: 'A', type_id: -1 } }], pair: [] },
        'type_id',
      ],
      ['decoder', { type: 'Metaspace', replacement: 3 }, 'replacement'],
      ['decoder', { type: 'WordPiece', prefix: 3 }, 'prefix'],
      ['decoder', { type: 'Sequence', decoders: 'a' }, 'decoders'],
      ['decoder', { type: 'Strip', content: 'ab', start: 1, stop: 0 }, 'content'],
      ['decoder', { type: 'Strip', content: 'a', start: -1, stop: 0 }, 'start'],
      ['decoder', { type: 'Replace', pattern: { String: 'a' } }, 'content'],
    ] as const
  ).map(([part, value, word]): (typeof changes)[number] => [
    `${part} ${JSON.stringify(value)}`,
    'stories260K',
    (json) => Object.assign(json, { [part]: value }),
    [word],
  ]),
  ...[{}, 3, [], 'x'].map((vocab): (typeof changes)[number] => [
    `Unigram with the vocab ${JSON.stringify(vocab)}`,
    'stories260K',
    (json) => Object.assign(json, { model: { type: 'Unigram', vocab, unk_id: 0 } }),
    ['vocab'],
  ]),
  ...[['a'], ['a', 'b'], [3, 1], ['a', null], 'a', null].map((entry): (typeof changes)[number] => [
    `the Unigram entry ${JSON.stringify(entry)}`,
    'stories260K',
    (json) => Object.assign(json, { model: { type: 'Unigram', vocab: [['<unk>', 0], entry], unk_id: 0 } }),
    ['vocab', JSON.stringify(entry)],
  ]),
  ...[7, -1, 'a', 0.5].map((unk_id): (typeof changes)[number] => [
    `unk_id ${JSON.stringify(unk_id)}`,
    'stories260K',
    (json) => Object.assign(json, { model: { type: 'Unigram', vocab: [['<unk>', 0]], unk_id } }),
    ['unk_id', String(unk_id)],
  ]),
  ...(['normalizer', 'pre_tokenizer', 'decoder'] as const).map((part): (typeof changes)[number] => [
    `${part}s within each other`,
    'stories260K',
    (json) => {
      const key = `${part.replace('_', '')}s`;
      let step: Json = { type: 'Lowercase' };
      for (let level = 0; level < 2000; level++) step = { type: 'Sequence', [key]: [step] };
      Object.assign(json, { [part]: step });
    },
    [part, 'nested deeper'],
  ]),
  ['an unknown model', 'stories260K', (json) => Object.assign(json.model, { type: 'Markov' }), ['Markov']],
  ['dropout', 'stories260K', (json) => Object.assign(json.model, { dropout: 0.1 }), ['dropout']],
];

export function* badTokenizers(draw: Draw): Generator<BadFolder> {
  const file = 'tokenizer.json';
  for (const [title, base, change, words] of changes) {
    const files = baseOf(base);
    const json = jsonOf(files, file) as Json & { model: Json; added_tokens: Json[] };
    change(json, draw);
    yield {
      title: `${file}: ${title}`,
      files: { ...files, [file]: bytesOf(JSON.stringify(json)) },
      reader: 'tokenizer',
      words: [file, ...words],
    };
  }
}

/** Folders of older tokenizers: vocab.txt, vocab.json with merges.txt, added_tokens.json. */
export function* badVocabularies(draw: Draw): Generator<BadFolder> {
  const gpt2 = baseOf('tokenizer_folders/gpt2');
  const bert = baseOf('tokenizer_folders/bert');
  const made = (title: string, files: typeof gpt2, words: string[]): BadFolder => ({
    title,
    files,
    reader: 'tokenizer',
    words,
  });
  for (const id of [-1, 65.5, '65', null, 2 ** 53, true]) {
    const [token = ''] = draw.some(Object.keys(jsonOf(gpt2, 'vocab.json')), 1);
    yield made(`vocab.json: the id ${id}`, changed(gpt2, 'vocab.json', { [token]: id }), [
      'vocab.json',
      JSON.stringify(id),
    ]);
  }
  const vocab = jsonOf(gpt2, 'vocab.json');
  const [one = '', other = ''] = draw.some(Object.keys(vocab), 2);
  yield made('vocab.json: an id twice', changed(gpt2, 'vocab.json', { [one]: vocab[other] }), [
    'vocab.json',
    'have the id',
  ]);
  for (const text of ['', '[]', '{', '3'])
    yield made(`vocab.json: ${text}`, { ...gpt2, 'vocab.json': bytesOf(text) }, ['vocab.json']);
  for (const line of ['nospace', 'a b c', 'qqqq zzzz']) {
    const merges = `#version: 0.2\n${line}\n`;
    yield made(`merges.txt: ${line}`, { ...gpt2, 'merges.txt': bytesOf(merges) }, ['merges.txt', line]);
  }
  yield made('merges.txt: no UTF-8', { ...gpt2, 'merges.txt': Uint8Array.of(0x61, 0xff) }, ['merges.txt', 'UTF-8']);
  yield made('vocab.txt: empty', { ...bert, 'vocab.txt': new Uint8Array(0) }, ['vocab.txt']);
  yield made('vocab.txt: no UTF-8', { ...bert, 'vocab.txt': Uint8Array.of(0x61, 0xff, 0x62) }, ['vocab.txt', 'UTF-8']);
  const { 'tokenizer_config.json': _, ...older } = gpt2;
  const config = { 'config.json': bytesOf('{"model_type":"gpt2"}') };
  for (const id of [-1, 1.5, '7', null, {}, 2 ** 40])
    yield made(
      `added_tokens.json: ${JSON.stringify(id)}`,
      { ...older, ...config, 'added_tokens.json': bytesOf(JSON.stringify({ '<new>': id })) },
      ['added_tokens.json', '<new>', JSON.stringify(id)],
    );
}
