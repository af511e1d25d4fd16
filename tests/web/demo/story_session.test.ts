// Writing a story: tokens arrive in order, it pauses, steps, stops, branches and ends for a stated reason.

import { describe, expect, it } from 'vitest';
import { defaultSettings, type StorySettings, withinBounds } from '../../../web/demo/state/settings.js';
import { StorySession } from '../../../web/demo/state/story_session.js';
import type { Step, TextModel } from '../../../web/demo/state/text_model.js';

const vocabularySize = 11;
const settings = (change: Partial<StorySettings> = {}): StorySettings => ({
  ...defaultSettings,
  prompt: 'abc',
  max_new_tokens: 6,
  pace: 0,
  ...change,
});

/** A model whose next token is the last one plus 1; it counts how often it is asked. */
class Counter implements TextModel {
  readonly layers = 2;
  readonly heads = 1;
  readonly vocabulary = vocabularySize;
  context = 64;
  steps = 0;
  closed = 0;
  failAt = Number.POSITIVE_INFINITY;

  encode = (text: string): number[] => [...text].map((_, i) => i);
  piece = (ids: readonly number[]): { text: string; special: boolean } => ({ text: `${ids.at(-1)}`, special: false });
  pieces = (ids: readonly number[]): { text: string; special: boolean }[] => ids.map((id) => this.piece([id]));
  logits = async (ids: readonly number[]): Promise<Float32Array> => new Float32Array(ids.length * vocabularySize);

  async *stream(ids: readonly number[], { max_new_tokens }: StorySettings): AsyncGenerator<Step, void, unknown> {
    try {
      for (let i = 0; i < max_new_tokens; i++) {
        if (++this.steps > this.failAt) throw new Error('the model broke');
        const queries = i === 0 ? ids.length : 1;
        const keys = ids.length + i;
        const rows = { data: new Float32Array(queries * keys).fill(1 / keys), dims: [1, 1, queries, keys] };
        const logits = new Float32Array(vocabularySize);
        yield {
          token_id: ((ids.at(-1) ?? 0) + 1 + i) % vocabularySize,
          logits,
          scores: logits,
          attentions: [rows, rows],
        };
      }
    } finally {
      this.closed++;
    }
  }
}

const ids = (session: StorySession): number[] => session.tokens.map((token) => token.id);
const moment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('StorySession', () => {
  it('writes what was asked for, with a row for every token read', async () => {
    const session = new StorySession(new Counter());
    await session.start(settings());
    expect(ids(session)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(session.tokens.map((token) => token.origin).slice(1, 4)).toEqual(['prompt', 'prompt', 'model']);
    expect(session.attention.rows).toBe(8);
    expect(session).toMatchObject({ phase: 'idle', ending: 'length', timing: { tokens: 6 } });
    expect(session.tokens[0]?.distribution).toBeUndefined();
    expect(session.tokens[1]?.distribution).toMatchObject({ survivors: undefined });
    expect(session.tokens[5]?.distribution).toMatchObject({ survivors: vocabularySize });
  });

  it('says when the model could read no more', async () => {
    const model = new Counter();
    model.context = 5;
    const session = new StorySession(model);
    await session.start(settings());
    expect(session.ending).toBe('context');
    expect(session.tokens.length).toBe(5);
    await session.start(settings({ prompt: 'abcde' }));
    expect(String(session.error)).toContain('reads 5 at most');
  });

  it('pauses, takes single steps, goes on', async () => {
    const session = new StorySession(new Counter());
    const whole = session.start(settings(), true);
    await moment();
    expect([session.phase, session.tokens.length]).toEqual(['paused', 4]);
    session.step();
    await moment();
    expect(session.tokens.length).toBe(5);
    await moment();
    expect(session.tokens.length).toBe(5);
    session.resume();
    await whole;
    expect(session).toMatchObject({ ending: 'length', tokens: { length: 9 } });
  });

  it('stops at once, also while paused or waiting, and lets the model go', async () => {
    for (const change of [{ pace: 1 }, { pace: 0 }]) {
      const model = new Counter();
      const session = new StorySession(model);
      const whole = session.start(settings(change), change.pace === 0);
      await moment();
      await session.stop();
      await whole;
      expect(session).toMatchObject({ phase: 'idle', ending: 'stopped', error: undefined });
      expect(model.closed).toBe(1);
    }
  });

  it('ends the run before it when another one is started', async () => {
    const model = new Counter();
    const session = new StorySession(model);
    const first = session.start(settings({ pace: 1 }));
    await moment();
    await session.start(settings({ max_new_tokens: 2 }));
    await first;
    expect(ids(session)).toEqual([0, 1, 2, 3, 4]);
    expect(model.closed).toBe(2);
  });

  it('keeps an error and can write again', async () => {
    const model = new Counter();
    model.failAt = 2;
    const session = new StorySession(model);
    await session.start(settings());
    expect(session).toMatchObject({ ending: 'error', phase: 'idle' });
    expect(String(session.error)).toContain('the model broke');
    model.failAt = Number.POSITIVE_INFINITY;
    await session.start(settings());
    expect(session).toMatchObject({ ending: 'length', error: undefined });
  });

  it('branches: keeps what came before, puts the other token, writes on', async () => {
    const session = new StorySession(new Counter());
    await session.start(settings());
    const before = session.tokens[5]?.distribution;
    await session.branch(6, 4, settings({ max_new_tokens: 2 }));
    expect(ids(session)).toEqual([0, 1, 2, 3, 4, 5, 4, 5, 6]);
    expect(session.tokens.map((token) => token.origin).slice(5)).toEqual(['model', 'reader', 'model', 'model']);
    expect(session.tokens[5]?.distribution).toBe(before);
    expect(session.tokens[6]?.distribution?.candidates.find((one) => one.is_chosen)?.token_id).toBe(4);
    expect(session.attention.rows).toBe(8);
  });
});

describe('withinBounds', () => {
  it('writes the likeliest token after the last position it reads, but draws none there', async () => {
    for (const [do_sample, count] of [
      [false, 5],
      [true, 4],
    ] as const) {
      const model = new Counter();
      model.context = 7;
      const session = new StorySession(model);
      await session.start(settings({ do_sample, max_new_tokens: 20 }));
      expect(session.ending).toBe('context');
      expect(session.timing.tokens).toBe(count);
    }
  });

  it('keeps numbers inside and refuses what is none', () => {
    expect(withinBounds('temperature', 9, 1)).toBe(2);
    expect(withinBounds('top_k', 3.6, 1)).toBe(4);
    expect(withinBounds('top_p', Number.NaN, 0.9)).toBe(0.9);
  });
});
