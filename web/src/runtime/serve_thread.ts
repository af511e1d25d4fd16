// A thread of the pool: another instance of the core's module on the memory of the first. It is told once what to run,
// says that it is there, and then serves loops until it is ended; it never returns to its event loop.

import type { ThreadOrders } from './thread_pool.js';

type Entry = (slot: number) => void;

/** Threads compute and nothing else: what the first instance imports from JavaScript is not theirs to call. */
function importsOf({ module, memory }: ThreadOrders): WebAssembly.Imports {
  const imports: WebAssembly.Imports = {};
  for (const { module: room, name, kind } of WebAssembly.Module.imports(module)) {
    imports[room] ??= {};
    imports[room][name] =
      kind === 'memory'
        ? memory
        : () => {
            throw new Error(`a thread of the pool called ${room}.${name}`);
          };
  }
  return imports;
}

/** Serves until this thread is ended; `ready` tells the one that started it. */
export function serveThread(orders: ThreadOrders, ready: () => void): void {
  const { exports } = new WebAssembly.Instance(orders.module, importsOf(orders));
  const table = Object.values(exports).find((each) => each instanceof WebAssembly.Table) as WebAssembly.Table;
  ready();
  try {
    (table.get(orders.entry) as Entry)(orders.slot);
  } catch (trap) {
    (table.get(orders.failed) as Entry)(orders.slot); // else the caller of the loop would wait for ever
    throw trap;
  }
}
