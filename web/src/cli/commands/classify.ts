// clearformer classify: the most probable labels of texts or images.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { type LabelScore, type LoadOptions, pipeline } from '../../index.js';
import type { Context } from '../context.js';
import { UsageError } from '../failures.js';
import { imagesOf } from '../image_files.js';
import { textsOf } from '../inputs.js';
import { collected, positive } from '../option_values.js';
import { addLoadOptions, loaded, type SharedOptions } from '../sources.js';

interface Options extends SharedOptions {
  image: string[];
  candidateLabels?: string[];
  hypothesisTemplate?: string;
  multiLabel?: boolean;
  textPair?: string;
  topK: number;
  functionToApply?: 'softmax' | 'sigmoid' | 'none';
  batchSize?: number;
}

const examples = `
Examples:
  clearformer classify ./distilbert-sst2 "I like it." "I do not."
  clearformer classify ./nli-model "It rains." --text-pair "The street is wet."
  clearformer classify ./nli-model "It rains." --labels "weather,sports"
  clearformer classify ./vit-mnist --image digit.png --top-k 3
  clearformer classify ./clip --image cat.jpg --labels "a cat,a dog" --json`;

export function addClassify(program: Command, context: Context): void {
  const apply = new Option('--function-to-apply <name>', 'what makes scores of logits (default: as config.json says)');
  const command = program
    .command('classify')
    .summary('label texts or images')
    .description('The most probable labels of each text or image with their scores, best first.')
    .argument('<source>', 'folder, Hub id or URL of a model')
    .argument('[texts...]', 'the texts; - for the lines of standard input')
    .option('--image <file>', 'path or URL of an image, - for standard input; can be given several times', collected)
    .option(
      '--labels, --candidate-labels <list>',
      'labels to choose from, with commas (images: CLIP; texts: NLI)',
      labelsOf,
    )
    .option(
      '--hypothesis-template <text>',
      'sentence around a label, with {} for it (default: This is a photo of {}., of texts This example is {}.)',
    )
    .option('--multi-label', 'any number of the labels may fit a text')
    .option('--text-pair <text>', 'the second text of a pair')
    .option('--top-k <n>', 'how many labels', positive, 5)
    .addOption(apply.choices(['softmax', 'sigmoid', 'none']))
    .option('--batch-size <n>', 'inputs that go through the model together', positive)
    .option('--json', 'print a list of { input, labels } as JSON');
  addLoadOptions(command).addHelpText('after', examples);
  command.action((source: string, words: string[], options: Omit<Options, 'image'>) =>
    classify(context, source, words, { image: [], ...options }),
  );
}

function labelsOf(word: string): string[] {
  const labels = word.split(',').map((label) => label.trim());
  if (labels.every((label) => label !== '')) return labels;
  throw new InvalidArgumentError('It must be labels with commas between them.');
}

async function classify(context: Context, source: string, words: readonly string[], options: Options): Promise<void> {
  check(words, options);
  const inputs = words.length > 0 ? await textsOf(words) : options.image;
  const classes = await loaded(context, source, options, classesOf(context, inputs, options));
  const { output } = context;
  const results = inputs.map((input, i) => ({ input, labels: (classes[i] ?? []).slice(0, options.topK) }));
  if (options.json) {
    output.json(results);
    return;
  }
  for (const { input, labels } of results) {
    if (results.length > 1) output.line(`${input}:`);
    for (const { label, score } of labels) output.line(`${score.toFixed(4)}\t${label}`);
  }
}

function check(words: readonly string[], options: Options): void {
  const { image, candidateLabels, hypothesisTemplate, multiLabel, textPair, functionToApply } = options;
  if ((words.length === 0) === (image.length === 0))
    throw new UsageError('classify needs texts or --image, and not both');
  if (hypothesisTemplate !== undefined && candidateLabels === undefined) {
    throw new UsageError('--hypothesis-template needs --labels');
  }
  if (multiLabel && (candidateLabels === undefined || image.length > 0)) {
    throw new UsageError('--multi-label needs texts and --labels');
  }
  if (textPair !== undefined && candidateLabels !== undefined) throw new UsageError('--text-pair excludes --labels');
  if (candidateLabels !== undefined && functionToApply !== undefined) {
    throw new UsageError('--function-to-apply does not go with --labels, whose scores follow from the model');
  }
  if (textPair !== undefined && words.length !== 1) throw new UsageError('--text-pair needs one text');
}

/** The labels of every input, from the pipeline selected by the options. */
function classesOf({ signal }: Context, inputs: readonly string[], options: Options) {
  const { candidateLabels, hypothesisTemplate: hypothesis_template, textPair, topK: top_k } = options;
  const call = { batch_size: options.batchSize, signal };
  const scored = { ...call, top_k, function_to_apply: options.functionToApply };
  return async (source: string, load: LoadOptions): Promise<LabelScore[][]> => {
    if (candidateLabels !== undefined && options.image.length === 0) {
      const classifier = await pipeline('zero-shot-classification', source, load);
      const judged = { ...call, hypothesis_template, multi_label: options.multiLabel };
      const made = await classifier(inputs, candidateLabels, judged).finally(() => classifier.dispose());
      return made.map(({ labels, scores }) => labels.map((label, i) => ({ label, score: scores[i] as number })));
    }
    if (candidateLabels !== undefined) {
      const classifier = await pipeline('zero-shot-image-classification', source, load);
      const images = await imagesOf(inputs);
      return classifier(images, candidateLabels, { ...call, hypothesis_template }).finally(() => classifier.dispose());
    }
    if (options.image.length > 0) {
      const images = await imagesOf(inputs);
      const classifier = await pipeline('image-classification', source, load);
      return classifier(images, scored).finally(() => classifier.dispose());
    }
    const classifier = await pipeline('text-classification', source, load);
    const texts = inputs.map((text) => (textPair === undefined ? text : { text, text_pair: textPair }));
    // With top_k 1 the pipeline returns a single list for all texts: 2 keeps the result's shape the same.
    const made = classifier(texts, { ...scored, top_k: Math.max(top_k, 2) });
    return made.finally(() => classifier.dispose()) as Promise<LabelScore[][]>;
  };
}
