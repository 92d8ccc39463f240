import {
  allowsName,
  endsInLetters,
  type Form,
  type Host,
  hasDomain,
  isHostWithin,
  readHost,
  readName,
} from './hosts.ts';

/** Single dots inside, no `%`, `!`, `"` or other character by which a mail server finds a second address. */
const LOCAL = /^(?=.{1,64}$)[A-Za-z0-9_+&'=~-]+(?:[.][A-Za-z0-9_+&'=~-]+)*$/;

interface Address {
  readonly local: string;
  readonly domain: string;
}
interface EmailItem {
  readonly domain: Host;
  /** Absent when the item allows every address at the domain. */
  readonly local: string | undefined;
}

function readItem(text: string): EmailItem | undefined {
  const at = text.indexOf('@');
  const domain = readHost(text.slice(at + 1));
  if (!domain || !hasDomain(domain.name)) return undefined;
  if (at < 0) return { domain, local: undefined };
  const local = text.slice(0, at);
  const isAddress = LOCAL.test(local) && local === local.toLowerCase() && !domain.isAbove;
  return isAddress ? { domain, local } : undefined;
}

function readValue(text: string): Address | undefined {
  const at = text.indexOf('@');
  const [local, domain] = [text.slice(0, at), readName(text.slice(at + 1))];
  if (at < 0 || !LOCAL.test(local) || domain === undefined || !endsInLetters(domain)) return undefined;
  return { local: local.toLowerCase(), domain };
}

/** The form of `email`: one address and nothing else. */
export const emailForm: Form<EmailItem, Address> = {
  readItem,
  readValue,
  allows: ({ domain, local }, value) =>
    allowsName(domain, value.domain) && (local === undefined || local === value.local),
  isWithin: (narrow, wide) =>
    isHostWithin(narrow.domain, wide.domain) && (wide.local === undefined || wide.local === narrow.local),
};
