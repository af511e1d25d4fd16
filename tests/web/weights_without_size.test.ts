// Weights of a server that does not tell their size: what is wrong with them is told as with content-length.

import { AutoModelForCausalLM, inspect, validate } from 'clearformer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { safetensors, spoiled, storiesFiles } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';
import { FileServer } from './support/server.js';

const files = storiesFiles();
let server: FileServer;
beforeEach(async () => {
  server = await FileServer.start({ ...files });
});
afterEach(() => server.stop());

describe('spoiled weights of a server without content-length', () => {
  const ending = (end: unknown) =>
    spoiled((header) => {
      const { data_offsets } = header['model.layers.0.mlp.up_proj.weight'] as { data_offsets: unknown[] };
      data_offsets[1] = end;
      return undefined;
    })['model.safetensors'] as Uint8Array;
  const text = (content: string) => new TextEncoder().encode(content);
  const headed = (json: string) => safetensors(json, new Uint8Array(0));

  it.each<[string, Uint8Array]>([
    ['an offset that is a text', ending('a')],
    ['a fraction', ending(1.5)],
    ['a number beyond all files', ending(2 ** 60)],
    ['a pointer of Git LFS', text('version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n')],
    ['a message', text('Entry not found')],
    ['XML', text('<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>')],
    ['a header that is null', headed('null')],
    ['a tensor that is null', headed('{"a":null}')],
    ['no JSON', headed('{"a"')],
  ])('%s: it is told as with content-length', async (_, weights) => {
    server.files['model.safetensors'] = weights;
    const told = async () => {
      const { problems } = await inspect(server.url, { cache: 'none' });
      const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(server.url, { cache: 'none' }));
      expect(failure).toMatchObject({
        code: 'malformed_file',
        message: expect.stringMatching(/^model\.safetensors: /),
      });
      return { problems, message: failure.message };
    };
    const wanted = await told();
    expect(wanted.problems).toMatchObject([{ code: 'malformed_file', file: 'model.safetensors' }]);
    server.options = { noLength: true };
    expect(await told()).toEqual(wanted);
  });

  it('bytes behind the tensors', async () => {
    server.files['model.safetensors'] = new Uint8Array(
      Buffer.concat([files['model.safetensors'] as Uint8Array, new Uint8Array(70_000)]),
    );
    server.options = { noLength: true };
    const words = 'model.safetensors: bytes follow its last tensor';
    const failure = await failureOf(() => AutoModelForCausalLM.from_pretrained(server.url, { cache: 'none' }));
    expect(failure).toMatchObject({ code: 'malformed_file', message: words });
    const { valid, problems } = await validate(server.url, { cache: 'none' });
    expect([valid, problems.map(({ message }) => message)]).toEqual([false, [words]]);
  });
});
