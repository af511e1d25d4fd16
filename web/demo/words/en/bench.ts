// English: the benchmark page.

export const words = {
  title: 'How fast is it here?',
  lead: 'The works of the project’s own measurements, on this device, with models of the same shapes and the same random weights. They are made in the page; nothing is downloaded for them.',
  back: 'Back to the chapter on cost',
  model: 'Model',
  models: { small: 'BERT, 2 layers', minilm: 'MiniLM', gpt2: 'GPT-2' },
  sizes: {
    small: 'BERT with 2 layers of 128: 18 MB of weights, a few seconds, for phones as well.',
    minilm: 'MiniLM: 6 layers of 384, 90 MB of weights, some ten seconds.',
    gpt2: 'GPT-2: 12 layers of 768, 500 MB of weights, up to 2 GB of memory, about a minute. The page does not answer while the weights are made.',
  },
  beside: 'with onnxruntime-web ({megabytes} MB)',
  besideAbsent: 'This copy of the page was built without onnxruntime-web, since that is 14 MB.',
  measure: 'Measure',
  stop: 'Stop',
  running: 'Measuring … leave this page in front, other tabs and programs at rest.',
  failed: 'It could not be measured',
  work: 'Work',
  who: 'Who',
  ratio: 'times as fast',
  cosine: 'cosine to fp32',
  absent: 'not available',
  works: { read: '128 tokens read', prefill: 'a prompt of 128 tokens', decode: 'the next token after 128' },
  device: 'Instructions: {simd}; {cores} processors, one thread used; version {version}.',
  note: 'Medians of five rounds in turns, after warming up, with one thread. Before anything is timed its outputs are compared with those in fp32. Random weights are more sensitive to rounding than trained ones.',
};

export type BenchWords = typeof words;
