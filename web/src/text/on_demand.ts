// What only some tokenizers need, and is fetched for them: the tables of Unicode, and regular expressions.

export { regularExpression } from './regular_expression.js';
export * from './unicode_tables.js';
