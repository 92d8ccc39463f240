import { changeOther } from '../other/other.service.ts';

/** Breaks queries-only-read and features-meet-at-the-index on purpose. */
export const findThing = changeOther;
