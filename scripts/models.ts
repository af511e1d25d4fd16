// npm run models [-- name …]: fetches the checkpoints that tests use and git does not hold, and says where they are.
// Later runs need no network.

import { commandOf } from './main.js';
import { checkpointNames, fetchCheckpoints } from './models/checkpoints.js';

export const command = commandOf(async (names) => {
  const folders = await fetchCheckpoints(names.length > 0 ? names : checkpointNames);
  for (const [name, folder] of Object.entries(folders)) console.log(`${name}: ${folder}`);
}, checkpointNames);
