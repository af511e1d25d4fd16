// A thread of the pool: another instance of the core's module on the memory of the first. It is told once what to run,
// says that it is there, and then serves loops until it is ended; it never returns to its event loop.

/** What a thread is told (runtime/threads.ts). */
interface Orders {
  module: WebAssembly.Module;
  memory: WebAssembly.Memory;
  /** Places in the module's table: of the function that serves, and of the one that says that it cannot. */
  entry: number;
  failed: number;
  /** Address of what that function is given. */
  slot: number;
}

interface Port {
  postMessage(ready: boolean): void;
  onmessage: ((event: MessageEvent<Orders>) => void) | null;
}

type Entry = (slot: number) => void;

/** Threads compute and nothing else: what the first instance imports from JavaScript is not theirs to call. */
function importsOf({ module, memory }: Orders): WebAssembly.Imports {
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

function serve(port: Port, orders: Orders): void {
  const { exports } = new WebAssembly.Instance(orders.module, importsOf(orders));
  const table = Object.values(exports).find((each) => each instanceof WebAssembly.Table) as WebAssembly.Table;
  port.postMessage(true);
  try {
    (table.get(orders.entry) as Entry)(orders.slot);
  } catch (trap) {
    (table.get(orders.failed) as Entry)(orders.slot); // else the caller of the loop would wait for ever
    throw trap;
  }
}

interface Builtins {
  getBuiltinModule?(name: 'node:worker_threads'): { parentPort: Port | null };
  versions?: { node?: string };
}

const { process } = globalThis as { process?: Builtins };
const parentPort =
  process?.versions?.node === undefined ? null : process.getBuiltinModule?.('node:worker_threads').parentPort;
if (parentPort) {
  const node = parentPort as unknown as { once(event: 'message', handle: (orders: Orders) => void): void };
  node.once('message', (orders) => serve(parentPort, orders));
} else {
  const scope = globalThis as unknown as Port;
  scope.onmessage = ({ data }) => serve(scope, data);
}

export {}; // a module, whose names are its own
