// German: training in chapter 6.

import type { TrainingWords } from '../en/training.js';

export const words: TrainingWords = {
  train: 'Trainieren',
  trainOn: 'Weiter',
  pause: 'Anhalten',
  oneStep: 'Ein Schritt',
  reset: 'Von vorn',
  count: '{step} von {of} Schritten',
  steps: 'Schritte',
  layers: 'Blöcke',
  lr: 'Lernrate',
  seed: 'Startwert',
  loss: 'Verlust auf einer Zeile von {half} zufälligen Tokens, dann dieselben noch einmal',
  lossPlot:
    'Verlust je Schritt. Bei Schritt {step}: erste Hälfte {first}, zweite Hälfte {second}; Raten kostet {guess}.',
  first: 'erste Hälfte',
  second: 'zweite Hälfte',
  guess: 'Raten',
  previous: 'Liest das Token davor',
  induction: 'Liest, was der Kopie folgte',
  scorePlot: '{name}, je Schritt, jeder Kopf. Bei Schritt {step}: {scores}.',
  head: 'Block {layer}, Kopf {head}',
  before: 'Token davor {previous}',
  after: 'nach der Kopie {induction}',
  mapName: 'Gewichte von Kopf {head}, Block {layer}, auf den {half} Tokens und ihrer Wiederholung',
  token: '{at} (Token {token})',
  reads: 'Block {layer}, Kopf {head}: Platz {query} gibt {weight} an Platz {key}.',
  switchName: 'Kopf {head} von Block {layer} eingeschaltet',
  switchTitle: 'Wenn er trainiert ist: diesen Kopf zum Schweigen bringen und die zweite Hälfte ansehen',
  without: 'Die zweite Hälfte ohne jeden Kopf',
  row: 'Block {layer}',
  column: 'Kopf {head}',
  withAll:
    'Mit allen Köpfen kostet die zweite Hälfte {second}. Wähle eine Zelle, um einen Kopf zum Schweigen zu bringen: Seine Karte, die nach ihm und der Verlust werden neu gerechnet.',
  silenced: 'Es schweigen: {heads}. Die zweite Hälfte kostet jetzt {now} statt {was}, die erste {first}.',
  allOn: 'Alle wieder an',
  notYet:
    'Halte an oder warte auf das Ende: Dann wird jeder Kopf einmal ausgeschaltet, um zu sehen, wofür er gebraucht wird.',
  save: 'Für transformers:',
  saved: '{file}, {bytes} Bytes.',
  waiting: 'Ein Worker mit einem eigenen Modell startet …',
  finished: '{step} Schritte: Die zweite Hälfte kostet {second}, der beste Wert für Induktion ist {best}.',
  failed: 'Das Training ist gescheitert',
};
