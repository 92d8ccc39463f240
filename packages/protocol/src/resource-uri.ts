const WEB = /^(https?):\/\/([^/?#@\\\s]+)([/?#@\\]\S*)?$/i;
const NO_PORT = { http: /:(?:80)?$/, https: /:(?:443)?$/ };

/**
 * The one spelling of a resource's URI. Scheme and host count in any case, a port that the scheme has anyway is left out,
 * and an origin is the same with a slash and without: programs that parse the URI add it. A path counts letter by letter.
 *
 * @see RFC 3986, sections 6.2.2.1 and 6.2.3; RFC 8707, section 2
 * @returns any other text as it is
 */
export function canonicalResource(uri: string): string {
  const [, scheme, authority = '', rest = ''] = WEB.exec(uri) ?? [];
  if (scheme === undefined) return uri;
  const name = scheme.toLowerCase() === 'http' ? 'http' : 'https';
  const host = authority.toLowerCase().replace(NO_PORT[name], '');
  return `${name}://${host}${rest.replace(/^\/(?=\?|$)/, '')}`;
}

export const isSameResource = (one: string, other: string): boolean =>
  canonicalResource(one) === canonicalResource(other);

/** Whether an audience, which is one text or a list (RFC 7519, section 4.1.3), names a resource: never by a part of a text. */
export const namesResource = (audience: unknown, resource: string): boolean =>
  [audience].flat().some((each) => typeof each === 'string' && isSameResource(each, resource));

/** The URIs of different resources, each in its one spelling. */
export const distinctResources = (uris: readonly string[]): string[] => [
  ...new Set(uris.map(canonicalResource)),
];
