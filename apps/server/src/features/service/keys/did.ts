import { type Finished, finished } from '../../../platform/finished.ts';
import { serviceDidDocument } from './did.rules.ts';
import type { KeyRing } from './keys.ts';

export interface DidDeps {
  readonly keyRing: KeyRing;
  /** The host as in a URL, with the port if there is a port. */
  readonly didHost: string;
  readonly publicBaseUrl: string;
}

/** The DID document, made again when the keys change. */
export function serviceDidDocuments({ keyRing, didHost, publicBaseUrl }: DidDeps): () => Finished {
  let made: { of: readonly unknown[]; document: Finished } | undefined;
  return () => {
    const identity = keyRing.identity();
    const of = [identity.keys, identity.signingKid];
    if (!made?.of.every((part, at) => part === of[at])) {
      const text = JSON.stringify(serviceDidDocument(didHost, publicBaseUrl, identity));
      made = { of, document: finished(text) };
    }
    return made.document;
  };
}
