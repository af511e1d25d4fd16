// The texts of the elements themselves, in the page's language (`<html lang>`), with English as fallback.

const english = {
  row: 'row',
  column: 'column',
  masked: 'masked',
  hidden: 'hidden',
  edited: 'edited',
  changed: 'changed',
  matrix: 'matrix',
  value: 'value',
  sign: 'change the sign',
  notANumber: 'Not a number. Write it like −1.5.',
  tokens: 'tokens',
  special: 'special',
  chosen: 'chosen',
  attention: 'attention weights: a row for each token that reads, a column for each token that is read',
  lens: 'what the model would say after each layer',
  start: 'start',
  afterLayer: 'after layer',
  loading: 'Loading the model',
  computing: 'Computing',
  figure: 'Figure',
  probability: 'probability',
};

export type Words = typeof english;

const german: Words = {
  row: 'Zeile',
  column: 'Spalte',
  masked: 'maskiert',
  hidden: 'verdeckt',
  edited: 'von Hand gesetzt',
  changed: 'verändert',
  matrix: 'Matrix',
  value: 'Wert',
  sign: 'Vorzeichen wechseln',
  notANumber: 'Das ist keine Zahl. Schreibweise: −1,5.',
  tokens: 'Tokens',
  special: 'Sonderzeichen',
  chosen: 'gewählt',
  attention: 'Aufmerksamkeitsgewichte: eine Zeile für jedes lesende Token, eine Spalte für jedes gelesene',
  lens: 'was das Modell nach jeder Schicht sagen würde',
  start: 'Anfang',
  afterLayer: 'nach Schicht',
  loading: 'Das Modell wird geladen',
  computing: 'Es wird gerechnet',
  figure: 'Abbildung',
  probability: 'Wahrscheinlichkeit',
};

/** The texts for the page's language. */
export function words(): Words {
  return document.documentElement.lang.startsWith('de') ? german : english;
}
