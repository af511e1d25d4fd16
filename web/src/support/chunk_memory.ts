// Memory of the chunks in which files arrive. Whoever has taken a chunk gives its memory back, and a later chunk arrives
// in it: new memory for each would cost more time than the copy.

const chunkBytes = 1 << 20;
const most = 8;

const spare: ArrayBuffer[] = [];
const ours = new WeakSet<ArrayBufferLike>();

/** Memory for a chunk. */
export function roomForChunk(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(spare.pop() ?? new ArrayBuffer(chunkBytes));
}

/** Notes that a chunk's memory holds nothing else. */
export function noteOwn(chunk: Uint8Array): void {
  ours.add(chunk.buffer);
}

/** Whether a chunk's memory is known to hold nothing else, so that it may be transferred. */
export function hasOwnMemory({ buffer, byteLength }: Uint8Array): boolean {
  return buffer instanceof ArrayBuffer && (byteLength === buffer.byteLength || ours.has(buffer));
}

/** A copy of a chunk, in spare memory if there is any. */
export function copyOf(chunk: Uint8Array): Uint8Array {
  const memory = chunk.byteLength <= chunkBytes ? spare.pop() : undefined;
  if (memory === undefined) return new Uint8Array(chunk); // slice() of a Node Buffer copies nothing
  const copy = new Uint8Array(memory, 0, chunk.byteLength);
  copy.set(chunk);
  noteOwn(copy);
  return copy;
}

/** Takes the memory of a chunk that holds nothing else, if it has the size of those given out. */
export function giveBack({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunkBytes && spare.length < most) spare.push(buffer);
}

/** Releases what is spare, after a file. */
export function releaseSpareMemory(): void {
  spare.length = 0;
}
