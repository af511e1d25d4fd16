// Our native program (tests/bench/native/main.cpp), asked line by line.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { inProject } from '../../../scripts/build/fresh.mjs';

const PROGRAM = 'build/release/tests/bench/clearformer_bench';

export class NativeProgram {
  #process;
  #lines;
  #repetitions = 1;

  constructor(target) {
    this.#process = spawn(inProject(PROGRAM), [], {
      env: { ...process.env, CLEARFORMER_SIMD: target },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
  }

  async #ask(line) {
    this.#process.stdin.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the native program ended at: ${line}`);
    const answer = JSON.parse(value);
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  static async open(spec, path) {
    const program = new NativeProgram(spec.target);
    const close = async () => program.#process.kill();
    try {
      return { ...(await program.#opened(spec, path)), close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #opened(spec, path) {
    const { names, simd } = await this.#ask('names');
    if (simd !== spec.target) throw new Error(`this machine runs ${simd}`);
    const about = { simd };
    if (spec.input.work === undefined) return this.#model(spec, path, about);
    const { work, m = 1, k = 1, n = 1, scale = 1 } = spec.input;
    const index = names.split(' ').indexOf(work);
    if (index < 0) throw new Error(`${work}: this build has no such kernel`);
    const line = `work ${index} ${m} ${k} ${n}`;
    return { about, sample: async () => undefined, time: async (budget) => (await this.#time(line, budget)) * scale };
  }

  async #model({ task, dtype, threads, input }, path, about) {
    const { batch = 1, length = input.size, past = 0 } = input;
    await this.#ask(`model ${task} ${inProject(path)} ${dtype} ${threads} ${batch} ${length} ${past}`);
    return { about, sample: () => this.#ask('sample'), time: (budget) => this.#time('run', budget) };
  }

  async #time(line, budget) {
    for (;;) {
      const repetitions = this.#repetitions;
      const total = (await this.#ask(`${line} ${repetitions}`)).seconds * 1000;
      if (total * 2 >= budget) return total / repetitions;
      this.#repetitions = Math.max(repetitions + 1, Math.ceil((repetitions * budget) / (total + 0.01)));
    }
  }
}
