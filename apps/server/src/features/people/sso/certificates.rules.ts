import { X509Certificate } from 'node:crypto';
import { badField } from '../../../platform/errors.ts';

export const MAX_CERTIFICATES = 10;

const UNUSABLE =
  'Send X.509 certificates with an RSA key of 2048 bits or more, or a key on P-256, P-384 or P-521.';

/**
 * Certificates of PEM or bare base64 text, as PEM, each once. Providers leave an old weak certificate beside the one that
 * they sign with, so weak ones are dropped where a good one is there.
 * @throws BAD_REQUEST
 */
export function certificatesIn(said: string | readonly string[]): string[] {
  const texts = typeof said === 'string' ? [said] : said;
  const blocks = texts.flatMap(
    (text) => text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [text],
  );
  const certificates = blocks.map(certificateOf);
  if (certificates.includes(undefined)) throw badField('idpCertificate', 'format', UNUSABLE);
  const strong = certificates.flatMap((one) => (one && isStrong(one) ? [one.toString()] : []));
  const distinct = [...new Set(strong)];
  if (distinct.length === 0) throw badField('idpCertificate', 'format', UNUSABLE);
  if (distinct.length > MAX_CERTIFICATES) throw tooMany(distinct.length);
  return distinct;
}

const tooMany = (count: number) =>
  badField(
    'idpCertificate',
    'too_large',
    `These are ${count} certificates, and a connection takes ${MAX_CERTIFICATES}. Leave out those that the provider no longer signs with.`,
  );

/** @returns undefined for a text that is no certificate */
export function certificateOf(text: string): X509Certificate | undefined {
  const base64 = text.replace(/-----[A-Z ]+-----/g, '').replace(/\s+/g, '');
  try {
    return /^[A-Za-z0-9+/]+={0,2}$/.test(base64)
      ? new X509Certificate(Buffer.from(base64, 'base64'))
      : undefined;
  } catch {
    return undefined; // not a certificate
  }
}

const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);

export function isStrong({ publicKey }: X509Certificate): boolean {
  const { modulusLength = 0, namedCurve = '' } = publicKey.asymmetricKeyDetails ?? {};
  if (publicKey.asymmetricKeyType === 'rsa') return modulusLength >= 2048;
  return publicKey.asymmetricKeyType === 'ec' && CURVES.has(namedCurve);
}

const untilOf = (pem: string) => new Date(new X509Certificate(pem).validTo);

/** The certificates that may have signed at this time. */
export const unexpired = (certificates: readonly string[], now: Date): string[] =>
  certificates.filter((pem) => untilOf(pem) > now);

export const shownCertificates = (certificates: readonly string[]) =>
  certificates.map((pem) => ({
    fingerprintSha256: new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase(),
    notAfter: untilOf(pem).toISOString(),
  }));
