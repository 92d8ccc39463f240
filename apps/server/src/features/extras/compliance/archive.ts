import { createHash } from 'node:crypto';
import { canonicalJson } from '@behest/protocol/canonical-json';
import { archiveMembers, MANIFEST_TYPE } from '@behest/protocol/evidence-archive';
import { beginZip } from '@behest/protocol/stored-zip';
import { type KeyRing, signDetached } from '../../service/keys/index.ts';
import { digestOf } from './pack.rules.ts';
import { type PackFacts, reportOf } from './report.rules.ts';

/**
 * The archive of a pack: the pack, the result of the check of its chain with the signed checkpoint, a report, the public
 * keys, and last a signed manifest of all of them. It is made while it is sent, so its length costs no memory.
 * @param pack the texts of the pack, and in the end its facts
 */
export async function* archiveOf(
  keyRing: KeyRing,
  pack: AsyncGenerator<string, PackFacts>,
): AsyncGenerator<Uint8Array> {
  const zip = beginZip();
  const members: { readonly name: string; readonly sha256: string; readonly size: number }[] = [];
  const [packName, chainName, reportName, keysName, manifestName] = archiveMembers;
  try {
    yield zip.open(packName);
    const hash = createHash('sha256');
    let size = 0;
    let step = await pack.next();
    for (; !step.done; step = await pack.next()) {
      const bytes = Buffer.from(step.value);
      hash.update(bytes);
      size += bytes.length;
      zip.take(bytes);
      yield bytes;
    }
    yield zip.close();
    members.push({ name: packName, sha256: hash.digest('hex'), size });

    const whole = (name: string, text: string) => {
      const bytes = Buffer.from(text);
      members.push({ name, sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length });
      const before = zip.open(name);
      zip.take(bytes);
      return Buffer.concat([before, bytes, zip.close()]);
    };
    const facts = step.value;
    yield whole(chainName, canonicalJson(facts.chainIntegrity));
    yield whole(reportName, reportOf(facts));
    yield whole(keysName, keyRing.jwks().body.toString());
    const told = { schemaVersion: '1.0', generatedAt: facts.meta.generatedAt, members: [...members] };
    const digest = digestOf(told);
    const attestation = { digest, ...(await signDetached(keyRing, MANIFEST_TYPE, digest)) };
    yield whole(manifestName, canonicalJson({ ...told, attestation }));
    yield zip.end();
  } finally {
    await pack.return({} as never);
  }
}
