import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { freePort } from '../machine/ports.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.png': 'image/png',
  '.txt': 'text/plain',
};

/** Serves the files of a folder over HTTP, below a path of the host. @returns the address of that path */
export async function serveFolder(folder: string, base = '/') {
  const port = await freePort();
  const server = createServer(({ url = '/' }, answer) => {
    const path = normalize(decodeURIComponent(url.replace(/[?#].*/, '')));
    const own = path.startsWith(base) ? path.slice(base.length) : undefined;
    const file = join(folder, own === '' || own?.endsWith('/') ? `${own}index.html` : (own ?? ''));
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return void answer.writeHead(404).end();
    answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(answer);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}${base.slice(0, -1)}`, stop };
}
