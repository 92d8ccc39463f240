import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { CliError, EXIT } from '../errors.ts';

export interface Door {
  /** The address to which the consent page sends the browser back. */
  readonly url: string;
  readonly state: string;
  /** Waits for the code. @throws CliError when the person denies */
  code(): Promise<string>;
  close(): void;
}

/** Listens on this machine for the browser that comes back from the consent page. */
export async function loopback(signal: AbortSignal): Promise<Door> {
  const state = randomBytes(16).toString('base64url');
  let resolve: (code: string) => void = () => undefined;
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<string>((good, bad) => {
    [resolve, reject] = [good, bad]; // Promise.withResolvers is not in Node 20
  });
  promise.catch(() => undefined); // nobody waits for it where the code comes with the answer
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  const server = createServer((request, response) => {
    const { searchParams, pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const [code, error] = [searchParams.get('code'), searchParams.get('error')];
    const isOurs =
      pathname === '/callback' && searchParams.get('state') === state && (code ?? error) !== null;
    response.writeHead(isOurs ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
    });
    response.end(isOurs ? 'You can close this window and go back to the terminal.\n' : 'Nothing is here.\n');
    if (!isOurs) return;
    if (code !== null) resolve(code);
    else reject(new CliError('DENIED', `The person did not approve: ${error}.`, { exitCode: EXIT.no }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = Object(server.address());
  return {
    url: `http://127.0.0.1:${port}/callback`,
    state,
    code: () => promise,
    close: () => server.close(),
  };
}
