// Chat templates: renders a conversation with the tokenizer's Jinja template, as transformers does.

import { deepest, isDeeper } from '../checkpoint/file_rules.js';
import { notFound, type ReadOptions, readPlain } from '../checkpoint/files.js';
import { openSource, type Source, type SourceOptions, sourceOptions } from '../checkpoint/source.js';
import { ClearformerError, messageOf } from '../support/error.js';
import { isObject } from '../support/kinds.js';
import { checkOptions, expectArgument } from '../support/options.js';
import type { TokenizerCallOptions, TokenizerOutput } from './batch.js';
import { type BoundedTemplate, boundedTemplate } from './bounded_template.js';
import { readOldTemplate } from './template_files.js';
import { templateFile } from './template_names.js';

/** A message of a conversation. Templates may use more fields. */
export interface Message {
  role: string;
  content?: unknown;
  [more: string]: unknown;
}

/** The part of a tokenizer that a template needs. */
export interface ChatTokenizer {
  readonly chat_template: string | Readonly<Record<string, string>> | null;
  readonly special_tokens_map: Readonly<Record<string, string>>;
  /** Token ids of texts. */
  (
    text: string | readonly string[],
    options?: TokenizerCallOptions & { return_tensor?: true | undefined },
  ): TokenizerOutput;
}

/** Options for rendering a conversation. */
export interface ChatTemplateOptions {
  /** A template, or the name of one of the tokenizer's. Default: `tool_use` with tools, else `default`, or its only one. */
  chat_template?: string | undefined;
  /** End with the start of the assistant's answer. Default false. */
  add_generation_prompt?: boolean | undefined;
  /** Leave the last message open for the model to continue: true for its `content`, or the name of another field. */
  continue_final_message?: boolean | string | undefined;
  /** JSON schemas of functions that the model may call. */
  tools?: readonly object[] | undefined;
  /** Documents for retrieval-augmented generation, with `title` and `text`. */
  documents?: readonly object[] | undefined;
  /** Additional variables of the template. */
  chat_template_kwargs?: Readonly<Record<string, unknown>> | undefined;
  /** true (default): token ids, without special tokens added by the tokenizer; false: the text. */
  tokenize?: boolean | undefined;
  /** Options of the tokenizer call, such as padding. */
  tokenizer_kwargs?: (Omit<TokenizerCallOptions, 'return_tensor'> & { return_tensor?: true | undefined }) | undefined;
}

export const templateOptions: readonly string[] = [
  'chat_template',
  'add_generation_prompt',
  'continue_final_message',
  'tools',
  'documents',
  'chat_template_kwargs',
  'tokenize',
  'tokenizer_kwargs',
];

type Conversation = readonly Message[];

/**
 * Renders a conversation, or a batch of them, as input of a model. Throws `invalid_argument` for a tokenizer without a
 * template and for errors raised by the template, `malformed_config` for an invalid template, `unsupported` for one
 * that exceeds the limits on steps or sizes for such a conversation.
 */
export function apply_chat_template(
  tokenizer: ChatTokenizer,
  conversation: Conversation,
  options: ChatTemplateOptions & { tokenize: false },
): string;
export function apply_chat_template(
  tokenizer: ChatTokenizer,
  conversations: readonly Conversation[],
  options: ChatTemplateOptions & { tokenize: false },
): string[];
export function apply_chat_template(
  tokenizer: ChatTokenizer,
  conversation: Conversation | readonly Conversation[],
  options?: ChatTemplateOptions & { tokenize?: true | undefined },
): TokenizerOutput;
export function apply_chat_template(
  tokenizer: ChatTokenizer,
  conversation: Conversation | readonly Conversation[],
  options?: ChatTemplateOptions,
): TokenizerOutput | string | string[];
export function apply_chat_template(
  tokenizer: ChatTokenizer,
  conversation: Conversation | readonly Conversation[],
  options: ChatTemplateOptions = {},
): TokenizerOutput | string | string[] {
  checkOptions('apply_chat_template', options, templateOptions);
  checkValues(options);
  if (options.continue_final_message && options.add_generation_prompt) {
    throw refusal('continue_final_message', 'the last message cannot go on and be followed by a new one');
  }
  const isBatch = Array.isArray(conversation) && Array.isArray(conversation[0]);
  const conversations = (isBatch ? conversation : [conversation]) as readonly Conversation[];
  for (const each of conversations)
    expectArgument('apply_chat_template', isListOfObjects(each), 'an array of messages', each);
  expectArgument('apply_chat_template', tokenizer?.chat_template !== undefined, 'a tokenizer', tokenizer);
  const source = templateOf(tokenizer, options);
  const template = compiled(source);
  const texts = conversations.map((each) => render(template, source, each, tokenizer, options));
  const given = isBatch ? texts : (texts[0] ?? '');
  if (options.tokenize === false) return given;
  if (options.tokenizer_kwargs?.add_special_tokens) {
    throw refusal('tokenizer_kwargs', "add_special_tokens is not for conversations: special tokens are the template's");
  }
  expectArgument('apply_chat_template', typeof tokenizer === 'function', 'a tokenizer, to tokenize', tokenizer);
  return tokenizer(given, { ...options.tokenizer_kwargs, add_special_tokens: false });
}

/**
 * The template of a folder that stores it in a separate file: chat_template.jinja, which AutoTokenizer reads of folders, or
 * chat_template.json. To be passed as `chat_template`. Rejects with `file_not_found` if the folder has neither.
 */
export async function read_chat_template(source: Source, options: SourceOptions & ReadOptions = {}): Promise<string> {
  checkOptions('read_chat_template', options, [...sourceOptions, 'signal', 'integrity']);
  const folder = openSource(source, options);
  const template = (await readPlain(folder, templateFile, options))?.text ?? (await readOldTemplate(folder, options));
  if (template !== undefined) return template;
  throw notFound(folder, templateFile);
}

const isListOfObjects = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);

/** Throws `invalid_argument` for an option of the wrong type; null is as if not given. */
function checkValues({ continue_final_message: goesOn, tools, documents, chat_template_kwargs }: ChatTemplateOptions) {
  const expect = (option: string, value: unknown, isOne: boolean, needed: string) =>
    expectArgument(`apply_chat_template: ${option}`, (value ?? undefined) === undefined || isOne, needed, value);
  const isFlagOrName = /^(boolean|string)$/.test(typeof goesOn);
  expect('continue_final_message', goesOn, isFlagOrName, "true, false or a field's name");
  expect('tools', tools, isListOfObjects(tools), 'an array of objects');
  expect('documents', documents, isListOfObjects(documents), 'an array of objects');
  expect('chat_template_kwargs', chat_template_kwargs, isObject(chat_template_kwargs), 'an object');
}

/** A value without the keys that are undefined, at any depth: they are not given. */
function given<T>(value: T): T;
function given(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, given); // holes are undefined
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, given(each)]));
}

function refusal(option: string, why: string): ClearformerError {
  return new ClearformerError('invalid_argument', `apply_chat_template: ${why}`, { option });
}

function templateOf({ chat_template: own }: ChatTokenizer, options: ChatTemplateOptions): string {
  const chat_template = options.chat_template ?? undefined;
  const isText = chat_template === undefined || typeof chat_template === 'string';
  expectArgument('apply_chat_template: chat_template', isText, 'a text', chat_template);
  if (own === null || typeof own === 'string') {
    const text = chat_template ?? own;
    if (text !== null) return text;
    throw refusal(
      'chat_template',
      'the tokenizer has no chat_template: pass one (read_chat_template finds it in a file)',
    );
  }
  if (chat_template !== undefined)
    return (Object.hasOwn(own, chat_template) ? own[chat_template] : undefined) ?? chat_template;
  const usual = (options.tools ? own.tool_use : undefined) ?? own.default;
  if (usual !== undefined) return usual;
  throw refusal('chat_template', `it takes the name of one of the templates ${Object.keys(own).sort().join(', ')}`);
}

let last: { source: string; template: BoundedTemplate } | undefined; // cached: a conversation is rendered repeatedly

function compiled(source: string): BoundedTemplate {
  if (last?.source === source) return last.template;
  try {
    const template = boundedTemplate(source);
    last = { source, template };
    return template;
  } catch (cause) {
    if (cause instanceof ClearformerError) throw cause;
    throw new ClearformerError('malformed_config', `chat_template: ${messageOf(cause)}`, {}, cause);
  }
}

const openEnd = 'CONTINUE_FINAL_MESSAGE_TAG ';

function render(
  template: BoundedTemplate,
  source: string,
  conversation: Conversation,
  tokenizer: ChatTokenizer,
  options: ChatTemplateOptions,
): string {
  const { continue_final_message: goesOn, tools = null, documents = null, add_generation_prompt = false } = options;
  const field = typeof goesOn === 'string' ? goesOn : 'content';
  const open = goesOn ? opened(conversation, field, source) : undefined;
  let text: string;
  try {
    const messages = open?.messages ?? conversation;
    const own = { messages, tools, documents, add_generation_prompt, ...tokenizer.special_tokens_map };
    const { chat_template_kwargs } = options;
    for (const [name, value] of Object.entries({ ...own, chat_template_kwargs }))
      if (isDeeper(value)) throw refusal(name, `${name} is nested more than ${deepest} levels deep, or without end`);
    text = template.render({ ...given(own), ...given(chat_template_kwargs) });
  } catch (cause) {
    if (cause instanceof ClearformerError) throw cause;
    throw new ClearformerError('invalid_argument', `chat_template: ${messageOf(cause)}`, {}, cause);
  }
  return open === undefined ? text : cutOpen(text, open.text);
}

/** The conversation with a marker at the end of its last text, and that text. */
function opened(conversation: Conversation, field: string, source: string): { messages: Message[]; text: string } {
  const message = conversation.at(-1);
  const value = message?.[field];
  const at = Array.isArray(value) ? value.findLastIndex((block) => isObject(block) && 'text' in block) : -1;
  const text = Array.isArray(value) ? value[at]?.text : value;
  if (message === undefined || typeof text !== 'string' || !source.includes(field)) {
    throw refusal('continue_final_message', `the last message has no ${field} that the template reads`);
  }
  const marked = text + openEnd;
  const whole = Array.isArray(value) ? value.with(at, { ...value[at], text: marked }) : marked;
  return { messages: [...conversation.slice(0, -1), { ...message, [field]: whole }], text };
}

function cutOpen(rendered: string, text: string): string {
  const at = rendered.lastIndexOf(openEnd.trim());
  if (at < 0 || !rendered.includes(text.trim())) {
    throw refusal('continue_final_message', 'the last message does not appear in what the template makes of it');
  }
  const before = rendered.slice(0, at);
  return rendered.startsWith(openEnd, at) ? before : before.trimEnd();
}
