/**
 * Together with a WASM build, `clearformer/inline`: includes all a language model needs, also the worker script,
 * since service workers cannot load scripts later.
 * @module clearformer/inline
 */

import * as worker from 'built:worker';
import * as digest from './checkpoint/digest.js';
import * as sha256 from './checkpoint/sha256.js';
import * as webFolder from './checkpoint/web_folder.js';
import * as generationCallbacks from './models/generation_callbacks.js';
import * as core from './runtime/core.js';
import { giveParts } from './support/parts.js';
import * as chatPrompt from './text/chat_prompt.js';
import * as chatTemplate from './text/chat_template.js';
import * as onDemand from './text/on_demand.js';
import { useOnDemand } from './text/unicode.js';

giveParts({
  'built:worker': worker,
  'checkpoint/digest.js': digest,
  'checkpoint/sha256.js': sha256,
  'checkpoint/web_folder.js': webFolder,
  'models/generation_callbacks.js': generationCallbacks,
  'runtime/core.js': core,
  'text/chat_prompt.js': chatPrompt,
  'text/chat_template.js': chatTemplate,
  'text/on_demand.js': onDemand,
});
useOnDemand(onDemand);

export * from './chat_template.js';
export * from './node.js';
