// German: chapter 12.

import type { words as english } from '../en/cost.js';

export const words: typeof english = {
  title: 'Was es kostet',
  lead: 'Attention lässt jedes Token jedes andere ansehen. Das ist ihre Stärke und ihr Preis. Alles hier zählt das Paket oder misst es auf dem Gerät vor dir.',
  steps: {
    pairs: {
      title: 'Alle treffen alle',
      text: '{n} Tokens bilden {pairs} Paare, und jedes Paar kostet zweimal ein Produkt aus *d* = {d} Zahlen. Self-Attention braucht {attention} Millionen Multiplikationen, eine rekurrente Schicht {recurrent} Millionen. Verschiebe *n*: Attention wächst mit dem Quadrat.',
    },
    measured: {
      title: 'Hier gemessen',
      text: 'Punkte sind Millisekunden auf diesem Gerät, gestrichelte Linien so steil, wie es die Zahl der Multiplikationen sagt. Bei {longest} Tokens braucht Attention {ms} ms. Die rekurrente Schicht kann keinen Schritt beginnen, bevor der vorige fertig ist.',
      ask: 'Rate zuerst. Von 16 bis 512 Tokens: Welche der drei Schichten wächst am schnellsten? Und welche ist am Anfang die langsamste?',
    },
    short: {
      title: 'Kurze Texte sind billig',
      text: 'Mit *n* = {n} unter *d* = {d} braucht Attention nur das {ratio}-Fache der Multiplikationen einer rekurrenten Schicht. Mit *n* = {n} und *d* = {d} braucht sie das {times}-Fache einer rekurrenten Schicht: Der Text ist nicht mehr kurz. Sätze sind kurz und Vektoren lang: Hier hat der Transformer angefangen.',
    },
    path: {
      title: 'Wie weit ist es vom ersten Wort zum letzten?',
      text: 'In einer Schicht Attention liest jedes Token jedes andere: ein Schritt. Eine rekurrente Schicht reicht das erste Wort {handed}-mal weiter. Eine rekurrente Schicht reicht das erste Wort {once}-mal weiter. Die Balken zählen wie Abschnitt 4 von „Attention Is All You Need“: *n* / *k*, hier {path} Schichten, für einen Stapel von Faltungen. Die Balken zählen wie Abschnitt 4 von „Attention Is All You Need“: *n* / *k*, hier {onePath} Schicht, für einen Stapel von Faltungen. Jede davon reicht *k* − 1 Tokens weiter, sodass sich beide Enden nach {layers} treffen. In Tabelle 1 von „Attention Is All You Need“ steht der Logarithmus von *n* zur Basis *k*, denn sie meint Faltungen mit Lücken (dilated). Nachbarn sind die *r* = 2*k* nächsten Tokens, oder alle, wenn es weniger sind.',
    },
    cache: {
      title: 'Schreiben liest alles noch einmal, oder merkt es sich',
      text: 'Ein neues Token braucht die Schlüssel und Werte aller früheren. In einem Cache werden sie nur einmal berechnet. Auf diesem Gerät ist das Schreiben damit {faster}-mal so schnell. Für einen so kurzen Text lohnt es sich auf diesem Gerät nicht: Mit dem Cache dauerte das Schreiben {slower}-mal so lang. Der Preis ist Speicher, der mit dem Text wächst.',
    },
    dtypes: {
      title: 'Kleinere Zahlen',
      text: 'Dieselben Gewichte in 32, 16, 8 und 4 Bit. Mit acht Bit brauchen sie {smaller}-mal weniger Speicher. Wie weit sich die Antworten des Übersetzers verschieben, wird auch gemessen. Je größer die Matrizen, desto mehr lohnt es sich.',
    },
    device: {
      title: 'Worauf es läuft',
      text: 'Die Maschine, die alle Abbildungen rechnet: WebAssembly mit 128-Bit-SIMD in einem Worker. Wo der Browser geteilten Speicher erlaubt, nutzt sie mehrere Threads; wo nicht, steht hier der Grund.',
    },
  },
  questions: {
    crossing: {
      ask: 'Bei welcher Länge *n* braucht Self-Attention so viele Multiplikationen wie eine rekurrente Schicht mit *d* = {d}?',
      right: 'Ja. Bei *n* = {n} brauchen beide {attention}: 2·n²·d = 2·n·d², wenn n = d.',
      wrong:
        '{isNone}Eine Länge ist eine ganze Zahl von Tokens. Bei *n* = {n} braucht Attention {attention}, eine rekurrente Schicht {recurrent}.',
    },
    doubling: {
      ask: 'Der Text wird doppelt so lang. Um welchen Faktor wächst die Arbeit der Self-Attention?',
      right: 'Ja, auf das {ratio}-Fache: Jedes von doppelt so vielen Tokens trifft doppelt so viele.',
      wrong: 'Gezählt: das {ratio}-Fache. Probiere *n* und 2*n* in der Abbildung.',
    },
  },
  labels: {
    what: 'Was verglichen wird',
    work: 'Arbeit',
    time: 'Zeit',
    path: 'Weg',
    cache: 'Cache',
    dtypes: 'Bits',
    device: 'Gerät',
    again: 'Neu messen',
    self_attention: 'Attention',
    recurrent: 'rekurrent',
    convolutional: 'Faltung',
    restricted_self_attention: 'Nachbarn, r\u00A0=\u00A0{r}',
    multiplications: 'Millionen Multiplikationen einer Schicht',
    waiting: 'Schritte, die aufeinander warten',
    pathLength: 'Schichten oder Schritte zwischen beiden Enden',
    pathNote: 'Je weniger, desto leichter wird eine Verbindung zwischen fernen Wörtern gelernt.',
    timeNote:
      'Mediane von fünf Aufrufen, abwechselnd, im Thread der Seite. Die rekurrente Schicht ruft das Paket für jeden Schritt einmal auf: Viel von ihrer Zeit ist Warten.',
    endedEarly: 'Nur bis {n} Tokens gemessen, weil ein Aufruf dort länger als {ms} ms gedauert hat: {name}.',
    onnxruntime: 'onnxruntime-web',
    beside: 'mit onnxruntime-web ({megabytes} MB)',
    besideNote:
      'Attention noch einmal, in onnxruntime-web {version}: dieselben q, k und v, ein Thread. Seine Zahlen weichen von unseren um höchstens {difference} der größten ab.',
    besideAbsent: 'Diese Kopie der Seite wurde ohne onnxruntime-web gebaut, denn das sind 14 MB.',
    besideFailed:
      'onnxruntime-web ist nicht gemessen: {message}. Es wird beim ersten Gebrauch von dieser Seite geladen und geht danach auch offline.',
    guess: 'Welche wächst am schnellsten?',
    plot: 'Millisekunden gegen die Zahl der Tokens, beide Achsen logarithmisch',
    tokens: 'Tokens',
    perToken: 'Millisekunden je Token',
    cacheKept: 'mit Cache',
    cacheWithout: 'ohne',
    cacheBytes: 'Der Cache des Geschichtenmodells braucht {bytes} Byte je Token.',
    bytes: 'Gewichte des Übersetzers im Speicher, kB',
    pass: 'Ein Durchgang über den Satz, ms',
    difference: 'Größte Änderung eines Logits',
    sameToken: 'gleiches Token',
    otherToken: 'anderes Token',
    simd: 'Befehle',
    threads: 'Threads',
    worker: 'in einem Worker',
    wasm: 'WebAssembly-Datei',
    heap: 'Speicher der Maschine',
    weights: 'davon Gewichte',
    version: 'Version des Kerns',
    benchmark: 'Ganze Modelle auf diesem Gerät messen',
    yes: 'ja',
    no: 'nein',
    nName: 'n, Tokens',
    dName: 'd, Zahlen eines Vektors',
    kName: 'k, Breite eines Kerns',
  },
};
