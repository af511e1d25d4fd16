// A cache like the browser's, in memory.

import type { CacheLike } from 'clearformer';

export class MemoryCache implements CacheLike {
  readonly kept = new Map<string, { body: ArrayBuffer; headers: Headers }>();
  full = false;

  async match(request: string): Promise<Response | undefined> {
    const found = this.kept.get(request);
    return found && new Response(found.body.slice(0), { headers: found.headers });
  }

  async put(request: string, response: Response): Promise<void> {
    if (this.full) throw new DOMException('no space', 'QuotaExceededError');
    this.kept.set(request, { body: await response.arrayBuffer(), headers: response.headers });
  }

  async delete(request: string): Promise<boolean> {
    return this.kept.delete(request);
  }
}
