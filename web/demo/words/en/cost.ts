// English: chapter 12.

export const words = {
  title: 'What it costs',
  lead: 'Attention lets every token look at every other. That is its strength and its price. Everything here is counted by the package or measured on the device in front of you.',
  steps: {
    pairs: {
      title: 'Everybody meets everybody',
      text: '{n} tokens make {pairs} pairs, and each pair costs a product of *d* = {d} numbers, twice. Self-attention takes {attention} million multiplications, a recurrent layer {recurrent} million. Move *n*: attention grows with its square.',
    },
    measured: {
      title: 'Measured here',
      text: 'Dots are milliseconds on this device, dashed lines as steep as the count of multiplications says. At {longest} tokens attention takes {ms} ms. The recurrent layer cannot start a step before the last one ended.',
      ask: 'Guess first. From 16 to 512 tokens, which of the three layers grows fastest? And which is slowest at the start?',
    },
    short: {
      title: 'Short texts are cheap',
      text: 'With *n* = {n} below *d* = {d}, attention needs only {ratio} of the multiplications of a recurrent layer. With *n* = {n} and *d* = {d} it needs {times} times as many as a recurrent layer: the text is no longer short. Sentences are short and vectors are long: this is where the transformer began.',
    },
    path: {
      title: 'How far is it from the first word to the last?',
      text: 'In one layer of attention every token reads every other: one step. A recurrent layer hands the first word on {handed} times. A recurrent layer hands the first word on {once} time. The bars count as section 4 of “Attention Is All You Need” does: *n* / *k*, here {path} layers, for a stack of convolutions. The bars count as section 4 of “Attention Is All You Need” does: *n* / *k*, here {onePath} layer, for a stack of convolutions. Each of them reaches *k* − 1 tokens further, so that both ends meet after {layers}. Table 1 of “Attention Is All You Need” gives the logarithm of *n* to the base *k*, which is that of dilated convolutions. Neighbours are the *r* = 2*k* nearest tokens, or all of them if there are fewer.',
    },
    cache: {
      title: 'Writing reads everything again, or remembers',
      text: 'A new token needs the keys and values of all earlier ones. Kept in a cache, they are computed once. On this device writing is {faster} times as fast. For so short a text that does not pay on this device: with the cache writing took {slower} times as long. The price is memory that grows with the text.',
    },
    dtypes: {
      title: 'Smaller numbers',
      text: 'The same weights in 32, 16, 8 and 4 bits. With eight bits they take {smaller} times less memory. How far the answers of the translator move is measured, too. The larger the matrices, the more it pays.',
    },
    device: {
      title: 'What it runs on',
      text: 'The engine that computes all figures: WebAssembly with 128-bit SIMD in a worker. Where the browser allows shared memory it uses several threads; if not, the reason stands here.',
    },
  },
  questions: {
    crossing: {
      ask: 'At which length *n* does self-attention need as many multiplications as a recurrent layer with *d* = {d}?',
      right: 'Yes. At *n* = {n} both take {attention}: 2·n²·d = 2·n·d² where n = d.',
      wrong:
        '{isNone}A length is a whole number of tokens. At *n* = {n} attention takes {attention}, a recurrent layer {recurrent}.',
    },
    doubling: {
      ask: 'The text gets twice as long. By what factor does the work of self-attention grow?',
      right: 'Yes, {ratio} times: every one of twice as many tokens meets twice as many.',
      wrong: 'Counted: {ratio} times. Try *n* and 2*n* in the figure.',
    },
  },
  labels: {
    what: 'What is compared',
    work: 'Work',
    time: 'Time',
    path: 'Path',
    cache: 'Cache',
    dtypes: 'Bits',
    device: 'Device',
    again: 'Measure again',
    self_attention: 'attention',
    recurrent: 'recurrent',
    convolutional: 'convolution',
    restricted_self_attention: 'neighbours, r\u00A0=\u00A0{r}',
    multiplications: 'Million multiplications of a layer',
    waiting: 'Steps that wait for each other',
    pathLength: 'Layers or steps between the two ends',
    pathNote: 'The fewer, the easier a link between distant words is learned.',
    timeNote:
      'Medians of five calls, in turns, on the page’s own thread. The recurrent layer is one call of the package for each step: much of its time is waiting.',
    endedEarly: 'Measured up to {n} tokens only, where a call took more than {ms} ms: {name}.',
    onnxruntime: 'onnxruntime-web',
    beside: 'with onnxruntime-web ({megabytes} MB)',
    besideNote:
      'Attention once more, in onnxruntime-web {version}: the same q, k and v, one thread. Its numbers differ from ours by at most {difference} of the largest.',
    besideAbsent: 'This copy of the page was built without onnxruntime-web, since that is 14 MB.',
    besideFailed:
      'onnxruntime-web is not measured: {message}. It is loaded from this site at its first use, and works offline from then on.',
    guess: 'Which one grows fastest?',
    plot: 'Milliseconds against the number of tokens, both axes logarithmic',
    tokens: 'tokens',
    perToken: 'Milliseconds for each token',
    cacheKept: 'with cache',
    cacheWithout: 'without',
    cacheBytes: 'The cache of the story model takes {bytes} bytes for each token.',
    bytes: 'Weights of the translator in memory, kB',
    pass: 'One pass over the sentence, ms',
    difference: 'Largest change of a logit',
    sameToken: 'same token',
    otherToken: 'another token',
    simd: 'instructions',
    threads: 'threads',
    worker: 'in a worker',
    wasm: 'WebAssembly file',
    heap: 'memory of the engine',
    weights: 'of it weights',
    version: 'version of the core',
    benchmark: 'Measure whole models on this device',
    yes: 'yes',
    no: 'no',
    nName: 'n, tokens',
    dName: 'd, numbers of a vector',
    kName: 'k, width of a kernel',
  },
};
