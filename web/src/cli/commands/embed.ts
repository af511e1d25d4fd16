// clearformer embed: a vector for each text or image, and their similarities.

import { type Command, InvalidArgumentError } from 'commander';
import { type LoadOptions, type PoolingMode, pipeline, type Tensor, toJSON } from '../../index.js';
import type { Context } from '../context.js';
import { UsageError } from '../failures.js';
import { imagesOf } from '../image_files.js';
import { checkInputs, textsOf } from '../inputs.js';
import { collected, positive } from '../option_values.js';
import { addLoadOptions, loaded, type SharedOptions } from '../sources.js';

interface Options extends SharedOptions {
  image: string[];
  similarity?: true;
  pooling?: PoolingMode[];
  normalize?: boolean;
  prompt?: string;
  promptName?: string;
  maxLength?: number;
  batchSize?: number;
}
type Vectors = number[][];

const after = `
A text's vector is what modules.json of the folder says (sentence-transformers), else the mean over its tokens; an image's is
the class token's; of CLIP both lie in one space.

Examples:
  clearformer embed sentence-transformers/all-MiniLM-L6-v2 "A man is eating." "Someone has a meal." --similarity
  clearformer embed ./all-MiniLM-L6-v2 - --json < lines.txt > vectors.json
  clearformer embed ./clip "a cat" "a dog" --image cat.jpg --similarity`;

export function addEmbed(program: Command, context: Context): void {
  const command = program
    .command('embed')
    .summary('make vectors of texts and images')
    .description('One vector for each text, then one for each image: a JSON list a line.')
    .argument('<source>', 'folder, Hub id or URL of a model')
    .argument('[texts...]', 'the texts; - for the lines of standard input')
    .option('--image <file>', 'path or URL of an image, - for standard input; can be given several times', collected)
    .option('--similarity', 'print the cosines between all of them instead')
    .option(
      '--pooling <modes>',
      'how tokens become a vector: mean, max, cls, lasttoken, …; several with commas',
      modesOf,
    )
    .option('--normalize', 'vectors of length 1')
    .option('--no-normalize', 'vectors as they come')
    .option('--prompt <text>', 'what precedes each text')
    .option('--prompt-name <name>', "one of the folder's prompts, such as query")
    .option('--max-length <n>', 'tokens of a text that are read', positive)
    .option('--batch-size <n>', 'inputs that go through the model together', positive)
    .option('--json', 'print { embeddings, similarity } as JSON');
  addLoadOptions(command).addHelpText('after', after);
  command.action((source: string, words: string[], options: Omit<Options, 'image'>) =>
    embed(context, source, words, { image: [], ...options }),
  );
}

function modesOf(word: string): PoolingMode[] {
  const modes = word.split(',');
  if (modes.every((mode) => mode !== '')) return modes as PoolingMode[];
  throw new InvalidArgumentError('It must be one mode or several with commas between them.');
}

async function embed(context: Context, source: string, words: readonly string[], options: Options): Promise<void> {
  if (words.length + options.image.length === 0) throw new UsageError('embed needs a text or --image');
  const { pooling, normalize, maxLength, prompt, promptName } = options;
  const ofTexts = [pooling, normalize, maxLength, prompt, promptName].some((option) => option !== undefined);
  if (ofTexts && words.length === 0)
    throw new UsageError('--pooling, --normalize, --max-length, --prompt and --prompt-name concern texts only');
  checkInputs([...words, ...options.image]);
  const texts = await textsOf(words);
  const images = await imagesOf(options.image);
  const { output } = context;
  const ofText = texts.length === 0 ? [] : await loaded(context, source, options, textVectors(context, texts, options));
  const ofImages =
    images.length === 0 ? [] : await loaded(context, source, options, imageVectors(context, images, options));
  const embeddings = [...ofText, ...ofImages];
  const similarity = options.similarity && cosines(embeddings);
  if (options.json) output.json({ embeddings, ...(similarity && { similarity }) });
  else for (const row of similarity || embeddings) output.line(similarity ? shown(row) : JSON.stringify(row));
}

const shown = (cosines: readonly number[]) => cosines.map((value) => value.toFixed(4).padStart(7)).join(' ');

/** Rows of a tensor [n, d] as numbers with the fewest digits that give the same float32. */
function rowsOf(tensor: Tensor<'float32'>): Vectors {
  return JSON.parse(toJSON(tensor)).data;
}

function textVectors({ signal }: Context, texts: readonly string[], options: Options) {
  return async (source: string, load: LoadOptions): Promise<Vectors> => {
    const extractor = await pipeline('feature-extraction', source, load);
    try {
      const { pooling, normalize, maxLength: max_length, batchSize: batch_size, prompt, promptName } = options;
      const asked = { normalize, max_length, batch_size, prompt, prompt_name: promptName, signal };
      const used = pooling ?? (extractor.givesVectors ? undefined : 'mean');
      return rowsOf(await extractor(texts, { ...asked, pooling: used }));
    } finally {
      await extractor.dispose();
    }
  };
}

function imageVectors({ signal }: Context, images: Parameters<ImageExtractor>[0], options: Options) {
  return async (source: string, load: LoadOptions): Promise<Vectors> => {
    const extractor = await pipeline('image-feature-extraction', source, load);
    try {
      const made = await extractor(images, { batch_size: options.batchSize, signal });
      return rowsOf(made.dims.length === 3 ? classTokens(made) : made);
    } finally {
      await extractor.dispose();
    }
  };
}

type ImageExtractor = Awaited<ReturnType<typeof pipeline<'image-feature-extraction'>>>;

/** The first position of [image, position, d]. */
function classTokens(hidden: Tensor<'float32'>): Tensor<'float32'> {
  return hidden.slice(null, 0);
}

function cosines(vectors: Vectors): Vectors {
  const product = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
  const lengths = vectors.map((vector) => Math.sqrt(product(vector, vector)));
  return vectors.map((a, i) =>
    vectors.map((b, j) => product(a, b) / Math.max((lengths[i] as number) * (lengths[j] as number), 1e-12)),
  );
}
