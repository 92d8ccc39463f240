import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

/** Every address that a name has. @throws when it has none, or no name server answers */
export type Resolve = (name: string) => Promise<readonly string[]>;

/**
 * Asks name servers itself. The system's own look-up would take a thread from those that sign tokens, and a
 * foreign name server could hold it as long as it likes.
 */
export function resolver(): Resolve {
  const servers = new Resolver({ timeout: 3000, tries: 2 }); // milliseconds
  return async (name) => {
    if (/^(.*\.)?localhost$/.test(name)) return ['127.0.0.1', '::1']; // RFC 6761, section 6.3
    const answers = await Promise.allSettled([servers.resolve4(name), servers.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length === 0) throw new Error('The name has no address.');
    return addresses;
  };
}

/** The answer of name servers: the texts of a name's TXT records, or that none could be had. */
export type TxtAnswer = { readonly texts: readonly string[] } | { readonly failed: string };

export type ReadTxt = (name: string) => Promise<TxtAnswer>;

const TIMEOUT_MS = 5000; // one attempt, as long as a person waits for an answer

/** Answers that say that there is no such record, and not that the question got lost. */
const NONE = new Set(['ENODATA', 'ENOTFOUND']);

/** @param servers `IP` or `IP:port`; none means those of the system */
export function txtReader(servers: readonly string[] | undefined): ReadTxt {
  return async (name) => {
    // A resolver of its own for each question, because one that was busy with another would make this one wait.
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
    if (servers) resolver.setServers(servers);
    const tooLate = setTimeout(() => resolver.cancel(), TIMEOUT_MS);
    try {
      const records = await resolver.resolveTxt(name);
      return { texts: records.map((chunks) => chunks.join('')) };
    } catch (error) {
      const code = String(Object(error).code);
      return NONE.has(code) ? { texts: [] } : { failed: code };
    } finally {
      clearTimeout(tooLate);
    }
  };
}

/** Whether a text is `IP` or `IP:port`, an IPv6 address with a port in brackets. */
export function isNameServer(entry: string): boolean {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(entry) ?? [];
  if (port === undefined) return isIP(entry) > 0;
  const isAddress = bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6;
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
}
