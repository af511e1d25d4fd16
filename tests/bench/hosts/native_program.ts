// Our native program (tests/bench/native/main.cpp), driven line by line.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { inProject } from '../../../scripts/build/fresh.js';
import type { About, Opened, Sample, Spec } from '../types.js';

const programFile = 'build/release/tests/bench/clearformer_bench';

/** A line of JSON; its fields depend on the request. */
interface Answer extends Partial<Sample> {
  error?: string;
  names?: string;
  simd?: string;
  seconds?: number;
}

export class NativeProgram {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;
  #repetitions = 1;

  private constructor(target: string) {
    this.#process = spawn(inProject(programFile), [], {
      env: { ...process.env, CLEARFORMER_SIMD: target },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async #ask(line: string): Promise<Answer> {
    this.#process.stdin.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the native program ended at: ${line}`);
    const answer = JSON.parse(value) as Answer;
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  static async open(spec: Spec, path: string | undefined): Promise<Opened> {
    const program = new NativeProgram(spec.target ?? '');
    const close = async (): Promise<void> => void program.#process.kill();
    try {
      return { ...(await program.#opened(spec, path)), close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #opened(spec: Spec, path: string | undefined): Promise<Omit<Opened, 'close'>> {
    const { names = '', simd = '' } = await this.#ask('names');
    if (simd !== spec.target) throw new Error(`this machine runs ${simd}`);
    const about = { simd };
    if (spec.input.work === undefined) return this.#model(spec, path ?? '', about);
    const { work, m = 1, k = 1, n = 1 } = spec.input;
    const index = names.split(' ').indexOf(work);
    if (index < 0) throw new Error(`${work}: this build has no such kernel`);
    const line = `work ${index} ${m} ${k} ${n}`;
    return {
      about,
      sample: async () => undefined,
      time: (budget: number) => this.#time(line, budget),
    };
  }

  async #model({ task, dtype, threads, input }: Spec, path: string, about: About): Promise<Omit<Opened, 'close'>> {
    const { batch = 1, length = input.size, past = 0 } = input;
    await this.#ask(`model ${task} ${inProject(path)} ${dtype} ${threads} ${batch} ${length} ${past}`);
    const sample = async (): Promise<Sample> => {
      const { count = 0, picked = [] } = await this.#ask('sample');
      return { count, picked };
    };
    return { about, sample, time: (budget: number) => this.#time('run', budget) };
  }

  async #time(line: string, budget: number): Promise<number> {
    for (;;) {
      const repetitions = this.#repetitions;
      const total = ((await this.#ask(`${line} ${repetitions}`)).seconds ?? 0) * 1000;
      if (total * 2 >= budget) return total / repetitions;
      this.#repetitions = Math.max(repetitions + 1, Math.ceil((repetitions * budget) / (total + 0.01)));
    }
  }
}
