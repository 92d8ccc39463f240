import { faultOfRules } from '@behest/protocol/proxy-patterns';
import { badField } from '../../../platform/errors.ts';
import type { FrozenProfile, NewVaultCredential, StoredProxy } from './credentials.schema.ts';

/** @throws BAD_REQUEST for rules that cannot be used */
export function mustBeProxyLimits({ proxy }: Pick<NewVaultCredential, 'proxy'>): void {
  const fault = faultOfRules(proxy?.rules ?? [], 'proxy.rules');
  if (fault) throw badField(fault.field, 'not_allowed', fault.message);
}

/** @returns null without limits and without a profile: then no profile of later sends the credential anywhere */
export function proxyColumn(
  limits: NewVaultCredential['proxy'],
  frozen: FrozenProfile | undefined,
): string | null {
  if (!limits && !frozen) return null;
  return JSON.stringify({ ...limits, frozen: frozen ?? { origins: [], exchange: 'allowed' } });
}

/** The column of a credential's limits. The service stored it in this form. */
export const storedProxy = ({ proxy }: { readonly proxy: unknown }): StoredProxy | null =>
  proxy === null ? null : (proxy as StoredProxy); // checked before it was stored

/** Whether no agent gets the credential by exchange, whatever the service's profile says now. */
export function isForProxyOnly(row: { readonly proxy: unknown }): boolean {
  const proxy = storedProxy(row);
  return proxy?.only === true || proxy?.frozen.exchange === 'proxy_only';
}
