// German: chapter 1.

import type { words as english } from '../en/vectors.js';

export const words: typeof english = {
  title: 'Von Wörtern zu Vektoren',
  lead: 'Ein Modell kann keine Buchstaben lesen. Es liest Zahlen: Der Text wird in Stücke geschnitten, jedes Stück in einer Tabelle nachgeschlagen, und was in seiner Zeile steht, ist alles, was das Modell je davon sieht.',
  steps: {
    cut: {
      title: 'Ein Text wird in Stücke geschnitten',
      text: 'Zeichen in „{text}“: {letters}. Stücke (Tokens): {tokens}. Was häufig ist, bleibt ganz, mit dem Leerzeichen davor; was selten ist, zerfällt in Silben oder Buchstaben. Die Zahl unter einem Stück ist sein Platz in einer Liste (seine Id). Ändere den Text und sieh zu.',
    },
    others: {
      title: 'Jedes Modell schneidet auf seine Art',
      text: 'Die Liste gehört zum Modell. Die des Übersetzers ist länger, darum gibt derselbe Text meist weniger Stücke. Der Sortierer kennt drei Buchstaben und sonst nichts. Graue Stücke sind Zeichen, die in keinem Text stehen (besondere Tokens): wo ein Text anfängt oder endet.',
    },
    bytes: {
      title: 'Was in keiner Liste steht',
      text: 'Ein Zeichen, das nicht in der Liste steht, wird in Bytes geschrieben: `<0xF0>` und dergleichen (Byte-Fallback), so geht nichts verloren. Der [Übersetzer](?all=1) hat keine Bytes: Er liest ein einziges Zeichen für alles, was er nicht kennt, und kann ein Zebra nicht von einem Pferd unterscheiden.',
    },
    table: {
      title: 'Ein Stück ist eine Zeile einer Tabelle',
      text: 'Die Id sagt, welche Zeile zu nehmen ist. Diese Tabelle (das Embedding) hat {rows} Zeilen mit je {d} Zahlen, alle gelernt. Die Zeile von „{token}“ wird herauskopiert, gerechnet wird nichts. Von hier an *ist* das Stück diese {d} Zahlen: Rosa ist über null, Blau darunter.',
    },
    near: {
      title: 'Zeilen, die in dieselbe Richtung zeigen',
      text: '{isAlike}Was gleich gebraucht wird, liegt am Ende auch gleich. Am nächsten an „{token}“ zeigt „{near}“, mit einem Kosinus von {cosine} (1 wäre dieselbe Richtung). {isAlike}Das hat niemand hineingeschrieben. Versuche [she](?id=358), [big](?id=370) oder [two](?of=marian-tiny-en-fr&id=1293) beim Übersetzer.',
      ask: 'Rate zuerst. Das Geschichtenmodell hat nur Kindergeschichten gelesen. Welche Tokens zeigen in dieselbe Richtung wie der Punkt?',
    },
    sum: {
      title: 'Token plus Platz',
      text: 'Der Sortierer addiert zur ersten Zeile eine zweite: eine dafür, *welcher* Buchstabe es ist, eine dafür, *wo* er steht. Wähle oben einen anderen Buchstaben: Platz und Token ändern sich einzeln, und die Summe geht in den ersten Block. [Plätze](#/where) haben ein eigenes Kapitel.',
    },
    scaled: {
      title: 'Dieselbe Summe, eine andere Tabelle der Plätze',
      text: 'Der Übersetzer addiert Uhren statt einer gelernten Zeile, und vorher multipliziert er seine Tokenzeilen mit √*d*, der Wurzel aus der Zahl ihrer Einträge, damit die Uhren sie nicht übertönen. Die Summe stimmt trotzdem, Zahl für Zahl.',
    },
    none: {
      title: 'Und eines, das nichts addiert',
      text: 'Das Geschichtenmodell gibt die Zeile unverändert an seinen ersten Block. Wo ein Token steht, sagt es später: Es [dreht die Anfragen und Schlüssel](#/where?v=rotary) jedes Kopfs.',
    },
  },
  questions: {
    pieces: {
      ask: 'In wie viele Tokens schneidet das Geschichtenmodell „butterfly“, das Zeichen für den Anfang nicht mitgezählt?',
      right: 'Ja, {n}: {spelled}.',
      wrong: 'Nein. Schreibe das Wort in das Feld der Abbildung und zähle.',
    },
    size: {
      ask: 'Wie viele Zahlen enthält die Tabelle des Geschichtenmodells?',
      right: 'Ja: {rows} Zeilen mit je {d} Zahlen, zusammen {n}.',
      wrong: 'Nein: Sie hat {rows} Zeilen mit je {d} Zahlen.',
    },
    nearest: {
      ask: 'Wessen Zeile zeigt am ehesten in dieselbe Richtung wie die von „big“?',
      right: 'Ja: „{answer}“, mit einem Kosinus von {cosine}. Gegenteile stehen an denselben Stellen.',
      wrong: 'Nein: Der Kosinus von „{answer}“ ist {cosine}, und eines hier hat {best}.',
    },
  },
  labels: {
    views: 'Was gezeigt wird',
    cut: 'Stücke',
    table: 'Tabelle',
    near: 'Nachbarn',
    sum: 'Token + Platz',
    readers: 'Wessen Tokens',
    stories260K: 'Geschichtenmodell',
    'marian-tiny-en-fr': 'Übersetzer',
    'gpt-nano-sort': 'Sortierer',
    all: 'alle drei',
    field: 'Der Text, der geschnitten wird',
    lettersField: 'Buchstaben für den Sortierer: A, B und C',
    count: '{n} Tokens',
    window: 'Tokens {from} bis {to} von {of} sind gezeichnet.',
    room: 'Das Modell liest die ersten {room} von {of} Tokens.',
    dropped: '{n} Zeichen sind weder A noch B noch C: weggelassen.',
    nothingRead: 'Noch nichts zu lesen.',
    chosenToken: '„{token}“ an Platz {pos} ist Nummer {id} der Liste.',
    specialToken: '{token} ist Nummer {id} der Liste: ein Zeichen, kein Text.',
    window2: '{n} von {of} Zeilen',
    rowOf: 'wie das Modell sie nimmt',
    isRow: 'Zeile {id}, „{token}“, {d} Zahlen. Das Modell nimmt genau diese Zeile: **Unterschied {difference}**',
    isScaledRow:
      'Zeile {id}, „{token}“, {d} Zahlen. Das Modell nimmt diese Zeile mal √{d} = {scale}: **Unterschied {difference}**',
    nearTo: 'Die {n} von {of} Zeilen, die am ehesten in dieselbe Richtung zeigen wie „{token}“',
    idOf: 'Id {id}',
    cosines: 'Kosinus mit der gewählten Zeile',
    walk: 'Wähle eine, um ihre eigenen Nachbarn zu sehen. Darunter: die beiden Zeilen.',
    ofToken: 'welches: „{token}“',
    ofPlace: 'wo: Platz {pos}',
    intoBlock: 'geht in den ersten Block',
    sumAt: 'Zahl {n}: {token} + {position} = {input}',
    sameAt: 'Zahl {n}: {token} geht hinein als {input}',
    sumHolds: 'Token + Platz gegen das, was das Modell daraus gemacht hat: **Unterschied {difference}**',
    noneAdded: 'Nichts wurde addiert: **Unterschied {difference}**',
  },
};
