// Pipelines that generate: streams, ends, and the limit of positions.

import { pipeline, TextStreamer } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { filesOf, pipelineCase, sound } from './support/pipeline_cases.js';

const here = { deterministic: true, worker: false } as const;

describe('a pipeline that generates', () => {
  it('of speech ends at tokens in any form', async () => {
    await using pipe = await pipeline('automatic-speech-recognition', filesOf(pipelineCase('speech')), here);
    const ends = Array.from({ length: pipe.model.cfg.d_vocab }, (_, id) => id);
    for (const eos_token_id of [ends, Int32Array.from(ends), BigInt64Array.from(ends, BigInt)]) {
      expect(await pipe(sound(0, 900), { eos_token_id })).toEqual({ text: '' });
    }
  });

  it('streams, and stops where the model has no more positions', async () => {
    await using pipe = await pipeline('text-generation', filesOf(pipelineCase('texts')), here);
    let streamed = '';
    const callback_function = (piece: string) => {
      streamed += piece;
    };
    const streamer = new TextStreamer(pipe.tokenizer, { skip_prompt: true, callback_function });
    const [answer] = await pipe('the man', { streamer, max_new_tokens: 8, return_full_text: false });
    expect(streamed).toBe(answer?.generated_text);
    const whole = await pipe('the man', { eos_token_id: null });
    expect(pipe.tokenizer.encode(whole[0]?.generated_text ?? '').length).toBeGreaterThan(20);
  });
});
