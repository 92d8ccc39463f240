import { getPublicSuffix } from 'tldts';
import { commaList, oneOf, textOf } from '../../../config/readers.ts';
import { defaulted, optional, type Reader, type ValuesOf } from '../../../config/setting.ts';
import { definePart } from '../../../platform/parts.ts';

const LABEL = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const HOST = new RegExp(`^(?=.{1,253}$)${LABEL}([.]${LABEL})*$`);
const ENDS_AS_ADDRESS = /(?:^|[.])[0-9]+$/; // no top-level domain is a number
const isHost = (text: string) => HOST.test(text) && !ENDS_AS_ADDRESS.test(text);

const hostName: Reader<string> = {
  accepts: 'a host name in lower case, without a port',
  read: (text) => (isHost(text) ? text : undefined),
};

/** Browsers offer passkeys to pages of `https`, and to those of the same machine. */
const isSafe = ({ protocol, hostname }: URL) =>
  protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost');

const APP = 'android:apk-key-hash:';
/** Android names an app by the SHA-256 of the certificate that signs it. */
const isApp = (origin: string) => origin.startsWith(APP);

function isAppOrigin(text: string): boolean {
  const encoded = text.slice(APP.length);
  const bytes = Buffer.from(encoded, 'base64url');
  return isApp(text) && bytes.length === 32 && bytes.toString('base64url') === encoded;
}

const safeOrigins = commaList(
  `a comma list of https origins without path (http only for localhost), or of Android apps as ${APP} and the SHA-256 of the signing certificate in base64url`,
  (text) => {
    const url = URL.parse(text);
    return isAppOrigin(text) || (url && url.origin === text && isSafe(url)) ? text : undefined;
  },
);

export const passkeySettings = {
  FIDO_RP_ID: optional(
    hostName,
    'host of `PUBLIC_BASE_URL`',
    'The domain to which passkeys belong. It is the host of every origin, or a domain above it. A change makes all passkeys useless.',
  ),
  FIDO_ORIGIN: optional(
    safeOrigins,
    'origin of `PUBLIC_BASE_URL`',
    'The origins of pages and Android apps in which people use passkeys: those of the service, and those at which developers register passkeys.',
  ),
  FIDO_RP_NAME: defaulted(
    textOf(1, 100),
    'Behest',
    "The name that authenticators show. A developer's `fidoRpName` replaces it.",
  ),
  FIDO_USER_VERIFICATION: defaulted(
    oneOf('required', 'preferred'),
    'required',
    'Whether an authenticator has to verify the person, by a PIN or a fingerprint for example.',
  ),
};

export type PasskeySettings = ValuesOf<typeof passkeySettings>;

/** The service as authenticators know it. @see https://www.w3.org/TR/webauthn-3/#relying-party */
export interface RelyingParty {
  readonly id: string;
  readonly origins: readonly string[];
  readonly name: string;
  readonly userVerification: 'required' | 'preferred';
}

/** Undefined where the defaults do not fit: an address in place of a name, or `http`. */
export const webauthnRelyingParty = definePart<RelyingParty | undefined>('the relying party of passkeys');

/** Whether browsers let pages of this origin use passkeys of this domain. */
function isAbove(id: string, origin: string): boolean {
  if (isApp(origin)) return true; // Android asks the domain for the apps that it vouches for
  const { hostname } = new URL(origin);
  if (hostname === id) return true;
  return hostname.endsWith(`.${id}`) && getPublicSuffix(id, { allowPrivateDomains: true }) !== id;
}

/** The origin that does not fit, among those that are configured or derived. */
export function strangeOrigin(settings: Partial<PasskeySettings>, publicBaseUrl: string): string | undefined {
  const { id, origins } = partsOf(settings, publicBaseUrl);
  return origins.find((origin) => !isAbove(id, origin));
}

/** @see webauthnRelyingParty */
export function relyingPartyOf(settings: PasskeySettings, publicBaseUrl: string): RelyingParty | undefined {
  const { id, origins } = partsOf(settings, publicBaseUrl);
  if (!isHost(id) || !origins.every((origin) => isApp(origin) || isSafe(new URL(origin)))) return undefined;
  const { FIDO_RP_NAME: name, FIDO_USER_VERIFICATION: userVerification } = settings;
  return { id, origins, name, userVerification };
}

function partsOf({ FIDO_RP_ID, FIDO_ORIGIN }: Partial<PasskeySettings>, publicBaseUrl: string) {
  const { origin, hostname } = new URL(publicBaseUrl);
  return { id: FIDO_RP_ID ?? hostname, origins: FIDO_ORIGIN ?? [origin] };
}
