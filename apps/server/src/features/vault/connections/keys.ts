import { hashOf } from '../../../platform/ids.ts';

/** Where the store keeps what is in flight between a person and an upstream. It may lose all of it. */
export const ticketKey = (sessionId: string) => `bh:{${sessionId}}:connect-ticket`;
export const pageKey = (sessionId: string) => `bh:{${sessionId}}:connect-page`;
export const stateHash = (state: string) => hashOf(state).toString('base64url');
export const stateKey = (state: string) => `bh:{connect:${stateHash(state)}}:state`;
/** Taken by the first callback with a state, so that a state works once. */
export const usedKey = (state: string) => `bh:{connect:${stateHash(state)}}:used`;
