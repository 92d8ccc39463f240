import { type ChainPosition, createVerifierKey, signPosition } from '@behest/protocol/revocation-statement';
import type { Instant } from './event-stream.ts';
import { type ServiceOptions, sendToService } from './service.ts';

/**
 * A verifier's right to answer from memory. The service gives it for some seconds at a time, and gives no more of it to a
 * verifier that owes a confirmation. So a statement of the service about a revocation can say of each verifier that it
 * has confirmed, or that it asks at each call.
 */
export interface VerifierLease {
  /** Whether the verifier may answer from memory now. */
  holds(): boolean;
  /** Signs a position and hands it in. Everything before it has been applied. */
  confirm(position: ChainPosition): void;
  /** Asks for the lease at once, because something may have to be confirmed. */
  renew(): void;
  close(): void;
}

interface Circumstances {
  /** The name of the verifier in statements. */
  readonly name: string;
  /** Forgets every answer, also those that are under way. */
  readonly forget: () => void;
  readonly time: () => Instant;
}

/** The part of a lease after which it is renewed, so that one lost renewal costs nothing. */
const RENEWED_AFTER = 0.4;
const [SHORTEST_PAUSE, LONGEST_PAUSE] = [1_000, 30_000]; // milliseconds

interface Registration {
  readonly verifierId: string;
  readonly privateKey: Parameters<typeof signPosition>[1];
}

/** Registers a verifier, and renews its lease until it is closed. */
export function verifierLease(service: ServiceOptions, { name, forget, time }: Circumstances): VerifierLease {
  let registration: Registration | undefined;
  let lease: { readonly askedAt: Instant; readonly milliseconds: number } | undefined;
  let wanted: ChainPosition | undefined;
  let isClosed = false;
  let isDue = true;
  let wake = () => {};

  const rouse = () => {
    isDue = true;
    wake();
  };

  /** An answer that was asked for before the registration may come after a statement that does not name the verifier. */
  async function register(): Promise<Registration> {
    const { publicKey, privateKey } = await createVerifierKey();
    const { status, answer } = await sendToService(service, '/v1/verifiers', { name, publicKey });
    if (status !== 201) throw new Error(`The verifier was not registered: ${status}`);
    forget();
    return { verifierId: String(answer.verifierId), privateKey };
  }

  /** @returns milliseconds until the next renewal */
  async function ask(): Promise<number> {
    registration ??= await register();
    const { verifierId, privateKey } = registration;
    const asked = wanted;
    const position = asked && (await signPosition({ verifierId, ...asked }, privateKey, new Date()));
    const askedAt = time(); // before the service counts, so that the lease ends here first
    const path = `/v1/verifiers/${verifierId}/lease`;
    const { status, answer } = await sendToService(service, path, position ? { position } : {}, 'PUT');
    if (status === 404) registration = undefined;
    if (status !== 200) throw new Error(`The lease was not renewed: ${status}`);
    if (wanted === asked) wanted = undefined;
    const milliseconds = Number(answer.leaseSeconds) * 1_000;
    lease = { askedAt, milliseconds };
    const owed = positionIn(answer.asked);
    if (owed && owed.seq === asked?.seq) throw new Error('The service does not take the confirmation.');
    if (owed) {
      forget(); // whatever was heard or not: all that is asked from now on is asked after the revocation
      wanted = owed;
    }
    return wanted ? 0 : milliseconds * RENEWED_AFTER;
  }

  async function run(): Promise<void> {
    let pause = SHORTEST_PAUSE;
    while (!isClosed) {
      isDue = false;
      let wait: number;
      try {
        wait = await ask();
        pause = SHORTEST_PAUSE;
      } catch {
        wait = pause * (0.5 + Math.random() / 2);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
        isDue = false; // what is wanted waits too, so that a service in trouble is not asked without end
      }
      if (isDue || isClosed || wait === 0) continue;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, wait);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
  void run();

  return {
    holds() {
      if (!lease || isClosed) return false;
      const { wall, steady } = time();
      return Math.max(wall - lease.askedAt.wall, steady - lease.askedAt.steady) < lease.milliseconds;
    },
    confirm(position) {
      if (wanted === undefined || wanted.seq < position.seq) wanted = position;
      rouse();
    },
    renew: rouse,
    close() {
      isClosed = true;
      lease = undefined;
      wake();
    },
  };
}

/** Reads the position that the service or an event names. */
export function positionIn(value: unknown): ChainPosition | undefined {
  const { seq, hash } = Object(value);
  return Number.isSafeInteger(seq) && typeof hash === 'string' ? { seq, hash } : undefined;
}
