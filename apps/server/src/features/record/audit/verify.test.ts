import { beforeAll, describe, expect, test } from 'vitest';
import { registerAgent } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { execute } from '../../../../test/servers/postgres.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, logLevel: 'error' });
  return service.stop;
});

interface Entry {
  readonly id: string;
  readonly seq: number;
  readonly hash: string;
}

/** A developer with a chain of six entries. */
async function chain() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  for (let agent = 1; agent <= 5; agent += 1) await registerAgent(acme, `Agent ${agent}`);
  const { entries } = (await acme('GET', '/v1/audit/entries')).json();
  const [one, two, three, four, five, six] = entries as [Entry, Entry, Entry, Entry, Entry, Entry]; // made above
  return { acme, one, two, three, four, five, six };
}

const verify = async (developer: Developer, query = '') =>
  (await developer('GET', `/v1/audit/verify${query}`)).json();

/** Changes the rows of a chain that match `where`, as only a superuser can. */
async function change({ developerId }: Developer, what: string, where: string, values: unknown[] = []) {
  const changed = await tamper(service.databaseUrl, `${what} where developer_id = $1 and ${where}`, [
    developerId,
    ...values,
  ]);
  expect(changed).toBeGreaterThan(0);
}
const edit = (developer: Developer, set: string, seq: number, values: unknown[] = []) =>
  change(developer, `update audit_entries set ${set}`, `seq = ${seq}`, values);

describe('a chain that nobody touched', () => {
  test('is whole', async () => {
    const { acme, six } = await chain();

    expect(await verify(acme)).toEqual({
      valid: true,
      checkedEntries: 6,
      firstBrokenAt: null,
      problem: null,
      erasedEntries: 0,
      fromSeq: 1,
      toSeq: 6,
      head: { seq: 6, hash: six.hash },
      checkpoint: null,
      checkpointVerified: null,
    });
  });

  test.each([
    ['?fromSeq=3', 4],
    ['?toSeq=3', 3],
    ['?fromSeq=2&toSeq=2', 1],
    ['?fromSeq=6', 1],
    ['?fromSeq=7', 0],
    ['?fromSeq=8', 0],
    ['?fromSeq=999999', 0],
    ['?toSeq=100000', 6],
    ['?fromSeq=5&toSeq=100004', 2],
  ])('is whole in the range %s, which has %i entries', async (range, checkedEntries) => {
    const { acme } = await chain();

    expect(await verify(acme, range)).toMatchObject({ valid: true, checkedEntries, problem: null });
  });

  test.each(['?fromSeq=0', '?fromSeq=-1', '?fromSeq=x', '?fromSeq=3&toSeq=2', '?toSeq=100001', '?toSeq=1e3'])(
    'cannot be verified by the query %s',
    async (range) => {
      const { acme } = await chain();

      expect((await acme('GET', `/v1/audit/verify${range}`)).statusCode).toBe(400);
    },
  );
});

describe('A1: a chain that somebody edited', () => {
  test.each([
    ['id', "id = 'alog_other'"],
    ['agent_id', "agent_id = 'ag_other'"],
    ['agent_id, emptied', 'agent_id = null'],
    ['agent_did', "agent_did = 'did:web:other'"],
    ['grant_id', "grant_id = 'grnt_other'"],
    ['principal_id', "principal_id = 'user_other'"],
    ['action', "action = 'agent.revoked'"],
    ['status', "status = 'failure'"],
    ['metadata', `metadata = '{"name":"Another"}'`],
    ['metadata, with one member more', `metadata = metadata || '{"more":1}'`],
    ['purpose', "purpose = 'aml.screening'"],
    ['salt', "salt = 'AAAAAAAAAAAAAAAAAAAAAA'"],
    ['salt, emptied', 'salt = null'],
    ['at', "at = at + interval '1 millisecond'"],
    ['hash', 'hash = sha256(hash)'],
  ])('at its %s is reported at the edited entry', async (column, set) => {
    const { acme, three } = await chain();

    await edit(acme, set, 3);

    const firstBrokenAt = column === 'id' ? 'alog_other' : three.id;
    expect(await verify(acme)).toMatchObject({
      valid: false,
      checkedEntries: 3,
      firstBrokenAt,
      problem: 'hash_mismatch',
    });
    expect(await verify(acme, '?toSeq=2')).toMatchObject({ valid: true, checkedEntries: 2 });
    expect(await verify(acme, '?fromSeq=3')).toMatchObject({ valid: false, firstBrokenAt });
  });

  test('at its link is reported at the edited entry', async () => {
    const { acme, four } = await chain();

    await edit(acme, 'prev_hash = sha256(prev_hash)', 4);

    expect(await verify(acme)).toMatchObject({ firstBrokenAt: four.id, problem: 'link_mismatch' });
  });

  test('is not reported when only the request id changed, which is no part of the chain', async () => {
    const { acme } = await chain();

    await edit(acme, "request_id = 'another'", 3);

    expect(await verify(acme)).toMatchObject({ valid: true });
  });

  test.each([
    ['first', 1],
    ['third', 3],
  ])('by removing the %s entry has a gap after it', async (_, seq) => {
    const { acme, ...entries } = await chain();

    await change(acme, 'delete from audit_entries', `seq = ${seq}`);

    const next = Object.values(entries).find((entry) => entry.seq === seq + 1);
    expect(await verify(acme)).toMatchObject({ firstBrokenAt: next?.id, problem: 'gap' });
    expect(await verify(acme, `?fromSeq=${seq + 1}`)).toMatchObject({
      firstBrokenAt: next?.id,
      problem: 'gap',
    });
    expect(await verify(acme, `?fromSeq=${seq + 2}`)).toMatchObject({ valid: true });
  });

  test('by removing an entry and closing the gap has a wrong link', async () => {
    const { acme, four } = await chain();

    await change(acme, 'delete from audit_entries', 'seq = 3');
    for (const seq of [4, 5, 6]) await edit(acme, 'seq = seq - 1', seq);

    expect(await verify(acme)).toMatchObject({ firstBrokenAt: four.id, problem: 'link_mismatch' });
  });

  test('by inserting an entry has a wrong link', async () => {
    const { acme } = await chain();

    for (const seq of [6, 5, 4]) await edit(acme, 'seq = seq + 1', seq);
    await tamper(
      service.databaseUrl,
      `insert into audit_entries (developer_id, seq, id, agent_id, agent_did, grant_id, principal_id,
        action, status, metadata, salt, request_id, at, prev_hash, hash, purpose)
       select developer_id, 4, 'alog_put_in', agent_id, agent_did, grant_id, principal_id,
        action, status, metadata, salt, request_id, at, prev_hash, hash, purpose
        from audit_entries where developer_id = $1 and seq = 3`,
      [acme.developerId],
    );

    expect(await verify(acme)).toMatchObject({ firstBrokenAt: 'alog_put_in', problem: 'link_mismatch' });
  });

  test('by adding an entry at its end disagrees with its head', async () => {
    const { acme } = await chain();

    await tamper(
      service.databaseUrl,
      `insert into audit_entries (developer_id, seq, id, agent_id, agent_did, grant_id, principal_id,
        action, status, metadata, salt, request_id, at, prev_hash, hash, purpose)
       select developer_id, 7, 'alog_put_in', agent_id, agent_did, grant_id, principal_id,
        action, status, metadata, salt, request_id, at, hash, sha256(hash), purpose
        from audit_entries where developer_id = $1 and seq = 6`,
      [acme.developerId],
    );

    expect(await verify(acme)).toMatchObject({ firstBrokenAt: 'alog_put_in', problem: 'link_mismatch' });
  });

  test('by exchanging two entries is reported at the first of the two', async () => {
    const { acme, five } = await chain();

    await edit(acme, 'seq = 1000', 3);
    await edit(acme, 'seq = 3', 5);
    await edit(acme, 'seq = 5', 1000);

    expect(await verify(acme)).toMatchObject({ firstBrokenAt: five.id, problem: 'link_mismatch' });
  });

  test.each([
    ['the last entry', 6],
    ['the last three entries', 4],
    ['all entries', 1],
  ])('by removing %s is truncated', async (_, from) => {
    const { acme } = await chain();

    await change(acme, 'delete from audit_entries', `seq >= ${from}`);

    expect(await verify(acme)).toMatchObject({ valid: false, firstBrokenAt: null, problem: 'truncated' });
  });

  test('at its first entry, together with its hash, has a wrong link at the second', async () => {
    const { acme, two } = await chain();
    const other = (await chain()).acme;

    await tamper(
      service.databaseUrl,
      `update audit_entries mine set id = theirs.id, metadata = theirs.metadata, salt = theirs.salt, hash = theirs.hash
        from audit_entries theirs
        where mine.developer_id = $1 and mine.seq = 1 and theirs.developer_id = $2 and theirs.seq = 1`,
      [acme.developerId, other.developerId],
    );

    const verdict = await verify(acme);
    expect(verdict).toMatchObject({ valid: false, problem: 'hash_mismatch' }); // not its developer
    await edit(acme, 'hash = $2', 1, [Buffer.from(two.hash, 'hex')]);
    expect(await verify(acme, '?fromSeq=2')).toMatchObject({
      firstBrokenAt: two.id,
      problem: 'link_mismatch',
    });
  });

  test('with entries of another chain is reported at the first of them', async () => {
    const { acme, three } = await chain();
    const { acme: other, three: theirs } = await chain();

    await change(acme, 'delete from audit_entries', 'seq >= 3');
    await tamper(
      service.databaseUrl,
      'update audit_entries set developer_id = $1 where developer_id = $2 and seq >= 3',
      [acme.developerId, other.developerId],
    );

    expect(three.id).not.toBe(theirs.id);
    expect(await verify(acme)).toMatchObject({ firstBrokenAt: theirs.id, problem: 'link_mismatch' });
    expect(await verify(other)).toMatchObject({ problem: 'truncated' });
  });

  test('leaves other chains whole, and logs a line for the operator each time it is found', async () => {
    const { acme, three } = await chain();
    const { acme: other } = await chain();
    await edit(acme, "action = 'agent.revoked'", 3);
    service.logLines.length = 0;

    await verify(acme);

    expect(await verify(other)).toMatchObject({ valid: true });
    expect(service.logLines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'error',
        time: expect.any(String),
        reqId: expect.any(String),
        developerId: acme.developerId,
        firstBrokenAt: three.id,
        problem: 'hash_mismatch',
        msg: 'an audit chain is broken',
      },
    ]);
  });
});

test.each(["update audit_entries set action = 'x'", 'delete from audit_entries', 'truncate audit_entries'])(
  'A3: the database refuses to %s',
  async (statement) => {
    const { acme } = await chain();

    const refused = execute(service.databaseUrl, statement);

    await expect(refused).rejects.toThrow('audit_entries is append-only');
    expect(await verify(acme)).toMatchObject({ valid: true, checkedEntries: 6 });
  },
);
