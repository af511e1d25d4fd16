// German: chapter 2.

import type { words as english } from '../en/set.js';

export const words: typeof english = {
  title: 'Eine Menge hat keine Reihenfolge',
  lead: 'Aufmerksamkeit vergleicht jedes Token mit jedem anderen und zählt zusammen, was sie findet. Einer Summe ist es gleich, in welcher Reihenfolge sie gebildet wird. Allein kann Aufmerksamkeit darum „Hund beißt Mann“ nicht von „Mann beißt Hund“ unterscheiden: Sie liest einen Sack voll Wörter.',
  steps: {
    layer: {
      title: 'Eine Aufmerksamkeitsschicht für sich',
      text: 'Sechs Buchstaben gehen durch die erste Aufmerksamkeit des Sortierers, mit seinen trainierten Gewichten, aber ohne Positionen und ohne Maske. Ein Streifen ist, was für einen Buchstaben herauskommt: 48 Zahlen, Rosa über null, Blau darunter. Rechts davon: wen jeder Buchstabe liest, und wie sehr.',
    },
    move: {
      title: 'Beweg einen Buchstaben, und seine Ausgabe kommt mit',
      text: 'Zieh die Buchstaben (oder nimm die Pfeiltasten). Jeder Streifen folgt seinem Buchstaben, und keine einzige Zahl ändert sich: Der größte Unterschied ist **{difference}**. Als Formel: Vertausche die Zeilen der Eingabe, und die Zeilen der Ausgabe sind vertauscht, sonst nichts (Aufmerksamkeit ist äquivariant).',
      ask: 'Rate zuerst. Dieselben Buchstaben stehen in einer anderen Reihenfolge. Was wird aus dem, was für jeden herauskommt?',
    },
    why: {
      title: 'Weil es eine gewichtete Summe ist',
      text: 'Sieh dir die Gewichte an: Ihre Zeilen und Spalten haben die Plätze getauscht wie die Buchstaben. Jeder Buchstabe gibt jedem anderen noch dasselbe Gewicht und zählt dieselben Werte zusammen, nur in anderer Reihenfolge. Was davon bleibt, ist Rundung, {exact}.',
    },
    twins: {
      title: 'Nicht einmal Zwillinge hält sie auseinander',
      text: 'Zwei gleiche Buchstaben fragen dasselbe, also bekommen sie dasselbe: Die Ausgaben gleicher Buchstaben unterscheiden sich um **{twins}**. Für die Schicht gibt es kein erstes C und kein letztes. Zum Sortieren, zum Zählen, zum Lesen ist das zu wenig.',
    },
    places: {
      title: 'Mit Positionen springt es',
      text: 'Jetzt nimmt jeder Buchstabe seinen Platz mit: Vor der Schicht wird eine Zeile der Positionstabelle addiert. In der neuen Reihenfolge stehen die Buchstaben anderswo, die Summen sind andere, und der Zeiger springt auf **{difference}**. [Ohne Positionen](?pos=0) fällt er auf null zurück.',
      ask: 'Rate zuerst. Jetzt trägt jeder Buchstabe seinen Platz bei sich. Die Buchstaben bewegen sich wie vorhin. Was zeigt der Zeiger?',
    },
    mask: {
      title: 'Auch eine Maske gibt eine Reihenfolge',
      text: 'Hier gibt es keine Positionen, aber ein Buchstabe sieht nur sich selbst und was vor ihm steht (eine kausale Maske). Wer der letzte ist, sieht alle, wer der erste ist, sieht niemand sonst. So zeigt sich die Reihenfolge: **{difference}**. Darum kommt ein Decoder zur Not ganz ohne Positionen aus.',
    },
    story: {
      title: 'Ein ganzes Modell hat beides',
      text: 'Das Geschichtenmodell hat eine Maske und dreht seine Anfragen und Schlüssel. In dieser Reihenfolge gelesen, „{read}“, geht der Satz mit „{is}“ weiter und nicht mit „{was}“. Auch [Ausschnitte eines Bilds](#/seeing?v=order) lassen sich mischen.',
    },
  },
  questions: {
    kinds: {
      ask: 'CABBAC ohne Positionen und ohne Maske: Wie viele *verschiedene* Ausgaben kommen aus der Schicht?',
      right: 'Ja, {n}: eine für jede Art Buchstabe. Mit Positionen sind es {withPlaces}.',
      wrong: 'Nein. Zähl die Streifen, die verschieden sind.',
    },
    masked: {
      ask: 'Bring die Figur in einen Zustand, in dem die Reihenfolge zählt, obwohl keine Positionen addiert werden. Dann drück „Prüfen“.',
      right: 'Ja: Mit der Maske ist der größte Unterschied {difference}.',
      wrong:
        'Noch nicht: Hier ist der größte Unterschied ohne Positionen {difference}. Es müsste sich ändern, wer wen sieht.',
    },
    next: {
      ask: 'Der mitgeführte Satz wird von hinten gelesen. Was kommt nach Meinung des Geschichtenmodells als Nächstes?',
      right: 'Ja, „{answer}“. Dreh den Satz in der Figur um, dann siehst du, wie sicher es ist.',
      wrong: 'Nein, nicht „{answer}“. Wähl in der Figur den Satz und drück „Umdrehen“.',
    },
  },
  labels: {
    who: 'Was gelesen wird',
    letters: 'Buchstaben, eine Schicht',
    story: 'der Satz, ein ganzes Modell',
    positions: 'Positionen',
    mask: 'kausale Maske',
    field: 'Buchstaben: A, B und C',
    shuffle: 'Mischen',
    reverse: 'Umdrehen',
    asItWas: 'Wie vorher',
    nothing: 'Noch keine Buchstaben: Schreib ein paar aus A, B und C.',
    chips: 'Tokens; die Pfeiltasten bewegen eines',
    chip: '{token}, Platz {place} von {of}; Pfeiltasten bewegen es',
    weights: 'wen jeder liest',
    largest: 'größter Unterschied',
    meter:
      'Jede Ausgabe gegen die, die derselbe Buchstabe hatte, bevor etwas bewegt wurde (genau {exact}; die größte Ausgabe ist {most}).',
    meterStory:
      'Was der letzte Block für jedes Token hinterlässt, gegen das, was er hinterließ, als der Satz wie geschrieben stand (genau {exact}; die größte Zahl ist {most}).',
    afterWritten: 'Weiter, wie geschrieben',
    afterMoved: 'Weiter nach „{read}“',
    window: 'Die ersten {n} von {of} Tokens lassen sich bewegen; nur sie werden hier gelesen.',
  },
};
