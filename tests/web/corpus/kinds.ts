// All kinds of bad folders, and how each is read. `refusalOf` also runs in pages.

import { badEmbeddings, badProcessors, badSmallFiles } from './companions.js';
import { badConfigs, badGenerationConfigs, contradictoryConfigs } from './configs.js';
import type { BadFolder, Draw, Reader } from './folders.js';
import { badTokenizers, badVocabularies } from './tokenizers.js';
import { badHeaders, badIndices, badTensors, twoPrefixes } from './weights.js';

export const kinds: Readonly<Record<string, (draw: Draw) => Iterable<BadFolder>>> = {
  'config.json': badConfigs,
  'generation_config.json': badGenerationConfigs,
  'configs that contradict themselves': contradictoryConfigs,
  headers: badHeaders,
  tensors: badTensors,
  indices: badIndices,
  prefixes: twoPrefixes,
  'small files of tokenizers': badSmallFiles,
  'tokenizer.json': badTokenizers,
  'older tokenizers': badVocabularies,
  processors: badProcessors,
  embeddings: badEmbeddings,
};

/** How a folder was refused. */
export interface Refusal {
  /** A ClearformerError's, else undefined. */
  code?: string;
  message: string;
}

/** What reading a folder with the package throws. Uses nothing from outside. */
export async function refusalOf(
  library: typeof import('clearformer'),
  reader: Reader,
  files: Record<string, Uint8Array>,
): Promise<Refusal> {
  const here = { worker: false };
  const read: Readonly<Record<Reader, () => Promise<unknown>>> = {
    causal: () => library.AutoModelForCausalLM.from_pretrained(files, here),
    masked: () => library.AutoModelForMaskedLM.from_pretrained(files, here),
    seq2seq: () => library.AutoModelForSeq2SeqLM.from_pretrained(files, here),
    speech: () => library.AutoModelForSpeechSeq2Seq.from_pretrained(files, here),
    image: () => library.AutoModelForImageClassification.from_pretrained(files, here),
    tokenizer: () => library.AutoTokenizer.from_pretrained(files),
    picture: () => library.AutoImageProcessor.from_pretrained(files),
    sound: () => library.AutoFeatureExtractor.from_pretrained(files),
    embedding: () => library.pipeline('feature-extraction', files, here),
    validate: async () => {
      const { problems, valid } = await library.validate(files);
      const [first] = problems.filter(({ severity }) => severity === 'error');
      if (valid !== (first === undefined)) throw new Error(`valid is ${valid}`);
      if (first !== undefined) throw new library.ClearformerError(first.code, first.message);
    },
  };
  try {
    await read[reader]();
    return { message: 'it was read' };
  } catch (error) {
    if (error instanceof library.ClearformerError) return { code: error.code, message: error.message };
    return { message: String(error) };
  }
}

const codes = [
  'malformed_config',
  'malformed_file',
  'unsupported',
  'missing_tensor',
  'shape_mismatch',
  'dtype_mismatch',
  'file_not_found',
];

/** What is wrong with a refusal; undefined if nothing is. */
export function complaint({ title, words }: BadFolder, { code, message }: Refusal): string | undefined {
  if (code === undefined) return `${title}: ${message}`;
  const lacking = words.filter((word) => !message.includes(word));
  if (!codes.includes(code)) return `${title}: the code ${code}`;
  return lacking.length === 0 ? undefined : `${title}: ${lacking.join(', ')} not in "${message.slice(0, 300)}"`;
}
