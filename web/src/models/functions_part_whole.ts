// The code that makes hook functions, for the worker that is part of a script: policies that allow the worker may forbid
// it every other script that is no file.

import * as functions from './received_functions.js';

export async function functionsPart(): Promise<typeof functions> {
  return functions;
}
