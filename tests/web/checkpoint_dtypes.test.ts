// Checkpoints as they are found: tensors in fp8, tensors of dtypes that nobody knows beside the model's, quantised
// checkpoints that are refused before a weight is fetched.

import { AutoModelForCausalLM, ClearformerError, inspect } from 'clearformer';
import { describe, expect, it } from 'vitest';
import { configured, type Files, type Header, safetensors, storiesFiles, taken } from './support/checkpoints.js';
import { failureOf } from './support/failures.js';
import { FileServer } from './support/server.js';

const ids = { input_ids: [[1, 403, 407, 261, 378]] };

/** The value of a code with `bits` of mantissa; the highest exponent of E5M2 is that of infinity and NaN. */
function widened(code: number, bits: 2 | 3): number {
  const bias = bits === 3 ? 7 : 15;
  const sign = code & 0x80 ? -1 : 1;
  const exponent = (code & 0x7f) >> bits;
  const mantissa = (code & ((1 << bits) - 1)) / (1 << bits);
  return sign * (exponent === 0 ? mantissa * 2 ** (1 - bias) : (1 + mantissa) * 2 ** (exponent - bias));
}

/** stories260K with every matrix rounded to a format of 8 bits, as codes and as the same numbers in F32. */
function rounded(dtype: 'F8_E4M3' | 'F8_E5M2'): { codes: Files; floats: Files } {
  const files = storiesFiles();
  const { header, data } = taken(files['model.safetensors'] as Uint8Array);
  const bits = dtype === 'F8_E4M3' ? 3 : 2;
  const finite = Array.from({ length: 256 }, (_, code) => code).filter((code) =>
    bits === 3 ? (code & 0x7f) !== 0x7f : (code & 0x7f) < 0x7c,
  );
  const [narrow, wide]: [number[], number[]] = [[], []];
  const [headers, floats]: [Header, Header] = [{}, {}];
  for (const [name, { shape }] of Object.entries(header)) {
    const count = shape.reduce((product, size) => product * size, 1);
    const start = narrow.length;
    for (let i = 0; i < count; i++) {
      const code = finite[(i * 73 + name.length * 31) % 110] as number; // small ones, of one sign after the other
      const signed = i % 3 === 0 ? code | 0x80 : code;
      narrow.push(signed);
      wide.push(widened(signed, bits));
    }
    headers[name] = { dtype, shape, data_offsets: [start, narrow.length] };
    floats[name] = { dtype: 'F32', shape, data_offsets: [4 * start, 4 * wide.length] };
  }
  expect(data.byteLength).toBe(2 * narrow.length);
  const of = (weights: Uint8Array): Files => ({ ...files, 'model.safetensors': weights });
  return {
    codes: of(safetensors(headers, Uint8Array.from(narrow))),
    floats: of(safetensors(floats, new Uint8Array(Float32Array.from(wide).buffer))),
  };
}

describe('tensors in 8 bits', () => {
  it.each(['F8_E4M3', 'F8_E5M2'] as const)('%s give the logits of the same numbers in F32', async (dtype) => {
    const { codes, floats } = rounded(dtype);
    await using narrow = await AutoModelForCausalLM.from_pretrained(codes, { deterministic: true });
    await using wide = await AutoModelForCausalLM.from_pretrained(floats, { deterministic: true });
    const [found, wanted] = [(await narrow(ids)).logits, (await wide(ids)).logits];
    expect(found.data).toEqual(wanted.data);
    expect(new Set(found.data).size).toBeGreaterThan(100);
    const { bytes, parameters } = await inspect(codes);
    expect(bytes).toEqual({ [dtype]: parameters });
  });
});

describe('tensors of unknown dtypes', () => {
  const withTensor = (name: string, dtype: string, shape: number[]): Files => {
    const files = storiesFiles();
    const { header, data } = taken(files['model.safetensors'] as Uint8Array);
    const end = data.byteLength;
    const longer = new Uint8Array(end + 12);
    longer.set(data);
    header[name] = { dtype, shape, data_offsets: [end, end + 12] };
    return { ...files, 'model.safetensors': safetensors(header, longer) };
  };

  // Of the first two the number of bits is known, and that they fill the 12 bytes is checked.
  it.each([
    ['F6_E3M2', [4, 4]],
    ['F4', [4, 6]],
    ['C128', [3, 5]],
    ['X9', [3, 5]],
  ] as const)('%s beside those of the model is passed over', async (dtype, shape) => {
    const files = withTensor('extra.scales', dtype, [...shape]);
    await using plain = await AutoModelForCausalLM.from_pretrained(storiesFiles());
    await using model = await AutoModelForCausalLM.from_pretrained(files);
    expect((await model(ids)).logits.data).toEqual((await plain(ids)).logits.data);
    expect(model.unexpected_tensors).toEqual(['extra.scales']);
    expect((await inspect(files)).unexpected_tensors).toEqual(['extra.scales']);
  });

  it('is an error where the model needs the tensor', async () => {
    const files = storiesFiles();
    const { header, data } = taken(files['model.safetensors'] as Uint8Array);
    const name = 'model.layers.0.mlp.up_proj.weight';
    header[name] = { ...(header[name] as Header[string]), dtype: 'X9' };
    const failure = await failureOf(() =>
      AutoModelForCausalLM.from_pretrained({ ...files, 'model.safetensors': safetensors(header, data) }),
    );
    expect(failure).toMatchObject({ code: 'malformed_file' });
    expect((failure as Error).message).toMatch(/up_proj\.weight.*X9/s);
  });
});

describe('a checkpoint refused by its config.json', () => {
  const cases: readonly [string, Record<string, unknown>, string][] = [
    ['gptq', { quantization_config: { quant_method: 'gptq', bits: 4 } }, 'gptq'],
    ['awq', { quantization_config: { quant_method: 'awq', bits: 4 } }, 'awq'],
    ['bitsandbytes', { quantization_config: { quant_method: 'bitsandbytes', load_in_4bit: true } }, 'bitsandbytes'],
    ['fp8', { quantization_config: { quant_method: 'fp8', weight_block_size: [128, 128] } }, 'fp8'],
    ['an unknown type', { model_type: 'mamba', architectures: ['MambaForCausalLM'] }, 'mamba'],
  ];

  it.each(cases)('%s: no weight is requested', async (_, change, word) => {
    const server = await FileServer.start({ ...configured(change) }, { ranges: true });
    try {
      for (const load of [
        () => AutoModelForCausalLM.from_pretrained(`${server.url}/stories`, { worker: false, cache: 'none' }),
        () => AutoModelForCausalLM.from_pretrained(`${server.url}/stories`, { worker: true, cache: 'none' }),
      ]) {
        const failure = await failureOf(load);
        expect(failure).toBeInstanceOf(ClearformerError);
        expect(failure).toMatchObject({ code: 'unsupported' });
        expect((failure as Error).message).toContain(word);
      }
      const read = server.requests.filter((request) => request.startsWith('GET'));
      expect(read.some((request) => request.endsWith('config.json'))).toBe(true);
      expect(read.filter((request) => request.endsWith('.safetensors'))).toEqual([]);
    } finally {
      await server.stop();
    }
  });
});
