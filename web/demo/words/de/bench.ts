// German: the benchmark page.

import type { BenchWords } from '../en/bench.js';

export const words: BenchWords = {
  title: 'Wie schnell ist es hier?',
  lead: 'Dieselben Aufgaben, mit denen das Projekt sich selbst misst, auf diesem Gerät: Modelle gleicher Form mit denselben Zufallsgewichten. Sie entstehen in der Seite, heruntergeladen wird dafür nichts.',
  back: 'Zurück zum Kapitel über den Preis',
  model: 'Modell',
  models: { small: 'BERT, 2 Schichten', minilm: 'MiniLM', gpt2: 'GPT-2' },
  sizes: {
    small: 'BERT mit 2 Schichten von 128: 18 MB Gewichte, wenige Sekunden, auch für Telefone.',
    minilm: 'MiniLM: 6 Schichten von 384, 90 MB Gewichte, etwa zehn Sekunden.',
    gpt2: 'GPT-2: 12 Schichten von 768, 500 MB Gewichte, bis zu 2 GB Speicher, etwa eine Minute. Während die Gewichte entstehen, antwortet die Seite nicht.',
  },
  beside: 'mit onnxruntime-web ({megabytes} MB)',
  besideAbsent: 'Diese Kopie der Seite wurde ohne onnxruntime-web gebaut, weil das 14 MB sind.',
  measure: 'Messen',
  stop: 'Anhalten',
  running: 'Es wird gemessen … lass diese Seite vorn und andere Tabs und Programme ruhen.',
  failed: 'Es ließ sich nicht messen',
  work: 'Aufgabe',
  who: 'Wer',
  ratio: 'mal so schnell',
  cosine: 'Kosinus zu fp32',
  absent: 'nicht verfügbar',
  works: { read: '128 Tokens gelesen', prefill: 'ein Prompt aus 128 Tokens', decode: 'das nächste Token nach 128' },
  device: 'Befehle: {simd}; {cores} Prozessoren, ein Thread genutzt; Version {version}.',
  note: 'Mediane aus fünf Runden im Wechsel, nach dem Aufwärmen, mit einem Thread. Bevor die Zeit genommen wird, werden die Ausgaben mit denen in fp32 verglichen. Zufallsgewichte reagieren empfindlicher auf Rundung als trainierte.',
};
