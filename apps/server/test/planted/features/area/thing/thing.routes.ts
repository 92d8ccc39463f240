import pg from 'pg';
import { changeOther } from '../other/other.service.ts';
import { findThing } from './thing.queries.ts';
import { removeThing } from './thing.repo.ts';

/**
 * Breaks routes-call-services, queries-are-for-repos-and-services, routes-stay-at-home, features-meet-at-the-index and
 * pg-only-in-db on purpose.
 */
export const routes = [removeThing, findThing, changeOther, pg];
