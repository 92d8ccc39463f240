/** The names of the cookies. Browsers take `__Host-` over `https` only. */
export function cookieNames(publicBaseUrl: string) {
  const isSecure = publicBaseUrl.startsWith('https:');
  const prefix = isSecure ? '__Host-' : '';
  return { login: `${prefix}bh_sso`, session: `${prefix}bh_sso_session`, isSecure };
}
