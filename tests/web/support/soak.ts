// Many calls of generate() on one model, and many models loaded and disposed: what must not grow with their number.
// The functions here also run in pages: they use nothing from outside.

import type { AutoModelForCausalLM, GenerationOptions, GenerativeModel } from 'clearformer';

/** How many, in a test and with `npm run soak`. */
export const soakTimes = {
  calls: Number(process.env.SOAK_CALLS ?? 3000),
  changes: Number(process.env.SOAK_CHANGES ?? 300),
  models: Number(process.env.SOAK_MODELS ?? 120),
  modelsInWorkers: Number(process.env.SOAK_MODELS_IN_WORKERS ?? 20),
  modelsInPages: Number(process.env.SOAK_MODELS_IN_PAGES ?? 20),
  callsInPages: Number(process.env.SOAK_CALLS_IN_PAGES ?? 500),
};

/** What is in use at a moment, by name: bytes, or a number of objects. */
export type Usage = Readonly<Record<string, number>>;

/** Calls generate() `count` times: greedy, sampled, with beams, streamed, aborted, and with arguments that are refused. */
export async function generateOften(model: GenerativeModel, count: number): Promise<void> {
  const inputs = { input_ids: [[1, 5, 9]] };
  const ways: GenerationOptions[] = [
    { max_new_tokens: 2 },
    { max_new_tokens: 2, do_sample: true, top_k: 5, seed: 3 },
    { max_new_tokens: 2, num_beams: 2 },
  ];
  const kept = { max_new_tokens: 2, output_scores: true, output_attentions: true };
  const reasons: string[] = [];
  const refused = ({ name, code }: { name: string; code: unknown }) =>
    void reasons.push(name === 'AbortError' ? name : String(code));
  for (let i = 0; i < count; i++) {
    const way = i % 7;
    const plain = ways[way];
    if (plain) await model.generate(inputs, plain);
    else if (way === 3) await model.generate(inputs, { ...kept, return_dict_in_generate: true });
    else if (way === 4) for await (const _ of model.generate_stream(inputs, { max_new_tokens: 2 }));
    else if (way === 5) await model.generate({ input_ids: [[1, 64]] }, { max_new_tokens: 2 }).catch(refused);
    else {
      const controller = new AbortController();
      const running = model.generate(inputs, { max_new_tokens: 30, signal: controller.signal }).catch(refused);
      controller.abort();
      await running;
    }
  }
  const wrong = reasons.filter((reason) => reason !== 'invalid_argument' && reason !== 'AbortError');
  if (wrong.length > 0 || reasons.length !== Math.floor((count + 1) / 7) + Math.floor(count / 7))
    throw new Error(`${reasons.length} of ${count} calls rejected, unexpectedly with: ${wrong.join() || 'nothing'}`);
}

/** Loads that many models, each of which computes once. */
export async function loadOften(
  { from_pretrained }: Pick<typeof AutoModelForCausalLM, 'from_pretrained'>,
  path: string,
  worker: boolean,
  count: number,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    const model = await from_pretrained(path, { worker });
    await model({ input_ids: [[1, 5, 9]] });
    await model.dispose();
  }
}

/**
 * Runs `count` in six parts and takes what is in use after each but the first, which fills caches. Returns what grew, a
 * line for each name: the last two moments have more than the first two by more than `allowed`.
 */
export async function grownBy(
  count: number,
  work: (count: number) => Promise<void>,
  use: () => Promise<Usage>,
  allowed: Usage,
): Promise<string[]> {
  const parts = 6;
  const seen: Usage[] = [];
  for (let part = 0; part < parts; part++) {
    await work(Math.ceil(count / parts));
    if (part > 0) seen.push(await use());
    if (part > 0 && process.env.SOAK) console.log(count, JSON.stringify(seen.at(-1)));
  }
  return Object.keys(seen[0] ?? {}).flatMap((name) => {
    const values = seen.map((usage) => usage[name] ?? Number.NaN);
    const growth = Math.min(...values.slice(-2)) - Math.max(...values.slice(0, 2));
    return growth <= (allowed[name] ?? 0) ? [] : [`${name} grew by ${growth}: ${values.join(', ')}`];
  });
}
