// Contenders in Node processes of their own, and our native program as another process.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { nodeFlags } from '../../../scripts/node_flags.mjs';
import { NativeProgram } from './native_program.mjs';
import { placed } from './places.mjs';

const CHILD = fileURLToPath(new URL('child.mjs', import.meta.url));

class Child {
  #process = fork(CHILD, [], { execArgv: nodeFlags });
  #waiting = new Map();
  #calls = 0;

  constructor() {
    this.#process.on('message', ({ call, value, error }) => {
      const { resolve, reject } = this.#waiting.get(call);
      this.#waiting.delete(call);
      if (error === undefined) resolve(value);
      else reject(new Error(error));
    });
    this.#process.on('exit', (code) => {
      for (const { reject } of this.#waiting.values()) reject(new Error(`the process ended with code ${code}`));
    });
  }

  call(method, ...args) {
    this.#calls += 1;
    const call = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#process.send({ call, method, args });
    });
  }

  stop() {
    this.#process.disconnect();
  }
}

export class NodeHost {
  version = `Node ${process.versions.node}`;
  #children = new Map();

  static start = async () => new NodeHost();

  async open(id, spec, path) {
    if (spec.kind === 'native') return NativeProgram.open(spec, path);
    const share = spec.share ?? id;
    const child = this.#children.get(share) ?? new Child();
    this.#children.set(share, child);
    const close = async () => {
      if (spec.share) return;
      this.#children.delete(id);
      child.stop();
    };
    try {
      const about = await child.call('open', id, placed(spec, path, 'node'));
      return { about, sample: () => child.call('sample', id), time: (budget) => child.call('time', id, budget), close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async stop() {
    for (const child of this.#children.values()) child.stop();
  }
}
