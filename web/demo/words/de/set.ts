// German: chapter 2.

import type { words as english } from '../en/set.js';

export const words: typeof english = {
  title: 'Eine Menge hat keine Reihenfolge',
  lead: 'Attention vergleicht jedes Token mit jedem anderen und zählt zusammen, was sie findet. Einer Summe ist es gleich, in welcher Reihenfolge sie gebildet wird. Allein kann Attention darum „Hund beißt Mann“ nicht von „Mann beißt Hund“ unterscheiden: Sie liest einen Sack voll Wörter.',
  steps: {
    layer: {
      title: 'Eine Attention-Schicht für sich',
      text: 'Buchstaben gehen durch die erste Attention des Sortierers, mit seinen trainierten Gewichten. {isStill}Positionen gibt es hier nicht, und keine Maske. Ein Streifen ist, was für einen Buchstaben herauskommt: 48 Zahlen, Rosa über null, Blau darunter. Die Matrix sagt, wen jeder Buchstabe liest, und wie sehr.',
    },
    move: {
      title: 'Bewege einen Buchstaben, und seine Ausgabe kommt mit',
      text: 'Ziehe die Buchstaben (oder nimm die Pfeiltasten). {isStill}Jeder Streifen folgt seinem Buchstaben, und keine einzige Zahl ändert sich: Der größte Unterschied ist **{difference}**. {isOrdered}{jumps}Mit Positionen oder einer Maske ändern sich die Zahlen: Der größte Unterschied ist **{difference}**. Als Formel: Vertausche die Zeilen der Eingabe, und die Zeilen der Ausgabe sind vertauscht, sonst nichts (Attention ist äquivariant).',
      ask: 'Rate zuerst. Dieselben Buchstaben stehen in einer anderen Reihenfolge. Was wird aus dem, was für jeden herauskommt?',
    },
    why: {
      title: 'Weil es eine gewichtete Summe ist',
      text: '{isStill}Sieh dir die Gewichte an: Ihre Zeilen und Spalten haben die Plätze getauscht wie die Buchstaben. {isStill}Jeder Buchstabe gibt jedem anderen noch dasselbe Gewicht und zählt dieselben Werte zusammen, nur in anderer Reihenfolge. {isStill}Was davon bleibt, ist Rundung, {exact}. {isOrdered}Mit Positionen oder einer Maske sind die Gewichte andere. {isOrdered}[Ohne sie](?pos=0&mask=0)',
    },
    twins: {
      title: 'Nicht einmal Zwillinge hält sie auseinander',
      text: '{isStill}Zwei gleiche Buchstaben fragen dasselbe, also bekommen sie dasselbe: Die Ausgaben gleicher Buchstaben unterscheiden sich um **{twins}**. {isStill}Für die Schicht gibt es kein erstes C und kein letztes. {isStill}Zum Sortieren, zum Zählen, zum Lesen ist das zu wenig. {isOrdered}{differ}Mit Positionen oder einer Maske unterscheiden sich die Ausgaben gleicher Buchstaben um **{twins}**. {isOrdered}{differ}[Ohne sie](?pos=0&mask=0) nicht.',
    },
    places: {
      title: 'Mit Positionen springt es',
      text: '{isPlaced}Jetzt nimmt jeder Buchstabe seinen Platz mit: Vor der Schicht wird eine Zeile der Positionstabelle addiert. {isPlaced}{jumps}In anderer Reihenfolge stehen die Buchstaben anderswo, die Summen sind andere, und der Zeiger springt: Jetzt zeigt er **{difference}**. {isPlaced}{rests}In anderer Reihenfolge stehen die Buchstaben anderswo, die Summen sind andere, und der Zeiger springt. {isPlaced}{jumps}[Ohne Positionen](?pos=0&mask=0) fällt er auf null zurück. {isUnplaced}Lass jeden Buchstaben [seinen Platz mitnehmen](?pos=1), und in anderer Reihenfolge springt der Zeiger.',
      ask: 'Rate zuerst. Jetzt trägt jeder Buchstabe seinen Platz bei sich. Die Buchstaben bewegen sich wie vorhin. Was zeigt der Zeiger?',
    },
    mask: {
      title: 'Auch eine Maske gibt eine Reihenfolge',
      text: '{isMasked}Ein Buchstabe sieht nur sich selbst und was vor ihm steht (eine kausale Maske). {isMasked}Wer der letzte ist, sieht alle, wer der erste ist, sieht niemand sonst. {isMasked}{jumps}So zeigt sich eine andere Reihenfolge: **{difference}**. {isUnmasked}Lass einen Buchstaben nur sich selbst sehen und was vor ihm steht ([eine kausale Maske](?mask=1&pos=0)), und eine andere Reihenfolge zeigt sich. Darum kommt ein Decoder zur Not ganz ohne Positionen aus.',
    },
    story: {
      title: 'Ein ganzes Modell hat beides',
      text: 'Das Geschichtenmodell hat eine Maske und dreht seine Anfragen und Schlüssel. In dieser Reihenfolge gelesen, „{read}“, geht der Satz mit „{is}“ weiter und nicht mit „{was}“. In dieser Reihenfolge gelesen, „{read}“, geht er noch immer mit „{same}“ weiter. Auch [Ausschnitte eines Bilds](#/seeing?v=order) lassen sich mischen.',
    },
  },
  questions: {
    kinds: {
      ask: 'CABBAC ohne Positionen und ohne Maske: Wie viele *verschiedene* Ausgaben kommen aus der Schicht?',
      right: 'Ja, {n}: eine für jede Art Buchstabe. Mit Positionen sind es {withPlaces}.',
      wrong: 'Nein. Zähle die Streifen, die verschieden sind.',
    },
    masked: {
      ask: 'Bringe die Abbildung in einen Zustand, in dem die Reihenfolge zählt, obwohl keine Positionen addiert werden. Dann drücke „Prüfen“.',
      right: 'Ja: Mit der Maske ist der größte Unterschied {difference}.',
      wrong:
        'Noch nicht: Hier ist der größte Unterschied ohne Positionen {difference}. Es müsste sich ändern, wer wen sieht.',
    },
    next: {
      ask: 'Der mitgeführte Satz wird von hinten gelesen. Was kommt nach Meinung des Geschichtenmodells als Nächstes?',
      right: 'Ja, „{answer}“. Drehe den Satz in der Abbildung um, dann siehst du, wie sicher es ist.',
      wrong: 'Nein, nicht „{answer}“. Wähle in der Abbildung den Satz und drücke „Umdrehen“.',
    },
  },
  labels: {
    who: 'Was gelesen wird',
    letters: 'Buchstaben, eine Schicht',
    story: 'Satz, ganzes Modell',
    positions: 'Positionen',
    mask: 'kausale Maske',
    field: 'Buchstaben: A, B und C',
    shuffle: 'Mischen',
    reverse: 'Umdrehen',
    asItWas: 'Wie vorher',
    nothing: 'Noch keine Buchstaben: Schreibe ein paar aus A, B und C.',
    chips: 'Tokens; die Pfeiltasten bewegen eines',
    chip: '{token}, Platz {place} von {of}; Pfeiltasten bewegen es',
    weights: 'wen jeder liest',
    largest: 'größter Unterschied',
    meter:
      'Jede Ausgabe gegen die, die derselbe Buchstabe hatte, bevor etwas bewegt wurde (genauer {exact}; die größte Ausgabe ist {most}).',
    meterStory:
      'Was der letzte Block für jedes Token hinterlässt, gegen das, was er hinterließ, als der Satz wie geschrieben stand (genauer {exact}; die größte Zahl ist {most}).',
    afterWritten: 'Weiter, wie geschrieben',
    afterMoved: 'Weiter nach „{read}“',
    window: 'Die ersten {n} von {of} Tokens lassen sich bewegen; nur sie werden hier gelesen.',
  },
};
