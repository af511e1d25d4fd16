/**
 * What Node loads: `clearformer` in few files, see scripts/build/whole.ts. The build puts runtime/assets_whole.ts in place of
 * runtime/assets.ts.
 * @module clearformer
 */

export * from './index.js';
/** @internal */
export { useEmbedded } from './runtime/assets_whole.js';
