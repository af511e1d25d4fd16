// SHA-256 (FIPS 180-4) over chunks. WebCrypto's digest needs all bytes at once, which would be a second copy of the
// weights.

/** The first 32 bits of the fractional parts of the square or cube roots of the first primes. */
function rootBits(count: number, exponent: number): Int32Array {
  const bits = new Int32Array(count);
  for (let n = 2, found = 0; found < count; n++) {
    let prime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
    if (prime) bits[found++] = ((n ** exponent % 1) * 2 ** 32) | 0;
  }
  return bits;
}

const roundConstants = rootBits(64, 1 / 3);

/** A running SHA-256: `update` with chunks, `hex` once at the end. */
export class Sha256 {
  readonly #state = rootBits(8, 1 / 2);
  readonly #block = new Uint8Array(64);
  readonly #schedule = new Int32Array(64);
  #filled = 0;
  #length = 0;

  update(bytes: Uint8Array): void {
    this.#length += bytes.byteLength;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let offset = 0; offset < bytes.byteLength; ) {
      if (this.#filled === 0 && offset + 64 <= bytes.byteLength) {
        expand(view, offset, this.#schedule); // in place
        compress(this.#state, this.#schedule);
        offset += 64;
        continue;
      }
      const taken = Math.min(64 - this.#filled, bytes.byteLength - offset);
      this.#block.set(bytes.subarray(offset, offset + taken), this.#filled);
      this.#filled += taken;
      offset += taken;
      if (this.#filled < 64) continue;
      expand(new DataView(this.#block.buffer), 0, this.#schedule);
      compress(this.#state, this.#schedule);
      this.#filled = 0;
    }
  }

  /** The digest as 64 lower-case hexadecimal digits. */
  hex(): string {
    const bits = BigInt(this.#length) * 8n;
    const padding = new Uint8Array((this.#filled < 56 ? 56 : 120) - this.#filled + 8);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.byteLength - 8, bits);
    this.update(padding);
    return [...this.#state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }
}

/** Processes one block of 64 bytes. Local variables only and no allocation, so that engines keep them in registers. */
function compress(state: Int32Array, w: Int32Array): void {
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  let f = at(state, 5);
  let g = at(state, 6);
  let h = at(state, 7);
  for (let i = 0; i < 64; i++) {
    const choose = (e & f) ^ (~e & g);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    const first = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose + at(roundConstants, i) + at(w, i)) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  add(state, 0, a);
  add(state, 1, b);
  add(state, 2, c);
  add(state, 3, d);
  add(state, 4, e);
  add(state, 5, f);
  add(state, 6, g);
  add(state, 7, h);
}

/** The message schedule of a block. */
function expand(block: DataView, offset: number, w: Int32Array): void {
  for (let i = 0; i < 16; i++) w[i] = block.getInt32(offset + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = at(w, i - 15);
    const y = at(w, i - 2);
    const low = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const high = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[i] = (at(w, i - 16) + low + at(w, i - 7) + high) | 0;
  }
}

function add(words: Int32Array, index: number, word: number): void {
  words[index] = (at(words, index) + word) | 0;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

function at(words: Int32Array, index: number): number {
  return words[index] as number;
}
