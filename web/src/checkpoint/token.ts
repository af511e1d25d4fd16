// Which token is sent to which host: the given one, or the one of Python's huggingface_hub, to the Hub only.

import { ClearformerError } from '../support/error.js';
import { isNode, urlOf } from '../support/platform.js';
import type { Token } from './transport.js';

/** A Hub token, or false for none. */
export type TokenOption = string | false;

/** The token for a URL. Throws `unsupported` if a token was given for a host other than the Hub's. */
export async function tokenFor(
  { origin }: URL,
  host: string,
  given: TokenOption | undefined,
): Promise<Token | undefined> {
  if (given === false) return undefined;
  if (origin !== urlOf('remote_host', host).origin) {
    if (given === undefined) return undefined;
    const message = `token: ${origin} is not the Hub's host (${host}): name it as remote_host, or see configure({ fetch })`;
    throw new ClearformerError('unsupported', message, { option: 'token' });
  }
  const value = given ?? (isNode() ? await (await import('./hub_home.js')).storedToken() : undefined);
  return value === undefined ? undefined : { value, origin };
}
