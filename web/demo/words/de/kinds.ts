// German: chapter 10.

import type { words as english } from '../en/kinds.js';

export const words: typeof english = {
  title: 'Drei Arten',
  lead: 'Dieselben Blöcke ergeben drei Arten von Transformern. Was sie unterscheidet, ist, wer wen lesen darf, und damit, wozu sie gut sind. Ein Satz geht durch alle drei.',
  steps: {
    three: {
      title: 'Ein Satz, drei Leser',
      text: 'Drei kleine Modelle, drei Aufgaben: weiterschreiben, eine Lücke füllen, übersetzen. Jede Karte zeigt die Gewichte eines Kopfs für den Satz: Zeilen schauen, Spalten werden angeschaut. Schraffiert ist, was nicht gesehen werden darf.',
    },
    decoder: {
      title: 'Nur Decoder: nie voraus',
      text: 'Jedes Token liest sich selbst und was vor ihm steht. So lässt sich jede Stelle fragen, was als Nächstes kommt, und die Antwort lässt sich anhängen und wieder lesen: „{continued}“ GPT und Llama sind von dieser Art.',
    },
    encoder: {
      title: 'Nur Encoder: alles auf einmal',
      text: 'Keine Zelle ist schraffiert: Jedes Token liest die links und die rechts von ihm. Ein solches Modell kann nicht weiterschreiben, denn es wurde nie gefragt, was als Nächstes kommt; aber es weiß, was jedes Wort *hier* bedeutet. BERT ist von dieser Art.',
    },
    both: {
      title: 'Encoder und Decoder: drei Karten',
      text: 'Den einen Text darf man ganz sehen, den anderen nur, so weit er geschrieben ist, und dazwischen liegt eine Karte, die nicht quadratisch ist: Jedes geschriebene Token darf den ganzen ersten Text lesen. „{translated}“ T5, Whisper und dieser Übersetzer sind von dieser Art.',
    },
    fill: {
      title: 'Fülle eine Lücke',
      text: 'Nimm ein Wort heraus und setze ein Zeichen an seine Stelle, `[MASK]`. Der Encoder liest darum herum und sagt, was dort stehen kann: Für *{word}* sagt er *{fill}*, {fillShare}. Der Decoder kann nur sagen, was gewöhnlich auf „{left}“ folgt, und sagt dort *{guess}* voraus. {isFirst}Der Decoder kann nur sagen, womit ein Text gewöhnlich beginnt, und sagt dort *{guess}* voraus.',
      ask: 'Ein Wort fehlt. Welches setzt der Encoder ein, und was sagt der Decoder, der nur sieht, was davor steht?',
    },
    right: {
      title: 'Ändere ein Wort rechts davon',
      text: 'Tausche aus, was auf die Lücke folgt, und der Encoder denkt neu nach: Bei „{other}“ sagt er *{refill}*, {refillShare}. Seine Wahrscheinlichkeiten ändern sich um bis zu {change} Prozentpunkte; die des Decoders um {decoderChange}, denn er hat nicht gesehen, was folgt. Probiere ein eigenes Ende, oder nimm ein anderes Wort heraus.',
    },
    uses: {
      title: 'Welche wofür',
      text: 'Die Antworten der Tabelle geben die drei Modelle jetzt, für den Satz oben. Wo keine steht, ist die Art nicht dafür gemacht.',
    },
  },
  questions: {
    cells: {
      ask: 'Der Decoder liest diesen Satz als {decoderTokens} Tokens. Wie viele Zellen der Karte eines Kopfs dürfen ein Gewicht haben?',
      right: '{open} von {all}: 1 + 2 + … + {n}.',
      wrong: 'Es sind {open} von {all}: Das erste Token liest eines, das letzte alle {n}.',
    },
    right: {
      ask: 'In „She ▁▁ to school.“ wird das Ende zu „going to school.“ Wessen Wahrscheinlichkeiten für die Lücke ändern sich?',
      right: 'Die des Encoders um bis zu {encoder} Prozentpunkte, die des Decoders um {decoder}.',
      wrong:
        'Die des Encoders um bis zu {encoder} Prozentpunkte, die des Decoders um {decoder}: Er sieht nicht, was folgt.',
    },
  },
  labels: {
    field: 'Ein englischer Satz für alle drei',
    empty: 'Es gibt nichts zu lesen: Schreibe einen Satz.',
    unknown: 'Dem Wortschatz des Encoders fehlt ein Wort dieses Satzes; an seiner Stelle liest er [UNK].',
    decoder: 'Nur Decoder',
    encoder: 'Nur Encoder',
    both: 'Encoder und Decoder',
    seesLeft: 'sieht, was davor steht',
    seesAll: 'sieht beide Seiten',
    seesBoth: 'sieht einen Text ganz, den anderen bis hierher',
    causal: 'kausal',
    full: 'keine Maske',
    encoderPart: 'Encoder',
    decoderPart: 'Decoder',
    crossPart: 'Cross',
    block: 'Block',
    head: 'Kopf',
    window: 'Gezeichnet sind die ersten {n} von {of} Tokens.',
    chooseWord: 'Wähle das Wort, das herausgenommen wird',
    otherRight: 'Was stattdessen auf die Lücke folgt',
    exchange: 'Austauschen',
    ownSide: 'Wie es dasteht',
    otherSide: 'Eine andere rechte Seite',
    decoderSide: 'Was der Decoder sagt',
    changes:
      'Größte Änderung einer Wahrscheinlichkeit zwischen den beiden rechten Seiten, in Prozentpunkten: Encoder {change}, Decoder {decoder}.',
    seesRow: 'ein Token sieht',
    trainedRow: 'hat gelernt',
    trainedNext: 'überall das nächste Token zu sagen',
    trainedBlank: 'zu sagen, was verdeckte Wörter waren',
    trainedPair: 'den zweiten Text eines Paars zu schreiben',
    continueRow: 'weiter\u00ADschreiben',
    noContinue: 'wurde nie gefragt, was als Nächstes kommt',
    noContinueBoth: 'schreibt einen anderen Text, siehe unten',
    fillRow: 'die Lücke füllen',
    leftOnly: 'nur von links',
    noFill: 'dieser hat kein Zeichen für eine Lücke; T5 wurde mit welchen trainiert',
    translateRow: 'in einen anderen Text verwandeln',
    noTranslate: 'einen großen kann man darum bitten, in seinem eigenen Text',
    noTranslateEncoder: 'schreibt nichts; seine Vektoren dienen zum Sortieren, Suchen und Auszeichnen',
    familyRow: 'von dieser Art sind',
    familyDecoder: 'GPT, Llama, Mistral, Qwen, Gemma',
    familyEncoder: 'BERT, RoBERTa, ModernBERT, der Vision-Transformer [des nächsten Kapitels](#/seeing)',
    familyBoth: 'T5, BART, Marian, Whisper',
  },
};
