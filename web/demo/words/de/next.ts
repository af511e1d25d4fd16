// German: chapter 0.

import type { words as english } from '../en/next.js';

export const words: typeof english = {
  title: 'Was kommt als Nächstes?',
  lead: 'Auf dieser Seite läuft ein ganzes Sprachmodell, klein genug zum Ausdrucken. Es liest einen Satz und sagt, wie wahrscheinlich jedes Token als Nächstes folgt. Jede Zahl auf dem Weg dorthin steht hier, zum Lesen und zum Ändern.',
  steps: {},
  questions: {},
  labels: {
    why: 'Warum „{token}“?',
    writeOn: 'Weiterschreiben',
    stop: 'Anhalten',
    takeBack: 'Zurücknehmen',
    backTo: 'Ab hier zurücknehmen',
    full: 'Das Modell liest höchstens {n} Tokens: Dieser Text ist voll.',
    links:
      'Für alle, die lernen, lehren und forschen. [Labor](#/laboratory), [dein eigenes Modell](#/own), [Dokumentation des Pakets](docs/index.html), [von wem die Modelle sind](models/NOTICE.md)',
    tiles: 'Eine Kachel sind die Zahlen eines Tokens,',
    above: 'über und',
    below: 'unter null.',
    lines: 'Linien zeigen, welche Tokens das letzte liest.',
    odds: 'Die wahrscheinlichsten nächsten Tokens',
    model: 'Das Modell: eine Spalte von Vektoren für jedes Token, eine Zeile für jeden Block',
    wouldSay: 'es würde sagen',
    token: 'Token',
    block: 'Block',
    window: 'Gezeichnet sind die letzten {n} von {of} Tokens.',
  },
};
