// Contenders in separate Node processes, and our native program as another process.

import { type ChildProcess, fork } from 'node:child_process';
import { inProject } from '../../../scripts/build/fresh.js';
import { nodeFlags } from '../../../scripts/node_flags.js';
import type { About, Host, Opened, Sample, Spec } from '../types.js';
import { NativeProgram } from './native_program.js';
import { childScript, placed } from './places.js';

interface Answer {
  call: number;
  value?: unknown;
  error?: string;
}

class Child {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  #calls = 0;

  constructor(flags: readonly string[]) {
    this.#process = fork(inProject(childScript), [], { execArgv: [...nodeFlags, ...flags] });
    this.#process.on('message', ({ call, value, error }: Answer) => {
      const waiting = this.#waiting.get(call);
      this.#waiting.delete(call);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(error));
    });
    this.#process.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the process ended with code ${code}`));
    });
  }

  call(method: string, ...args: unknown[]): Promise<unknown> {
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#process.send({ call, method, args });
    });
  }

  stop(): void {
    this.#process.disconnect();
  }
}

export class NodeHost implements Host {
  readonly version = `Node ${process.versions.node}`;
  readonly #children = new Map<string, Child>();

  private constructor(private readonly flags: readonly string[]) {}

  /** `flags` are V8's. */
  static async start(flags: readonly string[]): Promise<NodeHost> {
    return new NodeHost(flags);
  }

  async open(id: string, spec: Spec, path: string | undefined): Promise<Opened> {
    if (spec.kind === 'native') return NativeProgram.open(spec, path);
    const share = spec.share ?? id;
    const child = this.#children.get(share) ?? new Child(this.flags);
    this.#children.set(share, child);
    const close = async (): Promise<void> => {
      if (spec.share) return;
      this.#children.delete(id);
      child.stop();
    };
    try {
      const about = (await child.call('open', id, placed(spec, path, 'node'))) as About;
      const sample = async (): Promise<Sample | undefined> =>
        ((await child.call('sample', id)) ?? undefined) as Sample | undefined;
      return { about, sample, time: async (budget) => Number(await child.call('time', id, budget)), close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const child of this.#children.values()) child.stop();
  }
}
