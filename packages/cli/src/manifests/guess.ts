import type { ToolLevel } from '@behest/protocol/tool-scopes';
import { toolLevels } from '@behest/protocol/tool-scopes';

/** A tool with the permission that it seems to need. */
export interface Guess {
  readonly name: string;
  readonly permission: ToolLevel;
  readonly because: string;
  readonly isUnsure: boolean;
}

/** The hints of a server about its tool, besides the name. */
export interface Hints {
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  /** The HTTP method behind the tool. */
  readonly method?: string | undefined;
}

const VERBS: Readonly<Record<'read' | 'write' | 'delete', readonly string[]>> = {
  read: 'check count describe download fetch find get inspect list lookup preview query read retrieve search show status view watch'.split(
    ' ',
  ),
  write:
    'add append approve assign book cancel close comment copy create edit enable insert invite issue label make merge move open pay post publish put rename reply save schedule send set share start submit subscribe sync transfer update upload upsert write'.split(
      ' ',
    ),
  delete:
    'archive clear delete destroy disable drop erase purge remove reset revoke terminate trash truncate uninstall unlink wipe'.split(
      ' ',
    ),
};

/** Guesses the permission of a tool. A name that fits several verbs gets the higher permission, and nothing is `admin`. */
export function guessOf(name: string, { readOnly, destructive, method }: Hints = {}): Guess {
  const sure = (permission: ToolLevel, because: string): Guess => ({
    name,
    permission,
    because,
    isUnsure: false,
  });
  const byName = levelOfName(name);
  if (method !== undefined) {
    if (method === 'GET' || method === 'HEAD') return sure('read', `it is a ${method}`);
    return method === 'DELETE' ? sure('delete', 'it is a DELETE') : sure('write', `it is a ${method}`);
  }
  if (destructive === true) return sure('delete', 'the server says that it destroys');
  if (readOnly === true) {
    // A hint is a claim of the server: a name that says more is believed rather.
    if (byName && byName.level !== 'read')
      return {
        ...sure(byName.level, `the server says read-only, and "${byName.verb}" says more`),
        isUnsure: true,
      };
    return sure('read', 'the server says that it only reads');
  }
  if (byName) return sure(byName.level, `its name has "${byName.verb}"`);
  return { name, permission: 'delete', because: 'its name says nothing', isUnsure: true };
}

function levelOfName(name: string): { level: ToolLevel; verb: string } | undefined {
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  for (const level of toolLevels.toReversed()) {
    if (level === 'admin') continue;
    const verb = VERBS[level].find((each) => words.includes(each));
    if (verb !== undefined) return { level, verb };
  }
  return undefined;
}
