import { badField } from '../../../platform/errors.ts';
import type { SsoDeps } from './deps.ts';
import { readSamlMetadata } from './metadata.rules.ts';
import type { SamlMetadata, SamlMetadataSource } from './sso.schema.ts';

/**
 * Reads what the metadata of an identity provider say, from their text or else from their address.
 * @throws BAD_REQUEST with what an administrator does about it
 */
export async function readMetadata(
  { upstream, clock, metadataLimit }: Pick<SsoDeps, 'upstream' | 'clock' | 'metadataLimit'>,
  { metadata, metadataUrl }: SamlMetadataSource,
): Promise<SamlMetadata> {
  if (metadata === undefined && metadataUrl === undefined) throw badField('metadataUrl', 'required');
  if (Buffer.byteLength(metadata ?? '') > metadataLimit) {
    const message = `The metadata have more than ${metadataLimit} bytes. Send the \`EntityDescriptor\` of the provider alone.`;
    throw badField('metadata', 'too_large', message);
  }
  const text = metadata ?? (await fetched(upstream, metadataUrl ?? ''));
  const read = readSamlMetadata(text, clock());
  if (!('fault' in read)) return read;
  throw badField(metadata === undefined ? 'metadataUrl' : 'metadata', 'format', read.fault);
}

/** @throws BAD_REQUEST */
async function fetched(upstream: SsoDeps['upstream'], url: string): Promise<string> {
  const answer = await upstream.ask({ url, method: 'GET', headers: { accept: 'application/xml' } });
  if (answer.failure === undefined && answer.status === 200) return answer.body.toString();
  const reason = answer.failure ?? `status ${answer.status}`;
  throw badField('metadataUrl', 'not_allowed', `The address of the metadata does not answer (${reason}).`);
}
