/**
 * `clearformer/tokenizer`: everything about text, without the WASM. Tokenizers can be made here without waiting for
 * anything.
 * @module clearformer/tokenizer
 */

import * as onDemand from './text/on_demand.js';
import { useOnDemand } from './text/unicode.js';

useOnDemand(onDemand);

export * from './text/exports.js';
