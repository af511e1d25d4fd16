// The commands that compute embeddings, classes and transcripts: embed, classify, transcribe, on trained and tiny
// models.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { pipeline } from 'clearformer';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';

import { checkpointFolder } from '../../scripts/models/checkpoints.js';
import { taken } from './support/checkpoints.js';
import {
  bundledModel,
  folderOf,
  json,
  numberedText,
  numberedWords,
  program,
  run,
  runProcess,
  shell,
} from './support/command.js';
import { filesOf, type PipelineCase, pipelineCase } from './support/pipeline_cases.js';
import { caseOf, casesOf, fixturePath, tensorsOf } from './support/references.js';
import { FileServer } from './support/server.js';

const timeout = 120_000;

/** The index of a row's largest logit and its softmax. */
function bestOf(logits: Float32Array): { id: number; score: number } {
  const most = Math.max(...logits);
  return { id: logits.indexOf(most), score: 1 / logits.reduce((sum, value) => sum + Math.exp(value - most), 0) };
}

const row = (data: ArrayLike<number>, width: number, at: number) =>
  Array.from(data).slice(width * at, width * (at + 1));

function expectNear(found: readonly number[], wanted: ArrayLike<number>): void {
  expect(found.length).toBe(wanted.length);
  const bound = 2e-5 + 1e-5 * Math.max(...Array.from(wanted, Math.abs));
  expect(Math.max(...found.map((value, i) => Math.abs(value - (wanted[i] as number))))).toBeLessThan(bound);
}

describe('embed', { timeout }, () => {
  it('all-MiniLM-L6-v2 gives the vectors of sentence-transformers, and their cosines', async () => {
    const one = caseOf('real_models', 'sentence_embeddings');
    const texts = one.text as string[];
    const words = ['embed', checkpointFolder('all-MiniLM-L6-v2'), '--similarity'];
    const { embeddings, similarity } = await json([...words, ...texts]);
    expectNear(embeddings.flat(), tensorsOf('real_models', one)('sentence_embedding').data as Float32Array);
    expect(similarity[0][1]).toBeCloseTo(0.755, 3);
    expect(similarity[0][3]).toBeCloseTo(-0.105, 3);
    expect(similarity[0][0]).toBeCloseTo(1, 12);
    const table = await run([...words, '-'], { stdin: `${texts.slice(0, 2).join('\n')}\n` });
    expect(table.out).toBe(' 1.0000  0.7553\n 0.7553  1.0000\n');
  });

  it.each(casesOf('models/sentence_transformers').map(({ name }) => name))(
    'pools as modules.json says: %s',
    async (name) => {
      const group = 'models/sentence_transformers';
      const one = caseOf(group, name);
      const folder = folderOf(fixturePath(`${group}/${one.options.checkpoint}`), {
        'tokenizer.json': numberedWords(200),
      });
      const tensor = tensorsOf(group, one);
      const { dims, data } = tensor('input_ids');
      const [count = 0, width = 0] = dims;
      const lengths = Array.from({ length: count }, (_, i) => {
        return row(tensor('attention_mask').data as unknown as number[], width, i).reduce(
          (sum, flag) => sum + Number(flag),
          0,
        );
      });
      const texts = lengths.map((length, i) =>
        numberedText(row(data as unknown as number[], width, i).slice(0, length)),
      );
      const { embeddings } = await json(['embed', folder, ...texts]);
      expectNear(embeddings.flat(), tensor('sentence_embedding').data as Float32Array);
    },
  );

  it('takes the mean where no pooling is named, and what is asked for otherwise', async () => {
    const folder = folderOf(fixturePath('models/bert/odd_base'), { 'tokenizer.json': numberedWords(60) });
    const words = ['embed', folder, 'w5 w6 w7', 'w8'];
    const usual = await json(words);
    expect(await json([...words, '--pooling', 'mean'])).toEqual(usual);
    const first = await json([...words, '--pooling', 'cls', '--normalize']);
    expect(Math.hypot(...first.embeddings[0])).toBeCloseTo(1, 6);
    const both = await json([...words, '--pooling', 'cls,mean']);
    expect(both.embeddings[1].length).toBe(2 * usual.embeddings[1].length);
    const lines = (await run(words)).out.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(usual.embeddings);
    const wrong = await run([...words, '--pooling', 'middle']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('middle')]);
    const prompted = await json(['embed', folder, 'w6 w7', '--prompt', 'w5 ']);
    expect(prompted.embeddings[0]).toEqual(usual.embeddings[0]);
    const unknown = await run(['embed', folder, 'w8', '--prompt-name', 'query']);
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('query')]);
  });

  it('texts and images of CLIP lie in one space', async () => {
    const folder = clip();
    const image = fixturePath('image_files/RGB.png');
    const { embeddings, similarity } = await json([
      'embed',
      folder,
      'w5 w6',
      '--image',
      image,
      '--image',
      image,
      '--similarity',
    ]);
    expect(embeddings.map(({ length }: number[]) => length)).toEqual(new Array(3).fill(embeddings[0].length));
    expect(similarity[1][2]).toBeCloseTo(1, 6);
    expect(Math.abs(similarity[0][1])).toBeLessThan(1);
  });
});

/** A tiny CLIP with a tokenizer. */
function clip(): string {
  const processor = {
    image_processor_type: 'CLIPImageProcessor',
    size: { shortest_edge: 32 },
    crop_size: { height: 32, width: 32 },
  };
  const config = JSON.parse(readFileSync(fixturePath('models/clip/even/config.json'), 'utf8'));
  const size = config.vision_config.image_size ?? 32;
  processor.size.shortest_edge = size;
  processor.crop_size = { height: size, width: size };
  return folderOf(fixturePath('models/clip/even'), {
    'tokenizer.json': numberedWords(config.text_config.vocab_size),
    'preprocessor_config.json': JSON.stringify(processor),
  });
}

describe('rank', { timeout }, () => {
  const documents = ['the man is in rome.', 'she sings', 'in rome, the man sings'];

  it('orders documents as the pipeline does', async () => {
    const folder = folderOf(undefined, filesOf(pipelineCase('ranking')));
    await using ranker = await pipeline('text-ranking', folder, { deterministic: true });
    const words = ['rank', folder, 'who sings?', ...documents, '--deterministic'];
    expect(await json(words)).toEqual(await ranker('who sings?', documents));
    const raw = [...words, '--function-to-apply', 'none', '--top-k', '2', '--batch-size', '1'];
    const wanted = await ranker('who sings?', documents, { function_to_apply: 'none', top_k: 2 });
    expect(await json(raw)).toEqual(wanted);
    const lines = wanted.map(({ score, corpus_id, text }) => `${score.toFixed(4)}\t${corpus_id}\t${text}\n`);
    expect((await run(raw)).out).toBe(lines.join(''));
    const piped = ['rank', folder, 'who sings?', '-', ...raw.slice(words.length), '--deterministic'];
    expect((await run(piped, { stdin: `${documents.join('\n')}\n` })).out).toBe(lines.join(''));
    expect((await run(raw.with(2, '-'), { stdin: 'who sings?\n' })).out).toBe(lines.join(''));
  });
});

describe('classify', { timeout }, () => {
  it("gives texts' labels and probabilities as the reference", async () => {
    const one = caseOf('models/bert', 'odd_sequence_classification_plain');
    const source = fixturePath('models/bert/odd_sequence_classification');
    const folder = folderOf(source, { 'tokenizer.json': numberedWords(97) });
    const { dims, data } = tensorsOf('models/bert', one)('input_ids');
    const logits = tensorsOf('models/bert', one)('logits');
    const texts = Array.from({ length: dims[0] ?? 0 }, (_, i) => {
      return numberedText(row(data as unknown as number[], dims[1] ?? 0, i));
    });
    const made = await json(['classify', folder, ...texts]);
    const classes = logits.dims[1] ?? 0;
    for (const [i, { input, labels }] of made.entries()) {
      const best = bestOf(Float32Array.from(row(logits.data as Float32Array, classes, i)));
      expect([input, labels.length, labels[0].label]).toEqual([texts[i], classes, `LABEL_${best.id}`]);
      expect(labels[0].score).toBeCloseTo(best.score, 5);
    }
    const top = await run(['classify', folder, '-', '--top-k', '1'], { stdin: texts[0] as string });
    expect(top.out).toBe(`${made[0].labels[0].score.toFixed(4)}\t${made[0].labels[0].label}\n`);
    const pair = await json(['classify', folder, 'w5', '--text-pair', 'w6', '--function-to-apply', 'none']);
    expect(pair[0].labels.length).toBe(classes);
  });

  describe('vit-mnist', () => {
    const model = bundledModel('vit-mnist');
    const same = '--deterministic'; // this process has a flag for relaxed SIMD, a separate one may not
    let folder = '';
    beforeAll(async () => {
      const { header, data } = taken(new Uint8Array(readFileSync(fixturePath('real_models/digits.safetensors'))));
      const [start = Number.NaN] = header.images?.data_offsets ?? [];
      const png = (i: number) => {
        const raw = { width: 28, height: 28, channels: 1 } as const;
        return sharp(data.slice(start + 784 * i, start + 784 * (i + 1)), { raw })
          .png()
          .toBuffer();
      };
      folder = folderOf(undefined, { '0.png': await png(0), '1.png': await png(2) });
    });

    it('reads digits from files of all kinds of names', async () => {
      const logits = tensorsOf('real_models', caseOf('real_models', 'digits'))('logits').data as Float32Array;
      const words = ['classify', model, same, '--image', `${folder}/0.png`];
      words.push('--image', pathToFileURL(`${folder}/1.png`).href);
      const made = await json(words);
      for (const [i, { labels }] of made.entries()) {
        const best = bestOf(logits.slice(20 * i, 20 * i + 10));
        expect([labels.length, labels[0].label]).toEqual([5, String(best.id)]);
        expect(labels[0].score).toBeCloseTo(best.score, 5);
      }
      const piped = await run(['classify', model, same, '--image', '-', '--top-k', '1'], {
        stdin: readFileSync(`${folder}/1.png`),
      });
      expect([piped.code, piped.out]).toEqual([0, `${made[1].labels[0].score.toFixed(4)}\t1\n`]);
      const here = await runProcess(['classify', model, same, '--image', '0.png', '--json'], { cwd: folder });
      expect(JSON.parse(here.out)[0].labels).toEqual(made[0].labels);
      const server = await FileServer.start({ '0.png': new Uint8Array(readFileSync(`${folder}/0.png`)) });
      expect((await json(['classify', model, same, '--image', `${server.url}/0.png`]))[0].labels).toEqual(
        made[0].labels,
      );
      await server.stop();
    });

    it('names what cannot be read, and what decodes it', async () => {
      const none = await run(['classify', model, '--image', `${folder}/9.png`]);
      expect([none.code, none.err]).toEqual([1, expect.stringMatching(/file_not_found: .*9\.png/)]);
      const text = await run(['classify', model, '--image', fixturePath('image_files/cases.json')]);
      expect([text.code, text.err]).toEqual([1, expect.stringContaining('the image cannot be read')]);
      // The package without its dependencies: no sharp.
      const alone = `cp -r "$(dirname "$CLEARFORMER")" "${folder}/dist" && cd "${folder}"`;
      const { code, err } = await shell(`${alone} && "$NODE" dist/cli.js classify ${model} --image 0.png`);
      expect([code, err]).toEqual([1, expect.stringMatching(/unsupported: .*npm install sharp/)]);
      expect(program).toContain('dist');
    });
  });

  it('chooses among labels with a model for natural language inference', async () => {
    const nli = folderOf(fixturePath('models/deberta_v2/even_sequence_classification'), {
      'tokenizer.json': numberedWords(64),
    });
    const words = ['classify', nli, 'w8 w9', '--labels', 'w5,w6,w7', '--hypothesis-template', 'w10 {}'];
    const classifier = await pipeline('zero-shot-classification', nli, { deterministic: true });
    for (const multi_label of [false, true]) {
      const [{ labels }] = await json([...words, ...(multi_label ? ['--multi-label'] : [])]);
      const wanted = await classifier('w8 w9', 'w5,w6,w7', { hypothesis_template: 'w10 {}', multi_label });
      expect(labels.map(({ label }: { label: string }) => label)).toEqual(wanted.labels);
      labels.forEach(({ score }: { score: number }, i: number) => {
        expect(score).toBeCloseTo(wanted.scores[i] as number, 5);
      });
    }
    await classifier.dispose();
  });

  it('chooses among labels with CLIP', async () => {
    const image = fixturePath('image_files/RGB.png');
    const words = ['classify', clip(), '--image', image, '--labels', 'w5,w6, w7'];
    const [{ labels }] = await json(words);
    expect(labels.map(({ label }: { label: string }) => label).sort()).toEqual(['w5', 'w6', 'w7']);
    expect(labels.reduce((sum: number, one: { score: number }) => sum + one.score, 0)).toBeCloseTo(1, 6);
    const [other] = await json([...words, '--hypothesis-template', 'w9 {}', '--top-k', '2']);
    expect(other.labels.length).toBe(2);
    const wrong = await run([...words, '--hypothesis-template', 'none']);
    expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('{}')]);
  });
});

describe('transcribe', { timeout }, () => {
  const jfk = fixturePath('real_models/jfk.wav');
  const text = String(caseOf('real_models', 'jfk').text).trim();

  it('writes down what whisper-tiny hears, and when it was said', async () => {
    const words = [checkpointFolder('whisper-tiny'), jfk, '--language', 'en', '--return-timestamps'];
    const { code, out } = await runProcess(['transcribe', ...words]);
    const heard = text.replace('you ask', 'you, ask'); // with timestamps the model hears a pause
    expect([code, out]).toEqual([0, `0.00\t10.50\t${heard}\n`]);
  });

  it('tells the times of words, and takes nothing else for a value of that option', async () => {
    const files = filesOf(caseOf<PipelineCase>('speech', 'tiny_times'));
    const folder = folderOf(undefined, files as Record<string, Uint8Array>);
    await using pipe = await pipeline('automatic-speech-recognition', folder);
    const lines = async (return_timestamps: true | 'word') => {
      const { chunks } = await pipe(jfk, { language: 'en', return_timestamps });
      const shown = (time: number | null) => time?.toFixed(2) ?? '';
      return chunks
        .map(({ timestamp = [], text: heard }) => `${timestamp.map(shown).join('\t')}\t${heard.trim()}\n`)
        .join('');
    };
    const [segments, words] = [await lines(true), await lines('word')];
    expect(words).not.toBe(segments);
    const heard = async (...options: string[]) => await run(['transcribe', ...options, '--language', 'en']);
    for (const options of [
      [folder, jfk, '--return-timestamps', 'word'],
      [folder, '--return_timestamps=word', jfk],
    ])
      expect(await heard(...options)).toMatchObject({ code: 0, out: words });
    for (const options of [
      ['--return-timestamps', folder, jfk],
      [folder, '--return-timestamps', jfk],
      [folder, '--return-timestamps=true', jfk],
      [folder, jfk, '--return-timestamps', 'true'],
    ])
      expect(await heard(...options)).toMatchObject({ code: 0, out: segments });
    expect((await heard(folder, jfk, '--return-timestamps', '--no-return-timestamps')).out).not.toContain('\t');
    expect(await heard(folder, jfk, '--return-timestamps=char')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Allowed choices are true, word'),
    });
  });

  it('gives what the pipeline gives, for each file and for standard input', async () => {
    const files = filesOf(casesOf<PipelineCase>('speech')[0] as PipelineCase);
    const folder = folderOf(undefined, files as Record<string, Uint8Array>);
    const stdin = readFileSync(jfk);
    await using pipe = await pipeline('automatic-speech-recognition', folder);
    const heard = async (options: object) => (await pipe(jfk, { ...options, chunk_length_s: 1 })).text.trim();
    const options = ['--language', 'english', '--task', 'transcribe', '--chunk-length-s', '1'];
    const wanted = await heard({ language: 'english', task: 'transcribe' });
    const french = await heard({ language: 'fr', task: 'translate' });
    expect(french).not.toBe(wanted);
    const other = ['transcribe', folder, '-', '--task', 'translate', '--language', 'fr', '--chunk-length-s', '1'];
    expect(await run(other, { stdin })).toMatchObject({ code: 0, out: `${french}\n` });
    expect(await json(['transcribe', folder, jfk, '-', ...options], { stdin })).toEqual([
      { file: jfk, text: wanted },
      { file: '-', text: wanted },
    ]);
  });

  it('names the file that it cannot write down', async () => {
    const files = filesOf(caseOf<PipelineCase>('speech', 'tiny_times'));
    const folder = folderOf(undefined, files as Record<string, Uint8Array>);
    const { code, err } = await run(['transcribe', folder, jfk]);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/invalid_argument: .*the sound has 11.* seconds.*: .*jfk\.wav\n$/),
    ]);
  });

  it('writes down the other files if one fails, and tells that one', async () => {
    const files = filesOf(casesOf('speech')[0] as unknown as PipelineCase);
    const folder = folderOf(undefined, files as Record<string, Uint8Array>);
    const words = ['transcribe', folder, jfk, 'none.wav', jfk, 'no.flac', '--chunk-length-s', '1'];
    const { code, out, err } = await run(words);
    const [text = '', second] = out.split('\n');
    expect([code, text.slice(0, jfk.length + 1), second]).toEqual([1, `${jfk}\t`, text]);
    const told = /^clearformer: file_not_found: .*none\.wav.*\nclearformer: file_not_found: .*no\.flac.*\n$/;
    expect(err).toMatch(told);
    const one = { file: jfk, text: text.slice(jfk.length + 1) };
    const listed = await run([...words, '--json']);
    expect([listed.code, JSON.parse(listed.out), listed.err]).toEqual([1, [one, one], err]);
    const piped = await run(['transcribe', folder, '-', jfk, '--chunk-length-s', '1'], { stdin: 'fLaC' });
    expect([piped.code, piped.out, piped.err]).toEqual([
      1,
      `${text}\n`,
      expect.stringMatching(/^clearformer: unsupported: sound file \(FLAC\).*: standard input\n$/),
    ]);
  });

  it('names what is no sound', async () => {
    const whisper = checkpointFolder('whisper-tiny');
    const cases = [
      [['none.wav'], /file_not_found: .*none\.wav/],
      [['-'], /only WAV files/],
      [[jfk, '--chunk-length-s', '31'], /chunk_length_s.*jfk\.wav/],
    ] as const;
    for (const [words, part] of cases) {
      const { code, out, err } = await run(['transcribe', whisper, ...words], { stdin: 'RIFF' });
      expect([code, out, err]).toEqual([1, '', expect.stringMatching(part)]);
    }
  });
});
