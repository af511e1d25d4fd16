// German: chapter 5.

import type { words as english } from '../en/masks.js';

export const words: typeof english = {
  title: 'Masken',
  lead: 'Eine Maske sagt, was ein Token nicht sehen darf. Sie ist eine Matrix wie die Scores, 0, wo ein Token hinsehen darf, −∞, wo nicht, und wird vor Softmax addiert. Hier malst du sie auf Kopf {head} von Block {layer}.',
  steps: {
    causal: {
      title: 'Kein Blick voraus',
      text: 'Eine Zeile ist ein Token, das liest, eine Spalte eines, das gelesen wird. Ein Modell, das schreibt, darf nur lesen, was schon da ist (die *kausale* Maske). {isCausal}Alles rechts der Diagonale ist also schraffiert: {hidden} Zellen. {isCausal}{isOneHidden}Die eine Zelle rechts der Diagonale ist also schraffiert. Drücke auf eine Zelle, ziehe über mehrere, oder nimm Pfeiltasten und Enter: Die Gewichte werden neu gerechnet.',
    },
    without: {
      title: 'Verstecke ein Wort vor allen',
      text: '{isWithout}{isEverywhere}Jetzt darf niemand sonst *{secret}* lesen, in allen Köpfen aller Schichten. {isWithout}{isHere}Jetzt darf in diesem Kopf niemand sonst *{secret}* lesen. Vorher ging es mit „{before}“ weiter ({beforeOdds}), jetzt mit „{now}“ ({nowOdds}). {isRead}Was das Modell von diesem Wort wusste, musste durch die Attention kommen.',
    },
    padding: {
      title: 'Kurze Texte im Stapel',
      text: 'Texte eines Stapels werden auf eine Länge aufgefüllt. Die Füllung darf nicht gelesen werden: `valid_lens` zählt, wie viele Schlüssel Text sind, hier {length}. {isPadding}{hasFilling}Also liest kein Token etwas. {isPadding}{hasText}Sonst ist nichts verdeckt, jedes Token liest den Text in beide Richtungen.',
    },
    both: {
      title: 'Beides zugleich',
      text: 'Zwei Masken sind zwei Summen: −∞ plus irgendetwas bleibt −∞. {isBoth}Was eine von beiden verdeckt, ist verdeckt: {hidden} Zellen. {isBoth}{isOneHidden}Was eine von beiden verdeckt, ist verdeckt: eine Zelle.',
    },
    prefix: {
      title: 'Lies erst, dann schreibe',
      text: '{isPrefix}Die ersten {prefix} Tokens sehen einander ganz, wie beim Lesen; von da an sieht jedes nur, was vor ihm kam, wie beim Schreiben. {isPrefix}{isCausalToo}Sind es weniger als zwei, die ganz gelesen werden, so sieht jedes nur sich selbst und was vor ihm kam, wie beim Schreiben. Ein Modell, das den Anfang ganz liest und dann schreibt, ist ein *Präfix-Sprachmodell*.',
    },
    empty: {
      title: 'Eine Zeile, die nichts sieht',
      text: '{isEmpty}Alle Scores von *{row}* sind −∞. Wohin dann mit dem Gewicht von eins? Clearformer und `scaled_dot_product_attention` von torch sagen 0; `torch.nn.MultiheadAttention` teilt, wo es Gewichte zurückgibt, nichts durch nichts und sagt NaN, das sich durch alles Folgende zieht; d2l.ai maskiert mit −10⁶ und bekommt gleiche Gewichte, einen Mittelwert des Verbotenen.',
      ask: 'Rate zuerst. Alle Scores von *{row}* sind −∞. Welche Gewichte kommen aus Softmax?',
    },
    mistake: {
      title: 'Addiert, nicht multipliziert',
      text: 'Manche Skripte multiplizieren die Scores mit einer Matrix aus 1 und −∞. Dann ist −∞ mal ein negativer Score +∞, die Zelle, die verschwinden sollte, nimmt alles, und Softmax hat keine Zahl dafür. Zeilen, in denen das hier geschieht: {broken} von {n}. {isLucky}Hier geht keine Zeile schief: Keiner der verbotenen Scores ist negativ oder null. Addiert bleibt −∞ bei −∞, wie groß der Score auch ist.',
      ask: 'Rate zuerst. M ⊙ S multipliziert jeden Score mit 1 oder mit −∞. In wie vielen der {n} Zeilen geht Softmax schief?',
    },
    polarity: {
      title: 'Was heißt „wahr“?',
      text: 'Drei Bibliotheken, vier Schnittstellen. Wahr lässt ein Token hinsehen oder verbietet es, oder eine Zahl zählt die Schlüssel. Dieselbe Maske in jeder, und dieselben Gewichte. Manche Masken kann eine Bibliothek nicht sagen: Versuche [die kausale](?mask=causal).',
    },
  },
  questions: {
    hidden: {
      ask: 'Wie viele Zellen verdeckt eine kausale Maske von {n} Tokens?',
      right: 'Ja, {count} von {n} × {n}.',
      wrong: 'Gezählt sind es {count}. Die Diagonale bleibt offen.',
    },
    alone: {
      ask: 'Male eine Maske, mit der *{row}* nur sich selbst liest, dann prüfe.',
      right: 'Es gibt sich selbst {share}.',
      wrong: 'Es gibt sich selbst nur {share}. Verdecke alle anderen Zellen seiner Zeile.',
    },
    polarity: {
      ask: 'In welcher davon verdeckt eine 1 einen Schlüssel?',
      right: 'Eine Maske mit einer 1 beim ersten Schlüssel lässt ihm dort ein Gewicht von {share}.',
      wrong:
        'Eine Maske mit einer 1 beim ersten Schlüssel lässt ihm ein Gewicht von {share}: Dort erlaubt die 1 das Lesen.',
    },
  },
  labels: {
    presets: 'Masken',
    none: 'Keine Maske',
    causal: 'Kausal',
    padding: 'Füllung',
    both: 'Kausal und Füllung',
    prefix: 'Präfix',
    without: 'Ohne ein Wort',
    empty: 'Eine leere Zeile',
    painted: 'Gemalt',
    length: 'Schlüssel, die Text sind',
    prefixLength: 'Tokens, die ganz gelesen werden',
    hide: 'verdecken',
    where: 'Wo die Maske liegt',
    head: 'dieser Kopf',
    all: 'alle Köpfe aller Schichten',
    aboutM: 'zu den Scores addiert',
    aboutA: 'Gewichte',
    next: 'Nach „{token}“:',
    maySee: '{row} darf {column} lesen',
    mayNotSee: '{row} darf {column} nicht lesen',
    window: 'Gezeichnet: Tokens {from} bis {to} von {of}, um das gewählte herum. Gelesen werden alle.',
    zeros: 'Nichts',
    zerosAbout: 'Clearformer, scaled_dot_product_attention von torch: Gewichte 0, Ausgabe 0',
    nan: 'Keine Zahl',
    nanAbout: 'torch.nn.MultiheadAttention mit Gewichten: −∞ − (−∞) in Softmax',
    uniform: 'Gleich',
    uniformAbout: 'd2l.ai: der Mittelwert aller Werte',
    multiplied: 'multipliziert',
    added: 'addiert',
    wrongWeights: 'des Produkts',
    rightWeights: 'der Summe',
    sdpa: 'torch: scaled_dot_product_attention',
    sdpaAbout: 'wahr (1): darf hinsehen',
    sdpaCannot: '',
    mha: 'torch: nn.MultiheadAttention',
    mhaAbout: 'wahr (1): darf nicht hinsehen',
    mhaCannot: '',
    hf: 'Hugging Face: attention_mask',
    hfAbout: '1: ein Token, 0: Füllung; ein Wert je Schlüssel',
    hfCannot:
      'Sie hat einen Wert je Schlüssel, für alle Anfragen denselben. Diese Maske kann sie nicht sagen; ein schreibendes Modell fügt die kausale selbst hinzu.',
    d2l: 'd2l.ai: valid_lens',
    d2lAbout: 'wie viele Schlüssel jede Anfrage sieht, von links',
    d2lCannot: 'Sie zählt Schlüssel von links. Diese Maske lässt Lücken, das kann eine Zahl nicht sagen.',
    sameWeights: 'Größter Unterschied der Gewichte:',
  },
};
