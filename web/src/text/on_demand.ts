// Loaded only for tokenizers that need it: Unicode tables, normalizers and regular expressions with them.

export { regularExpression } from './regular_expression.js';
export { unicodeNormalizer } from './unicode_normalizers.js';
export * from './unicode_sets.js';
