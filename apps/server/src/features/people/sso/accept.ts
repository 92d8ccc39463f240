import { domainName } from '../../../platform/egress/domain-names.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { badField } from '../../../platform/errors.ts';
import { unexpired } from './certificates.rules.ts';
import type { SsoDeps } from './deps.ts';
import type { SsoMembers } from './sso.rules.ts';

/** The settings of the operator that decide which connections are taken. */
type Accepting = Pick<SsoDeps, 'upstream' | 'isProduction' | 'publicBaseUrl' | 'allowsPlainLdap'>;

/** @throws BAD_REQUEST */
export function mustBeUsable(deps: Accepting, members: SsoMembers, now: Date): void {
  const { rules } = deps.upstream;
  mustBeIssuer(members.issuerUrl ?? '');
  for (const name of ['issuerUrl', 'idpSsoUrl'] as const) {
    const url = members[name];
    if (url === undefined || acceptUrl(url, rules)) continue;
    throw badField(name, 'not_allowed', 'Send an absolute `https` URL of a public host.');
  }
  const addresses = [...members.redirectUris, ...(members.spAcsUrl === undefined ? [] : [members.spAcsUrl])];
  for (const uri of addresses) {
    const isOwn = uri.startsWith(`${deps.publicBaseUrl}/`);
    if (isOwn || acceptUrl(uri, { ...rules, allowsPrivateHosts: true })) continue;
    throw badField('redirectUris', 'not_allowed', 'Send absolute `https` URLs without a fragment.');
  }
  if (members.idpCertificates && unexpired(members.idpCertificates, now).length === 0) {
    throw badField('idpCertificate', 'not_allowed', 'Every certificate has expired.');
  }
  if (members.ldapUrl !== undefined) mustBeDirectory(deps, members);
}

/** An issuer as people copy it from a page of their provider. */
function mustBeIssuer(issuerUrl: string): void {
  if (/\/\.well-known\//.test(issuerUrl)) {
    throw badField('issuerUrl', 'format', 'Leave out `/.well-known/` and what follows: send the issuer.');
  }
  if (/[{}<>]/.test(issuerUrl)) {
    throw badField('issuerUrl', 'format', 'Put the id of your tenant in the place of the braces.');
  }
}

function mustBeDirectory({ upstream, allowsPlainLdap }: Accepting, members: SsoMembers): void {
  const { ldapUrl = '', ldapTlsEnabled = false } = members;
  const [, scheme = '', rest = ''] = /^(ldaps?):\/\/(.+)$/.exec(ldapUrl) ?? [];
  const asHttps = acceptUrl(`https://${rest}`, upstream.rules);
  if (scheme === '' || !asHttps || asHttps.pathname !== '/' || asHttps.search !== '') {
    throw badField('ldapUrl', 'not_allowed', 'Send `ldaps://<host>[:port]` of a public host.');
  }
  if (scheme === 'ldap' && !ldapTlsEnabled && !allowsPlainLdap) {
    throw badField('ldapTlsEnabled', 'not_allowed', 'Set `ldapTlsEnabled`, or use `ldaps:`.');
  }
}

/** Names in lower-case ASCII, each once. @throws BAD_REQUEST */
export function domainsIn(
  { isProduction }: Pick<SsoDeps, 'isProduction'>,
  said: readonly string[],
): string[] {
  const names = said.map((text, index) => {
    const name = domainName(text, { allowsSpecialUse: !isProduction });
    if (name === undefined) throw badField(`domains.${index}`, 'format');
    return name;
  });
  return [...new Set(names)];
}
