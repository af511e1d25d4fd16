// text-generation: continues texts and conversations.

import type { ReadOptions } from '../checkpoint/files.js';
import type { Folder } from '../checkpoint/folder.js';
import { GenerativeModel } from '../models/generative_model.js';
import { expectCache, type KeyValueCache } from '../models/key_value_cache.js';
import { plainValue } from '../models/plain_values.js';
import { ClearformerError } from '../support/error.js';
import { refusedOption } from '../support/options.js';
import { Tensor } from '../tensor/tensor.js';
import { readTokenizer } from '../text/auto_tokenizer.js';
import type { TokenizerOutput } from '../text/batch.js';
import type { Message } from '../text/chat_template.js';
import { readOldTemplate } from '../text/template_files.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';
import { Pipeline } from './base_pipeline.js';
import { type ChatOptions, chatInputs, chatOptions, isChat } from './chat_inputs.js';
import { type GenerationCallOptions, generationSettings, splitOptions, type TextOptions } from './generation_call.js';
import { loader } from './load_pipeline.js';
import { inTextBatches } from './texts.js';

/** A conversation. */
export type Chat = readonly Message[];

/**
 * Options of a call: those of `generate`, and the task's own. By default the best token is taken, as in transformers.js and
 * unless generation_config.json says otherwise; transformers 5.12's pipeline samples (`do_sample: true, temperature: 0.7`).
 * Settings of the task in config.json (`task_specific_params`), by which GPT-2 would sample, are not read.
 */
export interface TextGenerationOptions extends GenerationCallOptions, ChatOptions {
  /** Whether the result includes the prompt. Default true. */
  return_full_text?: boolean | undefined;
  /** For texts: undefined means the tokenizer's default. Conversations contain their own special tokens. */
  add_special_tokens?: boolean | undefined;
  /** transformers.js' name of `chat_template_kwargs`, which takes its place if both are given. */
  tokenizer_encode_kwargs?: Readonly<Record<string, unknown>> | undefined;
  /**
   * Of one prompt: keys and values of the tokens it begins with, as of the conversation so far; the call adds the others'.
   * Positions of earlier calls of pipelines that the prompt does not begin with are dropped.
   */
  past_key_values?: KeyValueCache | null | undefined;
}

/** A continued text or conversation; without the prompt on request. */
export interface GeneratedText {
  generated_text: string;
}
/** A conversation with the model's message. */
export interface GeneratedChat {
  generated_text: Message[];
}

type WithPrompt = TextGenerationOptions & { return_full_text?: true | undefined };
type WithoutPrompt = TextGenerationOptions & { return_full_text: false };

/** Continues texts and conversations. */
export interface TextGenerationPipeline {
  /**
   * Each text with its continuation, `num_return_sequences` times; a conversation with the assistant's answer (an
   * existing answer is continued). A prompt without tokens begins with `bos_token_id`. Rejects like `generate`, with
   * `invalid_argument` for a conversation without a template and for options of conversations with texts, and with
   * `unsupported` for a streamer with several texts.
   */
  (text: string, options?: TextGenerationOptions): Promise<GeneratedText[]>;
  /** The same for several texts. */
  (texts: readonly string[], options?: TextGenerationOptions): Promise<GeneratedText[][]>;
  /** The answer only, as text. */
  (chat: Chat, options: WithoutPrompt): Promise<GeneratedText[]>;
  /** The answers only, as texts. */
  (chats: readonly Chat[], options: WithoutPrompt): Promise<GeneratedText[][]>;
  /** A conversation with the answer. */
  (chat: Chat, options?: WithPrompt): Promise<GeneratedChat[]>;
  /** Conversations with their answers. */
  (chats: readonly Chat[], options?: WithPrompt): Promise<GeneratedChat[][]>;
  /** One of both, as `return_full_text` is. */
  (chat: Chat, options?: TextGenerationOptions): Promise<GeneratedText[] | GeneratedChat[]>;
  /** The same for several conversations. */
  (chats: readonly Chat[], options?: TextGenerationOptions): Promise<GeneratedText[][] | GeneratedChat[][]>;
  /** One of these, as the prompts are. */
  (
    prompts: string | Chat | readonly string[] | readonly Chat[],
    options?: TextGenerationOptions,
  ): Promise<GeneratedText[] | GeneratedChat[] | GeneratedText[][] | GeneratedChat[][]>;
}

type Generated = (GeneratedText | GeneratedChat)[];
type Prompt = string | Chat;
type Prompts = Pick<TokenizerOutput, 'input_ids' | 'attention_mask'>;

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the base class makes instances callable
export class TextGenerationPipeline extends Pipeline<
  [Prompt | readonly Prompt[], TextGenerationOptions?],
  Generated | Generated[],
  GenerativeModel
> {
  readonly tokenizer: PreTrainedTokenizer;
  /** The template of chat_template.json, if the tokenizer has none. */
  readonly template: string | undefined;

  /** @internal */
  constructor(task: string, model: GenerativeModel, { tokenizer, template }: Beside) {
    super(task, model);
    this.tokenizer = tokenizer;
    this.template = template;
  }

  /** @internal */
  override async _call(
    given: Prompt | readonly Prompt[],
    called: TextGenerationOptions = {},
  ): Promise<Generated | Generated[]> {
    const options = this.model.withConfig(this.task, called);
    const single = typeof given === 'string' || isChat(given);
    const prompts = single ? [given as Prompt] : (given as readonly Prompt[]);
    this.#check(prompts, options);
    const { generate } = splitOptions(this.task, options, ownOptions, prompts.length);
    if (options.past_key_values && prompts.length > 1) {
      const why = `are of one prompt, not of ${prompts.length}`;
      throw refusedOption(this.task, 'past_key_values', why, 'unsupported');
    }
    const results = await inTextBatches(prompts, this.tokenizer, options, async (part) => {
      const inputs = this.#begun(await this.#inputs(part, options), options);
      return this.#continued(part, inputs, options, generate);
    });
    return single ? (results[0] as Generated) : results;
  }

  #check(prompts: readonly Prompt[], options: TextGenerationOptions): void {
    const isText = (prompt: unknown) => typeof prompt === 'string';
    if (!Array.isArray(prompts) || ![isText, isChat].some((kind) => prompts.every((prompt) => kind(prompt)))) {
      const needs =
        'needs a text, an array of texts, a conversation (an array of messages with a role) or an array of those';
      throw new ClearformerError('invalid_argument', `${this.task}: ${needs}`);
    }
    const ofChats = [...chatOptions, 'tokenizer_encode_kwargs'] as const;
    const option = isText(prompts[0]) ? ofChats.find((name) => options?.[name]) : undefined;
    if (option === undefined) return;
    throw refusedOption(this.task, option, 'is for conversations, not for texts');
  }

  async #inputs(prompts: readonly Prompt[], options: TextGenerationOptions): Promise<TokenizerOutput> {
    const call = { padding: true, padding_side: 'left', return_attention_mask: true, signal: options.signal } as const;
    if (prompts.every((prompt) => typeof prompt === 'string')) {
      return this.tokenizer.paced(prompts, { ...call, add_special_tokens: options.add_special_tokens });
    }
    const chat_template = options.chat_template ?? this.template;
    const chat_template_kwargs = options.chat_template_kwargs ?? options.tokenizer_encode_kwargs;
    const own = { ...options, chat_template, chat_template_kwargs };
    return chatInputs(this.tokenizer, prompts as readonly Chat[], own, call);
  }

  /** Prompts padded on the left; of those without tokens the first one is that of `generate` without a prompt. */
  #begun(
    given: Prompts,
    { bos_token_id = this.model.generation_config.bos_token_id as number | bigint | null }: TextGenerationOptions,
  ): Prompts {
    const [rows = 0, width = 0] = given.input_ids.dims;
    const blank = () => new Tensor('int64', new BigInt64Array(rows), [rows, 1]);
    const { input_ids, attention_mask } = width > 0 ? given : { input_ids: blank(), attention_mask: blank() };
    for (let row = 0; row < rows; row++) {
      const last = (row + 1) * Math.max(width, 1) - 1;
      if (attention_mask.data[last] !== 0n) continue;
      if (!Number.isInteger(plainValue(bos_token_id))) {
        const why = `a prompt has no tokens, and bos_token_id is ${bos_token_id}`;
        throw new ClearformerError('invalid_argument', `${this.task}: ${why}`, { option: 'bos_token_id' });
      }
      input_ids.data[last] = BigInt(bos_token_id as number | bigint);
      attention_mask.data[last] = 1n;
    }
    return { input_ids, attention_mask };
  }

  async #continued(
    prompts: readonly Prompt[],
    { input_ids, attention_mask }: Prompts,
    options: TextGenerationOptions,
    generate: TextOptions,
  ): Promise<Generated[]> {
    const length = input_ids.dims[1] ?? 0;
    const settings = generationSettings(this, generate, {}, length);
    const { past_key_values: cache } = options;
    if (cache) expectCache(this.task, cache);
    if (cache) await keepBeginning(cache, [...input_ids.data]);
    const sequences = await this.model.generate({ input_ids, attention_mask, past_key_values: cache }, settings);
    if (cache && sequences.dims[0] === 1) tokensIn.set(cache, [...sequences.data]);
    const copies = (sequences.dims[0] ?? 0) / prompts.length;
    const skip = { skip_special_tokens: true };
    return prompts.map((prompt, p) => {
      const before = this.tokenizer.decode(input_ids.slice(p), skip);
      return Array.from({ length: copies }, (_, copy) => {
        const ids = sequences.slice(p * copies + copy);
        // Decoded with the prompt, since the first new token's leading space may depend on it; alone if new bytes make
        // those of the prompt's last character invalid.
        const whole = this.tokenizer.decode(ids, skip);
        const isAfter = whole.startsWith(before);
        const text = isAfter ? whole.slice(before.length) : this.tokenizer.decode(ids.slice([length, null]), skip);
        return { generated_text: withPrompt(prompt, text, options) } as GeneratedText | GeneratedChat;
      });
    });
  }
}

/** The tokens that pipelines left in a cache. */
const tokensIn = new WeakMap<KeyValueCache, readonly bigint[]>();

/**
 * Drops what a cache has beyond what a prompt begins with: a conversation may have been changed, and an answer's text does
 * not always have the tokens that were generated. What others than pipelines left there is taken for the beginning.
 */
async function keepBeginning(cache: KeyValueCache, ids: readonly bigint[]): Promise<void> {
  const known = tokensIn.get(cache);
  if (known) {
    const same = ids.findIndex((id, at) => id !== known[at]) >>> 0; // all of them: -1, now the largest number
    const length = Math.min(same, ids.length - 1, await cache.get_seq_length());
    await cache.crop(length).catch(() => cache.crop(0)); // convolutions do not reach back as far as attention
  }
  tokensIn.set(cache, ids);
}

const ownOptions = [
  ...['return_full_text', 'add_special_tokens', 'tokenizer_encode_kwargs', 'past_key_values'],
  ...chatOptions,
];

function withPrompt(
  prompt: Prompt,
  text: string,
  { return_full_text, continue_final_message }: TextGenerationOptions,
): string | Message[] {
  if (return_full_text === false) return text;
  if (typeof prompt === 'string') return prompt + text;
  const last = prompt.at(-1) as Message;
  const goesOn = continue_final_message ?? last.role === 'assistant';
  if (!goesOn) return [...prompt, { role: 'assistant', content: text }];
  return [...prompt.slice(0, -1), { ...last, content: continued(last.content, text) }];
}

/** A message's content that goes on with `text`: of a list of parts, the last text does. */
function continued(content: unknown, text: string): unknown {
  if (!Array.isArray(content)) return `${String(content)}${text}`;
  const at = content.findLastIndex((part) => typeof part?.text === 'string');
  return at < 0
    ? [...content, { type: 'text', text }]
    : content.with(at, { ...content[at], text: `${content[at].text}${text}` });
}

interface Beside {
  tokenizer: PreTrainedTokenizer;
  template: string | undefined;
}

async function read(folder: Folder, options: ReadOptions): Promise<Beside> {
  const tokenizer = await readTokenizer(folder, options, true);
  return { tokenizer, template: tokenizer.chat_template === null ? await readOldTemplate(folder, options) : undefined };
}

/** @internal */
export const load = loader<GenerativeModel, Beside, TextGenerationPipeline>({
  Model: GenerativeModel,
  read,
  create: (task, model, beside) => new TextGenerationPipeline(task, model, beside),
});
