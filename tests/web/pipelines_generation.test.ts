// Pipelines that generate: streams, ends, and the limit of positions.

import { DynamicCache, type Message, pipeline, TextStreamer } from 'clearformer';
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

  it('goes on with a conversation from the keys and values of the messages before', async () => {
    await using pipe = await pipeline('text-generation', filesOf(pipelineCase('texts')), here);
    const chat_template = '{% for m in messages %}{{ m.content }} {% endfor %}{{ end }}';
    const settings = { chat_template, max_new_tokens: 3 };
    const past_key_values = new DynamicCache();
    const messages: Message[] = [{ role: 'user', content: 'the man' }];
    const lengths: number[] = [];
    for (const content of ['is in rome', 'the man', undefined]) {
      const usual = await pipe(messages, settings);
      // Again: nothing of the answer may be left.
      for (const _ of ['once', 'again']) expect(await pipe(messages, { ...settings, past_key_values })).toEqual(usual);
      lengths.push(await past_key_values.get_seq_length());
      const answer = usual[0]?.generated_text.at(-1) as Message;
      if (content !== undefined) messages.push(answer, { role: 'user', content });
    }
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    const others: Message[] = [{ role: 'user', content: 'rome is' }];
    expect(await pipe(others, { ...settings, past_key_values })).toEqual(await pipe(others, settings));
    await expect(pipe(['the man', 'is'], { past_key_values })).rejects.toMatchObject({
      code: 'unsupported',
      message: 'text-generation: past_key_values are of one prompt, not of 2',
    });
    await past_key_values.dispose();
  });

  it("takes transformers.js' name of what a chat template is given", async () => {
    await using pipe = await pipeline('text-generation', filesOf(pipelineCase('texts')), here);
    const chat = [{ role: 'user', content: 'the' }];
    const options = { chat_template: '{{ messages[0].content }} {{ word }}', max_new_tokens: 3 };
    const given = { ...options, tokenizer_encode_kwargs: { word: 'man' } };
    expect(await pipe(chat, given)).toEqual(await pipe(chat, { ...options, chat_template_kwargs: { word: 'man' } }));
    expect(await pipe(chat, given)).not.toEqual(await pipe(chat, options));
    await expect(pipe('the', { tokenizer_encode_kwargs: {} })).rejects.toMatchObject({ code: 'invalid_argument' });
  });
});
