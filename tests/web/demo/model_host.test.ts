// Loading models into a chapter: the old one stays until the new one is there; failures and cancels leave it alone.

import { describe, expect, it } from 'vitest';
import { type Loaded, ModelHost } from '../../../web/demo/state/model_host.js';

class Thing implements Loaded {
  disposed = false;
  readonly model = {} as Loaded['model'];
  constructor(readonly label: string) {}
  dispose(): Promise<void> {
    this.disposed = true;
    return Promise.resolve();
  }
}

/** A host whose loads end when they are told to. */
function host(): { models: ModelHost<Thing>; finish: ((error?: Error) => void)[]; made: Thing[] } {
  const finish: ((error?: Error) => void)[] = [];
  const made: Thing[] = [];
  const models = new ModelHost<Thing>((_, label, { progress_callback }) => {
    progress_callback?.({ status: 'progress', name: label, file: 'a file', loaded: 1, total: 4, progress: 25 });
    return new Promise((resolve, reject) => {
      finish.push((error) => {
        if (error) return reject(error);
        const thing = new Thing(label);
        made.push(thing);
        resolve(thing);
      });
    });
  });
  return { models, finish, made };
}

describe('ModelHost', () => {
  it('tells how far it is, and puts a new model in the place of the old one', async () => {
    const { models, finish, made } = host();
    for (const label of ['first', 'second']) {
      const loading = models.load('source', label);
      expect([models.pending, models.progress?.loaded, models.progress?.total]).toEqual([label, 1, 4]);
      finish.at(-1)?.();
      expect(await loading).toBe(true);
      expect([models.current?.label, models.pending]).toEqual([label, undefined]);
    }
    expect(made.map((thing) => thing.disposed)).toEqual([true, false]);
  });

  it('keeps the model when another cannot be loaded', async () => {
    const { models, finish } = host();
    const first = models.load('source', 'first');
    finish[0]?.();
    await first;
    const failure = new Error('broken');
    const second = models.load('source', 'second');
    finish[1]?.(failure);
    expect(await second).toBe(false);
    expect(models.failure).toEqual({ label: 'second', error: failure });
    expect(models.current?.label).toBe('first');
    models.dismiss();
    expect(models.failure).toBeUndefined();
  });

  it('lets go of a model that comes after it was cancelled, or after another was asked for', async () => {
    const { models, finish, made } = host();
    const first = models.load('source', 'first');
    models.cancel();
    const second = models.load('source', 'second');
    finish[0]?.();
    expect(await first).toBe(false);
    expect(models.pending).toBe('second');
    finish[1]?.();
    expect(await second).toBe(true);
    expect(made.map((thing) => thing.disposed)).toEqual([true, false]);
    expect(models.failure).toBeUndefined();
  });
});
