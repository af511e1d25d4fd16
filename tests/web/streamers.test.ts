// Streamers' options, the times that a WhisperTextStreamer tells, and stop strings in text that is held back.

import {
  AutoTokenizer,
  IncrementalDecoder,
  type PreTrainedTokenizer,
  TextStreamer,
  WhisperTextStreamer,
} from 'clearformer';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { StopStrings } from '../../web/src/models/stop_strings.js';
import { failureOf } from './support/failures.js';
import { storiesPath } from './support/references.js';

let tokenizer: PreTrainedTokenizer;
beforeAll(async () => {
  tokenizer = await AutoTokenizer.from_pretrained(storiesPath);
});

describe('streamers', () => {
  const quiet = { callback_function: () => {} };

  it('take their options under decode_kwargs, too', () => {
    const texts: string[] = [];
    for (const options of [
      { decode_kwargs: { skip_special_tokens: false } },
      { skip_special_tokens: false, decode_kwargs: { skip_special_tokens: undefined } },
    ]) {
      const streamer = new TextStreamer(tokenizer, { callback_function: (text) => texts.push(text), ...options });
      streamer.put([[BigInt(tokenizer.bos_token_id as number)]]);
      streamer.end();
    }
    expect(texts.filter((text) => text.includes('<s>'))).toHaveLength(2);
  });

  it('refuse what they do not have', async () => {
    const failure = await failureOf(() => new TextStreamer(tokenizer, { ...quiet, timeout: 5 } as object));
    expect([failure.code, failure.message.includes('timeout')]).toEqual(['unsupported', true]);
    const whisper = await failureOf(() => new WhisperTextStreamer(tokenizer, { ...quiet, timeout: 5 } as object));
    expect(whisper.message).toMatch(/^WhisperTextStreamer: unknown option 'timeout' .*skip_prompt.* time_precision\)$/);
  });

  it('name themselves where they refuse a tokenizer, and what decode_kwargs has', async () => {
    for (const streamer of [TextStreamer, WhisperTextStreamer]) {
      const { message } = await failureOf(() => new streamer({} as PreTrainedTokenizer, quiet));
      expect(message).toMatch(`${streamer.name}: needs a tokenizer`);
    }
    const decode_kwargs = { clean_up_tokenization_spaces: true } as object;
    const { message } = await failureOf(() => new TextStreamer(tokenizer, { ...quiet, decode_kwargs }));
    expect(message).toMatch("TextStreamer: decode_kwargs: unknown option 'clean_up_tokenization_spaces'");
    expect(() => new TextStreamer(tokenizer, { ...quiet, decode_kwargs: null } as object)).not.toThrow();
  });

  it('refuse tokens that are no ids', async () => {
    for (const token of [Object.create(null), Symbol('a'), 'length', '5', 1.5, -1, null, undefined, [1]]) {
      const pushed = await failureOf(() => new IncrementalDecoder(tokenizer).push(token as number));
      const put = await failureOf(() => new TextStreamer(tokenizer, quiet).put([[token as bigint]]));
      const decoded = await failureOf(() => tokenizer.decode([token as number]));
      for (const { code, message } of [pushed, put, decoded])
        expect([code, message]).toEqual(['invalid_argument', expect.stringContaining('is no token id')]);
    }
    const decoder = new IncrementalDecoder(tokenizer);
    expect([403n, 407].map((id) => decoder.push(id)).join('')).toBe(tokenizer.decode([403, 407]));
    expect(decoder.push(1e6)).toBe('');
  });

  it('refuse a time_precision that is no length, and take null for what is not given', async () => {
    for (const time_precision of ['x', Number.NaN, 0, -1, Number.POSITIVE_INFINITY, {}]) {
      const given = { ...quiet, time_precision };
      const { code, message } = await failureOf(() => new WhisperTextStreamer(tokenizer, given as object));
      expect([code, message]).toEqual(['invalid_argument', expect.stringContaining('time_precision')]);
    }
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    new WhisperTextStreamer(tokenizer, null as never).end();
    written.mockRestore();
  });

  it('tell the times that Whisper writes', () => {
    // A vocabulary of three tokens; the timestamps follow <|notimestamps|>.
    const words = ['a', 'b', '<|notimestamps|>', '<|0.00|>', '<|0.02|>', '<|0.04|>'];
    const vocab = Object.fromEntries(words.map((word, id) => [word, id]));
    const whisper = new (tokenizer.constructor as typeof PreTrainedTokenizer)({
      model: { type: 'WordLevel', vocab, unk_token: 'a' },
      decoder: null,
    });
    const told: (string | number | bigint[])[] = [];
    const streamer = new WhisperTextStreamer(whisper, {
      time_precision: null,
      callback_function: (text) => told.push(text),
      on_chunk_start: (time) => told.push(`start ${time}`),
      on_chunk_end: (time) => told.push(`end ${time}`),
      on_finalize: () => told.push('done'),
    });
    for (const id of [3n, 0n, 5n, 4n, 1n]) streamer.put([[id]]);
    streamer.end();
    expect(told.filter((each) => each !== '').map(String)).toEqual([
      'start 0',
      'a',
      'end 0.04',
      'start 0.02',
      ' b',
      'done',
    ]);
  });
});

it('a stop string is found before the rest of a character that its token begins', () => {
  const words = ['a', 'bc', 'Ã', '©d']; // in bytes: the last two are é and d
  const vocab = Object.fromEntries([...words, 'cÃ'].map((word, id) => [word, id]));
  const bytes = new (tokenizer.constructor as typeof PreTrainedTokenizer)({
    model: { type: 'BPE', vocab: { ...vocab, b: 5, c: 6, d: 7, '©': 8 }, merges: [] },
    decoder: { type: 'ByteLevel' },
  });
  const found = (strings: string[], ...ids: number[]) => {
    const stops = new StopStrings(strings, bytes as never, [[0]], []);
    return ids.map((id) => stops.found([id]).length > 0);
  };
  expect(found(['c', 'é'], 4, 3)).toEqual([true, false]);
  expect(found(['ac'], 4, 3)).toEqual([true, false]);
  expect(found(['é'], 4, 3)).toEqual([false, true]);
  expect(found(['\ufffd'], 4, 3)).toEqual([false, false]);
});

it('stop strings are looked for by a few decodings per token, however long a text stays incomplete', () => {
  const [first = 0] = tokenizer.encode('🐶').slice(-4);
  const stop = new StopStrings(['no'], tokenizer, [[1]], []);
  const decoding = vi.spyOn(tokenizer, 'decode');
  for (let token = 0; token < 40; token++) expect(stop.found([first])).toEqual([]);
  expect(decoding.mock.calls.length).toBeLessThanOrEqual(3 * 40);
  decoding.mockRestore();
});
