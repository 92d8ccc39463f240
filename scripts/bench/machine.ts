import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';
import type pg from 'pg';

/** Describes the machine, as far as it affects the figures. */
export async function describeMachine(db: pg.Client, redisVersion: string): Promise<string[]> {
  const [processor] = cpus();
  const { rows } = await db.query<{ server_version: string }>('show server_version');
  return [
    `${cpus().length} cores (${processor?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${process.versions.node}, PostgreSQL ${rows[0]?.server_version} (fsync on), Redis ${redisVersion}`,
  ];
}

export interface SigningRates {
  readonly sign: number;
  readonly verify: number;
  /** Measures signatures on libuv's threads, sixteen at once. */
  readonly pooledSign: number;
}

/** Measures RSA-2048 with SHA-256, the signature of tokens, for some seconds each. */
export async function measureSigning(seconds: number): Promise<SigningRates> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const text = Buffer.alloc(900, 'x'); // about a token
  const signature = sign('sha256', text, privateKey);
  const signAsync = promisify(sign);
  const endsAt = (start: number) => start + seconds * 1000;

  const start = performance.now();
  let pooled = 0;
  const lines = Array.from({ length: 16 }, async () => {
    for (; performance.now() < endsAt(start); pooled += 1) await signAsync('sha256', text, privateKey);
  });
  await Promise.all(lines);
  return {
    pooledSign: pooled / seconds,
    sign: rateOf(() => sign('sha256', text, privateKey), seconds),
    verify: rateOf(() => verify('sha256', text, publicKey, signature), seconds),
  };
}

function rateOf(work: () => unknown, seconds: number): number {
  const endsAt = performance.now() + seconds * 1000;
  let done = 0;
  for (; performance.now() < endsAt; done += 1) work();
  return done / seconds;
}
