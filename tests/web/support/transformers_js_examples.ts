// Examples of transformers.js from its README, its documentation and its pipelines' docstrings, without comments.
// Origin: https://github.com/huggingface/transformers.js, commit 5ed4c5c0, © Hugging Face, Apache License 2.0.

/** Its origin, and its lines. */
export const examples: readonly (readonly [string, string])[] = [
  [
    'src/pipelines/text-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('sentiment-analysis', 'Xenova/distilbert-base-uncased-finetuned-sst-2-english');
const output = await classifier('I love transformers!');`,
  ],
  [
    'src/pipelines/text-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('sentiment-analysis', 'Xenova/bert-base-multilingual-uncased-sentiment');
const output = await classifier('Le meilleur film de tous les temps.', { top_k: 5 });`,
  ],
  [
    'src/pipelines/text-classification.js',
    `const classifier = await pipeline('text-classification', 'Xenova/toxic-bert');
const output = await classifier('I hate you!', { top_k: null });`,
  ],
  [
    'src/pipelines/token-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('token-classification', 'Xenova/bert-base-NER');
const output = await classifier('My name is Sarah and I live in London');`,
  ],
  [
    'src/pipelines/token-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('token-classification', 'Xenova/bert-base-NER');
const output = await classifier('Sarah lives in the United States of America', { ignore_labels: [] });`,
  ],
  [
    'src/pipelines/token-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('token-classification', 'Xenova/bert-base-NER');
const output = await classifier('My name is Sarah and I live in London', { aggregation_strategy: 'simple' });`,
  ],
  [
    'src/pipelines/question-answering.js',
    `import { pipeline } from '@huggingface/transformers';
const answerer = await pipeline('question-answering', 'Xenova/distilbert-base-uncased-distilled-squad');
const question = 'Who was Jim Henson?';
const context = 'Jim Henson was a nice puppet.';
const output = await answerer(question, context);`,
  ],
  [
    'src/pipelines/fill-mask.js',
    `import { pipeline } from '@huggingface/transformers';
const unmasker = await pipeline('fill-mask', 'onnx-community/ettin-encoder-32m-ONNX');
const output = await unmasker('The capital of France is [MASK].');`,
  ],
  [
    'src/pipelines/fill-mask.js',
    `import { pipeline } from '@huggingface/transformers';
const unmasker = await pipeline('fill-mask', 'Xenova/bert-base-cased');
const output = await unmasker('The goal of life is [MASK].');`,
  ],
  [
    'src/pipelines/fill-mask.js',
    `import { pipeline } from '@huggingface/transformers';
const unmasker = await pipeline('fill-mask', 'Xenova/bert-base-cased');
const output = await unmasker('The Milky Way is a [MASK] galaxy.', { top_k: 1 });`,
  ],
  [
    'src/pipelines/summarization.js',
    `import { pipeline } from '@huggingface/transformers';
const summarizer = await pipeline('summarization', 'Xenova/distilbart-cnn-6-6');
const text = 'The tower is 324 metres (1,063 ft) tall, about the same height as an 81-storey building, ' +
  'and the tallest structure in Paris. Its base is square, measuring 125 metres (410 ft) on each side. ' +
  'During its construction, the Eiffel Tower surpassed the Washington Monument to become the tallest ' +
  'man-made structure in the world, a title it held for 41 years until the Chrysler Building in New ' +
  'York City was finished in 1930. It was the first structure to reach a height of 300 metres. Due to ' +
  'the addition of a broadcasting aerial at the top of the tower in 1957, it is now taller than the ' +
  'Chrysler Building by 5.2 metres (17 ft). Excluding transmitters, the Eiffel Tower is the second ' +
  'tallest free-standing structure in France after the Millau Viaduct.';
const output = await summarizer(text, {
  max_new_tokens: 100,
});`,
  ],
  [
    'src/pipelines/translation.js',
    `import { pipeline } from '@huggingface/transformers';
const translator = await pipeline('translation', 'Xenova/nllb-200-distilled-600M');
const output = await translator('जीवन एक चॉकलेट बॉक्स की तरह है।', {
  src_lang: 'hin_Deva', // Hindi
  tgt_lang: 'fra_Latn', // French
});`,
  ],
  [
    'src/pipelines/translation.js',
    `import { pipeline } from '@huggingface/transformers';
const translator = await pipeline('translation', 'Xenova/m2m100_418M');
const output = await translator('生活就像一盒巧克力。', {
  src_lang: 'zh', // Chinese
  tgt_lang: 'en', // English
});`,
  ],
  [
    'src/pipelines/translation.js',
    `import { pipeline } from '@huggingface/transformers';
const translator = await pipeline('translation', 'Xenova/mbart-large-50-many-to-many-mmt');
const output = await translator('संयुक्त राष्ट्र के प्रमुख का कहना है कि सीरिया में कोई सैन्य समाधान नहीं है', {
  src_lang: 'hi_IN', // Hindi
  tgt_lang: 'fr_XX', // French
});`,
  ],
  [
    'src/pipelines/text2text-generation.js',
    `import { pipeline } from '@huggingface/transformers';
const generator = await pipeline('text2text-generation', 'Xenova/LaMini-Flan-T5-783M');
const output = await generator('how can I become more healthy?', {
  max_new_tokens: 100,
});`,
  ],
  [
    'src/pipelines/text-generation.js',
    `import { pipeline } from '@huggingface/transformers';
const generator = await pipeline('text-generation', 'onnx-community/SmolLM2-135M-ONNX');
const text = 'Once upon a time,';
const output = await generator(text, { max_new_tokens: 8 });`,
  ],
  [
    'src/pipelines/zero-shot-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('zero-shot-classification', 'Xenova/mobilebert-uncased-mnli');
const text = 'Last week I upgraded my iOS version and ever since then my phone has been overheating whenever I use your app.';
const labels = [ 'mobile', 'billing', 'website', 'account access' ];
const output = await classifier(text, labels);`,
  ],
  [
    'src/pipelines/zero-shot-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('zero-shot-classification', 'Xenova/nli-deberta-v3-xsmall');
const text = 'I have a problem with my iphone that needs to be resolved asap!';
const labels = [ 'urgent', 'not urgent', 'phone', 'tablet', 'computer' ];
const output = await classifier(text, labels, { multi_label: true });`,
  ],
  [
    'src/pipelines/automatic-speech-recognition.js',
    `import { pipeline } from '@huggingface/transformers';
const transcriber = await pipeline('automatic-speech-recognition', 'Xenova/whisper-tiny.en');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/jfk.wav';
const output = await transcriber(url);`,
  ],
  [
    'src/pipelines/automatic-speech-recognition.js',
    `import { pipeline } from '@huggingface/transformers';
const transcriber = await pipeline('automatic-speech-recognition', 'Xenova/whisper-tiny.en');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/jfk.wav';
const output = await transcriber(url, { return_timestamps: true });`,
  ],
  [
    'src/pipelines/automatic-speech-recognition.js',
    `import { pipeline } from '@huggingface/transformers';
const transcriber = await pipeline('automatic-speech-recognition', 'Xenova/whisper-tiny.en');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/jfk.wav';
const output = await transcriber(url, { return_timestamps: 'word' });`,
  ],
  [
    'src/pipelines/automatic-speech-recognition.js',
    `import { pipeline } from '@huggingface/transformers';
const transcriber = await pipeline('automatic-speech-recognition', 'Xenova/whisper-small');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/french-audio.mp3';
const output = await transcriber(url, { language: 'french', task: 'transcribe' });`,
  ],
  [
    'src/pipelines/automatic-speech-recognition.js',
    `import { pipeline } from '@huggingface/transformers';
const transcriber = await pipeline('automatic-speech-recognition', 'Xenova/whisper-small');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/french-audio.mp3';
const output = await transcriber(url, { language: 'french', task: 'translate' });`,
  ],
  [
    'src/pipelines/automatic-speech-recognition.js',
    `import { pipeline } from '@huggingface/transformers';
const transcriber = await pipeline('automatic-speech-recognition', 'Xenova/whisper-tiny.en');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/ted_60.wav';
const output = await transcriber(url, { chunk_length_s: 30, stride_length_s: 5 });`,
  ],
  [
    'src/pipelines/feature-extraction.js',
    `import { pipeline } from '@huggingface/transformers';
const extractor = await pipeline('feature-extraction', 'onnx-community/all-MiniLM-L6-v2-ONNX');
const output = await extractor('This is a simple test.');
console.log(output.tolist());`,
  ],
  [
    'src/pipelines/feature-extraction.js',
    `import { pipeline } from '@huggingface/transformers';
const extractor = await pipeline('feature-extraction', 'onnx-community/all-MiniLM-L6-v2-ONNX');
const output = await extractor('This is a simple test.', { pooling: 'mean', normalize: true });
console.log(output.tolist());`,
  ],
  [
    'src/pipelines/feature-extraction.js',
    `const extractor = await pipeline('feature-extraction', 'onnx-community/all-MiniLM-L6-v2-ONNX');
const output = await extractor('This is a simple test.', { pooling: 'mean', quantize: true, precision: 'binary' });
console.log(output.tolist());`,
  ],
  [
    'src/pipelines/image-feature-extraction.js',
    `import { pipeline } from '@huggingface/transformers';
const image_feature_extractor = await pipeline('image-feature-extraction', 'onnx-community/dinov3-vits16-pretrain-lvd1689m-ONNX');
const image = 'https://huggingface.co/datasets/huggingface/documentation-images/resolve/main/cats.png';
const features = await image_feature_extractor(image);`,
  ],
  [
    'src/pipelines/image-feature-extraction.js',
    `import { pipeline } from '@huggingface/transformers';
const image_feature_extractor = await pipeline('image-feature-extraction', 'Xenova/clip-vit-base-patch32');
const image = 'https://huggingface.co/datasets/huggingface/documentation-images/resolve/main/cats.png';
const features = await image_feature_extractor(image);`,
  ],
  [
    'src/pipelines/image-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('image-classification', 'Xenova/vit-base-patch16-224');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/tiger.jpg';
const output = await classifier(url);`,
  ],
  [
    'src/pipelines/image-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('image-classification', 'Xenova/vit-base-patch16-224');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/tiger.jpg';
const output = await classifier(url, { top_k: 3 });`,
  ],
  [
    'src/pipelines/image-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('image-classification', 'Xenova/vit-base-patch16-224');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/tiger.jpg';
const output = await classifier(url, { top_k: 0 });`,
  ],
  [
    'src/pipelines/zero-shot-image-classification.js',
    `import { pipeline } from '@huggingface/transformers';
const classifier = await pipeline('zero-shot-image-classification', 'Xenova/clip-vit-base-patch32');
const url = 'https://huggingface.co/datasets/Xenova/transformers.js-docs/resolve/main/tiger.jpg';
const output = await classifier(url, ['tiger', 'horse', 'dog']);`,
  ],
  [
    'README.md',
    `const pipe = await pipeline('sentiment-analysis', 'Xenova/bert-base-multilingual-uncased-sentiment');`,
  ],
  [
    'README.md',
    `const pipe = await pipeline('sentiment-analysis', 'Xenova/distilbert-base-uncased-finetuned-sst-2-english', {
  dtype: 'q4',
});`,
  ],
  [
    'docs/source/pipelines.md',
    `const reviewer = await pipeline(
  "sentiment-analysis",
  "Xenova/bert-base-multilingual-uncased-sentiment",
);
const result = await reviewer(
  "The Shawshank Redemption is a true masterpiece of cinema.",
);`,
  ],
  [
    'docs/source/pipelines.md',
    `const transcriber = await pipeline(
  "automatic-speech-recognition",
  "Xenova/whisper-small.en",
);
const result = await transcriber(
  "https://huggingface.co/datasets/Narsil/asr_dummy/resolve/main/mlk.flac",
);`,
  ],
  [
    'docs/source/pipelines.md',
    `const pipe = await pipeline("feature-extraction", "Xenova/all-MiniLM-L6-v2", {
  dtype: "fp32",
});`,
  ],
  [
    'docs/source/pipelines.md',
    `const translator = await pipeline(
  "translation",
  "Xenova/nllb-200-distilled-600M",
);
const result = await translator("I like to walk my dog.", {
  src_lang: "eng_Latn",
  tgt_lang: "ell_Grek",
});
const result2 = await translator(result[0].translation_text, {
  src_lang: "ell_Grek",
  tgt_lang: "eng_Latn",
});`,
  ],
  [
    'docs/source/pipelines.md',
    `const poet = await pipeline(
  "text2text-generation",
  "Xenova/LaMini-Flan-T5-783M",
);
const result = await poet("Write me a love poem about cheese.", {
  max_new_tokens: 200,
  temperature: 0.9,
  repetition_penalty: 2.0,
  no_repeat_ngram_size: 3,
});`,
  ],
  [
    'docs/source/pipelines.md',
    `import { pipeline, TextStreamer } from "@huggingface/transformers";
const generator = await pipeline(
  "text-generation",
  "onnx-community/Qwen2.5-Coder-0.5B-Instruct",
  { dtype: "q4" },
);
const messages = [
  { role: "system", content: "You are a helpful assistant." },
  { role: "user", content: "Write a quick sort algorithm." },
];
const streamer = new TextStreamer(generator.tokenizer, {
  skip_prompt: true,
});
const result = await generator(messages, {
  max_new_tokens: 512,
  do_sample: false,
  streamer,
});`,
  ],
];
