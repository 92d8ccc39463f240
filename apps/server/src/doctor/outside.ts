import type { Config } from '../config.ts';
import { createEgress } from '../platform/egress/egress.ts';
import { trySmtp } from '../platform/mail/smtp-mailer.ts';
import { type Check, failed, passed, reasonOf, skipped, warned } from './check.ts';

const PATIENCE = 5_000; // milliseconds; an operator waits

/** Whether mail can be handed over. No mail is sent. */
export async function mailCheck({
  mail,
  isProduction,
}: Pick<Config, 'mail' | 'isProduction'>): Promise<Check> {
  if (!mail)
    return isProduction
      ? warned('mail', 'there is no mailer: nobody gets a code or a link', 'set SMTP_URL and MAIL_FROM')
      : skipped('mail', 'mail is kept for a look, and not sent');
  try {
    await trySmtp(mail.url, isProduction, PATIENCE);
    return passed('mail', `the mail server takes mail from ${mail.from}`);
  } catch (error) {
    return failed('mail', reasonOf(error), 'look at SMTP_URL: the host, the port, TLS and the account');
  }
}

/** Whether the public address leads to a service that names itself so. */
export async function publicUrlCheck({ http, tokens, isProduction }: Config): Promise<Check> {
  const { publicBaseUrl } = http;
  if (isProduction && publicBaseUrl.startsWith('http:'))
    return warned(
      'public-url',
      `${publicBaseUrl} is not encrypted`,
      'set PUBLIC_BASE_URL to the https address',
    );
  const egress = createEgress({ allowsHttp: true, allowsPrivateHosts: true, timeoutMilliseconds: PATIENCE });
  const answer = await egress.ask({
    ...{ url: `${publicBaseUrl}/.well-known/oauth-authorization-server`, method: 'GET' },
    headers: { accept: 'application/json' },
  });
  if (answer.failure !== undefined)
    return skipped('public-url', `${publicBaseUrl} does not answer from here: ${answer.failure}`);
  const issuer = issuerIn(answer.body);
  if (answer.status === 200 && issuer === tokens.issuer)
    return passed('public-url', `${publicBaseUrl} answers`);
  const detail = `${publicBaseUrl} answers ${answer.status}, and names ${issuer ?? 'no issuer'}`;
  return warned('public-url', detail, `another service answers there; tokens will name ${tokens.issuer}`);
}

function issuerIn(body: Buffer): string | undefined {
  try {
    const { issuer } = Object(JSON.parse(body.toString('utf8')));
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined; // the answer of something else
  }
}

/** Whether addresses that developers name may lead into private networks. */
export function egressCheck({ ofFeatures }: Config): Check {
  const open = Object.keys(ofFeatures).filter(
    (name) => /_ALLOW_(PRIVATE_HOSTS|INSECURE_URLS)$/.test(name) && ofFeatures[name] === true,
  );
  return open.length === 0
    ? passed('egress', 'developers’ addresses may not lead into private networks')
    : warned(
        'egress',
        `${open.join(', ')} set`,
        'needed only for identity providers, upstreams or webhooks of your own in private networks',
      );
}
