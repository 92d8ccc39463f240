import { act, type DataOf } from '../../../platform/acts.ts';

interface TokenAct {
  readonly tokenId: string;
  readonly label: string;
}

interface UserAct {
  readonly userId: string;
  readonly userName: string;
  readonly externalId?: string;
  readonly grantsRevoked?: number;
}

interface GroupAct {
  readonly groupId: string;
  readonly displayName: string;
  readonly externalId?: string;
}

interface Offboarded {
  readonly userId: string;
  readonly principalIds: readonly string[];
  readonly grantsRevoked: number;
}

export const acts = {
  'scim.token.created': act<TokenAct>(),
  'scim.token.deleted': act<TokenAct>(),
  'scim.user.created': act<UserAct>(),
  'scim.user.updated': act<UserAct>(),
  'scim.user.deactivated': act<UserAct>(),
  'scim.user.reactivated': act<UserAct>(),
  'scim.user.deleted': act<UserAct>(),
  'scim.group.created': act<GroupAct>(),
  'scim.group.updated': act<GroupAct>(),
  'scim.group.deleted': act<GroupAct>(),
  'principal.offboarded': act<Offboarded>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
