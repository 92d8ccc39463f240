import { boolean, integer, notInProduction } from '../../../config/readers.ts';
import { defaulted, type ValuesOf } from '../../../config/setting.ts';
import type { ServiceContext } from '../../../feature.ts';
import { definePart } from '../../../platform/parts.ts';
import { ANSWER_BOUNDS, connectUpstreams } from '../providers/index.ts';
import type { ExchangeDeps, Unopened } from './exchange.ts';

export const openingSettings = {
  VAULT_REFRESH_SKEW_SECONDS: defaulted(
    integer(0, 3600),
    '60',
    'How long before its end an upstream access token is replaced, in the exchange that asks for it.',
  ),
  VAULT_REFRESH_ALLOW_PRIVATE_HOSTS: defaulted(
    notInProduction(
      boolean,
      (value) => value,
      'VAULT_REFRESH_ALLOW_PRIVATE_HOSTS must not be true in production',
    ),
    'false',
    'Whether credentials may refresh themselves at this machine and private networks, and over `http`. The service refuses it in production.',
  ),
};

/** The parts of the process that open a credential for its use. The proxy opens and refreshes credentials too. */
export const vaultParts = definePart<ExchangeDeps>('the parts that open credentials');

export function openingDeps(
  context: ServiceContext,
  settings: ValuesOf<typeof openingSettings>,
): ExchangeDeps {
  const allowsPrivateHosts = settings.VAULT_REFRESH_ALLOW_PRIVATE_HOSTS;
  const unopened = context.metrics.counter('vault_decrypt_failures_total');
  return {
    ...context,
    vault: context.keyRing.vault,
    upstream: context.openEgress({ allowsHttp: allowsPrivateHosts, allowsPrivateHosts }, ANSWER_BOUNDS),
    connected: context.take(connectUpstreams),
    skewSeconds: settings.VAULT_REFRESH_SKEW_SECONDS,
    onUnopened({ credentialId, keyId }: Unopened) {
      unopened.inc();
      context.logger?.fatal({ credentialId, keyId }, 'a credential of the vault does not open');
    },
  };
}
