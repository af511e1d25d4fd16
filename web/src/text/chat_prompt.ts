// `tokenizer.apply_chat_template` with transformers.js' interface. Loaded on the first call.

import { checkOptions } from '../support/options.js';
import type { TokenizerCallOptions, TokenizerOutput } from './batch.js';
import {
  apply_chat_template,
  type ChatTemplateOptions,
  type ChatTokenizer,
  type Message,
  templateOptions,
} from './chat_template.js';

/** Options of `tokenizer.apply_chat_template`: those of `clearformer/chat_template` and of the tokenizer. */
export interface ChatPromptOptions extends Omit<ChatTemplateOptions, 'tokenize'> {
  /** true (default): token ids; false: the text. */
  tokenize?: boolean | undefined;
  /** false: the ids only instead of an object with ids and mask. Default true. */
  return_dict?: boolean | undefined;
  padding?: TokenizerCallOptions['padding'];
  truncation?: TokenizerCallOptions['truncation'];
  max_length?: number | undefined;
  /** Template variables that enable a model's thinking. */
  enable_thinking?: boolean | undefined;
}

/** A conversation. */
export type Conversation = readonly Message[];
/** A conversation, or several. */
export type Chats = Conversation | readonly Conversation[];

const ownOptions = ['return_dict', 'padding', 'truncation', 'max_length', 'enable_thinking'];

/** The prompt for a conversation, or for several. */
export async function chatPrompt(
  tokenizer: ChatTokenizer,
  conversation: Chats,
  given: ChatPromptOptions,
): Promise<string | string[] | TokenizerOutput | TokenizerOutput['input_ids']> {
  checkOptions('apply_chat_template', given, [...templateOptions, ...ownOptions]);
  const { return_dict = true, padding, truncation, max_length, enable_thinking, ...options } = given;
  const beside = Object.entries({ padding, truncation, max_length }).filter(([, value]) => value !== undefined);
  const own = {
    ...options,
    ...(enable_thinking !== undefined && {
      chat_template_kwargs: { enable_thinking, ...options.chat_template_kwargs },
    }),
    ...(beside.length > 0 && { tokenizer_kwargs: { ...Object.fromEntries(beside), ...options.tokenizer_kwargs } }),
  };
  const chats = conversation as readonly Message[];
  if (own.tokenize === false) return apply_chat_template(tokenizer, chats, { ...own, tokenize: false });
  const made = apply_chat_template(tokenizer, chats, { ...own, tokenize: true });
  return return_dict ? made : made.input_ids;
}
