/** The tests of a file may use this much, in units (`unit.ts`). */
export const DEFAULT_BUDGET = 20;

/** Files that may use more, and why they do. */
export const budgets: Readonly<Record<string, { readonly units: number; readonly because: string }>> = {};

/** The first that fits a path names its group. */
export const groups: readonly (readonly [string, RegExp])[] = [
  ['process', /^apps\/server\/test\/process\//],
  ['browser', /^apps\/server\/test\/browser\//],
  ['database', /^apps\/server\/(test\/database|src\/platform\/db)\//],
  ['http', /^apps\/server\/(test\/http|src\/platform\/http)\//],
  ['features', /^apps\/server\/src\/features\//],
  ['protocol', /^packages\/protocol\//],
  ['tools', /^tools\//],
  ['rest', /^/],
];
