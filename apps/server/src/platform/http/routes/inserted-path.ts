/** The path under which the metadata of an issuer with a path is looked for (RFC 8414 §3.1); null without a path. */
export function insertedPath(issuer: string, wellKnown: string): string | null {
  const path = URL.canParse(issuer) ? new URL(issuer).pathname.replace(/\/$/, '') : '';
  return path === '' ? null : `${wellKnown}${path}`;
}
