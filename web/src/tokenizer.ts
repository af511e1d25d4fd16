/**
 * `clearformer/tokenizer`: everything about text, without the WASM. Tokenizers can be made here without waiting for
 * anything.
 * @module clearformer/tokenizer
 */

import { useTables } from './text/unicode.js';
import * as tables from './text/unicode_tables.js';

useTables(tables);

export * from './text/exports.js';
