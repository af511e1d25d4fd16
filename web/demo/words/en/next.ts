// English: chapter 0.

export const words = {
  title: 'What comes next?',
  lead: 'A complete language model, small enough to print, runs in this page. It reads a sentence and says how likely each token is to follow. Every number on the way is here to be read, and to be changed.',
  steps: {},
  questions: {},
  labels: {
    why: 'Why “{token}”?',
    writeOn: 'Write on',
    stop: 'Stop',
    takeBack: 'Take it back',
    backTo: 'Take back what follows from here on',
    full: 'The model reads at most {n} tokens: this text is full.',
    links:
      'For students, teachers and researchers. [Laboratory](#/laboratory), [your own model](#/own), [documentation of the package](docs/index.html), [whose models these are](models/NOTICE.md)',
    tiles: 'A tile is the numbers of one token,',
    above: 'above and',
    below: 'below zero.',
    lines: 'Lines show which tokens the last one reads.',
    odds: 'The likeliest next tokens',
    model: 'The model: a column of vectors for each token, one row for each block',
    wouldSay: 'it would say',
    token: 'token',
    block: 'block',
    window: 'The last {n} of {of} tokens are drawn.',
  },
};
