/**
 * `clearformer/tokenizer`: everything about text, without the WASM. Tokenizers can be made here without waiting for
 * anything.
 * @module clearformer/tokenizer
 */

import * as tables from './text/on_demand.js';
import * as pieces from './text/sentence_pieces.js';
import { useParts } from './text/unicode.js';

useParts({ tables, pieces });

export * from './text/exports.js';
