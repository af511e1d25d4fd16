// hook_functions.js: the code that makes functions of hook points, left in the worker for models/functions_part.ts.

import { functionsName } from './models/functions_part.js';
import { received } from './models/received_functions.js';

Object.assign(globalThis, { [functionsName]: { received } });
