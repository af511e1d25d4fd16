// Random numbers that are the same on every machine: the same seed gives the same weights.

/** xorshift32 (Marsaglia 2003): numbers in [-1, 1). */
export class RandomNumbers {
  #state: number;
  constructor(seed: number) {
    this.#state = seed | 0 || 1;
  }
  next(): number {
    let state = this.#state;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.#state = state;
    return state / 0x80000000;
  }
  /** `count` uniform numbers around `centre` with the standard deviation `deviation`. */
  array(count: number, deviation: number, centre = 0): Float32Array {
    const width = deviation * Math.sqrt(3);
    const values = new Float32Array(count);
    for (let i = 0; i < count; i += 1) values[i] = centre + width * this.next();
    return values;
  }
}
