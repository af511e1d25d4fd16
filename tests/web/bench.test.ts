// The benchmarks' arithmetic: statistics, agreement, thresholds, the tables of all machines, the plot, and the
// peers' files (ONNX and GGUF).

import { readFileSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

import { compare } from '../bench/agreement.js';
import { contendersOf } from '../bench/items/contenders.js';
import { items } from '../bench/items/index.js';
import { machineOf } from '../bench/machine.js';
import { toQ4, toQ8, writeGguf } from '../bench/models/gguf.js';
import { writeGraph } from '../bench/models/make.js';
import { shapes } from '../bench/models/shapes.js';
import { randomWeights } from '../bench/models/weights.js';
import { OnnxGraph } from '../bench/onnx/graph.js';
import { integer, message, root, text } from '../bench/onnx/protobuf.js';
import { toInt4, toInt8, transposed } from '../bench/onnx/quantize.js';
import { plansOf } from '../bench/plan.js';
import { type Bar, bars } from '../bench/report/bars.js';
import { judge } from '../bench/report/judge.js';
import { plot } from '../bench/report/plot.js';
import { betweenMarks, page, shortTable } from '../bench/report/table.js';
import { keepResult, readResults } from '../bench/results.js';
import { median, quantile, ratios } from '../bench/statistics.js';
import type { MeasuredContender, Results, Run } from '../bench/types.js';

const contender = (
  name: string,
  role: MeasuredContender['role'],
  milliseconds: number[],
  more: Partial<MeasuredContender> = {},
): MeasuredContender => ({
  name,
  role,
  dtype: 'fp32',
  milliseconds,
  ...more,
});
const run = (contenders: MeasuredContender[]): Run => ({
  id: 'matmul-128x384x1536-fp32',
  title: 'MatMul 128×384×1536, fp32',
  part: 'matmul',
  engine: 'chromium',
  threads: 1,
  amount: { gflop: 0.150994944 },
  date: '2026-01-02',
  engineVersion: 'Chromium 1',
  pinned: 'cores 0',
  versions: { clearformer: '0' },
  contenders,
});
const machine = { id: 'a-machine', cpu: 'a machine', features: ['AVX2'] };
const results = (contenders: MeasuredContender[]): Results => ({
  machine,
  measured: { 'matmul-128x384x1536-fp32 chromium 1': run(contenders) },
});
const measured = results([
  contender('clearformer simd128', 'ours', [2, 2.2, 2], { variant: 'simd128' }),
  contender('limit', 'limit', [1.9, 1.98, 1.9], { variant: 'simd128' }),
  contender('onnxruntime-web fp32', 'peer', [4, 4.4, 3], { peer: 'onnxruntime-web' }),
  contender('tfjs-wasm', 'peer', [], { peer: 'tfjs-wasm', unavailable: 'no <such> thing | here' }),
]);

describe('statistics', () => {
  it('takes medians and quartiles between neighbours', () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([1, 2, 3, 4])).toBe(2.5);
    expect(quantile([0, 10], 0.25)).toBe(2.5);
  });
  it('compares round by round', () => {
    // The ratio of medians would be 4 / 2; a round in which both were slow has the same ratio as the others.
    expect(ratios([4, 40, 4], [2, 10, 1]).median).toBe(4);
  });
});

describe('agreement', () => {
  const sample = (...picked: number[]) => ({ count: picked.length, picked });
  it('accepts rounding and refuses another result', () => {
    expect(compare(sample(1, -2.0001), sample(1, -2), undefined).agrees).toBe(true);
    expect(compare(sample(1, -2.1), sample(1, -2), undefined).agrees).toBe(false);
    expect(compare(sample(1, 2, 3), sample(1, 2), undefined).agrees).toBe(false);
    expect(compare(sample(Number.NaN, 2), sample(1, 2), undefined).agrees).toBe(false);
  });
  it('compares what is known up to a constant without its mean', () => {
    const moved = { ...sample(11, 12, 14), shifted: true };
    expect(compare(moved, sample(1, 2, 4), undefined).agrees).toBe(true);
    expect(compare(sample(11, 12, 14), sample(1, 2, 4), undefined).agrees).toBe(false);
    expect(compare(moved, sample(1, 2, 5), undefined).agrees).toBe(false);
  });
  it('asks narrow weights for the direction', () => {
    expect(compare(sample(1, 2.2), sample(1, 2), 'q8').agrees).toBe(true);
    expect(compare(sample(2, -1), sample(1, 2), 'q8').agrees).toBe(false);
  });
});

describe('report', () => {
  const barOf = (against: string) =>
    bars.find(
      ({ of, against: other }) =>
        of.item === 'matmul-128x384x1536-fp32' &&
        of.pick.variant === 'simd128' &&
        Object.values(other.pick).includes(against),
    ) as Bar;
  it('judges bars by the ratio of each round', () => {
    const met = judge(measured, barOf('limit'));
    expect(met.ratio?.median).toBeCloseTo(0.95);
    expect(met.met).toBe(true);
    expect(judge(measured, barOf('onnxruntime-web'))).toMatchObject({ met: true, ratio: { median: 2, low: 1.75 } });
  });
  it('expects less of eight bits where there is no AVX-VNNI', () => {
    const contenders = [
      contender('clearformer relaxed q8', 'ours', [2, 2, 2], { variant: 'relaxed', dtype: 'q8' }),
      contender('onnxruntime-web int8', 'peer', [3, 3, 3], { peer: 'onnxruntime-web', dtype: 'q8' }),
    ];
    const entry = { ...run(contenders), id: 'minilm-1x128-q8' };
    const bar = bars.find(({ of, leastWithoutVnni }) => of.item === entry.id && leastWithoutVnni !== undefined) as Bar;
    const metWith = (features: readonly string[]) =>
      judge({ machine: { ...machine, features }, measured: { [`${entry.id} chromium 1`]: entry } }, bar).met;
    expect([metWith(['AVX2', 'AVX-VNNI']), metWith(['AVX2'])]).toEqual([false, true]);
  });
  it('says what is missing instead of leaving it out', () => {
    expect(judge(measured, barOf('tfjs-wasm')).missing).toBe('not available');
    expect(judge({ machine, measured: {} }, barOf('limit')).missing).toBe('not measured');
    const text = page([measured]);
    expect(text).toContain('not available: no <such> thing / here');
    expect(text.match(/not measured/g)?.length).toBeGreaterThan(10);
  });
  it('compares what is watched with what is not', () => {
    const milliseconds = { nothing: [10, 12, 11], patterns: [11, 12, 12.1], residuals: [50, 50, 50] };
    const contenders = Object.entries(milliseconds).map(([captured, times]) =>
      contender(captured, 'ours', times, { variant: 'relaxed', ...(captured !== 'nothing' && { captured }) }),
    );
    const watched = { machine, measured: { 'see-through chromium 1': { ...run(contenders), id: 'see-through' } } };
    const judged = bars
      .filter(({ of }) => of.item === 'see-through')
      .map((bar) => judge(watched, bar))
      .filter(({ missing }) => missing === undefined);
    expect(judged).toHaveLength(1);
    expect(judged[0]?.ratio?.median).toBeCloseTo(10 / 11);
    expect(judged[0]?.met).toBe(true);
  });
  it('has a column per machine, and quotes the worse one', () => {
    const slow = results([
      contender('clearformer simd128', 'ours', [3, 3, 3], { variant: 'simd128' }),
      contender('onnxruntime-web fp32', 'peer', [3, 3, 3], { peer: 'onnxruntime-web' }),
    ]);
    const other = { ...slow, machine: { id: 'other', cpu: 'another', emulated: 'no AVX-VNNI' } };
    const text = page([measured, other]);
    expect(text).toContain('**A**: a machine; AVX2');
    expect(text).toContain('**B**: another; instructions not told; no AVX-VNNI');
    expect(text).toMatch(/\| clearformer simd128 \| {2}\| 2\.00 ms, .* \| 3\.00 ms, .* 1\.00 × \[1\.00, 1\.00\] \|/);
    const short = shortTable(
      [measured, other].map((one) => {
        const { 'matmul-128x384x1536-fp32 chromium 1': moved } = one.measured;
        return { ...one, measured: { 'minilm-1x128-fp32 chromium 1': moved as Run } };
      }),
    );
    expect(short).toContain('| 1.00 × [1.00, 1.00] | B |');
    expect(short).not.toContain('| A |');
  });
  it('keeps ratios of measurements whose rounds were not kept, and compares no different days', () => {
    const kept = { median: 1.7, low: 1.6, high: 1.8 };
    const imported = results([
      contender('clearformer simd128', 'ours', [2], { variant: 'simd128', ratios: { 'onnxruntime-web fp32': kept } }),
      contender('onnxruntime-web fp32', 'peer', [4], { peer: 'onnxruntime-web' }),
    ]);
    expect(judge(imported, barOf('onnxruntime-web')).ratio).toEqual(kept);
    const acrossRuns = bars.find(
      ({ of, against }) => of.engine !== against.engine && of.pick.variant === 'relaxed',
    ) as Bar;
    const { of, against } = acrossRuns;
    const ours = { ...run([contender('ours', 'ours', [2], { variant: 'relaxed', dtype: 'q8' })]), id: of.item };
    const theirs = run([contender('theirs', 'peer', [3], { peer: 'onnxruntime-node', dtype: 'q8' })]);
    const judgedOn = (date: string) => {
      const runs = { [`${of.item} chromium 1`]: ours, [`${against.item} native 1`]: { ...theirs, date } };
      return judge({ machine, measured: runs }, acrossRuns);
    };
    expect(judgedOn(ours.date).ratio?.median).toBe(1.5);
    expect(judgedOn('2026-01-03').missing).toBe('not measured on one day');
  });
  it('compares several threads with one in the same run', () => {
    const threaded = bars.find(({ work, of }) => work.includes('against one') && of.pick.variant === 'relaxed') as Bar;
    const { item } = threaded.of;
    const ofItem = items.find(({ id }) => id === item)?.contenders({ engine: 'chromium', threads: 2 }) ?? [];
    const timed = ofItem.map(({ name, role, dtype, variant, threads, peer, spec }) =>
      contender(name, role, spec.threads === 1 ? [3.5, 4, 4.5] : [2, 2, 2], { variant, dtype, threads, peer }),
    );
    const judged = judge({ machine, measured: { [`${item} chromium 2`]: { ...run(timed), id: item } } }, threaded);
    expect(judged.ratio).toMatchObject({ median: 2, low: 1.875, high: 2.125 });
    expect(judged.met).toBe(true);
  });
  it('keeps a file per machine, in which a run replaces only its own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'clearformer-results-'));
    const entry = (id: string, date: string): Run => ({ ...run([contender('x', 'ours', [1])]), id, date });
    keepResult(machine, entry('a', '1'), folder);
    keepResult(machine, entry('b', '1'), folder);
    keepResult({ ...machine, id: 'a-machine-without-x', emulated: 'x' }, entry('a', '2'), folder);
    keepResult(machine, entry('a', '3'), folder);
    const dates = readResults(folder).map(({ measured: all }) => Object.values(all).map(({ id, date }) => id + date));
    expect(dates).toEqual([['a3', 'b1'], ['a2']]);
    rmSync(folder, { recursive: true });
  });
  it('replaces what stands between the marks, once and again', () => {
    const before = 'a\n<!-- bench: begin -->\nold\n<!-- bench: end -->\nb\n';
    const after = betweenMarks(before, 'new');
    expect(after).toBe('a\n<!-- bench: begin -->\nnew\n<!-- bench: end -->\nb\n');
    expect(betweenMarks(after, 'new')).toBe(after);
    expect(() => betweenMarks('no marks', 'new')).toThrow('missing');
  });
  it('draws what there is', () => {
    const svg = plot(measured);
    expect(svg).toContain('>2.00</text>');
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });
  it('names only items that are measured', () => {
    const ids = new Set(items.map(({ id }) => id));
    const named = bars.flatMap(({ of, against }) => [of.item, against.item]);
    expect(named.filter((id) => !ids.has(id))).toEqual([]);
  });
  it('plans each item once for an engine', () => {
    const plans = plansOf({ parts: ['matmul', 'roofline'], rounds: 7, budget: 100, keep: false });
    for (const { items: planned } of plans) expect(new Set(planned).size).toBe(planned.length);
    expect(plans.map(({ engine }) => engine)).toEqual(['chromium', 'node']);
  });
  it('plans a few items of Chromium for the quick run, and those of Firefox by name', () => {
    const pace = { rounds: 3, budget: 50, keep: false };
    const [quick, ...others] = plansOf({ ...pace, parts: [], quick: true });
    expect(others).toEqual([]);
    expect(quick?.items.map(({ part }) => part)).toEqual(expect.arrayContaining(['matmul', 'minilm', 'gpt2']));
    const setting = { engine: 'chromium', threads: 1 } as const;
    const token = quick?.items.find(({ id }) => id === 'gpt2-decode-128-q8');
    const names = (some: { quick?: boolean }) => token && contendersOf(token, setting, some).map(({ name }) => name);
    expect(names({})).toEqual(expect.arrayContaining(['wllama Q8_0', 'onnxruntime-web int8 with its cache']));
    expect(quick?.quick).toBe(true);
    expect(names({ quick: true })).toEqual(names({})?.filter((name) => !/wllama|int4|with its cache/.test(name)));
    const native = { engine: 'native', threads: 1 } as const;
    expect(token && contendersOf(token, native, { quick: true })).toEqual(token?.contenders(native));
    const [firefox] = plansOf({ ...pace, parts: ['firefox'] });
    expect(firefox?.engine).toBe('firefox');
    expect(new Set(firefox?.items.map(({ part }) => part))).toEqual(new Set(['minilm', 'gpt2']));
  });
});

describe('machine', () => {
  const cpuinfo =
    'cpu family\t: 6\nmodel\t\t: 143\nmodel name\t: Some Xeon\nflags\t\t: fpu avx2 avx512f avx512_vnni avx_vnni\n';
  it('names the family and the instructions that matter', () => {
    expect(machineOf(cpuinfo, 'Some Xeon', 2)).toEqual({
      id: 'some-xeon-family-6-model-143',
      cpu: 'Some Xeon, family 6, model 143, 2 cores',
      features: ['AVX2', 'AVX-VNNI', 'AVX-512', 'AVX-512 VNNI'],
    });
    expect(machineOf('Features : fp asimd asimddp', 'Some ARM', 8).features).toEqual(['SDOT']);
    expect(machineOf('', 'Apple M9', 8)).toEqual({ id: 'apple-m9', cpu: 'Apple M9, 8 cores' });
  });
  it('counts an emulated class as another machine', () => {
    const emulated = machineOf(cpuinfo, 'Some Xeon', 2, 'avx-vnni');
    expect(emulated).toMatchObject({ id: 'some-xeon-family-6-model-143-without-avx-vnni' });
    expect(emulated.features).toEqual(['AVX2', 'AVX-512', 'AVX-512 VNNI']);
    expect(emulated.emulated).toContain('emulated by');
    const plans = plansOf({ parts: [], rounds: 1, budget: 1, keep: false, without: 'avx-vnni' });
    expect(new Set(plans.map(({ engine }) => engine))).toEqual(new Set(['chromium', 'node']));
  });
});

describe('GGUF', () => {
  it('packs blocks of 32 as llama.cpp reads them', () => {
    const values = Float32Array.from({ length: 64 }, (_, i) => Math.sin(i + 1));
    const scaleOf = (bytes: Buffer, at: number): number => {
      const found = bytes.readUInt16LE(at);
      const size = (1 + (found & 1023) / 1024) * 2 ** (((found >> 10) & 31) - 15);
      return found & 0x8000 ? -size : size;
    };
    const [q8, q4] = [toQ8(values), toQ4(values)];
    expect([q8.length, q4.length]).toEqual([68, 36]);
    for (const [i, value] of values.entries()) {
      const [block, place] = [i >> 5, i & 31];
      expect(q8.readInt8(block * 34 + 2 + place) * scaleOf(q8, block * 34)).toBeCloseTo(value, 2);
      const byte = q4[block * 18 + 2 + (place & 15)] ?? 0;
      const step = scaleOf(q4, block * 18);
      const read = ((place < 16 ? byte & 15 : byte >> 4) - 8) * step;
      // The value opposite the extreme one is clipped at 7 steps.
      expect(Math.abs(read - value)).toBeLessThan(1.01 * Math.abs(step));
    }
  });
  it('writes aligned tensors of the given sizes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'clearformer-gguf-'));
    const shape = { ...shapes['gpt2-tiny'], hidden: 128, vocabulary: 300 };
    const sizes = (['fp32', 'int8', 'int4'] as const).map((precision) => {
      const file = join(folder, precision);
      writeGguf(file, shape, randomWeights(shape), precision);
      const bytes = readFileSync(file);
      expect(bytes.toString('latin1', 0, 4)).toBe('GGUF');
      expect(bytes.readBigUInt64LE(8)).toBe(BigInt(4 + 12 * shape.layers));
      return bytes.length;
    });
    expect(sizes[0]).toBeGreaterThan((sizes[1] ?? 0) * 2);
    expect(sizes[1]).toBeGreaterThan(sizes[2] ?? 0);
    for (const size of sizes) expect(size % 32).toBe(0);
    rmSync(folder, { recursive: true });
  });
});

describe('ONNX', () => {
  const folders: string[] = [];
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true });
  });
  it('writes protocol buffers as the encoding page has them', () => {
    expect([...integer(1, 150)]).toEqual([0x08, 0x96, 0x01]);
    expect([...text(2, 'testing')]).toEqual([0x12, 0x07, ...Buffer.from('testing')]);
    expect([...root([message(3, [integer(1, 150)])])]).toEqual([0x1a, 0x03, 0x08, 0x96, 0x01]);
    expect(integer(1, -1)).toHaveLength(11);
  });
  it('puts large constants beside the graph, aligned', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'clearformer-onnx-'));
    folders.push(folder);
    const graph = new OnnxGraph();
    graph.constant('small', [2], Float32Array.of(1, 2));
    graph.constant('a', [300], new Float32Array(300).fill(1));
    graph.constant('b', [300], new Float32Array(300).fill(2));
    writeGraph(folder, 'g', graph);
    const data = readFileSync(join(folder, 'g.bin'));
    expect([data.readFloatLE(0), data.readFloatLE(1216)]).toEqual([1, 2]);
    expect(readFileSync(join(folder, 'g.onnx')).includes('g.bin')).toBe(true);
    expect(() => graph.constant('c', [3], new Float32Array(2))).toThrow('2 elements');
  });
  it('rounds weights to within half a step', () => {
    const weight = Float32Array.from({ length: 64 * 3 }, (_, i) => Math.sin(i));
    const { values, scale } = toInt8(weight);
    for (const [i, value] of weight.entries())
      expect(Math.abs(value - (values[i] ?? 0) * scale)).toBeLessThan(scale * 0.51);
    const packed = toInt4(weight, 64, 3);
    for (let column = 0; column < 3; column += 1) {
      for (let k = 0; k < 64; k += 1) {
        const block = column * 2 + (k >> 5);
        const byte = packed.values[block * 16 + ((k % 32) >> 1)] ?? 0;
        const step = packed.scales[block] ?? 0;
        const value = ((k % 2 === 0 ? byte & 15 : byte >> 4) - 8) * step;
        // The value opposite the extreme one is clipped at 7 steps.
        expect(Math.abs((weight[k * 3 + column] as number) - value)).toBeLessThan(Math.abs(step) * 1.01);
      }
    }
    expect([...transposed(Float32Array.of(1, 2, 3, 4, 5, 6), 2, 3)]).toEqual([1, 4, 2, 5, 3, 6]);
  });
});
