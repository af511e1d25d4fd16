// Loaded only for tokenizers that need it: Unicode tables and regular expressions.

export { regularExpression } from './regular_expression.js';
export * from './unicode_tables.js';
