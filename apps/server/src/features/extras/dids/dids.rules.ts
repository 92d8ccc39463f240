/**
 * The document of a `did:key`, which follows from the DID alone.
 * @param isForAgreement whether the key agrees on others, and signs nothing
 * @see https://w3c-ccg.github.io/did-key-spec/
 */
export function keyDidDocument(multikey: string, isForAgreement: boolean): object {
  const did = `did:key:${multikey}`;
  const id = `${did}#${multikey}`;
  const method = { id, type: 'Multikey', controller: did, publicKeyMultibase: multikey };
  const uses = isForAgreement ? { keyAgreement: [id] } : { authentication: [id], assertionMethod: [id] };
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: [method],
    ...uses,
  };
}

/**
 * The address of a `did:web` document. A DID with a port has none: the caller names the host, and must not probe others'
 * ports through the service.
 * @see https://w3c-ccg.github.io/did-method-web/#read-resolve
 */
export function webDidUrl(did: string): string | undefined {
  const [host = '', ...path] = did.slice('did:web:'.length).split(':');
  const isName = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$/.test(host);
  if (!isName || path.some((part) => !/^[A-Za-z0-9._-]+$/.test(part) || /^\.+$/.test(part))) return undefined;
  return path.length === 0
    ? `https://${host}/.well-known/did.json`
    : `https://${host}/${path.join('/')}/did.json`;
}
