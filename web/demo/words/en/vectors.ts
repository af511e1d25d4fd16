// English: chapter 1.

export const words = {
  title: 'Words to vectors',
  lead: 'A model cannot read letters. It reads numbers: the text is cut into pieces, each piece is looked up in a table, and what stands in its row is all that the model ever sees of it.',
  steps: {
    cut: {
      title: 'A text is cut into pieces',
      text: 'Characters in “{text}”: {letters}. Pieces (tokens): {tokens}. What is frequent stays whole, with the blank before it; what is rare falls into syllables or letters. The number under a piece is its place in a list (its id). Change the text and watch.',
    },
    others: {
      title: 'Every model cuts in its own way',
      text: 'The list belongs to the model. The translator’s is longer, so the same text mostly makes fewer pieces. The sorter knows three letters and nothing else. Grey pieces are marks that no text contains (special tokens): where a text begins or ends.',
    },
    bytes: {
      title: 'What no list contains',
      text: 'A character that is not in the list is spelled in bytes: `<0xF0>` and its like (a byte fallback), so nothing is lost. The [translator](?all=1) has no bytes: it reads one mark for everything that it does not know, and can’t tell a zebra from a horse.',
    },
    table: {
      title: 'A piece is a row of a table',
      text: 'The id says which row to take. This table (the embedding) has {rows} rows of {d} numbers, all of them learned. The row of “{token}” is copied out, nothing is computed. From here on the piece *is* these {d} numbers: rose is above zero, blue below.',
    },
    near: {
      title: 'Rows that point the same way',
      text: '{isAlike}What is used alike came to lie alike. Nearest to “{token}” points “{near}”, with a cosine of {cosine} (1 would be the same direction). {isAlike}Nobody wrote that down. Try [she](?id=358), [big](?id=370), or [two](?of=marian-tiny-en-fr&id=1293) in the translator.',
      ask: 'Guess first. The story model has read nothing but children’s stories. Which tokens point the same way as the full stop?',
    },
    sum: {
      title: 'Token plus place',
      text: 'The sorter adds a second row to the first: one for *which* letter, one for *where* it stands. Choose another letter above: place and token change one by one, and the sum goes into the first block. [Places](#/where) have a chapter of their own.',
    },
    scaled: {
      title: 'The same sum, another table of places',
      text: 'The translator adds clocks instead of a learned row, and first multiplies its token rows by √*d*, the square root of how many numbers a row has, so that the clocks don’t drown them. The sum still holds, number by number.',
    },
    none: {
      title: 'And one that adds nothing',
      text: 'The story model hands the row straight to its first block. Where a token stands it says later: it [turns the queries and keys](#/where?v=rotary) of every head.',
    },
  },
  questions: {
    pieces: {
      ask: 'Into how many tokens does the story model cut “butterfly”, the mark of the beginning not counted?',
      right: 'Yes, {n}: {spelled}.',
      wrong: 'No. Write the word into the figure’s field and count.',
    },
    size: {
      ask: 'How many numbers does the story model’s table hold?',
      right: 'Yes: {rows} rows of {d} numbers, {n} together.',
      wrong: 'No: it has {rows} rows of {d} numbers.',
    },
    nearest: {
      ask: 'Whose row points most nearly the same way as that of “big”?',
      right: 'Yes: “{answer}”, with a cosine of {cosine}. Opposites stand in the same places.',
      wrong: 'No: the cosine of “{answer}” is {cosine}, and another one here has {best}.',
    },
  },
  labels: {
    views: 'What is shown',
    cut: 'pieces',
    table: 'table',
    near: 'neighbours',
    sum: 'token + place',
    readers: 'Whose tokens',
    stories260K: 'story model',
    'marian-tiny-en-fr': 'translator',
    'gpt-nano-sort': 'sorter',
    all: 'all three',
    field: 'The text that is cut up',
    lettersField: 'Letters for the sorter: A, B and C',
    count: '{n} tokens',
    window: 'Tokens {from} to {to} of {of} are drawn.',
    room: 'The model reads the first {room} of {of} tokens.',
    dropped: '{n} characters are none of A, B and C: left out.',
    nothingRead: 'Nothing to read yet.',
    chosenToken: '“{token}” at place {pos} is number {id} of the list.',
    specialToken: '{token} is number {id} of the list: a mark, no text.',
    window2: '{n} of {of} rows',
    rowOf: 'as the model takes it',
    isRow: 'Row {id}, “{token}”, {d} numbers. What the model takes is this row: **difference {difference}**',
    isScaledRow:
      'Row {id}, “{token}”, {d} numbers. What the model takes is this row times √{d} = {scale}: **difference {difference}**',
    nearTo: 'The {n} of {of} rows that point most nearly as “{token}” does',
    idOf: 'id {id}',
    cosines: 'Cosines with the chosen row',
    walk: 'Choose one to see its own neighbours. Below: the two rows.',
    ofToken: 'which: “{token}”',
    ofPlace: 'where: place {pos}',
    intoBlock: 'goes into the first block',
    sumAt: 'Number {n}: {token} + {position} = {input}',
    sameAt: 'Number {n}: {token} goes in as {input}',
    sumHolds: 'Token + place against what the model made of them: **difference {difference}**',
    noneAdded: 'Nothing was added: **difference {difference}**',
  },
};
