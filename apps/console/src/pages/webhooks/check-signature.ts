/** What was pasted. */
export interface Pasted {
  readonly secret: string;
  readonly headers: string;
  readonly body: string;
}

export interface Checked {
  readonly scheme: 'webhook-signature' | 'x-service-signature-v2' | 'x-service-signature';
  /** `changed` where the signature is that of the body without a line end that pasting added, or with its JSON made compact. */
  readonly verdict: 'good' | 'changed' | 'bad' | 'absent';
}

export interface SignatureReport {
  readonly schemes: readonly Checked[];
  /** Seconds since the attempt, by the signed time; undefined without one. */
  readonly age: number | undefined;
}

const PREFIX = 'whsec_';
const text = new TextEncoder();

/** Checks the signatures of a delivery in the browser. Nothing leaves it. @throws TypeError for a secret that is none */
export async function checkSignature(
  { secret, headers, body }: Pasted,
  now: number,
): Promise<SignatureReport> {
  const given = headersIn(headers);
  const timestamp = given.get('webhook-timestamp') ?? given.get('x-service-timestamp') ?? '';
  const id = given.get('webhook-id') ?? '';
  const [standardKey, textKey] = await Promise.all([
    keyOf(standardBytes(secret)),
    keyOf(text.encode(secret)),
  ]);
  const standard = async (candidate: string) =>
    `v1,${base64Of(await hmac(standardKey, `${id}.${timestamp}.${candidate}`))}`;
  const stamped = async (candidate: string) =>
    `sha256=${hexOf(await hmac(textKey, `${timestamp}.${candidate}`))}`;
  const plain = async (candidate: string) => `sha256=${hexOf(await hmac(textKey, candidate))}`;
  const bodies = [body, ...likelyOf(body)];
  const check = async (scheme: Checked['scheme'], sign: (candidate: string) => Promise<string>) => {
    const signatures = given.get(scheme)?.split(' ').filter(Boolean) ?? [];
    if (signatures.length === 0) return { scheme, verdict: 'absent' } as const;
    const at = (await Promise.all(bodies.map(sign))).findIndex((each) => signatures.includes(each));
    return { scheme, verdict: at === 0 ? 'good' : at > 0 ? 'changed' : 'bad' } as const;
  };
  const schemes = await Promise.all([
    check('webhook-signature', standard),
    check('x-service-signature-v2', stamped),
    check('x-service-signature', plain),
  ]);
  const seconds = Number(timestamp);
  return { schemes, age: timestamp === '' || Number.isNaN(seconds) ? undefined : now / 1000 - seconds };
}

/** Lines of `name: value`, or the JSON object that a program prints. */
function headersIn(pasted: string): ReadonlyMap<string, string> {
  const lines = pasted.trim().startsWith('{')
    ? Object.entries(Object(JSON.parse(pasted)))
    : pasted.split('\n').map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, Math.max(colon, 0)), line.slice(colon + 1)] as const;
      });
  return new Map(lines.map(([name, value]) => [name.trim().toLowerCase(), String(value).trim()]));
}

/** What the body was, if it is not as it was received. */
function likelyOf(body: string): string[] {
  const likely = [body.trimEnd()];
  try {
    likely.push(JSON.stringify(JSON.parse(body)));
  } catch {
    // it is no JSON, so nobody made it look nicer
  }
  return likely.filter((each) => each !== body);
}

const standardBytes = (secret: string) => {
  if (!secret.startsWith(PREFIX)) throw new TypeError('no secret');
  return Uint8Array.from(atob(secret.slice(PREFIX.length)), (letter) => letter.charCodeAt(0));
};

const keyOf = (bytes: Uint8Array<ArrayBuffer>) =>
  crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);

const hmac = async (key: CryptoKey, message: string) =>
  new Uint8Array(await crypto.subtle.sign('HMAC', key, text.encode(message)));

const base64Of = (bytes: Uint8Array) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));

const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
