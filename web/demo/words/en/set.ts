// English: chapter 2.

export const words = {
  title: 'A set has no order',
  lead: 'Attention compares every token with every other and adds up what it finds. A sum does not care in which order it is made. So attention alone cannot tell “dog bites man” from “man bites dog”: it reads a bag of words.',
  steps: {
    layer: {
      title: 'One attention layer by itself',
      text: 'Letters go through the first attention of the sorter, with its trained weights. {isStill}There are no positions here and no mask. A strip is what comes out for a letter: 48 numbers, rose above zero, blue below. The matrix says whom each letter reads, and how much.',
    },
    move: {
      title: 'Move a letter and its output comes along',
      text: 'Drag the letters (or use the arrow keys). {isStill}Every strip follows its letter and not one number changes: the largest difference is **{difference}**. {isOrdered}{jumps}With positions or a mask the numbers change: the largest difference is **{difference}**. In a formula: permute the rows of the input, and the rows of the output are permuted, nothing else (attention is equivariant).',
      ask: 'Guess first. The same letters stand in another order. What becomes of what comes out for each of them?',
    },
    why: {
      title: 'Because it is a weighted sum',
      text: '{isStill}Look at the weights: their rows and columns have changed places just as the letters have. {isStill}Each letter still gives every other the same weight, and adds up the same values, only in another order. {isStill}What is left of that is rounding, {exact}. {isOrdered}With positions or a mask the weights are others. {isOrdered}[Without them](?pos=0&mask=0)',
    },
    twins: {
      title: 'It can’t even tell twins apart',
      text: '{isStill}Two equal letters ask the same, so they get the same: the outputs of equal letters differ by **{twins}**. {isStill}For the layer there is no first C and no last one. {isStill}To sort, to count, to read, that is not enough. {isOrdered}{differ}With positions or a mask the outputs of equal letters differ by **{twins}**. {isOrdered}{differ}[Without them](?pos=0&mask=0) they do not.',
    },
    places: {
      title: 'Positions make it jump',
      text: '{isPlaced}Now each letter takes its place along: a row of the table of positions is added before the layer. {isPlaced}{jumps}In another order letters stand elsewhere, the sums are others, and the meter jumps: now it shows **{difference}**. {isPlaced}{rests}In another order letters stand elsewhere, the sums are others, and the meter jumps. {isPlaced}{jumps}[Without positions](?pos=0&mask=0) it falls back to zero. {isUnplaced}Let each letter [take its place along](?pos=1), and in another order the meter jumps.',
      ask: 'Guess first. Now every letter carries its place along. The letters move as before. What does the meter show?',
    },
    mask: {
      title: 'A mask gives order, too',
      text: '{isMasked}A letter sees only itself and what stands before it (a causal mask). {isMasked}Who is last sees all, who is first sees nobody else. {isMasked}{jumps}So another order shows: **{difference}**. {isUnmasked}Let a letter see only itself and what stands before it ([a causal mask](?mask=1&pos=0)), and another order shows. That is how a decoder can do without positions at all, if it must.',
    },
    story: {
      title: 'A whole model has both',
      text: 'The story model has a mask and turns its queries and keys. Read in this order, “{read}”, the sentence goes on with “{is}” and not with “{was}”. Read in this order, “{read}”, it still goes on with “{same}”. [Patches of a picture](#/seeing?v=order) can be shuffled, too.',
    },
  },
  questions: {
    kinds: {
      ask: 'CABBAC without positions and without a mask: how many *different* outputs come out of the layer?',
      right: 'Yes, {n}: one for each kind of letter. With positions there are {withPlaces}.',
      wrong: 'No. Count the strips that differ.',
    },
    masked: {
      ask: 'Bring the figure into a state where the order matters although no positions are added. Then press Check.',
      right: 'Yes: with the mask the largest difference is {difference}.',
      wrong:
        'Not yet: here the largest difference without positions is {difference}. Who sees whom would have to change.',
    },
    next: {
      ask: 'The carried sentence is read back to front. What does the story model think comes next?',
      right: 'Yes, “{answer}”. Reverse the sentence in the figure to see how sure it is.',
      wrong: 'No, not “{answer}”. Choose the sentence in the figure and press Reverse.',
    },
  },
  labels: {
    who: 'What is read',
    letters: 'letters, one layer',
    story: 'the sentence, a whole model',
    positions: 'positions',
    mask: 'causal mask',
    field: 'Letters: A, B and C',
    shuffle: 'Shuffle',
    reverse: 'Reverse',
    asItWas: 'As it was',
    nothing: 'No letters yet: write some of A, B and C.',
    chips: 'Tokens; the arrow keys move one',
    chip: '{token}, place {place} of {of}; arrow keys move it',
    weights: 'whom each reads',
    largest: 'largest difference',
    meter:
      'Each output against the one the same letter had before anything was moved (more precisely {exact}; the largest output is {most}).',
    meterStory:
      'What the last block leaves for each token, against what it left when the sentence stood as written (more precisely {exact}; the largest number is {most}).',
    afterWritten: 'Next, as written',
    afterMoved: 'Next after “{read}”',
    window: 'The first {n} of {of} tokens can be moved; only they are read here.',
  },
};
