// npm run models [-- name …]: downloads the checkpoints that tests use and git does not contain, and prints their
// folders. Later runs need no network.

import { commandOf } from './main.js';
import { checkpointNames, fetchCheckpoints } from './models/checkpoints.js';

export const command = commandOf(async (names) => {
  const folders = await fetchCheckpoints(names.length > 0 ? names : checkpointNames);
  for (const [name, folder] of Object.entries(folders)) console.log(`${name}: ${folder}`);
}, checkpointNames);
