// Loaded before every test: typed arrays with the same bytes are equal at once. Vitest compares them element by element,
// twice, which takes seconds for some hundred thousand numbers.

import { expect } from 'vitest';

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** True for arrays of one type with the same bytes; undefined, for which vitest decides, for all others: NaN has many. */
function haveSameBytes(a: unknown, b: unknown): true | undefined {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b)) return undefined;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return undefined;
  return bytesOf(a).equals(bytesOf(b)) || undefined;
}

expect.addEqualityTesters([haveSameBytes]);
