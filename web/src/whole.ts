/**
 * Together with all files of a WASM build, `clearformer/inline`: includes all a language model needs, since service
 * workers cannot load scripts later, and the worker script with the code of functions that are sent to it.
 * @module clearformer/inline
 */

// Imported on demand elsewhere: imported here, they are part of the same file, and import() of them loads nothing.
import 'built:worker';
import './analysis/directions/probe_fit.js';
import './checkpoint/digest.js';
import './checkpoint/given_folder.js';
import './checkpoint/refused_models.js';
import './checkpoint/sha256.js';
import './checkpoint/web_folder.js';
import './checkpoint/weights_header.js';
import './models/adapters.js';
import './models/capture_parts.js';
import './models/fresh/from_config.js';
import './models/generation_callbacks.js';
import './models/embedding_metric.js';
import './models/gradient.js';
import './models/observation.js';
import './models/parameters.js';
import './models/saving.js';
import './models/stop_strings.js';
import './runtime/local_engine.js';
import './text/chat_prompt.js';
import './text/languages.js';
import './text/special_tokens_map.js';
import './text/tokenizer_classes.js';
import * as tables from './text/on_demand.js';
import * as pieces from './text/sentence_pieces.js';
import { useParts } from './text/unicode.js';

useParts({ tables, pieces });

export * from './chat_template.js';
export * from './node.js';
export { useCoreParts } from './runtime/core_parts.js';
