/**
 * The entry for Node: `clearformer` in few files, see scripts/build/whole.ts. The build replaces runtime/assets.ts by
 * runtime/assets_whole.ts.
 * @module clearformer
 */

export * from './index.js';
/** @internal */
export { useEmbedded } from './runtime/assets_whole.js';
