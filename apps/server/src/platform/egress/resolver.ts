import { Resolver } from 'node:dns/promises';

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
