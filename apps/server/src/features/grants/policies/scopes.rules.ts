import { coversRead, type ReadScope } from '@behest/protocol/scopes';
import { isWithin, type ToolScope, toolLevels } from '@behest/protocol/tool-scopes';

/** The place of a level among `toolLevels`. */
export const levelOf = ({ level }: ToolScope): number => toolLevels.indexOf(level);

/** A prefix ends in `*`. */
export const isPrefix = (resource: string): boolean => resource.endsWith('*');

/**
 * Whether a denied scope stops a requested one: whether any call is allowed by both. A request for more than is denied is
 * stopped too, so no wildcard avoids a denial.
 */
export function overlaps(denied: ReadScope, asked: ReadScope): boolean {
  if (denied.text === '*') return true;
  if (denied.tool && asked.tool) return toolsOverlap(denied.tool, asked.tool);
  if (denied.isTool || asked.isTool) return false;
  return coversRead(denied, asked) || coversRead(asked, denied);
}

/** Each level includes those below it, so a denial of `write` stops `admin` and leaves `read` alone. */
function toolsOverlap(denied: ToolScope, asked: ToolScope): boolean {
  const isSameConnector =
    denied.connector === asked.connector || denied.connector === '*' || asked.connector === '*';
  if (!isSameConnector || levelOf(asked) < levelOf(denied)) return false;
  if (denied.resource === undefined || asked.resource === undefined) return true;
  return patternsMeet(denied.resource, asked.resource);
}

/** Whether two patterns match a name in common. */
const patternsMeet = (one: string, other: string): boolean =>
  isWithin(one, withoutStar(other)) || isWithin(other, withoutStar(one));

const withoutStar = (pattern: string) => (isPrefix(pattern) ? pattern.slice(0, -1) : pattern);
