#!/usr/bin/env node
// npx clearformer: models from the command line.

import { run } from './run.js';

// Nothing that is still open (a pipe on standard input, a connection) keeps the program from ending.
process.exit(await run(process.argv.slice(2)));
