// German: chapter 14.

import type { words as english } from '../en/own.js';

export const words: typeof english = {
  title: 'Dein Modell',
  lead: 'Nimm einen Ordner vom Hugging Face Hub, wie er ist: config.json, safetensors, Tokenizer. Die Seite sagt, was es ist, bevor sie ein einziges Gewicht liest, lädt es in diesen Tab, und die Kapitel dieses Buchs laufen damit. Nichts wird hochgeladen.',
  steps: {
    choose: {
      title: 'Gib ihr einen Ordner',
      text: 'Zieh einen Ordner oder Dateien von diesem Gerät hierher, oder nenne ein Repository des Hubs, etwa `HuggingFaceTB/SmolLM2-135M`. Es wird direkt in diesen Tab geladen und im Cache des Browsers behalten.',
    },
    look: {
      title: 'Sieh, was es ist',
      text: 'Architektur, Art, Aufgabe, Größen, Tokenizer und jedes Problem: ein fehlender Tensor, ein ONNX-Export ohne safetensors, eine Architektur, die es noch nicht gibt. All das steht in den Köpfen der Dateien, ohne die Gewichte.',
    },
    load: {
      title: 'Wähle, wie genau',
      text: 'Die Balken sind der Speicher, den die Gewichte in 32, 16, 8 und 4 Bit brauchen. Weniger Bits laden schneller und sind fast so gut; [Kapitel 12](#/cost?step=5) misst, wie weit sich Antworten verschieben.',
    },
    read: {
      title: 'Sieh hinein',
      text: 'Hier erscheint ein Formular für seine Aufgabe. Textmodelle laufen dann auch in den anderen Kapiteln: dieselben Köpfe, Ströme und Werkbänke, mit deinen Gewichten.',
    },
  },
  questions: {},
  labels: {
    drop: 'Zieh einen Modellordner hierher',
    dropHint:
      'config.json, model.safetensors (oder seine Teile mit Index) und die Dateien von Tokenizer oder Prozessor',
    folder: 'Ordner wählen',
    files: 'Dateien wählen',
    hub: 'besitzer/name im Hub',
    look: 'Ansehen',
    yourFiles: 'deine Dateien',
    inspecting: 'Sieht nach:',
    loading: 'Lädt',
    architecture: 'Architektur',
    kind: 'Art',
    task: 'Gemacht für',
    size: 'Größe',
    sizes: '{layers} Schichten, {d} Zahlen breit, {heads} Köpfe, {words} Wörter, {context} Positionen',
    parameters: 'Parameter',
    tokenizer: 'Tokenizer',
    problems: 'Was daran nicht stimmt',
    sound: 'Jeder Tensor, den das Modell braucht, ist da.',
    unused: '{n} Tensoren haben in dieser Architektur keine Verwendung',
    memory: 'Gewichte im Speicher, MB',
    load: 'In {dtype} laden, {size}',
    runs: 'Es läuft',
    chapters: 'Damit öffnen:',
    run: 'Los',
    stop: 'Anhalten',
    maskedText: 'Ein Text mit einer Lücke',
    text: 'Ein Text',
    secondText: 'Ein zweiter Text, wenn das Modell zwei vergleicht',
    question: 'Eine Frage',
    context: 'Ein Text, der sie beantwortet',
    otherText: 'Noch einer',
    classes: 'Klassen, durch Kommas getrennt',
    source: 'Ein Text',
    prompt: 'Der Anfang eines Textes',
    anImage: 'Wähle ein Bild',
    twoImages: 'Wähle zwei Bilder',
    aSound: 'Wähle einen Ton, etwa eine WAV-Datei',
    likeness: 'Kosinus-Ähnlichkeit',
    nothing: 'Es findet nichts von dem, was es kennt.',
  },
};
