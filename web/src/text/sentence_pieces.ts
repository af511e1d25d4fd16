// Loaded only for tokenizers that need it: SentencePiece's model and normalizer.

export { precompiled } from './precompiled.js';
export { unigram } from './unigram.js';
