// Keeps the whole page on the reader's machine: every file of one build, fetched once, served from the cache. A new build is
// another list; files that are the same in both are not fetched again, and the build before stays for pages still open.

interface WorkerEvent extends Event {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
}
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate' | 'fetch', listener: (event: WorkerEvent) => void): void;
}
/** Digests of the build's files by their paths from the page's folder, and of all of them; vite.config.ts fills them in. */
declare const buildFiles: Readonly<Record<string, string>>;
declare const buildVersion: string;

const worker = self as unknown as WorkerScope;
const prefix = `clearformer ${worker.registration.scope} `; // Caches belong to the origin, which may hold other pages.
const name = prefix + buildVersion;
const listKey = 'cached-files.json';
const urlOf = (path: string): string => new URL(path, worker.registration.scope).href;

const ours = async (): Promise<string[]> => (await caches.keys()).filter((each) => each.startsWith(prefix));

/** The file as another build's cache has it, with the same contents. */
async function kept(path: string, digest: string): Promise<Response | undefined> {
  for (const each of await ours()) {
    const cache = await caches.open(each);
    const files: Record<string, string> = await (await cache.match(urlOf(listKey)))?.json();
    if (files?.[path] === digest) return cache.match(urlOf(path));
  }
  return undefined;
}

async function fetched(path: string): Promise<Response> {
  const response = await fetch(urlOf(path), { cache: 'no-cache' });
  if (!response.ok) throw new Error(`${path}: HTTP ${response.status}`);
  // What was redirected may not answer a navigation.
  return response.redirected ? new Response(await response.blob(), { headers: response.headers }) : response;
}

async function install(): Promise<void> {
  const cache = await caches.open(name);
  for (const [path, digest] of Object.entries(buildFiles)) {
    await cache.put(urlOf(path), (await kept(path, digest)) ?? (await fetched(path)));
  }
  await cache.put(urlOf(listKey), Response.json(buildFiles)); // Last: a list says that its files are there.
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  const others = (await ours()).filter((each) => each !== name);
  await Promise.all(others.slice(0, -1).map((each) => caches.delete(each)));
  await worker.clients.claim();
}

async function answer(request: Request): Promise<Response> {
  const url = request.url.replace(/[?#].*$/, '').replace(/\/index\.html$/, '/');
  const found = (await (await caches.open(name)).match(url)) ?? (await caches.match(url));
  return found ?? fetch(request);
}

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(activate()));
worker.addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  const asks = method === 'GET' || method === 'HEAD';
  if (asks && url.startsWith(worker.registration.scope)) event.respondWith(answer(event.request));
});

export {};
