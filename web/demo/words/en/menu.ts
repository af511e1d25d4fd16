// English: the menu of a figure.

export const menu = {
  title: 'This figure',
  copyLink: 'Copy link',
  png: 'PNG',
  svg: 'SVG',
  embed: 'Embed',
  fullScreen: 'Full screen',
  pngTitle: 'Save the figure as a PNG picture, two pixels for each of the screen',
  svgTitle: 'Save the figure as an SVG picture, its text as text',
  fullScreenTitle: 'Show the figure alone; Escape leads back',
  numbers: 'The numbers in it',
  noNumbers: 'No matrix is drawn at the moment.',
  csv: 'CSV',
  npy: '.npy',
  csvOf: 'CSV: save {source}',
  npyOf: '.npy: save {source} for NumPy',
  code: 'The code that makes it',
  language: 'Language of the code',
  js: 'JavaScript',
  cpp: 'C++',
  tl: 'TransformerLens',
  copyCode: 'Copy code',
  embedding: 'For a page of your own: two lines, and the figure runs there.',
  copyEmbedding: 'Copy these lines',
  copied: 'Copied.',
  saved: 'Saved: {file}',
  saving: 'Drawing the picture …',
  copyYourself: 'The browser lets no page copy here. Press Ctrl+C (⌘C on a Mac):',
  failed: 'That did not work: {reason}',
};

export type MenuWords = typeof menu;
