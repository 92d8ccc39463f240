import { changeOther } from '../other/index.ts';

/** Breaks quotas-knows-what-it-declares on purpose. */
export const countOther = changeOther;
