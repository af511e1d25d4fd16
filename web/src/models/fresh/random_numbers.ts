// Random numbers with the same bits in every engine: xoshiro128** (Blackman & Vigna 2018, arXiv 1805.01407), one sequence
// for each tensor, seeded by the seed and the tensor's name; normal ones by the inverse of the distribution function
// (Wichura 1988, AS 241), whose logarithm is computed here, since Math.log differs between engines.

const multiply = Math.imul;

/** The next state of SplitMix32, and a number of it. */
function splitMix(state: number): [state: number, value: number] {
  const next = (state + 0x9e3779b9) | 0;
  let z = next ^ (next >>> 16);
  z = multiply(z, 0x85ebca6b);
  z = multiply(z ^ (z >>> 13), 0xc2b2ae35);
  return [next, z ^ (z >>> 16)];
}

/** FNV-1a of the UTF-8 bytes of a text. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = multiply(hash ^ byte, 0x01000193);
  return hash;
}

const rotated = (x: number, by: number) => (x << by) | (x >>> (32 - by));

/** Uniform numbers in (0, 1), multiples of 2^-53 and a half. */
export function uniformNumbers(seed: number, name: string): () => number {
  let seeding = (seed ^ hashOf(name)) | 0;
  const [a, b, c, d] = [0, 1, 2, 3].map((at) => {
    const [next, value] = splitMix(at === 1 ? (seeding ^ Math.floor(seed / 2 ** 32)) | 0 : seeding);
    seeding = next;
    return value;
  }) as [number, number, number, number];
  let [s0, s1, s2, s3] = [a, b, c, d | 1]; // never all zero
  const next = (): number => {
    const value = multiply(rotated(multiply(s1, 5), 7), 9) >>> 0;
    const shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = rotated(s3, 11);
    return value;
  };
  return () => {
    const high = next() >>> 5;
    return (high * 2 ** 26 + (next() >>> 6) + 0.5) * 2 ** -53;
  };
}

/** The logarithm of a number in (0, 1], with the same bits in every engine, to some units of the last place. */
export function logarithm(x: number): number {
  let halvings = 0;
  let y = x;
  for (; y < 0.75; halvings++) y *= 2;
  const t = (y - 1) / (y + 1); // |t| <= 0.2
  let sum = 0;
  for (let k = 25; k > 0; k -= 2) sum = sum * t * t + 1 / k;
  return 2 * t * sum - halvings * Math.LN2;
}

const central = {
  p: [
    3.3871328727963665, 133.14166789178438, 1971.5909503065513, 13731.69376550946, 45921.95393154987, 67265.7709270087,
    33430.57558358813, 2509.0809287301227,
  ],
  q: [
    1, 42.31333070160091, 687.1870074920579, 5394.196021424751, 21213.794301586597, 39307.89580009271,
    28729.085735721943, 5226.495278852854,
  ],
};
const near = {
  p: [
    1.4234371107496835, 4.630337846156546, 5.769497221460691, 3.6478483247632045, 1.2704582524523684,
    0.2417807251774506, 0.022723844989269184, 0.0007745450142783414,
  ],
  q: [
    1, 2.053191626637759, 1.6763848301838038, 0.6897673349851, 0.14810397642748008, 0.015198666563616457,
    0.0005475938084995345, 1.0507500716444169e-9,
  ],
};
const far = {
  p: [
    6.657904643501103, 5.463784911164114, 1.7848265399172913, 0.29656057182850487, 0.026532189526576124,
    0.0012426609473880784, 2.7115555687434876e-5, 2.0103343992922881e-7,
  ],
  q: [
    1, 0.599832206555888, 0.1369298809227358, 0.014875361290850615, 0.0007868691311456133, 1.8463183175100548e-5,
    1.421511758316446e-7, 2.0442631033899397e-15,
  ],
};

function ratio({ p, q }: typeof central, r: number): number {
  const value = (terms: readonly number[]) => terms.reduceRight((sum, term) => sum * r + term, 0);
  return value(p) / value(q);
}

/** The number below which a standard normal one is with probability p. */
export function normalQuantile(p: number): number {
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) return q * ratio(central, 0.180625 - q * q);
  const r = Math.sqrt(-logarithm(q < 0 ? p : 1 - p));
  const size = r <= 5 ? ratio(near, r - 1.6) : ratio(far, r - 5);
  return q < 0 ? -size : size;
}

/** Standard normal numbers, of which those beyond ±limit are drawn again. */
export function normalNumbers(uniform: () => number, limit = Number.POSITIVE_INFINITY): () => number {
  return () => {
    for (;;) {
      const value = normalQuantile(uniform());
      if (Math.abs(value) <= limit) return value;
    }
  };
}
