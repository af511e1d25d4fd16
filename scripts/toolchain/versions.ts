// The minimum versions of tools and libraries, stated here only.

export const emscriptenMinimum = '6.0.0';
export const xsimdMinimum = '14.0.0';
export const rapidjsonMinimum = '1.1.0';
export const googletestMinimum = '1.12.0';
export const cmakeMinimum = '3.22.0';
export const ninjaMinimum = '1.10.0';
export const ccacheMinimum = '4.7.0';

/** The version to install if the machine has no Emscripten that is new enough. */
export const emsdkVersion = '6.0.5';
/** The Debian suite whose packages are new enough if the machine's own are not. */
export const newerSuite = 'forky';

/** Is the dotted version `found` at least `minimum`? */
export function atLeast(found: string, minimum: string): boolean {
  const parts = (version: string): number[] => version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const [have, need] = [parts(found), parts(minimum)];
  for (let i = 0; i < Math.max(have.length, need.length); i += 1) {
    const difference = (have[i] ?? 0) - (need[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
