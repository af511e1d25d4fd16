// One story being written: its tokens, what else each of them could have been, every attention row, and the
// running generation with pause, single steps and stop. Dispatches 'change' after every change.

import { type Distribution, distribution } from '../book/distribution.js';
import { AttentionStore } from './attention_store.js';
import { Pacer } from './pacer.js';
import type { StorySettings } from './settings.js';
import type { TextModel } from './text_model.js';
import type { ShownToken } from './token_texts.js';

export type Phase = 'idle' | 'running' | 'paused';
export type Ending = 'length' | 'end-token' | 'context' | 'stopped' | 'error';

export interface StoryToken extends ShownToken {
  id: number;
  /** Absent for the first token, which nothing comes before. */
  distribution?: Distribution;
}

export interface Timing {
  /** Tokens written in this run. */
  tokens: number;
  /** Time from the first token's beginning to the last token, pauses left out. */
  milliseconds: number;
}

type Steps = ReturnType<TextModel['stream']>;

const candidateCount = 8;
/** Numbers the pass over the prompt may return; a longer prompt of a large vocabulary goes without. */
const mostPromptLogits = 2 ** 25;

export class StorySession extends EventTarget {
  readonly model: TextModel;
  tokens: StoryToken[] = [];
  attention: AttentionStore;
  phase: Phase = 'idle';
  /** How many runs were begun. */
  runs = 0;
  ending: Ending | undefined;
  error: unknown;
  timing: Timing = { tokens: 0, milliseconds: 0 };
  /** The settings of the run on show. */
  settings: StorySettings | undefined;
  #pacer = new Pacer();
  #clock = { begun: 0, held: 0 };
  #controller: AbortController | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor(model: TextModel) {
    super();
    this.model = model;
    this.attention = new AttentionStore(model.layers, model.heads);
  }

  /** Writes a new story from the prompt; resolves when it ends. */
  async start(settings: StorySettings, paused = false): Promise<void> {
    await this.stop();
    const ids = this.model.encode(settings.prompt);
    const pieces = this.model.pieces(ids);
    this.tokens = ids.map((id, i) => ({ id, ...(pieces[i] ?? { text: '', special: false }), origin: 'prompt' }));
    await this.#launch(settings, paused);
  }

  /** Keeps the tokens before `position`, puts `token_id` there and writes on. */
  async branch(position: number, token_id: number, settings: StorySettings): Promise<void> {
    await this.stop();
    const replaced = this.tokens[position];
    const kept = this.tokens.slice(0, position);
    const piece = this.model.piece([...kept.map((token) => token.id), token_id]);
    const token: StoryToken = { id: token_id, ...piece, origin: 'reader' };
    if (replaced?.distribution) token.distribution = chosenAs(replaced.distribution, token_id);
    this.tokens = [...kept, token];
    await this.#launch(settings, false);
  }

  pause(): void {
    if (this.phase !== 'running') return;
    this.#pacer.hold();
    this.phase = 'paused';
    this.#changed();
  }

  resume(): void {
    if (this.phase !== 'paused') return;
    this.phase = 'running';
    this.#pacer.release();
    this.#changed();
  }

  /** While paused: lets one more token be written. */
  step(): void {
    if (this.phase === 'paused') this.#pacer.releaseOne();
  }

  setPace(pace: number): void {
    this.#pacer.pace = pace;
  }

  async stop(): Promise<void> {
    this.#controller?.abort();
    this.#pacer.release();
    await this.#ended;
  }

  async #launch(settings: StorySettings, paused: boolean): Promise<void> {
    this.#controller = new AbortController();
    this.runs++;
    this.settings = settings;
    this.ending = undefined;
    this.error = undefined;
    this.timing = { tokens: 0, milliseconds: 0 };
    this.attention = new AttentionStore(this.model.layers, this.model.heads);
    this.#pacer = new Pacer(settings.pace);
    this.phase = paused ? 'paused' : 'running';
    if (paused) this.#pacer.holdAfterOne();
    this.#changed();
    this.#ended = this.#run(settings, this.#controller.signal);
    await this.#ended;
  }

  async #run(settings: StorySettings, signal: AbortSignal): Promise<void> {
    try {
      this.ending = await this.#write(settings, signal);
    } catch (error) {
      this.ending = signal.aborted ? 'stopped' : 'error';
      if (!signal.aborted) this.error = error;
    }
    this.phase = 'idle';
    this.#changed();
  }

  async #write(settings: StorySettings, signal: AbortSignal): Promise<Ending> {
    // The likeliest token after the last position is known without drawing; whatever is drawn needs a position left.
    const room = this.model.context - this.tokens.length + (settings.do_sample ? 0 : 1);
    if (this.tokens.length === 0) throw new RangeError('The prompt is empty: write at least one word.');
    if (room <= 0) {
      throw new RangeError(
        `The prompt has ${this.tokens.length} tokens; this model reads ${this.model.context} at most.`,
      );
    }
    const wanted = Math.min(settings.max_new_tokens, room);
    const ids = this.tokens.map((token) => token.id);
    await this.#weighPrompt(ids, signal);
    this.#clock = { begun: performance.now(), held: 0 };
    const steps = this.model.stream(ids, { ...settings, max_new_tokens: wanted }, signal);
    try {
      while (await this.#next(steps, settings, signal));
    } finally {
      await steps.return?.(undefined);
    }
    if (this.timing.tokens < wanted) return 'end-token';
    return wanted < settings.max_new_tokens ? 'context' : 'length';
  }

  /** What the model itself would have expected in place of the given tokens: one forward pass over them. */
  async #weighPrompt(ids: readonly number[], signal: AbortSignal): Promise<void> {
    const { vocabulary } = this.model;
    if (ids.length * vocabulary > mostPromptLogits) return;
    const logits = await this.model.logits(ids, signal);
    for (const [i, token] of this.tokens.entries()) {
      if (i === 0 || token.distribution) continue;
      const row = logits.subarray((i - 1) * vocabulary, i * vocabulary);
      token.distribution = distribution(row, undefined, token.id, candidateCount);
    }
  }

  async #next(steps: Steps, settings: StorySettings, signal: AbortSignal): Promise<boolean> {
    this.#clock.held += await this.#pacer.wait(signal);
    signal.throwIfAborted();
    const { done, value: step } = await steps.next();
    if (done) return false;
    signal.throwIfAborted();
    this.timing = {
      tokens: this.timing.tokens + 1,
      milliseconds: performance.now() - this.#clock.begun - this.#clock.held,
    };
    this.attention.add(step.attentions);
    const piece = this.model.piece([...this.tokens.map((token) => token.id), step.token_id]);
    this.tokens.push({
      id: step.token_id,
      ...piece,
      origin: 'model',
      distribution: distribution(
        step.logits,
        settings.do_sample ? step.scores : undefined,
        step.token_id,
        candidateCount,
      ),
    });
    this.#changed();
    return true;
  }

  #changed(): void {
    this.dispatchEvent(new Event('change'));
  }
}

function chosenAs(original: Distribution, token_id: number): Distribution {
  const candidates = original.candidates.map((one) => ({ ...one, is_chosen: one.token_id === token_id }));
  return { ...original, candidates };
}
