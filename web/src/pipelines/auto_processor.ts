// AutoProcessor: the preprocessing of a model: image processor, feature extractor, tokenizer.

import type { ASTFeatureExtractorOutput } from '../audio/ast_feature_extractor.js';
import type { AudioInput } from '../audio/audio_input.js';
import { type FeatureExtractor, readFeatureExtractor } from '../audio/auto_feature_extractor.js';
import type { FeatureExtractorOutput } from '../audio/feature_extractor.js';
import type { FeatureExtractorCallOptions } from '../audio/feature_extractor_call.js';
import type { Wav2Vec2FeatureExtractorOutput } from '../audio/wav2vec2_feature_extractor.js';
import { notFound, type ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { SharedFolder } from '../checkpoint/shared_folder.js';
import { readSmallFiles, type SmallFileOptions } from '../checkpoint/small_files.js';
import type { Source } from '../checkpoint/source.js';
import type { ImageInput } from '../image/image_input.js';
import {
  type ImageProcessor,
  type ImageProcessorCallOptions,
  type ImageProcessorOutput,
  readImageProcessor,
} from '../image/image_processor.js';
import { Callable } from '../support/callable.js';
import { ClearformerError, isMissing } from '../support/error.js';
import { checkOptions } from '../support/options.js';
import type { OrNull } from '../support/or_null.js';
import type { Tensor } from '../tensor/tensor.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { TokenIds } from '../text/token_lists.js';
import type { DecodeOptions, PreTrainedTokenizer } from '../text/tokenizer.js';

/** What feature extractors make. */
type SoundInputs = FeatureExtractorOutput | Wav2Vec2FeatureExtractorOutput | ASTFeatureExtractorOutput;

interface Parts {
  image_processor: ImageProcessor | undefined;
  feature_extractor: FeatureExtractor | undefined;
  tokenizer: PreTrainedTokenizer | undefined;
}

/** How a processor is loaded: the options of a model that concern files. */
export interface ProcessorLoadOptions extends SmallFileOptions {}

export interface Processor {
  /** Images to `pixel_values`, audio to `input_features` (Whisper) or `input_values`; for texts use `processor.tokenizer`. */
  (images: ImageInput | readonly ImageInput[], options?: ImageProcessorCallOptions): Promise<ImageProcessorOutput>;
  <Output extends SoundInputs = FeatureExtractorOutput>(
    sounds: AudioInput | readonly AudioInput[],
    options?: FeatureExtractorCallOptions,
  ): Promise<Output>;
}

/** The preprocessing of a model. Instances are callable: `await processor(image)`. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class Processor extends Callable<
  [ImageInput & AudioInput, object?],
  Promise<ImageProcessorOutput | SoundInputs>
> {
  /** The model's image processor; undefined if it has none. */
  readonly image_processor: ImageProcessor | undefined;
  readonly feature_extractor: FeatureExtractor | undefined;
  readonly tokenizer: PreTrainedTokenizer | undefined;

  /** @internal */
  constructor(parts: Parts) {
    super();
    checkOptions('Processor', parts ?? null, ['image_processor', 'feature_extractor', 'tokenizer']);
    const { image_processor, feature_extractor, tokenizer } = parts;
    this.image_processor = image_processor;
    this.feature_extractor = feature_extractor;
    this.tokenizer = tokenizer;
  }

  /** @internal */
  override async _call(input: ImageInput & AudioInput, options?: object): Promise<ImageProcessorOutput | SoundInputs> {
    if (this.image_processor !== undefined) return this.image_processor(input, options);
    if (this.feature_extractor !== undefined) return this.feature_extractor(input, options);
    throw new ClearformerError('unsupported', 'processor: the model reads texts alone; call processor.tokenizer');
  }

  /** `tokenizer.batch_decode`. */
  batch_decode(batch: Tensor | readonly TokenIds[], options?: DecodeOptions): string[] {
    return this.#ownTokenizer('batch_decode').batch_decode(batch, options);
  }
  /** `tokenizer.decode`. */
  decode(ids: TokenIds, options?: DecodeOptions): string {
    return this.#ownTokenizer('decode').decode(ids, options);
  }

  #ownTokenizer(method: string): PreTrainedTokenizer {
    if (this.tokenizer !== undefined) return this.tokenizer;
    throw new ClearformerError('unsupported', `processor.${method}: there is no tokenizer beside the model`);
  }
}

/** Loads the preprocessing of a model. */
export const AutoProcessor = {
  /**
   * The model's image processor or feature extractor, and its tokenizer. Rejects with `file_not_found`
   * if there is none of them, and otherwise like AutoImageProcessor, AutoFeatureExtractor and AutoTokenizer.
   */
  from_pretrained(source: Source, options: OrNull<ProcessorLoadOptions> = {}): Promise<Processor> {
    return readSmallFiles('AutoProcessor.from_pretrained', source, options, readProcessor);
  },
};

async function readProcessor(given: Folder, { signal, integrity }: ReadOptions): Promise<Processor> {
  const folder = new SharedFolder(given);
  const options = { signal, integrity }; // progress is told of all parts together
  const [feature_extractor, tokenizer] = await Promise.all([
    present(readFeatureExtractor(folder, options)),
    present(readTokenizer(folder, options)),
  ]);
  // A file is either for audio or for images.
  const image_processor = feature_extractor ? undefined : await present(readImageProcessor(folder, options));
  if (feature_extractor ?? tokenizer ?? image_processor) {
    return new Processor({ image_processor, feature_extractor, tokenizer });
  }
  throw notFound(folder, 'preprocessor_config.json');
}

/** A part, or undefined if its files do not exist (or may belong to another kind of part, whose types are others). */
async function present<Part>(reading: Promise<Part>): Promise<Part | undefined> {
  return reading.catch((thrown: unknown) => {
    if (!(thrown instanceof ClearformerError)) throw thrown;
    const { option, file, expected } = thrown.details; // without a folder no file is named
    if ((option === 'feature_extractor_type' && expected === undefined) || (isMissing(thrown) && file !== undefined))
      return undefined;
    throw thrown;
  });
}
