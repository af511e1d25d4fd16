// A tokenizer of whole words for the tests of languages.

/** A tokenizer of whole words with ids 0 … size - 1; the languages have the last ids. */
export function wordTokenizer(size: number, languages: readonly string[], config: object = {}): Record<string, string> {
  const words = ['<s>', '<pad>', '</s>', '<unk>', 'the', 'cat', 'sat'];
  while (words.length < size - languages.length) words.push(`w${words.length}`);
  const vocab = Object.fromEntries([...words, ...languages].map((word, id) => [word, id]));
  const special = ['<s>', '<pad>', '</s>', '<unk>', ...languages];
  const added_tokens = special.map((content) => ({ id: vocab[content], content, special: true, normalized: false }));
  return {
    'tokenizer.json': JSON.stringify({
      added_tokens,
      pre_tokenizer: { type: 'WhitespaceSplit' },
      model: { type: 'WordLevel', vocab, unk_token: '<unk>' },
    }),
    'tokenizer_config.json': JSON.stringify({
      bos_token: '<s>',
      pad_token: '<pad>',
      eos_token: '</s>',
      unk_token: '<unk>',
      ...config,
    }),
  };
}
