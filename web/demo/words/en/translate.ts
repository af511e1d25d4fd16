// English: chapter 9.

export const words = {
  title: 'Two texts',
  lead: 'To translate is to read one text and write another. Two stacks of blocks share the work: an **encoder** reads, a **decoder** writes, and the decoder asks the encoder at every word.',
  steps: {
    faces: {
      title: 'Face to face',
      text: 'Above stands what is read, below what is written: “{sentence}” Lines lead from each written token to those it read in the other text. While it writes *{token}* it reads *{most}* most, {mostShare} of its weight. Choose another token.',
    },
    read: {
      title: 'The encoder reads once',
      text: 'Its blocks are those you know, without a causal mask: each token of the source reads all the others, those to its right, too. What they leave is {s|M}, a vector for each of {reads} tokens. It is computed once; nothing that is written later changes it.',
    },
    write: {
      title: 'The decoder writes one token at a time',
      text: 'It sees what it has written so far, never what comes, and says how likely each token is to be next. Here *{token}* has {share}. The likeliest is taken, and the whole begins again one token further on.',
      ask: 'It has written what stands here. Which token comes next?',
    },
    cross: {
      title: '{q|Q} from here, {k|K} and {v|V} from there',
      text: 'In each decoder block stands a second attention, **cross-attention**. Its query {q|Q} is made of the decoder’s vector, {k|K} and {v|V} of what the encoder left. All else is as in chapter 4: products of {dims} numbers, softmax, a weighted sum. So one text can ask the other.',
    },
    map: {
      title: 'A map of two texts',
      text: 'Each row is a token that is written, each column one that was read; rows sum to 1. {isMap}This head has learned what was never told to it, which word belongs to which. Every head draws another map: try them.',
    },
    force: {
      title: 'Put a word in its mouth',
      text: 'Unforced it writes “{free}” Begin it with another token and it has to go on from there: “{sentence}” What comes later depends on what was written, right or wrong. Choose any bar, at any place, to force that token.',
      ask: 'It would write “{free}” Now its first word is forced. What happens to the second?',
    },
    beams: {
      title: 'Not the likeliest word, the likeliest sentence',
      text: 'Taking the likeliest token each time (**greedy**) can lead into a corner. **Beam search** keeps several beginnings alive and in the end takes the best whole: the sum of the logarithms of all its probabilities, divided by its length, counts.',
    },
    limits: {
      title: 'It knows what it was shown',
      text: 'This model is small and learned from everyday sentences. Give it a name it has not met and it makes something up, with a straight face and clear maps. That a map looks sensible does not make the answer right.',
    },
  },
  questions: {
    source: {
      ask: 'Block 3, head 4: which token of the source does the decoder read most while it writes its second token?',
      right: 'While it writes “{written}” it gives “{best}” {bestShare}.',
      wrong: 'While it writes “{written}” it gives “{given}” {givenShare}; another token gets {bestShare}.',
    },
    once: {
      ask: 'How often does the encoder run while the whole sentence is written?',
      right: 'The encoder ran in {encoder} step, the decoder in {decoder}.',
      wrong: 'Counted by its hooks the encoder ran in {encoder} step, the decoder in {decoder}.',
    },
    forced: {
      ask: 'Force one token so that later words change, too. ([The step for that](?step=5))',
      right: 'Unforced: “{free}” Now: “{now}”',
      wrong: 'Unforced: “{free}” Now: “{now}” More than the forced token has to change.',
    },
  },
  labels: {
    field: 'English text to translate',
    translate: 'Translate',
    unforced: 'Let it choose freely',
    empty: 'There is nothing to translate: write an English sentence.',
    unknown:
      'The model does not know all characters of: {words}. In their place it reads a token that means “unknown”.',
    reads: 'the encoder reads',
    writes: 'the decoder writes',
    step: 'Which token is being written',
    stepOf: 'writes token {n} of {of}',
    before: 'one token back',
    after: 'one token on',
    odds: 'what it could write here',
    forcedNote: 'forced',
    facesNote: 'Which head’s weights the lines show:',
    block: 'block',
    head: 'head',
    everyoneReads: 'each reads all',
    memory: 'what the encoder leaves',
    ownMask: 'what it reads of itself',
    clickToForce: 'Choose a bar to force that token here.',
    fromDecoder: 'after {token}',
    fromEncoder: 'of the encoder',
    carried: 'what is carried over',
    mapAbout: 'written × read',
    window: 'Drawn are {from} to {to} of {of} tokens.',
    greedy: 'greedy',
    beams: '4 beams',
    logProbability: 'sum of log-probabilities',
    beamsNote:
      'Nearer to zero is likelier. Beam search divides by the length before it compares, so that short texts do not win for being short.',
  },
};
