import { AppError } from '../../../platform/errors.ts';

/** Entity tags of a header: `*`, or a list. Weak comparison (RFC 9110 §8.8.3.2), as the service's tags are weak. */
function namesTag(header: string, tag: string): boolean {
  const opaque = (text: string) => text.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((each) => opaque(each) === opaque(tag));
}

/** @throws PRECONDITION_FAILED when the resource is another version than the client means */
export function mustBeVersion(ifMatch: string | undefined, tag: string): void {
  if (ifMatch === undefined || namesTag(ifMatch, tag)) return;
  throw new AppError('PRECONDITION_FAILED', 'The resource has changed; read it again.');
}

export const isKnownVersion = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch !== undefined && namesTag(ifNoneMatch, tag);
