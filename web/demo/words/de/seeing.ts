// German: chapter 11.

import type { words as english } from '../en/seeing.js';

export const words: typeof english = {
  title: 'Sehen',
  lead: 'Nichts in den Blöcken der Kapitel davor weiß, was ein Wort ist. Gib ihnen ein Bild als Reihe von Vektoren, und sie sehen. Dieses Modell hat an handgeschriebenen Ziffern gelernt; zeichne eine.',
  steps: {
    picture: {
      title: 'Ein Bild hinein, zehn Wahrscheinlichkeiten heraus',
      text: 'Das Bild hat 28 × 28 Pixel, jedes eine Zahl von −1, Papier, bis 1, Tinte. Das Modell sagt, wie viel es von jeder der zehn Klassen hält: hier {best}, mit {share}. Zeichne darüber, mit dem Zeiger oder mit Umschalt und den Pfeiltasten.',
    },
    patches: {
      title: 'In Wörter geschnitten',
      text: 'Ein Block liest eine Reihe von Vektoren, darum wird das Bild in 7 × 7 **Ausschnitte** (Patches) zu 4 × 4 Pixeln zerlegt. Jeder ist sechzehn Zahlen in einer Reihe, mehr ist ein Ausschnitt nicht. Wähle einen anderen.',
    },
    kernels: {
      title: 'Jeder Ausschnitt trifft dieselben Kerne',
      text: 'Sechzehn Zahlen mal sechzehn gelernte Gewichte, summiert, plus ein Bias: eine Zahl. Die Gewichte sind ein **Kern** (Kernel), ein kleines Bild dessen, worauf er anspricht: eine Kante, ein Punkt, Tinte links. {kernels} Kerne machen einen Vektor aus {kernels} Zahlen, und dieselben Kerne dienen jedem Platz. Das ist ein Matrixprodukt, oder eine Faltung, deren Schrittweite ihr Kern ist.',
    },
    positions: {
      title: 'Ein Leser mehr, und ein Platz für jeden',
      text: 'Davor steht ein Vektor, der aus keinem Ausschnitt kommt, das **Klassen-Token**: Es wird sammeln, was die Antwort braucht. Dann kommt zu jeder Zeile ein gelernter Vektor hinzu, einer für jeden Platz, {s|E + P = X}. Erst damit ist das Bild kein Beutel voller Ausschnitte mehr.',
    },
    similar: {
      title: 'Was nah ist, hat ihm niemand gesagt',
      text: 'Vergleiche die gelernte Position eines Platzes mit allen anderen (ihr Kosinus). Platz {place} gleicht am meisten Platz {nearest}. Die meisten Plätze gleichen am meisten einem Nachbarn, und die leeren Ecken gleichen einander, obwohl das Modell nur die Zahlen 1 bis 49 bekam.',
    },
    heads: {
      title: 'Was das Klassen-Token liest',
      text: 'Nun kommen die Blöcke der Kapitel davor, ohne Maske: Jeder Ausschnitt darf jeden lesen. Ein Punkt ist das Gewicht eines Ausschnitts, seine Fläche das Gewicht. Schalte einen Kopf stumm und sieh auf die Werte: Gewichte zeigen, was gelesen wurde, nicht, woran die Antwort hängt.',
    },
    rollout: {
      title: 'Durch alle Blöcke auf einmal',
      text: 'Multipliziere die Gewichte der Blöcke, wobei die Hälfte jeweils auf dem Strom vorbeiläuft (**Attention Rollout**): wie viel von jedem Ausschnitt beim Klassen-Token angekommen ist. Der größte Anteil ist {most}; gleichmäßig verteilt wären es {even}. Er folgt der Tinte.',
    },
    hide: {
      title: 'Worauf kann es verzichten?',
      text: 'Lass Ausschnitte leer, und es muss ohne sie auskommen. Ohne {hidden} von 49 ist die {was} eine {turned}, {share}, und der {was} bleiben {wasNow}. Ohne {hidden} von 49 sagt es noch {kept}, {share}. Klicke auf Ausschnitte, um sie zu verbergen und zu zeigen: Welche braucht es?',
      ask: 'Einige seiner Ausschnitte sind leer. Was sagt das Modell jetzt?',
    },
    shuffle: {
      title: 'Dieselben Ausschnitte, anderswo',
      text: 'Alle 49 Ausschnitte sind da, in anderer Ordnung. {isPlaced}Jeder bekommt die Position des Platzes, an dem er jetzt liegt. {isAlong}Jeder behält den Positionsvektor, den er hatte. {isNone}Keiner bekommt eine Position. Das Modell sagt {best}, {share}. Ziehe Ausschnitte, oder klicke erst einen und dann einen anderen an, um sie zu tauschen.',
      ask: 'Alle Ausschnitte sind da, in anderer Ordnung. Sieht es noch eine {was}?',
    },
    along: {
      title: 'Die Positionen kommen mit',
      text: '{isAlong}Dieselbe Unordnung, aber jeder Ausschnitt behält den Positionsvektor, den er hatte. {isAlong}Die Werte sind die des geordneten Bildes: Der größte Unterschied ist {difference}. {isStay}Lass jeden Ausschnitt [den Positionsvektor behalten, den er hatte](?pos=along), und die Werte sind die des geordneten Bildes. Attention sieht eine Menge; nur die addierten Vektoren sagen, wo. [Ganz ohne Positionen](?pos=none) bedeutet die Ordnung auch nichts.',
      ask: 'Jeder Ausschnitt nimmt jetzt seinen Positionsvektor mit. Wie weit sind die Werte von denen des geordneten Bildes entfernt?',
    },
  },
  questions: {
    blind: {
      ask: 'Verbirg höchstens {limit} Ausschnitte, sodass es nicht mehr {was} sagt. ([Der Schritt dazu](?step=7))',
      right: 'Mit {count} verborgenen sagt es {now}, nicht {was}.',
      wrong: 'Mit {count} verborgenen sagt es {now}; ohne sagt es {was}. Von 1 bis {limit} dürfen verborgen sein.',
    },
    sharpest: {
      ask: 'In welchem Block legt ein Kopf des Klassen-Tokens das größte Gewicht auf einen einzigen Ausschnitt?',
      right: 'In Block {block}: {share} auf einem Ausschnitt.',
      wrong: 'Dort ist das größte Gewicht {given}. In einem anderen Block ist es {share}.',
    },
    nearest: {
      ask: 'Plätze zählen zeilenweise, von 1 bis {places}. Wessen Positionsvektor gleicht am meisten dem von Platz {middle} in der Mitte?',
      right: 'Platz {best}, mit einem Kosinus von {cosine}.',
      wrong: '{isNone}Diesen Platz gibt es nicht. Sein Kosinus ist {given}; ein anderer Platz hat {cosine}.',
    },
  },
  labels: {
    model: 'Modell',
    ownModel: 'dein Modell',
    says: 'Es sagt',
    scores: 'Wahrscheinlichkeit jeder Klasse',
    wasShare: 'war {share}',
    pad: 'Zeichenfläche: Zeichne mit dem Zeiger; Pfeiltasten bewegen den Stift, mit Umschalt zeichnen sie. Darunter stehen Beispiele.',
    drawHere: 'hier zeichnen',
    patches: 'Das Bild in {n} Ausschnitten: Pfeiltasten gehen, Enter wählt',
    place: 'Platz {n}: Zeile {row}, Spalte {column}',
    sample: 'Beispiel',
    samples: 'Ziffern, die jemand geschrieben hat',
    orFile: 'Ein Bild von dir …',
    noPicture:
      '„{name}“ ist kein Bild, das dieser Browser lesen kann. JPEG, PNG und WebP liest jeder; HEIC-Fotos eines Telefons nur Safari.',
    asMnist:
      'Was du zeichnest oder mitbringst, wird zu 28 × 28 Pixeln mit sechzehn Graustufen, helle Striche, 20 Pixel lang, in der Mitte, wie die Ziffern von MNIST liegen; eine dunkle Ziffer auf hellem Papier wird umgekehrt. Alles davon steht in der Adresse.',
    inARow: 'in einer Reihe',
    rowBegins: 'die ersten von {n} in einer Reihe',
    patchNote: '{n} Ausschnitte, jeder eine Reihe von {numbers} Zahlen: wie Tokens für einen Text.',
    patchShort: 'Ausschnitt {n}',
    kernel: 'Kern',
    kernels: 'Die Kerne der Patch-Projektion',
    kernelsOf: 'Kerne {from} bis {to} von {of}',
    before: 'Die Kerne davor',
    after: 'Die Kerne danach',
    everywhere: 'Kern {kernel} an jedem Platz',
    products: '{n} Produkte',
    bias: 'Bias',
    patchVectors: 'Klassen-Token, Ausschnitte',
    learned: 'gelernte Positionen',
    input: 'Eingabe von Block 1',
    firstNumber: 'die erste Zahl',
    clsNote: 'Zeile 1 ist das Klassen-Token, dann kommen die Plätze, Zeile für Zeile.',
    clsNoteTwo:
      'Zeile 1 ist das Klassen-Token, Zeile 2 das Destillations-Token, dann kommen die Plätze, Zeile für Zeile.',
    widthNote: 'Jeder Vektor hat {d} Zahlen.',
    partNote: 'Gezeigt sind die Zeilen {from} bis {to} von {rows}, von jeder die ersten {columns} Zahlen.',
    similarities: 'Für jeden Platz seine Ähnlichkeit mit allen Plätzen',
    likePlace: 'mit Platz {n}',
    similarNote:
      'Jedes kleine Quadrat gehört zu einem Platz und zeigt seinen Kosinus mit allen {n}: rot gleich, blau entgegen.',
    allHeads: 'Die Köpfe aller Blöcke',
    head: 'Kopf',
    block: 'Block',
    whoLooks: 'Wer schaut',
    classToken: 'Klassen-Token',
    headReads: 'Block {block}, Kopf {head} liest am meisten bei',
    silence: 'diesen Kopf stumm schalten',
    allOn: 'Alle Köpfe wieder an',
    ownScale: 'In jedem Quadrat ist das größte Gewicht ein voller Punkt.',
    upTo: 'bis Block {block}',
    rolloutScale: 'Der größte Punkt ist {most}; gleichmäßig auf alle Tokens verteilt wären es {even}.',
    rolloutNote: 'Ein eigener Maßstab, derselbe in allen Quadraten. Punkte liegen über der Tinte und verdecken nichts.',
    hiddenCount: '{n} von {of} Ausschnitten sind leer',
    showAll: 'Alle zeigen',
    hideNote: 'Leer heißt Papier, −1 in allen {n} Pixeln. Das Modell hat nie an einem Bild mit Loch gelernt.',
    shuffle: 'Mischen',
    inOrder: 'In Ordnung bringen',
    positionsOf: 'Positionen',
    posStay: 'des Platzes',
    posAlong: 'kommen mit',
    posNone: 'keine',
    difference: 'größter Unterschied eines Werts zum geordneten Bild',
    dragNote: 'Ziehe einen Ausschnitt auf einen anderen: Sie tauschen die Plätze.',
    movedNote: 'Nichts ist verloren, nur verlegt.',
  },
  variants: {
    own: {
      lead: 'Nichts in den Blöcken der Kapitel davor weiß, was ein Wort ist. Gib ihnen ein Bild als Reihe von Vektoren, und sie sehen. Hier sieht dein eigenes Modell: Gib ihm ein Bild.',
      steps: {
        picture: {
          title: 'Ein Bild hinein, ein Wert je Klasse heraus',
          text: 'Der Prozessor deines Modells macht aus jedem Bild {channels} × {side} × {side} Zahlen, und das Modell sagt, wie viel es von jeder seiner {classes} Klassen hält: hier {best}, mit {share}. Wähle ein Bild von dir, oder lege eines hier ab.',
        },
        patches: {
          title: 'In Wörter geschnitten',
          text: 'Ein Block liest eine Reihe von Vektoren, darum wird das Bild in {grid} × {grid} **Ausschnitte** (Patches) zu {patch} × {patch} Pixeln zerlegt. Jeder ist {numbers} Zahlen in einer Reihe, mehr ist ein Ausschnitt nicht. Wähle einen anderen.',
        },
        kernels: {
          title: 'Jeder Ausschnitt trifft dieselben Kerne',
          text: '{numbers} Zahlen mal {numbers} gelernte Gewichte, summiert, plus ein Bias: eine Zahl. Die Gewichte sind ein **Kern** (Kernel), ein kleines Bild dessen, worauf er anspricht. {kernels} Kerne machen einen Vektor aus {kernels} Zahlen, und dieselben Kerne dienen jedem Platz. Das ist ein Matrixprodukt, oder eine Faltung, deren Schrittweite ihr Kern ist.',
        },
        positions: {
          title: 'Ein Leser mehr, und ein Platz für jeden',
          text: 'Davor steht ein Vektor, der aus keinem Ausschnitt kommt, das **Klassen-Token**: Es wird sammeln, was die Antwort braucht. Dann kommt zu jeder Zeile ein gelernter Vektor hinzu, einer für jeden Platz, {s|E + P = X}. Erst damit ist das Bild kein Beutel voller Ausschnitte mehr.',
        },
        similar: {
          title: 'Was nah ist, hat ihm niemand gesagt',
          text: 'Vergleiche die gelernte Position eines Platzes mit allen anderen (ihr Kosinus). Platz {place} gleicht am meisten Platz {nearest}. Das Modell bekam nur die Zahlen 1 bis {places}: Stehen Zeilen, Spalten und Nachbarn in seiner Tabelle?',
        },
        rollout: {
          title: 'Durch alle Blöcke auf einmal',
          text: 'Multipliziere die Gewichte der Blöcke, wobei die Hälfte jeweils auf dem Strom vorbeiläuft (**Attention Rollout**): wie viel von jedem Ausschnitt beim Klassen-Token angekommen ist. Der größte Anteil ist {most}; gleichmäßig verteilt wären es {even}.',
        },
        hide: {
          title: 'Worauf kann es verzichten?',
          text: 'Lass Ausschnitte leer, und es muss ohne sie auskommen. Ohne {hidden} von {places} sagt es {best}, {share}; {was} hatte {wasShare} und behält {wasNow}. Klicke auf Ausschnitte, um sie zu verbergen und zu zeigen: Welche braucht es?',
          ask: 'Die Mitte des Bildes ist leer. Was sagt das Modell jetzt?',
        },
        shuffle: {
          title: 'Dieselben Ausschnitte, anderswo',
          text: 'Alle {places} Ausschnitte sind da, in anderer Ordnung. {isPlaced}Jeder bekommt die Position des Platzes, an dem er jetzt liegt. {isAlong}Jeder behält den Positionsvektor, den er hatte. {isNone}Keiner bekommt eine Position. Das Modell sagt {best}, {share}. Ziehe Ausschnitte, oder klicke erst einen und dann einen anderen an, um sie zu tauschen.',
          ask: 'Alle Ausschnitte sind da, in anderer Ordnung. Sagt es noch {was}?',
        },
      },
      labels: {
        asMnist:
          'Dein Modell bekommt sein Bild so, wie sein eigener Prozessor es macht. Eine Datei bleibt in diesem Fenster und steht nicht in der Adresse.',
        hideNote: 'Leer heißt schwarz in allen {n} Zahlen eines Ausschnitts.',
        rolloutNote: 'Ein eigener Maßstab, derselbe in allen Quadraten.',
      },
    },
  },
};
