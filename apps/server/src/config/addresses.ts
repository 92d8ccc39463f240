import { BlockList, isIP } from 'node:net';
import { nodesOf } from '../platform/redis/redis-connection.ts';
import { commaList } from './readers.ts';
import { withPassword } from './secrets.ts';
import { type Reader, SettingRefusal } from './setting.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

/** Whether traffic to this host stays on the machine. IPv6 addresses may have brackets. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  if (address.toLowerCase() === 'localhost') return true;
  return isIP(address) > 0 && loopback.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

// No user name and no password, because every token publishes the address.
const ABSOLUTE_URL = /^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/;

const isAbsoluteUrl = (text: string) => ABSOLUTE_URL.test(text) && URL.canParse(text);

export const baseUrl: Reader<string> = {
  accepts: 'an absolute URL without path, trailing slash, query or fragment',
  read(text, { name, isProduction }) {
    if (!isAbsoluteUrl(text)) return undefined;
    const { protocol, hostname, pathname } = new URL(text);
    // Pages name their files, cookies and each other from the root of the host.
    if (pathname !== '/') {
      const found = pathname.length > 60 ? `${pathname.slice(0, 60)}…` : pathname;
      throw new SettingRefusal(
        `${name} must have no path (found ${found}): give the service a host name of its own, such as https://auth.example.com`,
      );
    }
    if (text.endsWith('/')) return undefined;
    if (isProduction && protocol === 'http:' && !isLoopback(hostname)) {
      throw new SettingRefusal(`${name} must use https in production`);
    }
    return text;
  },
};

export const issuer: Reader<string> = {
  accepts: 'an absolute URL without query or fragment',
  read(text, { name }) {
    if (!isAbsoluteUrl(text)) return undefined;
    if (text.endsWith('/')) throw new SettingRefusal(`${name} must not end with a slash`);
    return text;
  },
};

/** An address of a foreign server, which decides about its path and query. */
export const httpUrl: Reader<string> = {
  accepts: 'an absolute http(s) URL',
  read: (text) => (/^https?:\/\/[^\s/?#]/.test(text) && URL.canParse(text) ? text : undefined),
};

const isOrigin = (text: string) =>
  /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;

export const origins = commaList('a comma list of http(s) origins without path', (text) =>
  isOrigin(text) ? text : undefined,
);

const LABEL = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOST = new RegExp(`^${LABEL}([.]${LABEL})*(:[1-9][0-9]{0,4})?$`);

export const hostAndPort: Reader<string> = {
  accepts: 'a host name, with or without a port',
  read: (text) => (HOST.test(text) && URL.canParse(`http://${text}`) ? text : undefined),
};

/** A range of all addresses would let each client choose the address that it is counted under. */
function proxyRange(text: string): string | undefined {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const length = Number(prefix ?? bits);
  const everyIpv4 = /^::ffff:/i.test(address) ? 96 : 0;
  return length > everyIpv4 && length <= bits ? text : undefined;
}

const proxyRanges = commaList('', proxyRange);

export const trustProxy: Reader<false | number | string> = {
  accepts: 'false, a hop count from 1 to 16, or a list of proxy IPs/CIDRs',
  read(text, context) {
    if (text === 'false') return false;
    if (/^\d+$/.test(text)) return +text >= 1 && +text <= 16 ? +text : undefined;
    return proxyRanges.read(text, context)?.join(',');
  },
};

/** `memory:` serves one process, and forgets at its end. Several URLs are nodes of one Redis Cluster. */
export const redisUrl: Reader<string> = withPassword({
  accepts: 'a redis:// or rediss:// URL',
  read(text, { isProduction }) {
    if (text === 'memory:' && !isProduction) return text;
    const nodes = nodesOf(text);
    const [scheme] = /^rediss?:/.exec(text) ?? [];
    const isNode = (node: string) => {
      const { protocol, hostname } = URL.parse(node) ?? {};
      return protocol === scheme && !!hostname && !hostname.includes(',');
    };
    return !/\s/.test(text) && nodes.every(isNode) ? text : undefined;
  },
});

/** A Redis and nothing else. */
export const realRedisUrl: Reader<string> = {
  accepts: redisUrl.accepts,
  read: (text, context) => (text === 'memory:' ? undefined : redisUrl.read(text, context)),
};

export const smtpUrl: Reader<string> = withPassword({
  accepts: 'an smtp:// or smtps:// URL',
  read: (text) => (/^smtps?:\/\/[^\s/?#]/.test(text) && URL.canParse(text) ? text : undefined),
});

/** An address alone, or after a name: `Behest <no-reply@auth.example>`. */
const ADDRESS = /^(?:[^<>\r\n]{1,100} <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

export const mailAddress: Reader<string> = {
  accepts: 'one e-mail address, with or without a display name',
  read: (text) => (text.length <= 320 && ADDRESS.test(text) ? text : undefined),
};
