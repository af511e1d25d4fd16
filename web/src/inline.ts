// The public exports of `clearformer/inline`: the same as `clearformer`, in one file that needs no other. The build puts
// runtime/assets_inline.ts in place of runtime/assets.ts.

export * from './index.js';
