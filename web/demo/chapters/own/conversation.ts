// A conversation with the reader's own model: its messages, the tokens that the model reads of them, and the keys and
// values kept between answers. Dispatches 'change'.

import { DynamicCache, type GenerateStreamOptions, type GenerativeModel, type PreTrainedTokenizer } from 'clearformer';

/** Why an answer ended before the model ended it: stopped, at the number of tokens asked for, at the context's end. */
type Cut = 'stopped' | 'length' | 'context';

/** A message. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  content: string;
  cut?: Cut;
  /** Whether the model no longer reads it. */
  leftOut: boolean;
}

/** How answers are chosen; `temperature` 0: always the most probable token. */
export interface Sampling {
  temperature: number;
  top_p: number;
  top_k: number;
  max_new_tokens: number;
}

export class Conversation extends EventTarget {
  readonly turns: Turn[] = [];
  /** What the model is told before the conversation; empty: nothing. */
  system = '';
  readonly sampling: Sampling;
  busy = false;
  failure: unknown;
  /** Tokens that the model has read or written in this conversation, and how many of them the cache already held. */
  used = 0;
  reused = 0;
  /** Set when the conversation does not fit: the number of its tokens. */
  tooLong: number | undefined;
  readonly #model: GenerativeModel;
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #template: string | undefined;
  /** The tokens in the order of the cache, which may hold fewer. */
  #known: number[] = [];
  #cache = new DynamicCache();
  #controller: AbortController | undefined;
  #running: Promise<void> | undefined;

  /** `template` is one of a separate file, where the tokenizer has none. */
  constructor(model: GenerativeModel, tokenizer: PreTrainedTokenizer, template: string | undefined) {
    super();
    this.#model = model;
    this.#tokenizer = tokenizer;
    this.#template = template;
    const { do_sample, temperature, top_p, top_k } = model.generation_config;
    this.sampling = {
      temperature: do_sample === true ? numberOr(temperature, 1) : 0,
      top_p: numberOr(top_p, 1),
      top_k: numberOr(top_k, 50),
      max_new_tokens: 256,
    };
  }

  /** Positions that the model has; infinite for one without a limit. */
  get context(): number {
    const { n_ctx } = this.#model.cfg;
    return n_ctx > 0 ? n_ctx : Number.POSITIVE_INFINITY;
  }

  /** Whether there is an exchange before the last message that could be left out. */
  get hasOlder(): boolean {
    return this.turns.filter(({ leftOut, role }) => !leftOut && role === 'user').length > 1;
  }

  /** Whether the last message waits for an answer. */
  get waits(): boolean {
    return this.turns.at(-1)?.role === 'user';
  }

  send(content: string): Promise<void> {
    this.turns.push({ role: 'user', content, leftOut: false });
    return this.answer();
  }

  /** Leaves the oldest message and its answer out of what the model reads, and answers. */
  leaveOut(): Promise<void> {
    const kept = this.turns.filter(({ leftOut }) => !leftOut);
    const next = kept.findIndex(({ role }, i) => i > 0 && role === 'user');
    for (const turn of kept.slice(0, Math.max(0, next))) turn.leftOut = true;
    return this.answer();
  }

  /** Removes the message that waits for an answer; returns its text. */
  takeBack(): string {
    const text = this.waits ? (this.turns.pop()?.content ?? '') : '';
    this.tooLong = undefined;
    this.#changed();
    return text;
  }

  stop(): void {
    this.#controller?.abort();
  }

  /** Begins anew, with the same instructions and settings. */
  async clear(): Promise<void> {
    this.stop();
    await this.#running;
    this.turns.length = 0;
    this.used = this.reused = 0;
    this.tooLong = this.failure = undefined;
    this.#changed();
  }

  async dispose(): Promise<void> {
    this.stop();
    await this.#running;
    await this.#cache.dispose();
  }

  /** Answers the last message, or continues an answer that was cut; never rejects. */
  answer(): Promise<void> {
    this.#running = this.#answer();
    return this.#running;
  }

  async #answer(): Promise<void> {
    const controller = new AbortController();
    this.#controller = controller;
    this.busy = true;
    this.failure = this.tooLong = undefined;
    this.#changed();
    try {
      await this.#write(controller.signal);
    } catch (failure) {
      if (!controller.signal.aborted) this.failure = failure;
      const last = this.turns.at(-1);
      if (last?.role === 'assistant' && last.content === '') this.turns.pop();
      else if (last?.role === 'assistant') last.cut = 'stopped';
    } finally {
      this.busy = false;
      this.#changed();
    }
  }

  async #write(signal: AbortSignal): Promise<void> {
    const prompt = await this.#prompt();
    this.used = prompt.length;
    const room = this.context - prompt.length;
    if (room < 1) {
      this.tooLong = prompt.length;
      return;
    }
    const most = Math.min(room, this.sampling.max_new_tokens);
    const turn = this.#openAnswer();
    await this.#keepPrefix(prompt);
    signal.throwIfAborted();
    this.#known = [...prompt];
    let written = 0;
    let last: number | undefined;
    const inputs = { input_ids: [prompt], past_key_values: this.#cache };
    for await (const step of this.#model.generate_stream(inputs, { ...this.#options(most), signal })) {
      last = step.token_id;
      this.#known.push(last);
      this.used = prompt.length + ++written;
      turn.content += step.text ?? '';
      this.#changed();
    }
    if (written === most && !this.#ends(last)) turn.cut = most === room ? 'context' : 'length';
  }

  /** The answer that goes on, or a new one. */
  #openAnswer(): Turn {
    const last = this.turns.at(-1);
    const turn: Turn = last?.role === 'assistant' ? last : { role: 'assistant', content: '', leftOut: false };
    if (turn !== last) this.turns.push(turn);
    delete turn.cut;
    return turn;
  }

  /** The tokens of what the model reads. */
  async #prompt(): Promise<number[]> {
    const read = this.turns.filter(({ leftOut }) => !leftOut).map(({ role, content }) => ({ role, content }));
    const system = this.system.trim() === '' ? [] : [{ role: 'system', content: this.system }];
    const { input_ids } = await this.#tokenizer.apply_chat_template([...system, ...read], {
      chat_template: this.#template,
      ...(this.waits ? { add_generation_prompt: true } : { continue_final_message: true }),
    });
    return Array.from(input_ids.data, Number);
  }

  /** Crops the cache to the tokens that the prompt begins with; the last token of a prompt is always read anew. */
  async #keepPrefix(prompt: readonly number[]): Promise<void> {
    const most = Math.min(this.#known.length, prompt.length - 1);
    let same = 0;
    while (same < most && this.#known[same] === prompt[same]) same++;
    const held = await this.#cache.get_seq_length();
    if (held > same) await this.#cache.crop(same);
    this.reused = Math.min(held, same);
  }

  #options(max_new_tokens: number): GenerateStreamOptions {
    const { temperature, top_p, top_k } = this.sampling;
    const chosen = temperature > 0 ? { do_sample: true, temperature, top_p, top_k } : { do_sample: false };
    return { ...chosen, max_new_tokens, num_beams: 1, tokenizer: this.#tokenizer };
  }

  #ends(token: number | undefined): boolean {
    return [this.#model.generation_config.eos_token_id].flat().includes(token);
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

const numberOr = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
