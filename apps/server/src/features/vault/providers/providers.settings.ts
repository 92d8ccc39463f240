import { boolean, notInProduction } from '../../../config/readers.ts';
import { defaulted, type ValuesOf } from '../../../config/setting.ts';
import type { ServiceContext } from '../../../feature.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { definePart } from '../../../platform/parts.ts';

export const connectSettings = {
  CONNECT_ALLOW_PRIVATE_HOSTS: defaulted(
    notInProduction(boolean, (value) => value, 'CONNECT_ALLOW_PRIVATE_HOSTS must not be true in production'),
    'false',
    'Whether people may connect accounts at this machine and private networks, and over `http`. The service refuses it in production.',
  ),
};

/** A token endpoint may put a long ID token beside the others. */
export const ANSWER_BOUNDS = { mostBytes: 262_144 };

/** The client for the upstreams of connected accounts. */
export const connectUpstreams = definePart<Egress>('the client for upstreams of connected accounts');

export function connectEgress(
  { openEgress }: Pick<ServiceContext, 'openEgress'>,
  { CONNECT_ALLOW_PRIVATE_HOSTS: allowsPrivateHosts }: ValuesOf<typeof connectSettings>,
): Egress {
  return openEgress({ allowsHttp: allowsPrivateHosts, allowsPrivateHosts }, ANSWER_BOUNDS);
}
