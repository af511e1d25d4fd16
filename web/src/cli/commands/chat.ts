// clearformer chat: a conversation with a model, line by line.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { type Chat, pipeline, type TextGenerationPipeline } from '../../index.js';
import type { Context } from '../context.js';
import { Failure } from '../failures.js';
import { addGenerationOptions, generationOptions } from '../generation_flags.js';
import { streams, textStreamer } from '../generative.js';
import { standardLines } from '../inputs.js';
import { addGenerativeOptions, loaded, type SharedOptions } from '../sources.js';

interface Options extends SharedOptions {
  systemPrompt?: string;
  chatTemplate?: string | undefined;
}

const after = `
Each line of standard input is a message; the answers know all that was said before. The end of the input (Ctrl-D) ends the
conversation, Ctrl-C ends it at once.

Examples:
  clearformer chat HuggingFaceTB/SmolLM2-135M-Instruct --dtype q8
  clearformer chat ./model --system-prompt "You are brief." --do-sample --temperature 0.7 --max-new-tokens 200
  printf 'Hello!\\nWhat did I say?\\n' | clearformer chat ./model --json
  clearformer chat ./stories260K --chat-template "{% for m in messages %}{{ m.content }} {% endfor %}"`;

export function addChat(program: Command, context: Context): void {
  const command = program
    .command('chat')
    .summary('talk to a chat model')
    .description('A conversation with a model, in the form of its chat template: messages in, answers as they come.')
    .argument('<source>', 'folder, Hub id or URL of a model')
    .option('--system-prompt <text>', 'what the model is told first')
    .option('--chat-template <template>', "a Jinja template or a file of one, instead of the model's own")
    .option('--json', 'at the end, print the whole conversation as JSON, and nothing before');
  addGenerationOptions(addGenerativeOptions(command), ['num_return_sequences']).addHelpText('after', after);
  command.action((source: string, options: Options) => chat(context, source, options));
}

async function chat(context: Context, source: string, options: Options): Promise<void> {
  const writer = await loaded(context, source, options, (from, load) => pipeline('text-generation', from, load));
  try {
    const told = { ...options, chatTemplate: templateOf(writer, options.chatTemplate) };
    const messages: { role: string; content: string }[] = [];
    if (options.systemPrompt !== undefined) messages.push({ role: 'system', content: options.systemPrompt });
    for await (const line of lines(context)) {
      if (line === '') continue;
      messages.push({ role: 'user', content: line });
      messages.push({ role: 'assistant', content: await answer(context, writer, messages, told) });
    }
    context.signal.throwIfAborted();
    if (options.json) context.output.json(messages);
  } finally {
    await writer.dispose();
  }
}

/** The lines of standard input, with a prompt on a terminal, until its end or an abort. */
async function* lines({ signal }: Context): AsyncGenerator<string> {
  if (process.stdin.isTTY !== true) {
    yield* standardLines();
    return;
  }
  const input = createInterface({ input: process.stdin, output: process.stderr, prompt: '> ' });
  input.on('SIGINT', () => process.emit('SIGINT'));
  signal.addEventListener('abort', () => input.close(), { once: true });
  input.prompt();
  for await (const line of input) {
    yield line;
    input.prompt();
  }
}

async function answer(
  { output, signal }: Context,
  writer: TextGenerationPipeline,
  messages: Chat,
  options: Options,
): Promise<string> {
  const given = generationOptions(options as Record<string, unknown>);
  const shows = options.json === undefined && streams(writer.model, given);
  const [made] = await writer(messages, {
    ...given,
    chat_template: options.chatTemplate,
    ...(shows && { streamer: textStreamer(writer.tokenizer, output, true) }),
    return_full_text: false,
    signal,
  });
  const text = made?.generated_text ?? '';
  if (options.json === undefined) output.line(shows ? '' : text);
  return text;
}

/** The template asked for: that of a file, the model's own of that name, or the word itself. */
function templateOf({ tokenizer, template }: TextGenerationPipeline, word: string | undefined): string | undefined {
  const own = tokenizer.chat_template ?? template;
  if (word === undefined) {
    if (own !== undefined) return word;
    throw new Failure('the model has no chat_template: --chat-template takes one');
  }
  if (existsSync(word)) {
    if (statSync(word).isDirectory())
      throw new Failure(`--chat-template: ${word} is a folder, not the file of a template`);
    return readFileSync(word, 'utf8');
  }
  if (word.includes('{') || (typeof own === 'object' && Object.hasOwn(own, word))) return word;
  throw new Failure(`--chat-template: ${word} is neither a file nor a template`);
}
