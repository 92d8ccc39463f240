import { createHash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { archiveMembers, checkEvidenceArchive } from '@behest/protocol/evidence-archive';
import { checkEvidencePack } from '@behest/protocol/evidence-pack';
import { beginZip, readZip } from '@behest/protocol/stored-zip';
import { beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { verifySignature } from '../../service/keys/index.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true, env: { COMPLIANCE_MAX_ROWS: '20' } });
  return service.stop;
});

const PACK = '/v1/compliance/evidence-pack';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** A developer with some of everything that a pack holds. */
async function account() {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { grantId } = await grantTo(acme, { principalId: 'Jürgen "J" <j@x>' });
  await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  await acme('POST', '/v1/policies', { name: 'None', effect: 'deny', scopes: ['payments:*'] });
  return acme;
}

const packOf = async (developer: Developer, query = '') => (await developer('GET', `${PACK}${query}`)).json();
const check = (bytes: Uint8Array) =>
  checkEvidencePack(bytes, { keys: service.keyRing.verificationKeys(), verifySignature, sha256 });

async function change({ developerId }: Developer, what: string, seq: number) {
  const changed = await tamper(service.databaseUrl, `${what} where developer_id = $1 and seq = ${seq}`, [
    developerId,
  ]);
  expect(changed).toBe(1);
}

describe('an evidence pack', () => {
  test('has what an auditor needs, and an entry tells of it', async () => {
    const acme = await account();
    const { jwks } = { jwks: (await acme('GET', '/.well-known/jwks.json')).json() };
    const { entries } = (await acme('GET', '/v1/audit/entries?limit=500')).json();
    const { policies } = (await acme('GET', '/v1/policies')).json();
    const { generatedAt, ...summary } = (await acme('GET', '/v1/compliance/summary')).json();

    const pack = await packOf(acme);

    expect(pack).toMatchObject({
      meta: { schemaVersion: '1.0', generatedAt, framework: 'all' },
      summary,
      auditEntries: entries,
      policies,
      chainIntegrity: {
        valid: true,
        checkedEntries: entries.length,
        firstBrokenAt: null,
        problem: null,
        fromSeq: 1,
        toSeq: entries.length,
        head: { seq: entries.length, hash: entries.at(-1).hash },
      },
      attestation: { alg: 'RS256', kid: jwks.keys[0].kid },
    });
    expect(pack.grants).toHaveLength(2);
    expect(pack.controls.map(({ id }: { id: string }) => id)).toEqual([
      ...['CC6.1', 'CC6.2', 'CC6.3', 'CC7.2', 'CC7.3'],
      ...['Art. 5(1)(f)', 'Art. 7', 'Art. 17', 'Art. 30', 'Art. 32'],
    ]);
    expect(await entriesOf(acme, 'compliance.exported')).toMatchObject([
      { metadata: { kind: 'evidence-pack', since: null, until: null, total: entries.length + 3 } },
    ]);
  });

  test('is of one framework when it is asked so, and 400 of another', async () => {
    const acme = await account();

    const { controls } = await packOf(acme, '?framework=soc2');

    expect(new Set(controls.map(({ framework }: { framework: string }) => framework))).toEqual(
      new Set(['soc2']),
    );
    expect((await acme('GET', `${PACK}?framework=hipaa`)).statusCode).toBe(400);
  });

  test('is refused when it has too many rows', async () => {
    const acme = await account();
    while ((await acme('GET', '/v1/audit/head')).json().seq <= 20) await registerAgent(acme);

    const refused = await acme('GET', PACK);

    expect([refused.statusCode, refused.json().code]).toEqual([413, 'EXPORT_TOO_LARGE']);
    expect(refused.json().details).toEqual({ total: 21, limit: 20, formats: [] });
  });

  test('is whole for a period without entries', async () => {
    const acme = await account();

    expect(await packOf(acme, '?until=2025-12-31')).toMatchObject({
      auditEntries: [],
      chainIntegrity: { valid: true, checkedEntries: 0, fromSeq: 1, toSeq: 0 },
    });
  });
});

describe('A1: a pack of a chain that somebody changed', () => {
  test.each([
    ['edited', "update audit_entries set action = 'agent.updated'", 3, 'hash_mismatch', 2],
    ['removed', 'delete from audit_entries', 3, 'gap', 2],
    ['linked elsewhere', "update audit_entries set prev_hash = '\\x00'", 4, 'link_mismatch', 3],
  ])('names the entry that was %s', async (_, what, seq, problem, checkedEntries) => {
    const acme = await account();
    await change(acme, what, seq);

    const answer = await acme('GET', PACK);

    expect(answer.statusCode).toBe(200);
    expect(answer.json().chainIntegrity).toMatchObject({ valid: false, problem, checkedEntries });
    const verdict = check(answer.rawPayload);
    expect(verdict).toMatchObject({ isGenuine: true, chain: { valid: false, problem } });
  });

  test('shows a tail that was cut off, unless its period ends before', async () => {
    const acme = await account();
    const { seq } = (await acme('GET', '/v1/audit/head')).json();
    await change(acme, 'delete from audit_entries', seq);

    expect((await packOf(acme)).chainIntegrity).toMatchObject({ valid: false, problem: 'truncated' });
    expect((await packOf(acme, '?until=2025-12-31')).chainIntegrity).toMatchObject({ valid: true });
  });
});

describe('the checker of packs', () => {
  test('needs nothing but the keys, and finds every changed byte', async () => {
    const acme = await account();
    const { rawPayload } = await acme('GET', PACK);
    expect(check(rawPayload)).toMatchObject({ isGenuine: true, problem: null, chain: { valid: true } });

    const missed: number[] = [];
    for (let at = 0; at < rawPayload.length; at += 7) {
      for (const bit of [0x01, 0x20]) {
        const changed = Uint8Array.from(rawPayload);
        changed[at] = (changed[at] ?? 0) ^ bit;
        if (check(changed).isGenuine) missed.push(at);
      }
    }

    expect(missed).toEqual([]);
  });

  test.each([
    ['a list', 'grants_changed', (pack: Pack) => pack.grants.pop()],
    ['a policy', 'policies_changed', (pack: Pack) => pack.policies.push({})],
    ['an entry', 'audit_entries_changed', (pack: Pack) => pack.auditEntries.shift()],
    ['the summary', 'facts_changed', (pack: Pack) => Object.assign(pack.summary, { plan: 'enterprise' })],
  ])('names the part that was changed: %s', async (_, problem, alter) => {
    const pack: Pack = await packOf(await account());
    alter(pack);

    expect(check(bytesOf(pack))).toEqual({ isGenuine: false, problem, chain: null });
  });

  test('trusts no key but those it is given, and no other form of the same facts', async () => {
    const acme = await account();
    const { rawPayload } = await acme('GET', PACK);
    const keys = { byId: new Map(), legacy: undefined };

    expect(checkEvidencePack(rawPayload, { keys, verifySignature, sha256 }).problem).toBe('bad_signature');
    const indented = Buffer.from(JSON.stringify(JSON.parse(rawPayload.toString()), null, 2));
    expect(check(indented).problem).toBe('not_canonical');
    for (const text of ['', '{}', '[]', 'null', '{"meta":1}']) {
      expect(check(Buffer.from(text)).problem).toBe('malformed');
    }
  });
});

interface Pack {
  readonly grants: object[];
  readonly policies: object[];
  readonly auditEntries: object[];
  readonly summary: object;
}

/** The form in which the service writes a pack. */
const bytesOf = (pack: Pack) =>
  Buffer.from(
    `{${Object.entries(pack)
      .map(([name, part]) => `"${name}":${canonicalJson(part)}`)
      .join(',')}}`,
  );

describe('A1: an archive of evidence', () => {
  const zipOf = async (developer: Developer) => (await developer('GET', `${PACK}?format=zip`)).rawPayload;
  const checkZip = (bytes: Uint8Array, keys = service.keyRing.verificationKeys()) =>
    checkEvidenceArchive(bytes, { keys, verifySignature, sha256 });
  /** The archive of these members, as the service writes one. */
  const packed = (members: Iterable<readonly [string, string]>) => {
    const zip = beginZip();
    const parts = [...members].flatMap(([name, text]) => {
      const [before, bytes] = [zip.open(name), Buffer.from(text)];
      zip.take(bytes);
      return [before, bytes, zip.close()];
    });
    return Buffer.concat([...parts, zip.end()]);
  };
  const membersOf = (bytes: Uint8Array) =>
    new Map([...(readZip(bytes) ?? [])].map(([name, content]) => [name, Buffer.from(content).toString()]));

  test('has the pack, the chain, a report, the keys and a manifest, and an entry tells of it', async () => {
    const acme = await account();
    const answer = await acme('GET', `${PACK}?format=zip`);

    expect(answer.headers['content-type']).toBe('application/zip');
    expect(checkZip(answer.rawPayload)).toMatchObject({
      isGenuine: true,
      problem: null,
      chain: { valid: true },
    });
    const members = membersOf(answer.rawPayload);
    expect([...members.keys()]).toEqual([...archiveMembers]);
    const pack = JSON.parse(members.get('pack.json') ?? '');
    expect(JSON.parse(members.get('chain.json') ?? '')).toEqual(pack.chainIntegrity);
    expect(JSON.parse(members.get('jwks.json') ?? '')).toEqual(
      (await acme('GET', '/.well-known/jwks.json')).json(),
    );
    const report = members.get('report.html') ?? '';
    expect(report).toContain(`All ${pack.chainIntegrity.checkedEntries} entries of the audit chain`);
    expect(report).toContain('<svg');
    expect(report).not.toMatch(/<script|javascript:|https?:|\son\w+=/i);
    expect(await entriesOf(acme, 'compliance.exported')).toMatchObject([
      { metadata: { kind: 'evidence-pack', format: 'zip' } },
    ]);
    expect(packed(members).equals(answer.rawPayload)).toBe(true);
  });

  test('is not genuine with one byte changed, added or left out anywhere', async () => {
    const bytes = await zipOf(await account());
    const members = readZip(bytes) ?? new Map<string, Uint8Array>();
    const starts = [...members.values()].map((each) => each.byteOffset - bytes.byteOffset);
    const spread = Array.from({ length: 600 }, (_, n) => Math.floor((n / 600) * bytes.length));
    const around = starts.flatMap((start) => Array.from({ length: 60 }, (_, n) => start - 48 + n));
    const directory = Array.from({ length: 400 }, (_, n) => bytes.length - 1 - n);

    for (const at of [...spread, ...around, ...directory].filter((each) => each >= 0)) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
      expect(checkZip(changed).isGenuine, `the byte at ${at}`).toBe(false);
    }
    for (const other of [Buffer.concat([bytes, Buffer.of(0)]), bytes.subarray(1), bytes.subarray(0, -1)]) {
      expect(checkZip(other)).toMatchObject({ isGenuine: false, problem: 'malformed' });
    }
    expect(checkZip(bytes).isGenuine).toBe(true);
  });

  test.each([
    ['pack.json', 'member_changed'],
    ['chain.json', 'member_changed'],
    ['report.html', 'member_changed'],
    ['jwks.json', 'member_changed'],
    ['manifest.json', 'manifest_changed'],
  ])('names %s when it was changed and packed again with care', async (name, problem) => {
    const members = membersOf(await zipOf(await account()));
    members.set(name, `${members.get(name)} `);

    expect(checkZip(packed(members))).toEqual({ isGenuine: false, problem, chain: null, member: name });
  });

  test('is not genuine with a manifest for another report, or a member more, less or elsewhere', async () => {
    const members = membersOf(await zipOf(await account()));
    const manifest = JSON.parse(members.get('manifest.json') ?? '');
    const report = '<!doctype html>';
    const told = manifest.members.map((each: { name: string }) =>
      each.name === 'report.html' ? { ...each, sha256: sha256(report), size: report.length } : each,
    );
    const { attestation, ...facts } = { ...manifest, members: told };
    const digest = sha256(canonicalJson(facts));
    const forged = new Map([...members, ['report.html', report] as const]);
    forged.set('manifest.json', canonicalJson({ ...facts, attestation: { ...attestation, digest } }));

    expect(checkZip(packed(forged)).problem).toBe('bad_signature');
    expect(checkZip(packed([...members, ['more.txt', '']])).problem).toBe('malformed');
    expect(checkZip(packed([...members].slice(1))).problem).toBe('malformed');
    expect(checkZip(packed([...members].toReversed())).problem).toBe('malformed');
    expect(checkZip(packed([])).problem).toBe('malformed');
  });

  test('says in its report where the chain of somebody is broken', async () => {
    const acme = await account();
    await change(acme, "update audit_entries set action = 'agent.updated'", 3);

    const bytes = await zipOf(acme);

    expect(checkZip(bytes)).toMatchObject({ isGenuine: true, chain: { valid: false } });
    expect(membersOf(bytes).get('report.html')).toContain('The audit chain is broken: hash_mismatch');
  });
});

describe('an evidence pack about somebody or something', () => {
  /** Two people with an agent each, and a call of one of them in a case. */
  async function two() {
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const ada = await grantTo(acme, { principalId: 'ada', scopes: ['tool:acme_pay:write'] });
    const bob = await grantTo(acme, { principalId: 'bob' });
    const call = { grantToken: ada.grantToken, connector: 'acme_pay', tool: 'transfer', arguments: {} };
    await acme('POST', '/v1/enforce', { ...call, caseId: 'case-7' });
    return { acme, ada, bob };
  }
  const about = (pack: { grants: { id: string }[]; auditEntries: object[] }) => ({
    grants: pack.grants.map(({ id }) => id),
    entries: pack.auditEntries,
  });

  test.each([
    ['a person', 'principalId', () => 'ada'],
    ['an agent', 'agentId', (agentId: string) => agentId],
    ['a case', 'caseId', () => 'case-7'],
  ])('has only what is about %s, and verifies the whole chain', async (_, name, idFor) => {
    const { acme, ada } = await two();
    const subject = { [name]: idFor(ada.agentId) };
    const { entries: all } = (await acme('GET', '/v1/audit/entries?limit=500')).json();

    const answer = await acme('GET', `${PACK}?${new URLSearchParams(subject)}`);

    const pack = answer.json();
    const wanted = all.filter((entry: Record<string, unknown> & { metadata: object }) =>
      name === 'caseId' ? Object(entry.metadata).caseId === 'case-7' : entry[name] === subject[name],
    );
    expect(about(pack)).toEqual({ grants: [ada.grantId], entries: wanted });
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.length).toBeLessThan(all.length);
    expect(pack).toMatchObject({
      meta: { subject },
      summary: { agents: { total: 1 }, grants: { total: 1 }, auditEntries: { total: wanted.length } },
      chainIntegrity: { valid: true, checkedEntries: all.length, fromSeq: 1, toSeq: all.length },
    });
    expect(check(answer.rawPayload)).toMatchObject({
      isGenuine: true,
      chain: { valid: true, checkedEntries: wanted.length },
    });
  });

  test('is itself an entry about them, and says in its report whom it is about', async () => {
    const { acme, ada } = await two();

    const { rawPayload } = await acme('GET', `${PACK}?format=zip&principalId=ada&agentId=${ada.agentId}`);
    await acme('GET', `${PACK}?caseId=case-7`);

    const report = Buffer.from(readZip(rawPayload)?.get('report.html') ?? '').toString();
    expect(report).toContain(`Only about the agent ${ada.agentId} and the person ada.`);
    expect(await entriesOf(acme, 'compliance.exported')).toMatchObject([
      { agentId: ada.agentId, principalId: 'ada', metadata: { kind: 'evidence-pack', format: 'zip' } },
      { agentId: null, principalId: null, metadata: { kind: 'evidence-pack', caseId: 'case-7' } },
    ]);
  });

  test('says that the chain is broken although its own entries are good', async () => {
    const { acme } = await two();
    const { entries } = (await acme('GET', '/v1/audit/entries?principalId=bob&limit=1')).json();
    await change(acme, "update audit_entries set action = 'agent.updated'", entries[0].seq);

    const answer = await acme('GET', `${PACK}?principalId=ada`);

    expect(answer.json().chainIntegrity).toMatchObject({ valid: false, problem: 'hash_mismatch' });
    expect(check(answer.rawPayload)).toMatchObject({ isGenuine: true, chain: { valid: true } });
  });

  test('shows an entry of its own that somebody changed, and cannot lose its subject', async () => {
    const { acme } = await two();
    const pack: Pack & { meta: { subject?: object } } = await packOf(acme, '?principalId=ada');
    const { subject: _, ...rest } = pack.meta;
    expect(check(bytesOf({ ...pack, meta: rest } as Pack)).problem).toBe('facts_changed');
    const { entries } = (await acme('GET', '/v1/audit/entries?principalId=ada&limit=1')).json();
    await change(acme, "update audit_entries set action = 'agent.updated'", entries[0].seq);

    const { rawPayload } = await acme('GET', `${PACK}?principalId=ada`);

    expect(check(rawPayload)).toMatchObject({
      isGenuine: true,
      chain: { valid: false, problem: 'hash_mismatch', firstBrokenAt: entries[0].id },
    });
  });

  test('is bounded by its own rows, empty for what the account does not have, and 400 for a bad id', async () => {
    const { acme } = await two();
    while ((await acme('GET', '/v1/audit/head')).json().seq <= 20) await registerAgent(acme);
    const other = await service.asDeveloper({ mode: 'sandbox' });

    expect((await acme('GET', PACK)).statusCode).toBe(413);
    expect((await acme('GET', `${PACK}?principalId=ada`)).statusCode).toBe(200);
    expect(about(await packOf(other, '?principalId=ada'))).toEqual({ grants: [], entries: [] });
    expect((await acme('GET', `${PACK}?caseId=a%00b`)).statusCode).toBe(400);
  });
});
