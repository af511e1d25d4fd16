// Calls as wrappers in TypeScript make them: what is passed on has the types that the package exports, and a result is
// of all types that it can have. Compiled by `npm run check` and, against the published declarations, by
// declarations.test.ts.

import {
  type Answer,
  type AudioInput,
  AutoModelForCausalLM,
  AutoProcessor,
  AutoTokenizer,
  type Chat,
  type ChatPromptOptions,
  type Chats,
  decompose_resid,
  type EntityGroup,
  type FeatureExtractionOptions,
  type FilledMask,
  type GeneratedChat,
  type GeneratedText,
  type GenerateOptions,
  type GenerateOutput,
  type GenerativeModel,
  type ImageInput,
  type LabelScore,
  type LoadOptions,
  LogitsProcessor,
  logitDifference,
  type ModelInputs,
  type PreTrainedModel,
  type PreTrainedTokenizer,
  type ProgressCallback,
  pipeline,
  type QuestionAnsweringOptions,
  type RankedText,
  type RecognizedSpeech,
  type Source,
  StoppingCriteria,
  sweep,
  type Tensor,
  type TextClassificationOptions,
  type TextGenerationOptions,
  type TokenClassificationOptions,
  type TokenEntity,
  type TokenizerCallOptions,
  type TokenizerLists,
  type TokenizerOutput,
  type ZeroShotClassification,
} from 'clearformer';
import { apply_chat_template, type ChatTemplateOptions } from 'clearformer/chat_template';

/** Whether two types are the same. */
type Same<One, Other> = (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;

/** Compiles only if what the promise gives is exactly `Wanted`. */
function gives<Wanted>() {
  return <Made>(_: Promise<Made>, __: Same<Made, Wanted>): void => {};
}

type Texts = string | readonly string[];
type Images = ImageInput | readonly ImageInput[];

export async function pipelines(text: string, texts: readonly string[], either: Texts, images: Images): Promise<void> {
  const classify = await pipeline('text-classification', 'x');
  const classification = {} as TextClassificationOptions;
  const top_k = texts.length;
  gives<LabelScore[]>()(classify(text), true);
  gives<LabelScore[]>()(classify(texts), true);
  gives<LabelScore[]>()(classify(text, classification), true);
  gives<LabelScore[][]>()(classify(texts, { top_k: 2 }), true);
  gives<LabelScore[][]>()(classify(texts, { top_k: null }), true);
  gives<LabelScore[] | LabelScore[][]>()(classify(texts, { top_k }), true);
  gives<LabelScore[] | LabelScore[][]>()(classify(texts, classification), true);
  gives<LabelScore[] | LabelScore[][]>()(classify(either, classification), true);

  const answer = await pipeline('question-answering', 'x');
  const answering = {} as QuestionAnsweringOptions;
  gives<Answer>()(answer(text, text), true);
  gives<Answer[]>()(answer(text, text, { top_k: 3 }), true);
  gives<Answer | Answer[]>()(answer(text, text, { top_k }), true);
  gives<Answer | Answer[]>()(answer(text, text, answering), true);
  gives<Answer[][]>()(answer(texts, texts, { top_k: 3 }), true);
  gives<Answer[] | Answer[][]>()(answer(texts, texts, answering), true);

  const entities = await pipeline('token-classification', 'x');
  const tagging = {} as TokenClassificationOptions;
  gives<TokenEntity[]>()(entities(text), true);
  gives<EntityGroup[][]>()(entities(texts, { aggregation_strategy: 'simple' }), true);
  gives<TokenEntity[] | EntityGroup[]>()(entities(text, tagging), true);
  gives<(TokenEntity[] | EntityGroup[])[]>()(entities(texts, tagging), true);

  const embed = await pipeline('feature-extraction', 'x');
  const embedding = {} as FeatureExtractionOptions;
  gives<Tensor<'float32'>>()(embed(either, { pooling: 'mean' }), true);
  gives<Tensor<'float32'> | Tensor<'int8'> | Tensor<'uint8'>>()(embed(either, embedding), true);

  const fill = await pipeline('fill-mask', 'x');
  gives<FilledMask[] | FilledMask[][]>()(fill(either), true);
  gives<FilledMask[][]>()(fill<FilledMask[][]>(text), true);
  gives<FilledMask[][][]>()(fill<FilledMask[][]>(texts), true);
  gives<RankedText[] | RankedText[][]>()((await pipeline('text-ranking', 'x'))(either, texts), true);
  gives<LabelScore[] | LabelScore[][]>()((await pipeline('image-classification', 'x'))(images), true);
  gives<LabelScore[] | LabelScore[][]>()((await pipeline('zero-shot-image-classification', 'x'))(images, texts), true);
  gives<ZeroShotClassification | ZeroShotClassification[]>()(
    (await pipeline('zero-shot-classification', 'x'))(either, texts),
    true,
  );
}

export async function generation(chat: Chat, prompts: Texts | Chat, sound: AudioInput | AudioInput[]): Promise<void> {
  const generate = await pipeline('text-generation', 'x');
  const options = {} as TextGenerationOptions;
  gives<GeneratedText[]>()(generate('x', options), true);
  gives<GeneratedChat[]>()(generate(chat), true);
  gives<GeneratedText[]>()(generate(chat, { return_full_text: false }), true);
  gives<GeneratedText[] | GeneratedChat[]>()(generate(chat, options), true);
  gives<GeneratedText[][] | GeneratedChat[][]>()(generate([chat], options), true);
  gives<GeneratedText[] | GeneratedChat[] | GeneratedText[][] | GeneratedChat[][]>()(generate(prompts, options), true);
  gives<RecognizedSpeech | RecognizedSpeech[]>()((await pipeline('asr', 'x'))(sound, { language: 'en' }), true);
}

export async function results(model: GenerativeModel, inputs: Tensor, all: GenerateOptions): Promise<void> {
  const given = { inputs, max_new_tokens: 3 };
  const yes = { return_dict_in_generate: true } as const;
  const no = { return_dict_in_generate: false } as const;
  gives<GenerateOutput>()(model.generate({ input_ids: [1] }, yes), true);
  gives<GenerateOutput>()(model.generate(given, { return_dict_in_generate: true, max_length: null }), true);
  gives<GenerateOutput>()(model.generate({ ...given, ...yes }), true);
  gives<GenerateOutput>()(model.generate({ ...given, ...yes }, { seed: 3 }), true);
  gives<GenerateOutput>()(model.generate(given, { generation_config: { return_dict_in_generate: true } }), true);
  gives<GenerateOutput>()(model.generate({ ...given, generation_config: { ...yes, seed: 3 } }), true);
  gives<Tensor<'int64'>>()(model.generate(given), true);
  gives<Tensor<'int64'>>()(model.generate(given, { generation_config: { seed: 3 } }), true);
  gives<Tensor<'int64'>>()(model.generate(given, { generation_config: model.generation_config }), true);
  gives<Tensor<'int64'>>()(model.generate(given, { ...no, generation_config: no }), true);
  gives<Tensor<'int64'> | GenerateOutput>()(model.generate(given, all), true);
  gives<Tensor<'int64'> | GenerateOutput>()(model.generate({ ...given, ...no }, { generation_config: yes }), true);
}

export function tokenizers(tokenizer: PreTrainedTokenizer, texts: Texts, chats: Chats): void {
  const options = {} as TokenizerCallOptions;
  type Lists = TokenizerLists<number[]> | TokenizerLists<number[][]>;
  gives<TokenizerOutput>()(Promise.resolve(tokenizer(texts, { padding: true })), true);
  gives<TokenizerOutput | Lists>()(Promise.resolve(tokenizer(texts, options)), true);

  const chat: Chat = [{ role: 'user', content: 'x' }];
  const prompt = {} as ChatPromptOptions;
  gives<TokenizerOutput>()(tokenizer.apply_chat_template(chats), true);
  gives<string>()(tokenizer.apply_chat_template(chat, { tokenize: false }), true);
  gives<string[]>()(tokenizer.apply_chat_template([chat], { tokenize: false, return_dict: false }), true);
  gives<Tensor<'int64'>>()(tokenizer.apply_chat_template(chats, { return_dict: false }), true);
  gives<string | string[] | TokenizerOutput | Tensor<'int64'>>()(tokenizer.apply_chat_template(chats, prompt), true);
  gives<TokenizerOutput | string | string[]>()(
    Promise.resolve(apply_chat_template(tokenizer, chats as Chat | readonly Chat[], {} as ChatTemplateOptions)),
    true,
  );
}

export async function analyses(model: PreTrainedModel, base: ModelInputs, all: boolean | undefined): Promise<void> {
  const metric = logitDifference(5, 6);
  await sweep(model, { base, metric, interventions: [{ hook: 'blocks.0.attn.hook_z', op: 'zero', head: 3 }] });
  const heads = [0, 1, 2].map((head) => ({ hook: 'blocks.0.attn.hook_z', op: 'zero', head }) as const);
  await sweep(model, { base, metric, interventions: heads });
  await sweep(model, {
    base,
    metric,
    interventions: [0, 1].map((head) => ({ hook: 'blocks.0.attn.hook_z', op: 'zero', head })),
  });
  await sweep(model, { base, metric, interventions: { length: 2, at: (head) => heads[head] } });
  const [, cache] = await model.run_with_cache(base);
  await decompose_resid(model, cache, { mode: undefined, mlp_input: all, incl_embeds: all });
}

/** Null is as if not given, which examples of transformers.js begin with. */
export async function withNulls(progress_callback: ProgressCallback | null = null): Promise<void> {
  const dtype = null as LoadOptions['dtype'] | null;
  const model = await AutoModelForCausalLM.from_pretrained('x', { progress_callback, dtype, revision: null });
  const tokenizer = await AutoTokenizer.from_pretrained('x', { progress_callback });
  await AutoProcessor.from_pretrained('x', { progress_callback, cache_dir: null });
  await pipeline('text-generation', 'x', { progress_callback, dtype });
  const { input_ids } = tokenizer('a', { text_pair: null, max_length: null, return_tensor: false });
  const ids: number[] = input_ids;
  const given = { ...tokenizer(['a'], { text_pair: null, padding: true }), past_key_values: null };
  await model.generate({
    ...given,
    streamer: null,
    stopping_criteria: null,
    logits_processor: null,
    max_length: ids[0],
  });
  // @ts-expect-error
  await AutoModelForCausalLM.from_pretrained('x', { progress_callback: 3 });
}

/** Pipelines give texts. */
export function notForTexts(): TextGenerationOptions[] {
  // @ts-expect-error
  const captured: TextGenerationOptions = { names_filter: '*' };
  // @ts-expect-error
  return [captured, { select: { pos: 0 } }];
}

/** A number is neither a source, nor audio, nor an image, nor a destination. */
export function refused(model: PreTrainedModel): unknown[] {
  // @ts-expect-error
  const source: Source = 42;
  // @ts-expect-error
  const sound: AudioInput = 42;
  // @ts-expect-error
  const image: ImageInput = 42;
  // @ts-expect-error
  return [source, sound, image, model.save_pretrained(42)];
}

/** Subclasses as in transformers.js. */
export class Never extends StoppingCriteria {
  override _call(input_ids: bigint[][]): boolean[] {
    return input_ids.map(() => false);
  }
}
export class AtOnce extends StoppingCriteria {
  override _call(input_ids: bigint[][], _scores: unknown): Uint8Array {
    return new Uint8Array(input_ids.length).fill(1);
  }
}
export async function stopped(model: GenerativeModel, flags: Tensor<'uint8'>): Promise<void> {
  const criteria = [new Never(), new AtOnce(), () => Uint8Array.of(0), () => flags, async () => [true]];
  for (const stopping_criteria of criteria) await model.generate({ input_ids: [1] }, { stopping_criteria });
}
export class Unchanged extends LogitsProcessor {
  override _call(_: bigint[][], scores: Tensor<'float32'>): Tensor<'float32'> {
    return scores;
  }
}
