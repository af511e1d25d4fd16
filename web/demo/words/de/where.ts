// German: chapter 3.

import type { words as english } from '../en/where.js';

export const words: typeof english = {
  title: 'Sagen, wo',
  lead: 'Attention sieht eine Menge von Tokens, keine Folge. Also muss jedes Token seinen Platz bei sich tragen, als Zahlen. Es gibt vier Arten, einen Platz aufzuschreiben, und die älteste ist ein Satz Uhren.',
  steps: {
    row: {
      title: 'Eine Zeile für jeden Platz',
      text: 'Um zu sagen, *wo* ein Token steht, wird zu seinem Vektor ein zweiter addiert: Zeile *i* dieser Tabelle (eine Positionskodierung). Ihre Spalten kommen paarweise, Sinus und Kosinus desselben Winkels, und jedes Paar dreht sich langsamer als das davor.',
    },
    clocks: {
      title: 'Lies es als Uhren',
      text: 'Jedes Paar ist ein Uhrzeiger: quer der Sinus, hoch der Kosinus. Ziehe *i* die Tabelle hinunter und sieh zu. Der erste Zeiger läuft in {first} Tokens herum, der letzte in {last}. Zusammen halten sie Plätze auseinander wie Stunden, Minuten und Sekunden.',
    },
    step: {
      title: 'Ein Schritt dreht jeden Zeiger',
      text: 'Gehe von *i* nach {a|*i + δ*}. Jeder Zeiger dreht sich um {a|*δω*}, egal wie groß *i* war. {hasStep}Das macht eine einzige 2 × 2-Matrix (eine Drehung), und in der kommt *i* nicht vor: Das Modell kann den Schritt {a|*δ*} = {delta} einmal lernen, für alle Plätze. {hasStep}Über alle Paare verfehlt das Produkt die Tabelle um höchstens {rounding}: die letzte Stelle der Zahlen. {isMisprint}Mit dem Druckfehler verfehlt das Produkt die Tabelle. {isMisprint}[Verbessere sie](?misprint=0). {noStep}Ohne die Kosinusse macht das keine Matrix. {noStep}[Mit ihnen](?sines=0&d=16).',
      ask: 'Rate zuerst. Der Zeiger ohne Farbe steht bei *i*. Wenn wir fünf Tokens später im Text beginnen: Wird die Drehung von *i* nach *i + δ* größer, kleiner oder bleibt sie gleich?',
    },
    sines: {
      title: 'Warum Sinus und Kosinus',
      text: 'Nimm die Kosinusse weg, und von einem Zeiger bleibt nur sein Schatten: Zwei Zeiger werfen denselben. Keine einzelne Zahl führt für jedes *i* vom Schatten bei *i* zum Schatten bei {a|*i + δ*}. [Mit den Kosinussen](?sines=0)',
    },
    few: {
      title: 'Zu wenige Uhren',
      text: 'Mit zwei Spalten gibt es eine Uhr, und immer wieder zeigt sie fast dieselbe Zeit. Bei *d* = {d} sehen diese Zeilen wie Zeile {i} aus und sind markiert: {twins}. {alone}Mit *d* = {d} sieht keine andere Zeile wie Zeile {i} aus. Ganz gleich sind sie nie: Von {counted} Plätzen sind {allDiffer} verschieden. Manche sind ganz gleich: Von {counted} Plätzen sind nur {fewer} verschieden. Mit [einer Spalte](?d=1) hört auch das auf. Mehr Uhren, und die Zwillinge trennen sich: [4](?d=4) [8](?d=8) [16](?d=16).',
    },
    misprint: {
      title: 'Ein häufiger Druckfehler',
      text: 'Manche Skripte schreiben die zweite Zeile der Matrix als [cos *δω*, −sin *δω*]. Dann landet der Zeiger am falschen Platz. [Verbessere sie](?misprint=0), und er trifft wieder Zeile *i + δ*.',
    },
    halves: {
      title: 'Dieselben Spalten, sortiert',
      text: 'Nirgends steht, dass ein Sinus neben seinem Kosinus stehen muss. Der Übersetzer dieses Buchs schreibt erst alle Sinusse, dann alle Kosinusse. Jede Uhr behält ihre zwei Spalten, nur weiter auseinander, und der Schritt ist dieselbe Drehung. [Seine eigene Tabelle](?v=tables&table=marian-tiny-en-fr)',
    },
    learned: {
      title: 'Oder das Modell lernt die Tabelle',
      text: 'Eine Zeile für jeden Platz lässt sich lernen wie jedes andere Gewicht (eine gelernte Kodierung). Niemand hat dem [Ziffernleser](?table=vit-mnist) gesagt, dass seine Ausschnitte ein Bild sind: Die Zeilen benachbarter Ausschnitte sind trotzdem ähnlich geworden. Der [Sortierer](?table=gpt-nano-sort) hat elf Zeilen gelernt; einen zwölften Platz gibt es nicht.',
    },
    rotary: {
      title: 'Oder drehe die Vektoren selbst',
      text: 'Das Geschichtenmodell addiert nichts. Wie die meisten neueren Modelle dreht es jede Anfrage und jeden Schlüssel um seinen Platz, Paar für Paar (Rotary). Bewege {q|q} oder {k|k}, und ihr Produkt ändert sich; bewege *beide*, und es bleibt, denn es zählt nur der Winkel zwischen ihnen: der Abstand, jetzt {distance}.',
      ask: 'Rate zuerst. Anfrage und Schlüssel werden gedreht, jeder um seinen Platz. Wenn beide zehn Plätze weiterrücken: Was wird aus ihrem Produkt?',
    },
    bias: {
      title: 'Oder verschiebe die Scores',
      text: 'Der kürzeste Weg: Lass die Vektoren in Ruhe und ziehe von jedem Score etwas ab, umso mehr, je weiter weg der Schlüssel ist (ALiBi). Jeder Kopf hat seine eigene Steigung. Oder lerne eine Zahl für jede Gruppe von Abständen (die Fächer von T5): nahe getrennt, ferne zusammen.',
    },
  },
  questions: {
    turn: {
      ask: 'Sechzehn Spalten. Wie viele Tokens braucht der Zeiger von Paar 1 für eine Umdrehung? (Ein halbes Token daneben ist in Ordnung.)',
      right: 'Ja: Er dreht sich um *ω* = {omega} pro Token, und 2π / *ω* = {turn}.',
      wrong:
        'Nicht ganz. Lies *ω* unter der Tabelle ab, während Paar 1 gewählt ist: Wie oft passt es in eine volle Umdrehung, 2π ≈ 6.28?',
    },
    back: {
      ask: 'Stelle {a|*δ*} (nicht 0) so ein, dass der Zeiger von Paar 0 fast dort endet, wo er begann, auf 0.05 genau. Dann drücke „Prüfen“.',
      right: 'Ja: Nach {delta} Tokens ist seine Matrix fast die Einheitsmatrix, cos *δω* = {cos}, sin *δω* = {sin}.',
      wrong:
        'Noch nicht: Mit *δ* = {delta} stehen in der Matrix cos *δω* = {cos} und sin *δω* = {sin}. Es sollten fast 1 und 0 sein.',
    },
    none: {
      ask: 'Welches Modell dieser Seite addiert keine Positionen zu seinen Vektoren?',
      right: 'Ja: Die Positionen von {model} sind von der Art „{kind}“: Es dreht Anfragen und Schlüssel.',
      wrong: 'Nein: Die Positionen von {model} sind von der Art „{kind}“, und sie werden zu den Vektoren addiert.',
    },
  },
  labels: {
    ways: 'Arten zu sagen, wo',
    sinusoids: 'Uhren',
    tables: 'Tabellen',
    rotary: 'gedreht',
    bias: 'Scores',
    columns: 'Spalten',
    onlySines: 'nur Sinusse',
    misprint: 'Druckfehler',
    halves: 'erst die Sinusse',
    table: 'Tabelle der Positionen',
    clocks: 'Eine Uhr für jedes Spaltenpaar',
    clock: 'Paar {pair}: Sinus {sin}, Kosinus {cos}; eine Umdrehung in {turn} Tokens',
    shadow: 'Paar {pair}: Sinus {sin}',
    distance: 'Abstand zu Zeile i',
    twin: 'Zeile {row}',
    i: 'Position i',
    delta: 'Schritt δ',
    to: 'zu',
    movedTo: 'Position {i}, Schritt {delta}',
    stepMatrix: 'die Matrix des Schritts',
    rowPair: 'Zeile {i} der Tabelle',
    product: 'ihr Produkt',
    rowHolds: 'was in Zeile {row} der Tabelle steht: **Unterschied {difference}**',
    butRow: 'aber in Zeile {row} steht {sin}, {cos}: **daneben um {difference}**',
    shouldRead: 'Die zweite Zeile muss [−sin *δω*, cos *δω*] heißen.',
    onlyDelta: 'In der Matrix steht nur {a|*δω*} = {delta} · {omega}. Der Platz *i* nicht.',
    noFactor:
      '**Keine einzelne Zahl passt.** Der Faktor von einem Schatten zum nächsten hängt von *i* ab, also lässt sich ein Schritt nicht einmal für alle Plätze lernen.',
    noStep: 'Für den Schritt gibt es keine Matrix.',
    saysPackage: 'Das Paket sagt, warum:',
    distinctOf: '{distinct} der Kodierungen von {counted} Plätzen sind in float32 verschieden.',
    whose: 'Wessen Tabelle',
    learnedTable: '{model} hat {count} Zeilen mit je {d} Zahlen gelernt.',
    fixedTable: '{model} hat {count} Zeilen mit je {d} Zahlen, die niemand gelernt hat: erst Sinusse, dann Kosinusse.',
    sameAsFunction: 'Unterschied zur Funktion: {difference}',
    rowForPlace: 'eine Zeile für jeden Platz',
    cosine: 'cos',
    similarAre: 'Zeilen {row} und {column}: Kosinus',
    pointAt: 'Wie ähnlich jede Zeile jeder ist: 1 heißt dieselbe Richtung.',
    asPicture: 'Zeile {row}, im Bild',
    queryAt: 'q von „{token}“ bei',
    keyAt: 'k von „{token}“ bei',
    both: 'beide ab',
    keyOf: 'Schlüssel von',
    layer: 'Block',
    head: 'Kopf',
    turnedQuery: 'gedrehte Anfrage',
    turnedKey: 'gedrehter Schlüssel',
    productIs: '{q|q} · {k|k} = **{product}** im Abstand {distance}',
    byDistance:
      'Das Produkt für jeden Abstand, wenn der Schlüssel bleibt, wo er ist. Diese Balken bleiben, wenn beide sich bewegen.',
    sameAsModel:
      'Wo die Tokens wirklich stehen, sind die gedrehten Vektoren die des Modells: **Unterschied {difference}**. Gestrichelt: vor dem Drehen. Modell: {model}.',
    dial: 'Zahlen {a} und {b} von Anfrage und Schlüssel als Zeiger',
    dialsOf: 'Die ersten {n} von {of} Paaren sind gezeichnet.',
    alibi: 'ALiBi.',
    slope: 'Dieser Kopf zieht für jedes Token Abstand {slope} ab.',
    biasName: 'B',
    added: 'zu den Scores addiert',
    buckets: 'Fächer von T5.',
    bucketsAre:
      'Abstände mit derselben Nummer teilen sich eine gelernte Zahl. Gezeichnet mit 8 Fächern bis Abstand 16; T5 hat 32 bis 128.',
    bucket: 'b',
    whichNumber: 'welche gelernte Zahl',
    window: 'Die ersten {n} von {of} Tokens sind gezeichnet.',
  },
};
