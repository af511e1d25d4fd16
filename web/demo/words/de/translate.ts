// German: chapter 9.

import type { words as english } from '../en/translate.js';

export const words: typeof english = {
  title: 'Zwei Texte',
  lead: 'Übersetzen heißt einen Text lesen und einen anderen schreiben. Zwei Stapel von Blöcken teilen sich die Arbeit: Ein **Encoder** liest, ein **Decoder** schreibt, und der Decoder fragt den Encoder bei jedem Wort.',
  steps: {
    faces: {
      title: 'Von Angesicht zu Angesicht',
      text: 'Oben steht, was gelesen wird, unten, was geschrieben wird: „{sentence}“ Linien führen von jedem geschriebenen Token zu denen, die es im anderen Text gelesen hat. Während es *{token}* schreibt, liest es am meisten *{most}*, mit {mostShare} seines Gewichts. Wähle ein anderes Token.',
    },
    read: {
      title: 'Der Encoder liest einmal',
      text: 'Seine Blöcke sind die bekannten, ohne kausale Maske: Jedes Token der Quelle liest alle anderen, auch die rechts von ihm. Was sie hinterlassen, ist {s|M}, ein Vektor für jedes von {reads} Tokens. Er wird einmal berechnet; was später geschrieben wird, ändert ihn nicht.',
    },
    write: {
      title: 'Der Decoder schreibt ein Token nach dem anderen',
      text: 'Er sieht, was er bisher geschrieben hat, nie, was kommt, und sagt, wie wahrscheinlich jedes Token als Nächstes ist. Hier hat *{token}* {share}. Das wahrscheinlichste wird genommen, und alles beginnt von vorn, ein Token weiter.',
      ask: 'Geschrieben ist, was hier steht. Welches Token kommt als Nächstes?',
    },
    cross: {
      title: '{q|Q} von hier, {k|K} und {v|V} von dort',
      text: 'In jedem Block des Decoders steht eine zweite Attention, die **Cross-Attention**. Ihre Anfrage {q|Q} entsteht aus dem Vektor des Decoders, {k|K} und {v|V} aus dem, was der Encoder hinterließ. Alles andere ist wie in Kapitel 4: Produkte von {dims} Zahlen, Softmax, eine gewichtete Summe. So kann ein Text den anderen fragen.',
    },
    map: {
      title: 'Eine Karte zweier Texte',
      text: 'Jede Zeile ist ein Token, das geschrieben wird, jede Spalte eines, das gelesen wurde; Zeilen summieren sich zu 1. {isMap}Dieser Kopf hat gelernt, was ihm niemand gesagt hat: welches Wort zu welchem gehört. Jeder Kopf zeichnet eine andere Karte; probiere sie.',
    },
    force: {
      title: 'Lege ihm ein Wort in den Mund',
      text: 'Frei schreibt es „{free}“ Lass es mit einem anderen Token beginnen, und es muss von dort weiter: „{sentence}“ Was später kommt, hängt davon ab, was dasteht, richtig oder falsch. Wähle irgendeinen Balken an irgendeiner Stelle, um dieses Token zu erzwingen.',
      ask: 'Es würde „{free}“ schreiben. Nun ist sein erstes Wort erzwungen. Was geschieht mit dem zweiten?',
    },
    beams: {
      title: 'Nicht das wahrscheinlichste Wort, der wahrscheinlichste Satz',
      text: 'Jedes Mal das wahrscheinlichste Token zu nehmen (**gierig**) kann in eine Ecke führen. **Beam Search** hält mehrere Anfänge am Leben und nimmt am Ende das beste Ganze: Es zählt die Summe der Logarithmen aller seiner Wahrscheinlichkeiten, geteilt durch seine Länge.',
    },
    limits: {
      title: 'Es kennt, was man ihm gezeigt hat',
      text: 'Dieses Modell ist klein und hat aus alltäglichen Sätzen gelernt. Gib ihm einen Namen, den es nie sah, und es erfindet etwas, mit ernstem Gesicht und klaren Karten. Dass eine Karte vernünftig aussieht, macht die Antwort nicht richtig.',
    },
  },
  questions: {
    source: {
      ask: 'Block 3, Kopf 4: Welches Token der Quelle liest der Decoder am meisten, während er sein zweites Token schreibt?',
      right: 'Während er „{written}“ schreibt, gibt er „{best}“ {bestShare}.',
      wrong: 'Während er „{written}“ schreibt, gibt er „{given}“ {givenShare}; ein anderes Token bekommt {bestShare}.',
    },
    once: {
      ask: 'Wie oft läuft der Encoder, während der ganze Satz geschrieben wird?',
      right: 'Der Encoder lief in {encoder} Schritt, der Decoder in {decoder}.',
      wrong: 'An seinen Messpunkten gezählt lief der Encoder in {encoder} Schritt, der Decoder in {decoder}.',
    },
    forced: {
      ask: 'Erzwinge ein Token so, dass sich auch spätere Wörter ändern. ([Der Schritt dazu](?step=5))',
      right: 'Frei: „{free}“ Jetzt: „{now}“',
      wrong: 'Frei: „{free}“ Jetzt: „{now}“ Es muss sich mehr ändern als das erzwungene Token.',
    },
  },
  labels: {
    field: 'Englischer Text zum Übersetzen',
    translate: 'Übersetzen',
    unforced: 'Frei wählen lassen',
    empty: 'Es gibt nichts zu übersetzen: Schreibe einen englischen Satz.',
    unknown:
      'Das Modell kennt nicht alle Zeichen von: {words}. An ihrer Stelle liest es ein Token, das „unbekannt“ bedeutet.',
    reads: 'der Encoder liest',
    writes: 'der Decoder schreibt',
    step: 'Welches Token gerade geschrieben wird',
    stepOf: 'schreibt Token {n} von {of}',
    before: 'ein Token zurück',
    after: 'ein Token weiter',
    odds: 'was es hier schreiben könnte',
    forcedNote: 'erzwungen',
    facesNote: 'Die Gewichte welches Kopfs die Linien zeigen:',
    block: 'Block',
    head: 'Kopf',
    everyoneReads: 'jedes liest alle',
    memory: 'was der Encoder hinterlässt',
    ownMask: 'was es von sich selbst liest',
    clickToForce: 'Wähle einen Balken, um dieses Token hier zu erzwingen.',
    fromDecoder: 'nach {token}',
    fromEncoder: 'vom Encoder',
    carried: 'was herüberkommt',
    mapAbout: 'geschrieben × gelesen',
    window: 'Gezeichnet sind {from} bis {to} von {of} Tokens.',
    greedy: 'gierig',
    beams: '4 Beams',
    logProbability: 'Summe der Log-Wahrscheinlichkeiten',
    beamsNote:
      'Näher an null ist wahrscheinlicher. Beam Search teilt vor dem Vergleich durch die Länge, damit kurze Texte nicht gewinnen, weil sie kurz sind.',
  },
};
