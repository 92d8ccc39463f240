import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../../scripts/machine/ports.ts';

/** Passes on what the two ends of a connection say. */
type Link = (near: Socket, far: Socket) => void;

/** A fixed address for a server whose port may change. Each new connection asks for the port. */
export async function relayTo(port: () => number, link: Link = passAll) {
  const open = new Set<Socket>();
  const relay = createServer((near) => {
    const far = connect(port(), '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.on('error', () => {}); // `close` follows
      one.once('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
    link(near, far);
  });
  const own = await freePort();
  await new Promise<void>((resolve) => relay.listen(own, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of open) socket.destroy();
    relay.close();
  };
  return { port: own, close };
}

const passAll: Link = (near, far) => {
  near.pipe(far);
  far.pipe(near);
};
