// Long work on the calling thread: done in slices between which the event loop runs, ended by an abort, and with the same
// results as at once.

import { AutoTokenizer, pipeline, RawImage, read_audio, resample_audio, WhisperFeatureExtractor } from 'clearformer';
import { PreTrainedTokenizer } from 'clearformer/tokenizer';
import { describe, expect, it } from 'vitest';
import { atOnce, runs, type Steps } from '../../web/src/support/steps.js';
import { AlignedText } from '../../web/src/text/aligned_text.js';
import * as tables from '../../web/src/text/on_demand.js';
import { useParts } from '../../web/src/text/unicode.js';
import { storiesPath } from './support/references.js';
import { jsonOf, sample, sampleCases } from './support/sample.js';

const reason = new Error('enough');
const cases = sampleCases();

/** Aborts after some turns of the event loop; resolves with the number of turns that the work has left to others. */
async function aborted(turns: number, work: (signal: AbortSignal) => Promise<unknown>): Promise<number> {
  const controller = new AbortController();
  let [count, running] = [0, true];
  const turn = () => {
    if (++count === turns) controller.abort(reason);
    if (running) setImmediate(turn);
  };
  setImmediate(turn);
  await expect(work(controller.signal)).rejects.toBe(reason);
  running = false;
  return count;
}

/** A text of that many code units in many scripts. */
const text = (length: number) =>
  sample
    .join(' ')
    .repeat(Math.ceil(length / 500_000))
    .slice(0, length);

describe('an abort ends', () => {
  it.each(cases.filter(({ every }) => every === 1))(
    'a text of a megabyte: $name',
    async (one) => {
      const tokenizer = new PreTrainedTokenizer(jsonOf(one));
      const long = text(1_000_000);
      const turns = await aborted(4, (signal) => tokenizer.paced(long, { signal, return_offsets_mapping: true }));
      expect(turns).toBeLessThan(8);
    },
    60_000,
  );

  it('a text of one word of a megabyte', async () => {
    for (const one of cases.filter(({ name }) => /unigram_nfkc|bpe_metaspace|byte_level_gpt2/.test(name))) {
      const tokenizer = new PreTrainedTokenizer(jsonOf(one));
      const word = 'abcdefgh'.repeat(200_000);
      expect(await aborted(4, (signal) => tokenizer.paced(word, { signal }))).toBeLessThan(8);
    }
  }, 60_000);

  it('a pipeline over such a text', async () => {
    const generate = await pipeline('text-generation', storiesPath, { worker: false });
    const turns = await aborted(4, (signal) => generate(text(3_000_000), { signal, max_new_tokens: 1 }));
    expect(turns).toBeLessThan(8);
    await generate.dispose();
  }, 60_000);

  it('a pipeline over many short texts', async () => {
    const fill = await pipeline('fill-mask', `${storiesPath}/../bert-tiny-fill`, { worker: false });
    const turns = await aborted(4, (signal) => fill(Array<string>(3000).fill('the man is in [MASK].'), { signal }));
    expect(turns).toBeLessThan(8);
    await fill.dispose();
  });

  it('resizing an image', async () => {
    const image = () => new RawImage(new Uint8ClampedArray(4000 * 4000 * 3), 4000, 4000, 3);
    const turns = await aborted(4, (signal) => image().resize(6000, 6000, { resample: 'lanczos', signal }));
    expect(turns).toBeLessThan(8);
  }, 60_000);

  it('preparing an image', async () => {
    const { ImageProcessor } = await import('clearformer');
    const process = new ImageProcessor({
      image_processor_type: 'ViTImageProcessor',
      size: { height: 4000, width: 4000 },
    });
    const image = { data: new Uint8Array(3000 * 3000 * 4), width: 3000, height: 3000, channels: 4 as const };
    expect(await aborted(4, (signal) => process(image, { signal }))).toBeLessThan(8);
  }, 60_000);

  it('bringing a sound to another rate', async () => {
    const sound = { data: new Float32Array(600 * 48_000), sampling_rate: 48_000 };
    expect(await aborted(4, (signal) => read_audio(sound, 16_000, { signal }))).toBeLessThan(8);
  }, 60_000);

  it('the spectrogram of an hour', async () => {
    const extractor = new WhisperFeatureExtractor({ feature_extractor_type: 'WhisperFeatureExtractor' });
    const hour = new Float32Array(3600 * 16_000).map((_, i) => (i % 160) / 160);
    await extractor(hour.subarray(0, 16_000)); // the core is there
    const turns = await aborted(6, (signal) => extractor(hour, { truncation: false, padding: 'do_not_pad', signal }));
    expect(turns).toBeLessThan(12);
    expect((await extractor(hour.subarray(0, 16_000))).input_features.dims).toEqual([1, 80, 3000]);
  }, 60_000);
});

describe('in slices there is the same', () => {
  it.each(cases)('$name', async (one) => {
    const tokenizer = new PreTrainedTokenizer(jsonOf(one));
    const long = text(40_000);
    const options = { return_offsets_mapping: true };
    expect((await tokenizer.paced(long, options)).input_ids).toEqual(tokenizer(long, options).input_ids);
  });

  it('a sound at another rate', async () => {
    const data = Float32Array.from({ length: 50_000 }, (_, i) => Math.sin(i / 7));
    expect(await read_audio({ data, sampling_rate: 44_100 })).toEqual(resample_audio(data, 44_100, 16_000));
  });

  it('a spectrogram beside others, and calls in between', async () => {
    const extractor = new WhisperFeatureExtractor({ feature_extractor_type: 'WhisperFeatureExtractor' });
    const sound = Float32Array.from({ length: 400_000 }, (_, i) => Math.sin(i / 9));
    const alone = await extractor(sound);
    const [one, other] = await Promise.all([extractor(sound), extractor(sound.subarray(0, 100_000)), extractor(sound)]);
    expect(one.input_features.data).toEqual(alone.input_features.data);
    expect(other.input_features.data).not.toEqual(alone.input_features.data);
  });
});

// Steps are counted, whatever a machine's speed: none does more than a fixed amount of work.
describe('steps', () => {
  const count = (work: Steps<unknown>) => {
    let steps = 0;
    while (!work.next().done) steps++;
    return steps;
  };

  it('are runs of a length', () => {
    const found: [number, number][] = [];
    expect(count(runs(10, (start, end) => found.push([start, end]), 4))).toBe(3);
    expect(found).toEqual([
      [0, 4],
      [4, 8],
      [8, 10],
    ]);
  });

  it.each(['NFC', 'NFD', 'NFKC', 'NFKD'] as const)('%s: one for every two thousand characters', (form) => {
    useParts({ tables });
    const change = tables.unicodeNormalizer({ type: form });
    const work = change(AlignedText.of(sample.join('\n'), false));
    let steps = 0;
    let step = work.next();
    for (; !step.done; step = work.next()) steps++;
    expect(steps).toBeGreaterThan(sample.join('\n').length / 2200);
    const lines = sample.map((line) => atOnce(change(AlignedText.of(line, false))).text);
    expect(step.value.text === lines.join('\n')).toBe(true);
  });
});

it('loads tokenizers whose model is a part of its own', async () => {
  const one = cases.find(({ name }) => name === 'unigram_precompiled');
  const bytes = new TextEncoder().encode(JSON.stringify(jsonOf(one as (typeof cases)[number])));
  const tokenizer = await AutoTokenizer.from_pretrained({ 'tokenizer.json': bytes });
  expect(tokenizer.encode('Hello').length).toBeGreaterThan(0);
});
