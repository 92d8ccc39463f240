import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { isLoopback } from './addresses.ts';
import { withPassword } from './secrets.ts';
import { type Context, type Reader, SettingRefusal } from './setting.ts';

/**
 * The form that `pg` takes. The connection string has no TLS parameters, or the driver would overrule `ssl`.
 */
export interface DatabaseSettings {
  readonly connectionString: string;
  readonly ssl: false | ConnectionOptions;
}

export const databaseUrl: Reader<DatabaseSettings> = withPassword({
  accepts: 'a PostgreSQL connection string',
  read(text, { name, isProduction }: Context) {
    const parts = parse(text);
    if (!parts) return undefined;
    const { hosts, query } = parts;
    const encrypts = ENCRYPTING.has(query.get('sslmode') ?? '');
    if (isProduction && !encrypts && !hosts.every(isOnThisMachine)) {
      throw new SettingRefusal(`${name} must use sslmode=require or stricter in production`);
    }
    if (hosts.length > 1)
      throw new SettingRefusal(`${name} must name one host: the driver does not try several`);
    return optionsOf(parts, name);
  },
});

interface Parts {
  /** Everything before the query. */
  readonly base: string;
  readonly hosts: readonly string[];
  readonly query: URLSearchParams;
}

const FORM = /^(postgres(?:ql)?:\/\/)((?:[^/?#\s]*@)?)([^/?#@\s]*)((?:\/[^?#\s]*)?)(?:\?([^#\s]*))?$/;
const HOST = /^(\[[\da-f:.]+\]|[^[\]:]*)(:\d{1,5})?$/i;
const MODES = new Set(['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']);
const ENCRYPTING = new Set(['require', 'verify-ca', 'verify-full']);

/** Parsed by hand, because libpq's form allows more than `URL`: several hosts, and a user without a host. */
function parse(text: string): Parts | undefined {
  const [, scheme, user, authority = '', path, search = ''] = FORM.exec(text) ?? [];
  const named = authority.split(',');
  if (!URL.canParse(`${scheme}${user}host${path}`) || !named.every((host) => HOST.test(host)))
    return undefined;

  const query = lastOfEach(new URLSearchParams(search));
  const legacySwitch = query.get('ssl'); // libpq reads JDBC's ssl=true as sslmode=require
  if (legacySwitch !== null && legacySwitch !== 'true') return undefined;
  if (legacySwitch && !query.has('sslmode')) query.set('sslmode', 'require');
  if (!MODES.has(query.get('sslmode') ?? 'prefer')) return undefined;

  // Without a host the driver would read its own environment variable.
  if (!authority && !query.has('host')) query.set('host', 'localhost');
  const hosts = query.get('host')?.split(',') ?? named.map((host) => host.replace(/:\d+$/, ''));
  return { base: `${scheme}${user}${authority}${path}`, hosts, query };
}

const lastOfEach = (query: URLSearchParams) => new URLSearchParams(Object.fromEntries(query));

function isOnThisMachine(host: string): boolean {
  return isSocket(host) || isLoopback(host);
}

const isSocket = (host: string) => host.startsWith('/') || /^%2f/i.test(host);

const TLS_PARAMETERS = [
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'uselibpqcompat',
];

function optionsOf({ base, hosts, query }: Parts, name: string): DatabaseSettings {
  const ssl = hosts.every(isSocket) ? false : tlsOptions(query, name);
  for (const parameter of TLS_PARAMETERS) query.delete(parameter);
  return { connectionString: query.size > 0 ? `${base}?${query}` : base, ssl };
}

/**
 * TLS by the meaning of `sslmode` in libpq; the driver reads it otherwise. One difference: `prefer` and
 * `allow` do not try TLS, because the driver cannot fall back. `verify-ca` without a CA of its own also
 * checks the host name, because any owner of a public certificate could pass otherwise.
 * @see https://www.postgresql.org/docs/current/libpq-ssl.html
 */
function tlsOptions(query: URLSearchParams, name: string): DatabaseSettings['ssl'] {
  const mode = query.get('sslmode') ?? 'prefer';
  if (!ENCRYPTING.has(mode)) return false;

  const file = (parameter: string) => {
    const path = query.get(parameter);
    return path && path !== 'system' ? { text: readNamed(path, name, parameter) } : undefined;
  };
  const [ca, cert, key] = [file('sslrootcert'), file('sslcert'), file('sslkey')];
  const checksName =
    mode === 'verify-full' || query.get('sslrootcert') === 'system' || (mode === 'verify-ca' && !ca);
  return {
    rejectUnauthorized: checksName || ca !== undefined,
    ...(checksName ? {} : { checkServerIdentity: () => undefined }),
    ...(ca && { ca: ca.text }),
    ...(cert && { cert: cert.text }),
    ...(key && { key: key.text }),
  };
}

function readNamed(path: string, name: string, parameter: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new SettingRefusal(`${name} names a file in ${parameter} that cannot be read`);
  }
}
