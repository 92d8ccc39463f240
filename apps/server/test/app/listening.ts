import type { Socket } from 'node:net';
import { freePort } from '../servers/start-server.ts';
import { startApp, type TestOptions } from './start-app.ts';

/** The whole application on a port of this machine. Its links name that address. */
export async function startListening(options: TestOptions = {}) {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const service = await startApp({ ...options, env: { PUBLIC_BASE_URL: url, ...options.env } });
  const sockets = new Set<Socket>();
  service.app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await service.app.listen({ port, host: '127.0.0.1' });
  const stop = async () => {
    // A browser opens connections in advance; the server would wait a minute for the first request of each.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    await service.stop();
  };
  return { ...service, url, stop };
}
