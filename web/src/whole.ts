/**
 * Together with a WASM build, `clearformer/inline`: includes all a language model needs, also the worker script,
 * since service workers cannot load scripts later.
 * @module clearformer/inline
 */

// Imported on demand elsewhere: imported here, they are part of the same file, and import() of them loads nothing.
import 'built:hook_functions';
import 'built:worker';
import './checkpoint/digest.js';
import './checkpoint/sha256.js';
import './checkpoint/web_folder.js';
import './models/adapters.js';
import './models/generation_callbacks.js';
import './models/gradient.js';
import './models/observation.js';
import './models/parameters.js';
import './models/saving.js';
import './models/stop_strings.js';
import './runtime/core.js';
import './text/chat_prompt.js';
import './text/languages.js';
import * as tables from './text/on_demand.js';
import * as pieces from './text/sentence_pieces.js';
import { useParts } from './text/unicode.js';

useParts({ tables, pieces });

export * from './chat_template.js';
export * from './node.js';
