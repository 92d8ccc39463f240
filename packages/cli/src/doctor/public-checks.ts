import { isRecord } from '../config/user-file.ts';
import { VERSION } from '../version.ts';
import type { Ask, Check } from './check.ts';

const STRANGER = 'https://stranger.invalid'; // RFC 6761, section 6.4: nobody has this name

/** Compares this program with the service, whose description names its version. */
export async function versionCheck(ask: Ask): Promise<Check> {
  const { body } = await ask('/openapi.json').catch(() => ({ body: undefined }));
  const { version } = Object(isRecord(body) ? body.info : undefined);
  if (typeof version !== 'string')
    return { id: 'version', result: 'skip', detail: 'the service names no version', fix: '' };
  const isSame = version === VERSION;
  return {
    id: 'version',
    result: isSame ? 'ok' : 'warn',
    detail: isSame ? `${VERSION}, here and there` : `the service is ${version}, and this is ${VERSION}`,
    fix: isSame ? '' : `npm install --save-dev @behest/cli@${version}`,
  };
}

/** Asks as the browser of a page that the service does not know. @see https://fetch.spec.whatwg.org/#http-cors-protocol */
export async function corsCheck(ask: Ask): Promise<Check> {
  const headers = { origin: STRANGER, 'access-control-request-method': 'GET' };
  const { headers: answered } = await ask('/v1/agents', { method: 'OPTIONS', headers });
  const allowed = answered.get('access-control-allow-origin');
  const isOpen = allowed === '*' || allowed === STRANGER;
  const hasCredentials = answered.get('access-control-allow-credentials') === 'true';
  if (!isOpen) return { id: 'cors', result: 'ok', detail: 'pages of other origins may not call', fix: '' };
  return {
    id: 'cors',
    result: hasCredentials ? 'fail' : 'warn',
    detail: `pages of every origin may call${hasCredentials ? ', with the cookies of their visitors' : ''}`,
    fix: 'set CORS_ALLOWED_ORIGINS of the service, and look at the proxy before it',
  };
}
