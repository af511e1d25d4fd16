// German: the menu of a figure.

import type { MenuWords } from '../en/menu.js';

export const menu: MenuWords = {
  title: 'Diese Abbildung',
  copyLink: 'Link kopieren',
  png: 'PNG',
  svg: 'SVG',
  embed: 'Einbetten',
  fullScreen: 'Vollbild',
  pngTitle: 'Die Abbildung als PNG-Bild speichern, zwei Bildpunkte für jeden des Bildschirms',
  svgTitle: 'Die Abbildung als SVG-Bild speichern, der Text bleibt Text',
  fullScreenTitle: 'Nur die Abbildung zeigen; Escape führt zurück',
  numbers: 'Die Zahlen darin',
  noNumbers: 'Gerade ist keine Matrix gezeichnet.',
  csv: 'CSV',
  npy: '.npy',
  csvOf: 'CSV: {source} speichern',
  npyOf: '.npy: {source} für NumPy speichern',
  code: 'Der Code dazu',
  language: 'Sprache des Codes',
  js: 'JavaScript',
  cpp: 'C++',
  tl: 'TransformerLens',
  copyCode: 'Code kopieren',
  embedding: 'Für eine eigene Seite: zwei Zeilen, und die Abbildung rechnet dort.',
  copyEmbedding: 'Diese Zeilen kopieren',
  copied: 'Kopiert.',
  saved: 'Gespeichert: {file}',
  saving: 'Das Bild wird gezeichnet …',
  copyYourself: 'Der Browser lässt Seiten hier nichts kopieren. Drücke Strg+C (⌘C am Mac):',
  failed: 'Das hat nicht geklappt: {reason}',
};
