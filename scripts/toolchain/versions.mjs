// The oldest versions of tools and libraries that clearformer builds with: stated here and nowhere else.
export const EMSCRIPTEN_MINIMUM = '6.0.0';
export const XSIMD_MINIMUM = '14.0.0';
export const RAPIDJSON_MINIMUM = '1.1.0';
export const GOOGLETEST_MINIMUM = '1.12.0';
export const CMAKE_MINIMUM = '3.22.0';
export const NINJA_MINIMUM = '1.10.0';

/** What is installed when the machine has no Emscripten that is new enough. */
export const EMSDK_VERSION = '6.0.5';
/** The Debian suite whose packages are new enough when the machine's own are not. */
export const NEWER_SUITE = 'forky';

/** Is the dotted version `found` at least `minimum`? */
export function atLeast(found, minimum) {
  const parts = (version) => version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const [have, need] = [parts(found), parts(minimum)];
  for (let i = 0; i < Math.max(have.length, need.length); i += 1) {
    const difference = (have[i] ?? 0) - (need[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
