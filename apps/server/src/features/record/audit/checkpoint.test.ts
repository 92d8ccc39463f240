import { createHash, generateKeyPairSync } from 'node:crypto';
import { verifyChain } from '@behest/protocol/audit-chain';
import { agreesWithCheckpoint, readCheckpoint } from '@behest/protocol/audit-checkpoint';
import { describe, expect, test } from 'vitest';
import { partsOf, registerAgent, signedBy } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';
import { verifySignature } from '../../service/keys/index.ts';
import { checkpointsOfChains } from './audit.feature.ts';

/** A service, and a developer with a chain of four entries. */
async function chain() {
  const service = await startApp({ logLevel: 'error' });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  for (let agent = 1; agent <= 3; agent += 1) await registerAgent(acme, `Agent ${agent}`);
  const runJob = () => checkpointsOfChains(service).run(new AbortController().signal);
  return { service, acme, runJob };
}

const headOf = async (developer: Developer) => (await developer('GET', '/v1/audit/head')).json();
const verify = async (developer: Developer) => (await developer('GET', '/v1/audit/verify')).json();
const entriesOf = async (developer: Developer) =>
  (await developer('GET', '/v1/audit/entries')).json().entries;

/** Deletes the entries after `seq`, and sets the head back as if they had never existed. */
async function cutTo(databaseUrl: string, { developerId }: Developer, seq: number) {
  const values = [developerId, seq];
  await tamper(databaseUrl, 'delete from audit_entries where developer_id = $1 and seq > $2', values);
  await tamper(
    databaseUrl,
    `update audit_heads h set seq = e.seq, hash = e.hash, at = e.at from audit_entries e
      where h.developer_id = $1 and e.developer_id = h.developer_id and e.seq = $2`,
    values,
  );
}

describe('the head', () => {
  test('has a signed checkpoint, which anybody can check with the published keys', async () => {
    const { service, acme } = await chain();

    const { seq, hash, checkpoint } = await headOf(acme);

    const { header, payload } = partsOf(checkpoint);
    expect(header).toMatchObject({ alg: 'RS256', typ: 'audit-checkpoint+jwt' });
    const iat = service.clock().getTime() / 1000;
    expect(payload).toEqual({ dev: acme.developerId, seq, hash, iat });
    const keys = () => service.keyRing.verificationKeys();
    const read = readCheckpoint(checkpoint, { keys, verifySignature, now: service.clock() });
    expect(read).toEqual({ developerId: acme.developerId, seq, hash, signedAt: service.clock() });
    expect(read && agreesWithCheckpoint(read, await entriesOf(acme))).toBe(true);
  });

  test('is signed again when the chain has grown, at most once a minute', async () => {
    const { service, acme } = await chain();
    const { checkpoint: first } = await headOf(acme);

    await registerAgent(acme);
    const { seq, checkpoint: within } = await headOf(acme);
    service.advance(60);
    const { checkpoint: after } = await headOf(acme);
    service.advance(3600);
    const { checkpoint: later } = await headOf(acme);

    expect(within).toBe(first);
    expect(partsOf(after).payload.seq).toBe(seq);
    expect(later).toBe(after);
    expect(await verify(acme)).toMatchObject({ valid: true, checkpoint: after });
  });
});

describe('the job', () => {
  test('signs only chains that have grown and that no request asked about for an hour', async () => {
    const { service, acme, runJob } = await chain();
    const quiet = await service.asDeveloper();
    const checkpoints = () =>
      service.db
        .selectFrom('auditCheckpoints')
        .select(['developerId', 'seq'])
        .where('developerId', 'in', [acme.developerId, quiet.developerId])
        .orderBy('seq')
        .execute();

    await runJob();
    await runJob();
    const first = { developerId: acme.developerId, seq: '4' };
    const other = { developerId: quiet.developerId, seq: '1' };
    expect(await checkpoints()).toEqual([other, first]);

    await registerAgent(acme);
    service.advance(3599);
    await runJob();
    expect(await checkpoints()).toHaveLength(2);
    service.advance(2);
    await runJob();
    expect(await checkpoints()).toEqual([other, first, { ...first, seq: '5' }]);
  });

  test('leaves one checkpoint when two instances sign at once', async () => {
    const { service, acme, runJob } = await chain();

    await Promise.all([runJob(), runJob()]);

    const rows = service.db
      .selectFrom('auditCheckpoints')
      .select('seq')
      .where('developerId', '=', acme.developerId);
    expect(await rows.execute()).toHaveLength(1);
  });
});

describe('verification', () => {
  test('shows the newest checkpoint, and compares the chain with it', async () => {
    const { acme } = await chain();
    const { checkpoint } = await headOf(acme);
    await registerAgent(acme);

    expect(await verify(acme)).toMatchObject({
      valid: true,
      checkedEntries: 5,
      checkpoint,
      checkpointVerified: true,
    });
  });

  test('A1: finds a chain that was truncated with its head, and looks whole without the checkpoint', async () => {
    const { service, acme } = await chain();
    await headOf(acme);
    await cutTo(service.databaseUrl, acme, 2);

    expect(await verify(acme)).toMatchObject({ valid: false, firstBrokenAt: null, problem: 'truncated' });
    expect(service.logLines.join()).toContain('an audit chain is broken');
    await tamper(service.databaseUrl, 'delete from audit_checkpoints where developer_id = $1', [
      acme.developerId,
    ]);
    expect(await verify(acme)).toMatchObject({ valid: true, checkedEntries: 2 });
  });

  test('A1: finds a truncated chain that has grown again and was signed again', async () => {
    const { service, acme } = await chain();
    await headOf(acme);
    await cutTo(service.databaseUrl, acme, 2);
    for (let agent = 4; agent <= 6; agent += 1) await registerAgent(acme, `Agent ${agent}`);
    service.advance(60);
    const { seq, checkpoint } = await headOf(acme);
    const entries = await entriesOf(acme);

    expect(partsOf(checkpoint).payload.seq).toBe(seq);
    expect(await verify(acme)).toMatchObject({
      valid: false,
      firstBrokenAt: entries[3].id,
      problem: 'truncated',
      checkpoint,
      checkpointVerified: true,
    });
  });

  test('A1: finds a chain that was rewritten after the checkpoint', async () => {
    const { service, acme } = await chain();
    const entries = await entriesOf(acme);
    await headOf(acme);
    const other = await service.asDeveloper({ mode: 'sandbox' });
    for (let agent = 1; agent <= 3; agent += 1) await registerAgent(other, `Another ${agent}`);
    // A genuine checkpoint about a hash that this chain never had stands for a chain that was replaced.
    const { hash } = await headOf(other);
    const iat = service.clock().getTime() / 1000;
    const claims = { dev: acme.developerId, seq: 4, hash, iat };
    const jws = await signedBy(service, claims, { typ: 'audit-checkpoint+jwt' });

    await tamper(service.databaseUrl, 'update audit_checkpoints set jws = $2 where developer_id = $1', [
      acme.developerId,
      jws,
    ]);

    const verdict = await verify(acme);
    expect(verdict).toMatchObject({ valid: false, firstBrokenAt: entries[3].id, problem: 'truncated' });
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(verifyChain(entries, {}, sha256).valid).toBe(true);
    const said = { developerId: acme.developerId, seq: 4, hash, signedAt: service.clock() };
    expect(agreesWithCheckpoint(said, entries)).toBe(false);
  });

  test.each([
    ['of another chain', (_: string, other: string) => other],
    ['with another signature', (own: string) => `${own.slice(0, -8)}AAAAAAAA`],
  ])('reports a broken chain for a stored checkpoint %s', async (_, replaced) => {
    const { service, acme } = await chain();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const { checkpoint } = await headOf(acme);
    const { checkpoint: theirs } = await headOf(other);

    const jws = replaced(checkpoint, theirs);
    await tamper(service.databaseUrl, 'update audit_checkpoints set jws = $2 where developer_id = $1', [
      acme.developerId,
      jws,
    ]);

    expect(await verify(acme)).toMatchObject({
      valid: false,
      problem: 'truncated',
      checkpointVerified: false,
    });
  });

  test.each(['0', '86400'])(
    'A1: holds a chain to a checkpoint of a withdrawn key, and does not call it verified (activation delay %s)',
    async (delay) => {
      const env = { SIGNING_KEY_ACTIVATION_DELAY_SECONDS: delay };
      const before = await startApp({ env });
      const acme = await before.asDeveloper({ mode: 'sandbox' });
      for (let agent = 1; agent <= 3; agent += 1) await registerAgent(acme, `Agent ${agent}`);
      const { checkpoint } = await headOf(acme);
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      const RSA_PRIVATE_KEY = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
      const after = await startApp({ env: { ...env, RSA_PRIVATE_KEY }, databaseUrl: before.databaseUrl });
      const verifyAfter = async () => (await after.calling(acme.apiKey)('GET', '/v1/audit/verify')).json();

      expect(await verify(acme)).toMatchObject({ valid: true, checkpoint, checkpointVerified: true });
      const whole = { valid: true, problem: null, checkpoint, checkpointVerified: false };
      expect(await verifyAfter()).toMatchObject(whole);

      await tamper(before.databaseUrl, 'delete from audit_entries where developer_id = $1 and seq > 2', [
        acme.developerId,
      ]);
      await cutTo(before.databaseUrl, acme, 2);
      const cut = { valid: false, problem: 'truncated', checkpoint };
      expect(await verify(acme)).toMatchObject({ ...cut, checkpointVerified: true });
      expect(await verifyAfter()).toMatchObject({ ...cut, checkpointVerified: false });
    },
  );
});
