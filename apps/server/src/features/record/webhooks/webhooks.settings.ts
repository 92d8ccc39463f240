import { boolean, notInProduction } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import type { UrlRules } from '../../../platform/egress/urls.ts';
import { definePart } from '../../../platform/parts.ts';

/** Where a developer may have messages of the service sent to. */
export const messageUrlRules = definePart<UrlRules>('the rules for addresses of messages');

/** Holds for every address that a developer names for messages of the service. */
export const privateHosts = {
  WEBHOOK_ALLOW_PRIVATE_HOSTS: defaulted(
    notInProduction(boolean, (value) => value, 'WEBHOOK_ALLOW_PRIVATE_HOSTS must not be true in production'),
    'false',
    'Whether webhooks and channels of anomalies may reach this machine and private networks. The service refuses it in production.',
  ),
};
