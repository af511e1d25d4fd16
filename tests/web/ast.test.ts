// Audio spectrogram transformers: sounds classified by the pipeline, what is refused, the gradient of a spectrogram. Outputs are
// compared with transformers' by architectures.test.ts, features by ast_feature_extractor.test.ts.

import {
  ASTFeatureExtractor,
  ASTForAudioClassification,
  AutoModelForAudioClassification,
  inspect,
  pipeline,
  Tensor,
} from 'clearformer';
import { describe, expect, it } from 'vitest';
import { failureOf } from './support/failures.js';
import { folderFiles, jsonFile } from './support/pipeline_cases.js';
import { fixturePath } from './support/references.js';

const here = { worker: false } as const;
const type = { feature_extractor_type: 'ASTFeatureExtractor' };
const folder = 'models/audio_spectrogram_transformer/even_sequence_classification';
/** What such a model reads: 15 frames of 10 mel bins. */
const beside = { ...type, num_mel_bins: 10, max_length: 15, mean: -4, std: 2 };
const files = () => ({ ...folderFiles(folder), 'preprocessor_config.json': jsonFile(beside) });

/** A chord that fades, as samples at 16 kHz. */
function chord(length: number, ...hertz: number[]): Float32Array {
  return Float32Array.from({ length }, (_, i) =>
    hertz.reduce((sum, each) => sum + 0.2 * Math.sin((2 * Math.PI * each * i) / 16000) * Math.exp(-i / 8000), 0),
  );
}

describe('a model of spectrograms', () => {
  it('classifies sounds as its logits say', async () => {
    await using classify = await pipeline('audio-classification', files(), here);
    await using model = await ASTForAudioClassification.from_pretrained(files(), here);
    const sound = chord(4000, 440, 660);
    const { logits } = await model(await new ASTFeatureExtractor(beside)(sound));
    const weights = [...logits.data].map(Math.exp);
    const sum = weights.reduce((a, b) => a + b, 0);
    const wanted = weights
      .map((weight, i) => ({ label: `LABEL_${i}`, score: weight / sum }))
      .sort((a, b) => b.score - a.score);
    const found = await classify(sound);
    expect(found.map(({ label }) => label)).toEqual(wanted.map(({ label }) => label));
    found.forEach(({ score }, i) => {
      expect(score).toBeCloseTo(wanted[i]?.score as number, 6);
    });
    const [first, second] = await classify([sound, chord(4000, 90)], { top_k: 1 });
    expect(first).toEqual(found.slice(0, 1));
    expect(second).toHaveLength(1);
  });

  it('is inspected as one of sounds', async () => {
    expect(await inspect(fixturePath(folder))).toMatchObject({
      kind: 'encoder-only',
      input_modalities: ['audio'],
      pipeline: 'audio-classification',
      pipelines: ['audio-classification'],
    });
  });

  it.each([
    [{ input_values: [[[1, 2]]] }, '15 frames, 10 mel bins'],
    [{ input_values: [[1, 2]] }, '15 frames, 10 mel bins'],
    [{ pixel_values: [[[[1, 2]]]] }, 'pixel_values'],
    [{ input_ids: [[1, 2]] }, 'input_ids'],
    [{}, 'input_values'],
  ])('refuses the inputs %o', async (inputs, named) => {
    await using model = await AutoModelForAudioClassification.from_pretrained(fixturePath(folder), here);
    const failure = await failureOf(() => model(inputs as never));
    expect(failure).toMatchObject({ message: expect.stringContaining(named) });
    expect(['shape_mismatch', 'invalid_argument', 'unsupported']).toContain((failure as { code: string }).code);
  });

  it('has the gradient of its input, whose patches overlap', async () => {
    const path = fixturePath('models/audio_spectrogram_transformer/even_sequence_classification');
    await using model = await AutoModelForAudioClassification.from_pretrained(path, here);
    const values = Float32Array.from({ length: 150 }, (_, i) => Math.sin(i));
    const at = (data: Float32Array) => ({ input_values: new Tensor('float32', data, [1, 15, 10]) });
    const metric = { logits: [{ token: 2 }] };
    const grad = await model.backward(at(values), { metric, with_respect_to: { inputs: ['input_values'] } });
    expect(grad.inputs.input_values?.dims).toEqual([1, 15, 10]);
    // A central difference, in a frame and a bin that several patches have.
    const place = 7 * 10 + 3;
    const step = 1e-2;
    const moved = async (by: number) => {
      const data = values.slice();
      data[place] = (data[place] as number) + by;
      return (await model(at(data))).logits.data[2] as number;
    };
    const slope = ((await moved(step)) - (await moved(-step))) / (2 * step);
    // Rounding of two logits of about 1, and the third derivative.
    expect(grad.inputs.input_values?.data[place]).toBeCloseTo(slope, 3);
  });

  it('needs the feature extractor of its kind', async () => {
    const other = {
      ...files(),
      'preprocessor_config.json': jsonFile({ feature_extractor_type: 'Wav2Vec2FeatureExtractor' }),
    };
    const failure = await failureOf(() => pipeline('audio-classification', other, here));
    expect(failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining('feature extractor') });
  });
});
