// Conversations as a model's input. The template interpreter is loaded with the first one.

import type { PacedCallOptions, TokenizerOutput } from '../text/batch.js';
import type { Message } from '../text/chat_template.js';
import type { PreTrainedTokenizer } from '../text/tokenizer.js';

/** Options for conversations only. */
export interface ChatOptions {
  /** A template, or the name of one of the tokenizer's. */
  chat_template?: string | undefined;
  /** Template variables. */
  tools?: readonly object[] | undefined;
  documents?: readonly object[] | undefined;
  chat_template_kwargs?: Readonly<Record<string, unknown>> | undefined;
  /** Continue the last message instead of answering it. Default: true if it is the assistant's. */
  continue_final_message?: boolean | undefined;
}

export const chatOptions = [
  'chat_template',
  'tools',
  'documents',
  'chat_template_kwargs',
  'continue_final_message',
] as const;

/** Whether it is an array of messages. */
export function isChat(given: unknown): given is readonly Message[] {
  const isMessage = (one: unknown) => typeof one === 'object' && one !== null && 'role' in one;
  return Array.isArray(given) && given.length > 0 && given.every(isMessage);
}

/** The token ids of conversations, rendered separately since the roles of their last messages may differ. */
export async function chatInputs(
  tokenizer: PreTrainedTokenizer,
  chats: readonly (readonly Message[])[],
  options: ChatOptions,
  call: PacedCallOptions,
): Promise<TokenizerOutput> {
  const { apply_chat_template } = await import('../text/chat_template.js');
  const { chat_template, tools, documents, chat_template_kwargs, continue_final_message } = options;
  const texts = chats.map((chat) => {
    const goesOn = continue_final_message ?? chat.at(-1)?.role === 'assistant';
    return apply_chat_template(tokenizer, chat, {
      chat_template,
      tools,
      documents,
      chat_template_kwargs,
      continue_final_message: goesOn,
      add_generation_prompt: !goesOn,
      tokenize: false,
    });
  });
  return tokenizer.paced(texts, { ...call, add_special_tokens: false });
}
