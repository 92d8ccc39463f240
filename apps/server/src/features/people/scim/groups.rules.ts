import { scimRefusal } from '../../../platform/errors.ts';
import { groupType } from './attributes.rules.ts';
import { at } from './filter.rules.ts';
import type { Document } from './resource.rules.ts';
import { metaOf } from './users.rules.ts';

/** A group as it is stored: its columns, and the ids of its members in order, each once. */
export interface Group {
  readonly displayName: string;
  readonly externalId: string | null;
  readonly memberIds: readonly string[];
}

/** @throws invalidValue for a group as member */
export function groupIn({ displayName, externalId, members }: Document): Group {
  const values: unknown[] = Array.isArray(members) ? members : [];
  for (const member of values) {
    const type = at(member, ['type']);
    if (type !== undefined && String(type).toLowerCase() !== 'user') {
      throw scimRefusal('invalidValue', 'The members of a group are users.');
    }
  }
  const ids = values.map((member) => String(at(member, ['value'])));
  return {
    displayName: String(displayName),
    externalId: typeof externalId === 'string' ? externalId : null,
    memberIds: [...new Set(ids)].sort(),
  };
}

/** The reverse of `groupIn`. */
export const documentOfGroup = ({ displayName, externalId, memberIds }: Group): Document => ({
  displayName,
  ...(externalId !== null && { externalId }),
  ...(memberIds.length > 0 && { members: memberIds.map((value) => ({ value, type: 'User' })) }),
});

export interface Member {
  readonly userId: string;
  readonly display: string;
}

type Row = Parameters<typeof metaOf>[1] & Omit<Group, 'memberIds'> & { readonly id: string };

/** @param members undefined when they are not shown */
export function shownGroup(
  row: Row,
  members: readonly Member[] | undefined,
  base: string,
): Record<string, unknown> {
  const { id, displayName, externalId } = row;
  return {
    schemas: [groupType.core.id],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    ...(members && {
      members: members.map(({ userId, display }) => ({
        value: userId,
        display,
        $ref: `${base}/Users/${userId}`,
        type: 'User',
      })),
    }),
    meta: metaOf('Group', row, `${base}/Groups/${id}`),
  };
}
