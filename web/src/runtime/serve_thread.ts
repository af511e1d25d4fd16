// A thread of the pool: another instance of the core's module on the memory of the first. It receives its orders once,
// reports that it is ready, and then serves loops until the pool ends.

import type { PartName } from './needed_parts.js';
import { importsOfPart, partIn, placeholdersOf } from './parts.js';
import type { ThreadOrders } from './thread_pool.js';

type Entry = (slot: number) => void;

/** Threads only compute: they must not call the first instance's imports from JavaScript. */
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

/** Serves until the pool ends; `ready` notifies the thread that started it. */
export function serveThread(orders: ThreadOrders, ready: () => void): void {
  const addPart = (name: PartName): void => {
    const part = new WebAssembly.Module(partIn(orders.parts, name));
    new WebAssembly.Instance(part, importsOfPart(part, exports));
  };
  const placeholders = placeholdersOf(orders.module, (part, index, given) => {
    addPart(part); // takes the place of this function
    return table.get(index)(...given);
  });
  const imports = { ...importsOf(orders), ...placeholders };
  const { exports } = new WebAssembly.Instance(orders.module, imports);
  const table = Object.values(exports).find((each) => each instanceof WebAssembly.Table) as WebAssembly.Table;
  ready();
  try {
    (table.get(orders.entry) as Entry)(orders.slot);
  } catch (trap) {
    (table.get(orders.failed) as Entry)(orders.slot); // otherwise the caller of the loop would wait for ever
    throw trap;
  }
}
