// Loaded only for tokenizers that need it: Unicode tables, normalization forms and regular expressions.

export { regularExpression } from './regular_expression.js';
export { unicodeForm } from './unicode_form.js';
export * from './unicode_sets.js';
